//! Unpacks a zlib stream: total, and never more than it is allowed to.

use super::ShareError;
use super::zlib::{
    DISTANCES, END, LENGTH_ORDER, MAX_BITS, SYMBOLS, adler32, distance_class, fixed_lengths,
    length_class, length_counts,
};

/// The bytes that `packed` holds. `O(packed + unpacked)`, a bit at a time.
///
/// # Errors
/// [`ShareError::Damaged`] when the stream or its checksum does not hold, [`ShareError::TooLarge`] past `limit`
/// bytes.
pub(super) fn unpack(packed: &[u8], limit: usize) -> Result<Vec<u8>, ShareError> {
    let damaged = ShareError::Damaged;
    let Some((&[method, flags], blocks)) = packed.split_first_chunk() else {
        return Err(damaged);
    };
    let has_dictionary = flags & 32 != 0;
    let head = u16::from_be_bytes([method, flags]);
    if method & 15 != 8 || has_dictionary || !head.is_multiple_of(31) {
        return Err(damaged);
    }
    let mut stream = Stream {
        bits: Bits {
            bytes: blocks,
            word: 0,
            held: 0,
        },
        out: Vec::new(),
        limit,
    };
    loop {
        let is_last = stream.bits.take(1).ok_or(damaged)? == 1;
        if !stream.block().ok_or(damaged)? {
            return Err(ShareError::TooLarge);
        }
        if is_last {
            break;
        }
    }
    match stream.bits.bytes {
        [a, b, c, d, ..] if u32::from_be_bytes([*a, *b, *c, *d]) == adler32(&stream.out) => {
            Ok(stream.out)
        }
        _ => Err(damaged),
    }
}

/// The bits of a stream, the lowest of a byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    word: u32,
    held: u32,
}

impl Bits<'_> {
    /// The next `count` bits, at most 16. Whole bytes that are not needed yet are left.
    fn take(&mut self, count: u32) -> Option<u32> {
        while self.held < count {
            let (&byte, rest) = self.bytes.split_first()?;
            self.word |= u32::from(byte) << self.held;
            self.held += 8;
            self.bytes = rest;
        }
        let taken = self.word & ((1 << count) - 1);
        self.word >>= count;
        self.held -= count;
        Some(taken)
    }

    fn take_16(&mut self, count: u16) -> Option<u16> {
        u16::try_from(self.take(u32::from(count))?).ok()
    }
}

/// A prefix code: how many codes have each length, and their symbols in the order of their codes.
struct Code {
    counts: [u16; MAX_BITS + 1],
    symbols: Vec<u16>,
}

impl Code {
    fn new(lengths: &[u8]) -> Self {
        let mut symbols = Vec::with_capacity(lengths.len());
        for bits in 1..=MAX_BITS {
            let of_length = lengths.iter().zip(0..);
            let of_length = of_length.filter(|&(&length, _)| usize::from(length) == bits);
            symbols.extend(of_length.map(|(_, symbol): (_, u16)| symbol));
        }
        Self {
            counts: length_counts(lengths),
            symbols,
        }
    }

    /// The next symbol; `None` for bits that no code begins with.
    fn next(&self, bits: &mut Bits<'_>) -> Option<u16> {
        let (mut code, mut first, mut place) = (0_u32, 0_u32, 0_u32);
        for &count in self.counts.iter().skip(1) {
            code |= bits.take(1)?;
            let count = u32::from(count);
            if let Some(offset) = code.checked_sub(first).filter(|&offset| offset < count) {
                return self.symbols.get((place + offset) as usize).copied();
            }
            place += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

struct Stream<'a> {
    bits: Bits<'a>,
    out: Vec<u8>,
    limit: usize,
}

impl Stream<'_> {
    /// Unpacks one block; `None` when it does not hold, `false` when it passes the limit.
    fn block(&mut self) -> Option<bool> {
        let (symbols, distances) = match self.bits.take(2)? {
            0 => return self.stored(),
            1 => {
                let (symbols, distances) = fixed_lengths();
                (Code::new(&symbols), Code::new(&distances))
            }
            2 => self.codes()?,
            _ => return None,
        };
        loop {
            let symbol = symbols.next(&mut self.bits)?;
            if symbol == END {
                return Some(true);
            }
            if let Ok(literal) = u8::try_from(symbol) {
                self.out.push(literal);
            } else {
                self.copy(symbol - END - 1, &distances)?;
            }
            if self.out.len() > self.limit {
                return Some(false);
            }
        }
    }

    /// Repeats what was written before.
    fn copy(&mut self, class: u16, distances: &Code) -> Option<()> {
        if class > 28 {
            return None;
        }
        let (length, extra) = length_class(class);
        let length = length + self.bits.take_16(extra)?;
        let class = distances.next(&mut self.bits)?;
        if usize::from(class) >= DISTANCES {
            return None;
        }
        let (distance, extra) = distance_class(class);
        let distance = distance + self.bits.take_16(extra)?;
        let from = self.out.len().checked_sub(usize::from(distance))?;
        // What is copied may reach into the copy.
        for place in (from..).take(usize::from(length)) {
            self.out.push(*self.out.get(place)?);
        }
        Some(())
    }

    fn stored(&mut self) -> Option<bool> {
        self.bits.take(self.bits.held % 8)?;
        let length = self.bits.take(16)?;
        if self.bits.take(16)? != length ^ 0xffff {
            return None;
        }
        let (bytes, rest) = self.bits.bytes.split_at_checked(length as usize)?;
        self.out.extend_from_slice(bytes);
        self.bits.bytes = rest;
        Some(self.out.len() <= self.limit)
    }

    /// The block's own codes, whose lengths are packed themselves.
    fn codes(&mut self) -> Option<(Code, Code)> {
        let symbols = self.bits.take(5)? as usize + 257;
        let distances = self.bits.take(5)? as usize + 1;
        let order = self.bits.take(4)? as usize + 4;
        let mut of_lengths = [0; LENGTH_ORDER.len()];
        for &symbol in LENGTH_ORDER.iter().take(order) {
            *of_lengths.get_mut(usize::from(symbol))? = self.bits.take(3)?.to_le_bytes()[0];
        }
        let code = Code::new(&of_lengths);
        let all = symbols + distances;
        let mut lengths: Vec<u8> = Vec::with_capacity(SYMBOLS + DISTANCES);
        while lengths.len() < all {
            let (length, times) = match code.next(&mut self.bits)? {
                16 => (*lengths.last()?, 3 + self.bits.take(2)?),
                17 => (0, 3 + self.bits.take(3)?),
                18 => (0, 11 + self.bits.take(7)?),
                length => (length.to_le_bytes()[0], 1),
            };
            lengths.resize(lengths.len() + times as usize, length);
        }
        let (symbols, distances) = lengths.get(..all)?.split_at_checked(symbols)?;
        Some((Code::new(symbols), Code::new(distances)))
    }
}
