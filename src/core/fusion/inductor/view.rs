//! How the elements of a tensor lie in a buffer: which one is read for each place of a loop.
//!
//! The compiler compares two accesses of a buffer by their index expressions (`MemoryDep` of
//! `torch/_inductor/dependencies.py`). Here an index is a number in mixed radix: the place in a loop, in row-major order, is
//! cut into digits, and each digit moves by its stride.

use crate::core::model::functions::{ShapeRule, find};
use crate::core::model::graph::Graph;
use crate::core::model::ids::OpId;
use crate::core::model::op::{Op, Window, element_count};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Most digits of a view; others count as unknown.
const DIGITS: usize = 24;

/// A digit of a place: how many values it has, and how far apart in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Digit {
    size: u64,
    stride: u64,
}

/// The element of a buffer at each place of a loop. Outermost digit first; no digit has size 1, and neighbours that count
/// on are one digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct View {
    digits: Vec<Digit>,
    offset: u64,
}

/// What of a buffer is accessed, whatever the order of the loops; equal accesses can share a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    /// A set of elements, by a hash.
    Of(u64),
    /// Through an index that is no sum of loop variables: a division, a gather, a border.
    Unknown,
}

/// The loops over which an access moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Loops {
    pub(super) count: usize,
    /// A hash of their sizes, in any order.
    sizes: u64,
}

impl Loops {
    pub(super) fn of(sizes: &[u64]) -> Self {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        let mut hasher = FxHasher::default();
        sizes.hash(&mut hasher);
        Self {
            count: sizes.len(),
            sizes: hasher.finish(),
        }
    }
}

impl View {
    /// A buffer in the order in which it lies.
    pub(super) fn whole(elements: u64) -> Self {
        Self::of(vec![Digit {
            size: elements,
            stride: 1,
        }])
    }

    fn of(digits: Vec<Digit>) -> Self {
        let mut view = Self {
            digits: Vec::with_capacity(digits.len()),
            offset: 0,
        };
        for digit in digits.into_iter().filter(|digit| digit.size != 1) {
            match view.digits.last_mut() {
                Some(outer) if outer.stride == digit.size.saturating_mul(digit.stride) => {
                    outer.size = outer.size.saturating_mul(digit.size);
                    outer.stride = digit.stride;
                }
                _ => view.digits.push(digit),
            }
        }
        view
    }

    /// A new buffer of this shape whose dimensions lie in memory as those of `like` do: what an elementwise op gives.
    pub(super) fn laid_out_as(shape: &[u64], like: Option<&Self>) -> Self {
        let elements = element_count(shape).unwrap_or(0);
        let strides = like.and_then(|like| like.strides(shape));
        let Some(strides) = strides.filter(|strides| !strides.contains(&0)) else {
            return Self::whole(elements);
        };
        let mut order: Vec<usize> = (0..shape.len()).collect();
        order.sort_by_key(|&dimension| std::cmp::Reverse(strides.get(dimension)));
        let mut dense = vec![0; shape.len()];
        let mut inner = 1_u64;
        for dimension in order.into_iter().rev() {
            if let (Some(stride), Some(size)) = (dense.get_mut(dimension), shape.get(dimension)) {
                *stride = inner;
                inner = inner.saturating_mul(*size);
            }
        }
        Self::strided(shape, &dense)
    }

    fn strided(shape: &[u64], strides: &[u64]) -> Self {
        let digits = shape.iter().zip(strides);
        Self::of(
            digits
                .map(|(&size, &stride)| Digit { size, stride })
                .collect(),
        )
    }

    /// For each element of a window the one of the image that each element of the pool's output reads there, if no border is around it.
    pub(super) fn of_window(
        image: &[u64],
        pool: &Op,
        window: Window,
    ) -> impl Iterator<Item = Option<Self>> {
        let [rows, columns] = window.size;
        let strides: Option<[u64; 4]> = dense_strides(image).try_into().ok();
        (0..rows.saturating_mul(columns)).map(move |element| {
            let [batch, channel, row, column] = strides.filter(|_| window.padding == [0, 0])?;
            let [down, right] = window.stride;
            let moved = [
                batch,
                channel,
                row.checked_mul(down)?,
                column.checked_mul(right)?,
            ];
            let offset = (element / columns).checked_mul(row)? + element % columns;
            (pool.shape.len() == moved.len()).then(|| Self {
                offset,
                ..Self::strided(&pool.shape, &moved)
            })
        })
    }

