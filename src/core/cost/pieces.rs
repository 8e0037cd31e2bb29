//! Disjoint pieces of a stored tensor, of which each of its views names some.
//!
//! Kernels read a tensor through several views: the whole, its halves, windows that overlap. Each
//! element counts once, so what a kernel reads is a union of pieces: an `or` of words.

use smallvec::SmallVec;

/// Most views of one tensor that are compared, which is the number of bits of a word.
const MOST_VIEWS: usize = 64;
/// Most pieces, for a bit of each in a word, and most boxes of a view. They bound the time for each
/// view.
const MOST_PIECES: usize = 63;
const MOST_BOXES: usize = 16;
/// Most strides of all views, and most cells of the grid that the sides of all boxes make.
const MOST_LEVELS: usize = 16;
const MOST_CELLS: usize = 1024;

/// Elements in memory: all sums of an offset and of a multiple of each stride, below its size.
#[derive(Clone, Debug)]
pub(super) struct Strided {
    pub(super) offset: u64,
    /// Strides, in elements, and sizes.
    pub(super) factors: SmallVec<[(u64, u64); 4]>,
}

/// A range of digits for each level.
type Sides = SmallVec<[[u64; 2]; 4]>;

/// The elements in pieces of a tensor, and for each view of it the pieces that it names, as bits.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) elements: Vec<u64>,
    pub(super) of_view: Vec<u64>,
}

impl Pieces {
    /// The pieces that these views cut a tensor of so many elements to. `None` where they are too
    /// many or where no boxes describe a view.
    ///
    /// The address of an element has a digit for each stride of the views, as a number has digits.
    /// A strided view is a box of digits, or a few of them where a range carries to the next digit.
    /// The sides of all boxes make a grid, and cells of it that are in the same views are a piece.
    pub(super) fn of(elements: u64, views: &[Strided]) -> Option<Self> {
        if views.len() > MOST_VIEWS {
            return None;
        }
        let strides = views.iter().flat_map(|view| &view.factors);
        let mut levels: Vec<u64> = strides.map(|&(stride, _)| stride).chain([1]).collect();
        levels.sort_unstable_by(|a, b| b.cmp(a));
        levels.dedup();
        if levels.len() > MOST_LEVELS {
            return None;
        }
        let boxes = views.iter().map(|view| boxes(view, &levels));
        let boxes: Vec<Vec<Sides>> = boxes.collect::<Option<_>>()?;
        let sides = (0..levels.len()).map(|level| {
            let own = boxes.iter().flatten().filter_map(|sides| sides.get(level));
            let mut ends: Vec<u64> = own.flatten().copied().collect();
            ends.sort_unstable();
            ends.dedup();
            ends
        });
        let sides: Vec<Vec<u64>> = sides.collect();
        let counts = sides.iter().map(|ends| ends.len().saturating_sub(1));
        let cells = counts.fold(1, usize::saturating_mul);
        if cells > MOST_CELLS {
            return None;
        }
        // For each cell the views that it is in, and its elements.
        let mut of_views: Vec<(u64, u64)> = Vec::with_capacity(cells);
        for cell in 0..cells {
            let (mut rest, mut size) = (cell, 1_u64);
            let at = sides.iter().map(|ends| {
                let count = ends.len().saturating_sub(1).max(1);
                let own = ends.get(rest % count..).unwrap_or_default();
                rest /= count;
                if let &[from, to, ..] = own {
                    size = size.saturating_mul(to - from);
                }
                own.first().copied().unwrap_or(0)
            });
            let at: SmallVec<[u64; 4]> = at.collect();
            let is_in = |sides: &Sides| {
                let mut own = sides.iter().zip(&at);
                own.all(|(&[from, to], at)| (from..to).contains(at))
            };
            let own = boxes
                .iter()
                .zip(0..)
                .filter(|(own, _)| own.iter().any(is_in));
            let own = own.fold(0, |all, (_, view)| all | 1_u64 << view);
            if own != 0 {
                of_views.push((own, size));
            }
        }
        of_views.sort_unstable();
        let mut pieces = Self {
            elements: vec![elements],
            of_view: vec![0; views.len()],
        };
        for own in of_views.chunk_by(|a, b| a.0 == b.0) {
            let bit = 1_u64.checked_shl(u32::try_from(pieces.elements.len()).ok()?)?;
            let size = own.iter().map(|cell| cell.1).sum();
            // What no view names is the first piece.
            *pieces.elements.first_mut()? = pieces.elements.first()?.checked_sub(size)?;
            pieces.elements.push(size);
            let views = own.first().map_or(0, |cell| cell.0);
            for (view, named) in pieces.of_view.iter_mut().enumerate() {
                *named |= if views >> view & 1 == 1 { bit } else { 0 };
            }
        }
        (pieces.elements.len() <= MOST_PIECES).then_some(pieces)
    }
}

