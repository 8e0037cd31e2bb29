//! Base64 with the alphabet for URLs and without padding: RFC 4648, section 5.

/// The text of `bytes`. `O(bytes)`.
pub(super) fn encode(bytes: &[u8], text: &mut String) {
    for group in bytes.chunks(3) {
        let word = group
            .iter()
            .fold(0_u32, |word, &b| word << 8 | u32::from(b));
        let bits = group.len() * 8;
        // The last character of an incomplete group is filled up with zeros.
        let word = word << (24 - bits);
        for place in 0..=group.len() {
            text.push(character(word >> (18 - 6 * place) & 63));
        }
    }
}

/// The bytes of `text`; `None` where a character is none of the alphabet. `O(text)`.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut word, mut bits) = (0_u32, 0);
    for byte in text.bytes() {
        word = word << 6 | u32::from(value(byte)?);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits & 255).to_le_bytes()[0]);
        }
    }
    Some(bytes)
}

fn character(value: u32) -> char {
    let value = value.to_le_bytes()[0];
    char::from(match value {
        0..=25 => b'A' + value,
        26..=51 => b'a' - 26 + value,
        52..=61 => value - 52 + b'0',
        62 => b'-',
        _ => b'_',
    })
}

fn value(character: u8) -> Option<u8> {
    Some(match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    })
}