    /// For each element of an image the one of its channel.
    pub(super) fn per_channel(shape: &[u64]) -> Option<Self> {
        let mut strides = vec![0; shape.len()];
        *strides.get_mut(1)? = 1;
        Some(Self::strided(shape, &strides))
    }

    /// An image whose channels lie side by side.
    pub(super) fn channels_last(shape: &[u64]) -> Self {
        let &[_, channels, height, width] = shape else {
            return Self::whole(element_count(shape).unwrap_or(0));
        };
        let row = channels.saturating_mul(width);
        Self::strided(shape, &[row.saturating_mul(height), 1, row, channels])
    }

    /// A new image of this shape whose dimensions lie in memory as those of another one do.
    pub(super) fn image_as(shape: &[u64], like: &Self, like_shape: &[u64]) -> Self {
        let is_last = *like == Self::channels_last(like_shape) && shape.len() == like_shape.len();
        if is_last {
            Self::channels_last(shape)
        } else {
            Self::whole(element_count(shape).unwrap_or(0))
        }
    }

    /// For each element of an output one of an input of the same rank, always the first along an axis.
    pub(super) fn of_rows(input: &[u64], axis: usize, output: &[u64]) -> Option<Self> {
        let mut strides = dense_strides(input);
        *strides.get_mut(axis)? = 0;
        (strides.len() == output.len()).then(|| Self::strided(output, &strides))
    }

    /// For each place of a row along these axes of a shape the view that always shows that place: over the rows, or, if they keep
    /// their shape, over all elements.
    pub(super) fn of_each_place(shape: &[u64], axes: u32, keeps_shape: bool) -> Vec<Self> {
        let strides = dense_strides(shape);
        let (mut kept, mut offsets) = (Vec::with_capacity(shape.len()), vec![0_u64]);
        for (place, (&size, &stride)) in shape.iter().zip(&strides).enumerate() {
            if place < 32 && axes >> place & 1 == 1 {
                let steps = offsets.iter().flat_map(|&offset| {
                    (0..size).map(move |step| offset.saturating_add(step.saturating_mul(stride)))
                });
                offsets = steps.collect();
                if keeps_shape {
                    kept.push(Digit { size, stride: 0 });
                }
            } else {
                kept.push(Digit { size, stride });
            }
        }
        let view = |offset| Self {
            offset,
            ..Self::of(kept.clone())
        };
        offsets.into_iter().map(view).collect()
    }

    /// The digits of each dimension; `None` if a digit spans dimensions in a way that no division resolves.
    fn by_dimension(&self, shape: &[u64]) -> Option<Vec<Vec<Digit>>> {
        let mut left = self.digits.clone();
        let mut dimensions = Vec::with_capacity(shape.len());
        for &size in shape.iter().rev() {
            let (mut own, mut open) = (Vec::new(), size);
            while open > 1 {
                let digit = left.last_mut().filter(|digit| digit.size > 0)?;
                if digit.size <= open {
                    (open % digit.size == 0).then_some(())?;
                    open /= digit.size;
                    own.insert(0, *digit);
                    left.pop();
                } else {
                    (digit.size % open == 0).then_some(())?;
                    own.insert(
                        0,
                        Digit {
                            size: open,
                            ..*digit
                        },
                    );
                    digit.size /= open;
                    digit.stride = digit.stride.checked_mul(open)?;
                    open = 1;
                }
            }
            dimensions.push(own);
        }
        dimensions.reverse();
        Some(dimensions)
    }

    /// The stride of each dimension, 0 for one of size 1; `None` if this is no strided tensor of the shape.
    pub(super) fn strides(&self, shape: &[u64]) -> Option<Vec<u64>> {
        let dimensions = self.by_dimension(shape)?.into_iter();
        dimensions
            .map(|digits| match Self::of(digits).digits[..] {
                [] => Some(0),
                [Digit { stride, .. }] => Some(stride),
                _ => None,
            })
            .collect()
    }

