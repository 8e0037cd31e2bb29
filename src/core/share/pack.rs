//! Packs bytes into a zlib stream of one block.

use super::zlib::{
    DISTANCES, END, HEADER, LENGTH_ORDER, MAX_BITS, SYMBOLS, adler32, distance_class,
    fixed_lengths, length_class, length_counts,
};

/// Distances reach this far back.
const WINDOW: usize = 32 * 1024;
/// Matches are looked for among so many places that begin alike.
const MAX_TRIES: u32 = 128;
const MIN_MATCH: usize = 3;
const MAX_MATCH: usize = 258;
const HASH_BITS: u32 = 14;

/// `bytes` as a zlib stream. `O(bytes)`.
pub(super) fn pack(bytes: &[u8]) -> Vec<u8> {
    let tokens = tokens(bytes);
    let (symbols, distances) = fixed_lengths();
    let fixed = block(&tokens, 1, &symbols, &distances);
    let own = block_with_own_codes(&tokens);
    let mut packed = HEADER.to_vec();
    // A code of its own costs its head, which a short text does not earn back.
    packed.extend(if own.len() < fixed.len() { own } else { fixed });
    packed.extend(adler32(bytes).to_be_bytes());
    packed
}

/// A literal (distance 0), or a match.
#[derive(Clone, Copy)]
struct Token {
    /// The byte, or the length of the match.
    value: u16,
    distance: u16,
}

impl Token {
    /// The literal or the length, and the distance of a match.
    fn parts(self) -> (Coded, Option<Coded>) {
        if self.distance == 0 {
            return ((self.value, (0, 0)), None);
        }
        let (length, extra) = class_of(self.value, 29, length_class);
        let distance = class_of(self.distance, 30, distance_class);
        ((END + 1 + length, extra), Some(distance))
    }
}

/// A symbol and the bits behind it: their number and their value.
type Coded = (u16, (u16, u16));

/// The last class that begins at `value` or below, and the bits behind it.
fn class_of(value: u16, classes: u16, start: fn(u16) -> (u16, u16)) -> Coded {
    let mut class = classes - 1;
    while class > 0 && start(class).0 > value {
        class -= 1;
    }
    let (first, extra) = start(class);
    (class, (extra, value - first))
}

/// Literals and matches, each match as long as it gets; one byte later when that is longer.
fn tokens(bytes: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut matcher = Matcher {
        bytes,
        last: vec![0; 1 << HASH_BITS],
        before: vec![0; bytes.len()],
    };
    let mut at = 0;
    let mut found = matcher.longest(0);
    while let Some(&byte) = bytes.get(at) {
        let (length, distance) = found;
        let next = matcher.longest(at + 1);
        if length < MIN_MATCH || next.0 > length {
            tokens.push(Token {
                value: u16::from(byte),
                distance: 0,
            });
            at += 1;
            found = next;
        } else {
            #[allow(clippy::cast_possible_truncation, reason = "at most 258 and 32 kB")]
            tokens.push(Token {
                value: length as u16,
                distance: distance as u16,
            });
            for skipped in at + 2..at + length {
                matcher.remember(skipped);
            }
            at += length;
            found = matcher.longest(at);
        }
    }
    tokens
}

/// Places by the three bytes that stand there, as chains; 0 ends one, others are one too large.
struct Matcher<'a> {
    bytes: &'a [u8],
    last: Vec<u32>,
    before: Vec<u32>,
}