/// The boxes of a view by the digits of these levels, which descend to 1.
fn boxes(view: &Strided, levels: &[u64]) -> Option<Vec<Sides>> {
    /// A box of the lower digits.
    struct Lower {
        /// From the last level up.
        sides: Sides,
        /// What it adds to the digit above, from and to.
        carried: [u64; 2],
        /// The largest sum of its digits.
        reach: u64,
    }
    let mut rest = view.offset;
    let digits: SmallVec<[u64; 4]> = (levels.iter())
        .map(|&level| {
            let digit = rest / level;
            rest %= level;
            digit
        })
        .collect();
    let mut lower = vec![Lower {
        sides: Sides::new(),
        carried: [0, 1],
        reach: 0,
    }];
    for (at, (&level, &digit)) in levels.iter().zip(&digits).enumerate().rev() {
        let own = view.factors.iter().filter(|own| own.0 == level);
        let further: u64 = own.map(|own| own.1 - 1).sum();
        let above = at.checked_sub(1).and_then(|above| levels.get(above));
        let mut next = Vec::with_capacity(lower.len());
        for Lower {
            sides,
            carried: [first, end],
            reach,
        } in lower
        {
            let (from, to) = (digit + first, digit.checked_add(further)?.checked_add(end)?);
            let mut push = |own: [u64; 2], carried: [u64; 2]| {
                let mut sides = sides.clone();
                sides.push(own);
                let reach = reach + level * (own[1] - 1);
                next.push(Lower {
                    sides,
                    carried,
                    reach,
                });
            };
            let most = level.checked_mul(to - 1)?.checked_add(reach)?;
            let Some(&above) = above.filter(|&&above| most >= above) else {
                push([from, to], [0, 1]);
                continue;
            };
            if !above.is_multiple_of(level) {
                return None;
            }
            let digits = above / level;
            let (row, last) = (from / digits, (to - 1) / digits);
            let (left, right) = (from % digits, (to - 1) % digits + 1);
            if row == last {
                push([left, right], [row, row + 1]);
                continue;
            }
            // The rest of the first row, whole rows, and the beginning of the last one.
            let (is_cut, is_short) = (left > 0, right < digits);
            if is_cut {
                push([left, digits], [row, row + 1]);
            }
            if is_short {
                push([0, right], [last, last + 1]);
            }
            let rows = [row + u64::from(is_cut), last + u64::from(!is_short)];
            if rows[0] < rows[1] {
                push([0, digits], rows);
            }
        }
        if next.len() > MOST_BOXES {
            return None;
        }
        lower = next;
    }
    let boxes = lower.into_iter().map(|mut own| {
        own.sides.reverse();
        own.sides
    });
    Some(boxes.collect())
}

/// What a kernel reads of a stored tensor, as a union.
#[derive(Clone, Debug, Default)]
pub(crate) struct Union {
    /// Pieces that it reads as a whole.
    known: u64,
    /// Pieces of which it reads some elements, of unknown places, and their bytes in sum.
    some: SmallVec<[(u64, u64); 1]>,
    /// The most that a reader counts by a convention.
    assumed: u64,
}

/// What an op reads of a stored tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Elements {
    /// These pieces.
    Known(u64),
    /// Some elements of these pieces: `bytes`, at most.
    Some { of: u64, bytes: u64 },
    /// As many bytes as the reader makes it.
    Assumed(u64),
}

/// Most sets of pieces of which some elements are read and which are looked at one by one.
const FEW_SETS: usize = 3;

impl Union {
    /// Adds what another op reads, and says whether that may be more. Each [`Elements::Some`] is
    /// other elements.
    pub(crate) fn add(&mut self, elements: Elements) -> bool {
        match elements {
            Elements::Known(pieces) => {
                let before = self.known;
                self.known |= pieces;
                self.known != before
            }
            Elements::Some { of, bytes } => {
                match self.some.iter_mut().find(|own| own.0 == of) {
                    Some((_, sum)) => *sum = sum.saturating_add(bytes),
                    None => self.some.push((of, bytes)),
                }
                true
            }
            Elements::Assumed(bytes) => {
                let before = self.assumed;
                self.assumed = before.max(bytes);
                self.assumed > before
            }
        }
    }

    /// The bytes of the union, at most; `bytes_of` are those of pieces. More readers never make
    /// them less, and a union has no more than its parts in sum.
    pub(crate) fn bytes(&self, bytes_of: impl Fn(u64) -> u64) -> u64 {
        let some = &self.some[..];
        // Of any of these sets all elements may be meant instead of those that are counted.
        let with = |whole: &dyn Fn(usize) -> bool| {
            let (mut pieces, mut bytes) = (self.known, 0_u64);
            for (place, &(of, own)) in some.iter().enumerate() {
                if whole(place) {
                    pieces |= of;
                } else {
                    bytes = bytes.saturating_add(own);
                }
            }
            bytes.saturating_add(bytes_of(pieces))
        };
        let least = if some.len() <= FEW_SETS {
            let choices =
                (0..1_usize << some.len()).map(|set| with(&|place| set >> place & 1 == 1));
            choices.min()
        } else {
            Some(with(&|_| true).min(with(&|_| false)))
        };
        least.unwrap_or(0).saturating_add(self.assumed)
    }
}