    /// Whether these dimensions can be seen as one without a copy.
    pub(super) fn merges(&self, shape: &[u64], dimensions: std::ops::Range<usize>) -> bool {
        self.by_dimension(shape).is_some_and(|all| {
            let digits = all.get(dimensions).unwrap_or(&[]).concat();
            Self::of(digits).digits.len() <= 1
        })
    }

    /// This view of what another view shows: `inner` gives the element of the buffer for each of its places, this one the place
    /// of `inner`.
    pub(super) fn through(&self, inner: &Self) -> Option<Self> {
        if let [Digit { stride: 1, .. }] = inner.digits[..] {
            let offset = self.offset.checked_add(inner.offset)?;
            return Some(Self {
                offset,
                ..self.clone()
            });
        }
        let mut digits = Vec::with_capacity(self.digits.len() + 2);
        for digit in &self.digits {
            inner.cut(*digit, &mut digits)?;
        }
        let offset = inner.offset.checked_add(inner.at(self.offset)?)?;
        (digits.len() <= DIGITS).then(|| Self {
            offset,
            ..Self::of(digits)
        })
    }

    /// Adds the digits of the buffer over which a digit of places moves.
    fn cut(&self, digit: Digit, digits: &mut Vec<Digit>) -> Option<()> {
        if digit.stride == 0 {
            digits.push(digit);
            return Some(());
        }
        let (mut reach, mut left, mut own) = (1_u64, digit, Vec::new());
        for inner in self.digits.iter().rev() {
            let end = reach.checked_mul(inner.size)?;
            if left.stride < end && left.size > 1 {
                (left.stride % reach == 0).then_some(())?;
                let steps = left.stride / reach;
                let room = inner.size.div_ceil(steps);
                let stride = inner.stride.checked_mul(steps)?;
                let size = left.size.min(room);
                own.insert(0, Digit { size, stride });
                (left.size % size == 0).then_some(())?;
                left.size /= size;
                if left.size > 1 {
                    (inner.size % steps == 0).then_some(())?;
                }
                left.stride = left.stride.checked_mul(size)?;
            }
            reach = end;
        }
        digits.extend(own);
        (left.size <= 1).then_some(())
    }

    /// The element at one place, without the offset.
    fn at(&self, mut place: u64) -> Option<u64> {
        let mut element = 0_u64;
        for digit in self.digits.iter().rev() {
            let value = place % digit.size.max(1);
            element = element.checked_add(value.checked_mul(digit.stride)?)?;
            place /= digit.size.max(1);
        }
        Some(element)
    }

    /// What of the buffer is accessed in a loop over this shape. A digit that ends inside a dimension is a division there.
    pub(super) fn access(&self, shape: &[u64]) -> Access {
        let mut ends = Vec::with_capacity(shape.len());
        let mut end = 1_u64;
        for &size in shape.iter().rev() {
            end = end.saturating_mul(size);
            ends.push(end);
        }
        let mut reach = 1_u64;
        for digit in self.digits.iter().rev() {
            reach = reach.saturating_mul(digit.size);
            if !ends.contains(&reach) {
                return Access::Unknown;
            }
        }
        let mut moved: Vec<Digit> = self.digits.clone();
        moved.retain(|digit| digit.stride != 0);
        moved.sort_by_key(|digit| std::cmp::Reverse(digit.stride));
        let mut hasher = FxHasher::default();
        Self::of(moved).digits.hash(&mut hasher);
        self.offset.hash(&mut hasher);
        Access::Of(hasher.finish())
    }

    /// The dimensions of a loop over this shape on which the place in the buffer depends.
    pub(super) fn loops(&self, shape: &[u64]) -> Loops {
        let Some(dimensions) = self.by_dimension(shape) else {
            return Loops::default();
        };
        let moves = |digits: &[Digit]| digits.iter().any(|digit| digit.stride != 0);
        let moving = dimensions
            .iter()
            .zip(shape)
            .filter(|(digits, _)| moves(digits));
        Loops::of(&moving.map(|(_, &size)| size).collect::<Vec<u64>>())
    }

    /// Whether elements are accessed in the order in which they lie.
    pub(super) fn is_straight(&self) -> bool {
        let moved = self.digits.iter().filter(|digit| digit.stride != 0);
        moved.is_sorted_by(|outer, inner| outer.stride >= inner.stride)
    }

