//! What packing and unpacking share: the format's lengths, distances and codes (RFC 1950 and 1951).
//!
//! Written out here because a library for it is a tenth of what the page downloads: it is made for speed, and a
//! link holds a few kilobytes.

/// The first bytes of every stream that is written: a window of 32 kB, no dictionary.
pub(super) const HEADER: [u8; 2] = [0x78, 0x9c];
/// Literals, the end of a block, and lengths.
pub(super) const SYMBOLS: usize = 286;
/// Classes of distances.
pub(super) const DISTANCES: usize = 30;
/// The symbol that ends a block.
pub(super) const END: u16 = 256;
/// Longest code, in bits.
pub(super) const MAX_BITS: usize = 15;
/// The order in which the lengths of the code for lengths stand in a block's head.
pub(super) const LENGTH_ORDER: [u8; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

/// The shortest match of the class `symbol - 257` and the bits that say how much longer it is.
pub(super) const fn length_class(class: u16) -> (u16, u16) {
    match class {
        0..8 => (3 + class, 0),
        28 => (258, 0),
        _ => {
            let extra = class / 4 - 1;
            (3 + ((4 + (class & 3)) << extra), extra)
        }
    }
}

/// The nearest distance of a class and the bits that say how much farther it is.
pub(super) const fn distance_class(class: u16) -> (u16, u16) {
    if class < 4 {
        return (1 + class, 0);
    }
    let extra = class / 2 - 1;
    (1 + ((2 + (class & 1)) << extra), extra)
}

/// Lengths of the codes of a block without a code of its own, in bits.
pub(super) fn fixed_lengths() -> ([u8; SYMBOLS + 2], [u8; DISTANCES]) {
    let mut symbols = [8; SYMBOLS + 2];
    for (symbol, bits) in symbols.iter_mut().enumerate() {
        *bits = match symbol {
            0..144 | 280.. => 8,
            144..256 => 9,
            _ => 7,
        };
    }
    (symbols, [5; DISTANCES])
}

/// How many codes have each length.
pub(super) fn length_counts(lengths: &[u8]) -> [u16; MAX_BITS + 1] {
    let mut counts = [0; MAX_BITS + 1];
    for &length in lengths {
        if let Some(count) = counts.get_mut(usize::from(length)).filter(|_| length > 0) {
            *count += 1;
        }
    }
    counts
}

/// The checksum at the end of a stream.
pub(super) fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut low, mut high) = (1, 0);
    for &byte in bytes {
        low = (low + u32::from(byte)) % MODULUS;
        high = (high + low) % MODULUS;
    }
    high << 16 | low
}