impl Matcher<'_> {
    fn chain(&mut self, at: usize) -> Option<&mut u32> {
        let &[a, b, c] = self.bytes.get(at..)?.first_chunk()?;
        let hash = u32::from_be_bytes([0, a, b, c]).wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS);
        self.last.get_mut(hash as usize)
    }

    fn remember(&mut self, at: usize) -> u32 {
        let Some(place) = u32::try_from(at + 1).ok() else {
            return 0;
        };
        let Some(last) = self.chain(at) else { return 0 };
        let before = std::mem::replace(last, place);
        if let Some(link) = self.before.get_mut(at) {
            *link = before;
        }
        before
    }

    /// Length and distance of the longest match at `at`, which is remembered.
    fn longest(&mut self, at: usize) -> (usize, usize) {
        let mut best = (0, 0);
        let mut candidate = self.remember(at);
        for _ in 0..MAX_TRIES {
            let Some(from) = (candidate as usize).checked_sub(1) else {
                break;
            };
            if at - from > WINDOW {
                break;
            }
            let (old, new) = (self.bytes.iter().skip(from), self.bytes.iter().skip(at));
            let length = old
                .zip(new.take(MAX_MATCH))
                .take_while(|(a, b)| a == b)
                .count();
            if length > best.0 {
                best = (length, at - from);
            }
            candidate = self.before.get(from).copied().unwrap_or(0);
        }
        best
    }
}

/// Bits on their way into bytes, the lowest first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    word: u32,
    held: u16,
}

impl Bits {
    /// Appends the lowest `count` bits, at most 16.
    fn put(&mut self, count: u16, bits: u16) {
        self.word |= u32::from(bits) << self.held;
        self.held += count;
        while self.held >= 8 {
            self.bytes.push(self.word.to_le_bytes()[0]);
            self.word >>= 8;
            self.held -= 8;
        }
    }

    fn put_coded(&mut self, codes: &[(u16, u16)], (symbol, (count, extra)): Coded) {
        if let Some(&(count, code)) = codes.get(usize::from(symbol)) {
            self.put(count, code);
        }
        self.put(count, extra);
    }
}

/// The one block of a stream, which is its last.
fn block(tokens: &[Token], kind: u16, symbols: &[u8], distances: &[u8]) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.put(3, kind << 1 | 1);
    put_tokens(&mut bits, tokens, symbols, distances);
    bits.bytes
}

fn put_tokens(bits: &mut Bits, tokens: &[Token], symbols: &[u8], distances: &[u8]) {
    let (symbols, distances) = (codes(symbols), codes(distances));
    for token in tokens {
        let (symbol, distance) = token.parts();
        bits.put_coded(&symbols, symbol);
        if let Some(distance) = distance {
            bits.put_coded(&distances, distance);
        }
    }
    bits.put_coded(&symbols, (END, (0, 0)));
    // The last byte is filled up.
    bits.put(7, 0);
}

fn block_with_own_codes(tokens: &[Token]) -> Vec<u8> {
    let mut symbols = vec![0_u32; SYMBOLS];
    let mut distances = vec![0_u32; DISTANCES];
    let count = |counts: &mut [u32], symbol: u16| {
        if let Some(count) = counts.get_mut(usize::from(symbol)) {
            *count += 1;
        }
    };
    for token in tokens {
        let ((symbol, _), distance) = token.parts();
        count(&mut symbols, symbol);
        if let Some((class, _)) = distance {
            count(&mut distances, class);
        }
    }
    count(&mut symbols, END);
    let symbols = lengths(symbols, MAX_BITS);
    let mut distances = lengths(distances, MAX_BITS);
    // Some readers refuse a code without any symbol.
    if let (true, Some(first)) = (distances.iter().all(|&l| l == 0), distances.first_mut()) {
        *first = 1;
    }
    let mut bits = Bits::default();
    bits.put(3, 5);
    put_lengths(&mut bits, &[symbols.as_slice(), &distances].concat());
    put_tokens(&mut bits, tokens, &symbols, &distances);
    bits.bytes
}