    /// Number of elements that are accessed.
    pub(super) fn elements(&self) -> u64 {
        let moved = self.digits.iter().filter(|digit| digit.stride != 0);
        moved.fold(1, |n, digit| n.saturating_mul(digit.size))
    }

    /// How far a step is along the dimensions of a shape whose bits are set.
    pub(super) fn strides_along(&self, shape: &[u64], axes: u32) -> Option<Vec<u64>> {
        let dimensions = self.by_dimension(shape)?.into_iter().enumerate();
        let along = dimensions.filter(|&(place, _)| place < 32 && axes >> place & 1 == 1);
        let steps = along.filter_map(|(_, digits)| digits.last().map(|digit| digit.stride));
        Some(steps.collect())
    }

    /// Whether the place in the buffer depends on each dimension of a shape.
    pub(super) fn is_whole(&self, shape: &[u64]) -> bool {
        let moves = |digits: &Vec<Digit>| digits.iter().any(|digit| digit.stride != 0);
        self.by_dimension(shape).is_some_and(|dimensions| {
            let mut sized = dimensions.iter().zip(shape).filter(|&(_, &size)| size > 1);
            sized.all(|(digits, _)| moves(digits))
        })
    }
}

impl Access {
    /// The access of a buffer that is read in this many pieces, each by another row of a loop.
    pub(super) fn in_pieces(self, pieces: u64) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::Of(hash) => {
                let mut hasher = FxHasher::default();
                (hash, pieces).hash(&mut hasher);
                Self::Of(hasher.finish())
            }
        }
    }
}

/// For each element of the output of a view its place in the input; `None` if only the op's shapes are known, or if it moves
/// elements in another way.
pub(super) fn view_of_op(graph: &Graph, op: OpId) -> Option<View> {
    let definition = &graph.ops[op];
    let input = graph.tensor_shape(*graph.inputs[op].first()?)?;
    let rule = match definition.function.as_deref() {
        None => ShapeRule::Reshape,
        Some(function) => find(function)?.shape_rule,
    };
    let whole = View::whole(element_count(input)?);
    let strides = dense_strides(input);
    match rule {
        ShapeRule::Reshape => Some(whole),
        ShapeRule::Transpose => {
            let perm = definition.indexing.as_ref()?.perm.iter();
            let moved: Option<Vec<u64>> = perm.map(|&from| strides.get(from).copied()).collect();
            let moved = moved.filter(|moved| moved.len() == definition.shape.len())?;
            Some(View::strided(&definition.shape, &moved))
        }
        ShapeRule::Slice | ShapeRule::Split => {
            let indexing = definition.indexing.as_ref()?;
            let mut strides = strides;
            let stride = strides.get_mut(indexing.axis)?;
            let offset = stride.checked_mul(indexing.start)?;
            *stride = stride.checked_mul(indexing.step)?;
            let view = View::strided(&definition.shape, &strides);
            Some(View { offset, ..view })
        }
        ShapeRule::Expand => broadcast(input, definition),
        _ => None,
    }
}

/// The strides of a tensor in row-major order.
fn dense_strides(shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; shape.len()];
    let mut inner = 1_u64;
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = inner;
        inner = inner.saturating_mul(size);
    }
    strides
}

/// For each element of an op's output the element of a broadcast input that it reads; `None` if the shapes do not broadcast.
pub(super) fn broadcast(input: &[u64], reader: &Op) -> Option<View> {
    let shape = &reader.shape[..];
    let elements = element_count(input)?;
    if element_count(shape) == Some(elements) {
        return Some(View::whole(elements));
    }
    let outer = shape.len().checked_sub(input.len())?;
    let strides = dense_strides(input);
    let aligned = |first: usize| {
        let mut moved = Vec::with_capacity(shape.len());
        for (place, &size) in shape.iter().enumerate() {
            let own = place.checked_sub(first);
            match own.and_then(|own| Some((*input.get(own)?, *strides.get(own)?))) {
                Some((own, stride)) if own == size => moved.push(stride),
                Some((1, _)) | None => moved.push(0),
                Some(_) => return None,
            }
        }
        Some(View::strided(shape, &moved))
    };
    let function = reader.function.as_deref().and_then(find);
    if function.is_some_and(|f| f.shape_rule == ShapeRule::PerChannel) {
        return aligned(1);
    }
    aligned(outer).or_else(|| aligned(0))
}