/// The lengths of a block's codes: runs of zeros as one symbol, packed by a code of their own.
fn put_lengths(bits: &mut Bits, all: &[u8]) {
    let mut runs: Vec<Coded> = Vec::new();
    let mut rest = all;
    while let Some((&length, behind)) = rest.split_first() {
        let zeros = rest.iter().take(138).take_while(|&&l| l == 0).count();
        #[allow(clippy::cast_possible_truncation, reason = "at most 138")]
        let run = zeros as u16;
        let (symbol, taken) = match run {
            0..3 => ((u16::from(length), (0, 0)), behind),
            3..11 => ((17, (3, run - 3)), rest.get(zeros..).unwrap_or_default()),
            _ => ((18, (7, run - 11)), rest.get(zeros..).unwrap_or_default()),
        };
        runs.push(symbol);
        rest = taken;
    }
    let mut counts = vec![0; LENGTH_ORDER.len()];
    for &(symbol, _) in &runs {
        if let Some(count) = counts.get_mut(usize::from(symbol)) {
            *count += 1;
        }
    }
    let of_lengths = lengths(counts, 7);
    bits.put(5, 29); // 286 symbols
    bits.put(5, 29); // 30 classes of distances
    bits.put(4, 15); // 19 lengths of lengths
    for &symbol in &LENGTH_ORDER {
        let length = of_lengths.get(usize::from(symbol)).copied();
        bits.put(3, u16::from(length.unwrap_or(0)));
    }
    let of_lengths = codes(&of_lengths);
    for run in runs {
        bits.put_coded(&of_lengths, run);
    }
}

/// Lengths of the best prefix code for symbols of these frequencies, at most `limit` bits each.
///
/// Huffman's way: the two rarest trees become one, until one is left. `O(symbols^2)`.
fn lengths(mut counts: Vec<u32>, limit: usize) -> Vec<u8> {
    loop {
        let mut lengths = vec![0_u8; counts.len()];
        // A tree is its frequency and its symbols.
        let mut trees: Vec<(u32, Vec<usize>)> = counts
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 0)
            .map(|(symbol, &count)| (count, vec![symbol]))
            .collect();
        if let [(_, only)] = trees.as_slice() {
            deepen(&mut lengths, only);
        }
        while let Some((first, mut merged)) = take_rarest(&mut trees) {
            let Some((second, other)) = take_rarest(&mut trees) else {
                break;
            };
            merged.extend(other);
            deepen(&mut lengths, &merged);
            trees.push((first + second, merged));
        }
        if lengths.iter().all(|&length| usize::from(length) <= limit) {
            return lengths;
        }
        // Flatter frequencies give shorter codes.
        for count in counts.iter_mut().filter(|count| **count > 0) {
            *count = *count / 2 + 1;
        }
    }
}

fn deepen(lengths: &mut [u8], symbols: &[usize]) {
    for &symbol in symbols {
        if let Some(length) = lengths.get_mut(symbol) {
            *length = length.saturating_add(1);
        }
    }
}

fn take_rarest(trees: &mut Vec<(u32, Vec<usize>)>) -> Option<(u32, Vec<usize>)> {
    let mut rarest = 0;
    let mut least = u32::MAX;
    for (place, &(count, _)) in trees.iter().enumerate() {
        if count < least {
            (rarest, least) = (place, count);
        }
    }
    (!trees.is_empty()).then(|| trees.swap_remove(rarest))
}

/// The code of each symbol: its bits, and the code with its first bit lowest, as streams hold it.
fn codes(lengths: &[u8]) -> Vec<(u16, u16)> {
    let counts = length_counts(lengths);
    let mut next = [0_u16; MAX_BITS + 1];
    let mut code = 0;
    for (slot, count) in next.iter_mut().skip(1).zip(counts.iter().skip(1)) {
        *slot = code;
        code = (code + count) << 1;
    }
    let mut code_of = |&length: &u8| {
        let bits = u16::from(length);
        match next.get_mut(usize::from(length)).filter(|_| bits > 0) {
            Some(next) => {
                let code = *next;
                *next = next.wrapping_add(1);
                (bits, code.reverse_bits() >> (16 - bits))
            }
            None => (0, 0),
        }
    };
    lengths.iter().map(&mut code_of).collect()
}
