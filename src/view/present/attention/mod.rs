//! The tab on attention: sizes that a visitor chooses, tiles, and bytes by each count.

mod figures;
mod walk;

pub use figures::{ByteRow, TileRow, byte_rows, tile_rows};
pub use walk::{AttentionWalk, RowUpdate, bytes_so_far, on_chip_rows, row_updates, walk_words};

use crate::present::format::{format_bytes, format_flops};
use crate::present::names::counted;
use crate::present::options::ChoiceWords;
use fuseline_core::DType;
use fuseline_core::fusion::attention::{AttentionShape, Growth, LoopOrder, Tiles, TypedAttention};
use fuseline_core::model::device::Device;
use std::ops::RangeInclusive;
use strum::{EnumIter, IntoStaticStr};

/// Lengths of the sequence on the slider and in the chart, as powers of two: 128 to 131,072.
pub const LENGTH_POWERS: RangeInclusive<u32> = 7..=17;

/// Sizes that a visitor chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionSizes {
    /// Rows of Q, rows of K and V, and the other sizes.
    pub shape: AttentionShape,
    /// The element type, if more than its width is known.
    pub dtype: Option<DType>,
    /// Q has as many rows as K and V and follows them, as in self-attention.
    pub is_self: bool,
    /// On-chip memory, if it is not that of the device.
    pub own_on_chip_bytes: Option<u64>,
    /// The outer loop.
    pub order: LoopOrder,
}

impl Default for AttentionSizes {
    fn default() -> Self {
        Self {
            shape: AttentionShape {
                heads: 16,
                group: 1,
                queries: 2048,
                keys: 2048,
                head_size: 64,
                bytes_per_element: 2,
                key_bytes_per_element: 2,
            },
            dtype: Some(DType::F16),
            is_self: true,
            own_on_chip_bytes: None,
            order: LoopOrder::default(),
        }
    }
}

/// A size that can be chosen. Its name is part of the ids of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
pub enum AttentionSize {
    /// Rows of K and V; of Q as well in self-attention.
    #[strum(serialize = "n")]
    Length,
    /// Rows of Q.
    #[strum(serialize = "nq")]
    Queries,
    /// Columns of Q, K and V.
    #[strum(serialize = "d")]
    HeadSize,
    /// On-chip memory in KiB.
    #[strum(serialize = "m")]
    OnChip,
    /// Number of heads of all sequences.
    #[strum(serialize = "heads")]
    Heads,
}

/// The positions of a slider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliderRange {
    pub min: u64,
    pub max: u64,
    pub step: u64,
}

impl AttentionSize {
    /// The letter of the size in formulas.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Length => "N",
            Self::Queries => "N_q",
            Self::HeadSize => "d",
            Self::OnChip => "M/KiB",
            Self::Heads => "heads",
        }
    }

    /// The letter of the size and its meaning.
    pub fn name(self) -> String {
        let what = match self {
            Self::Length => "rows of K and V",
            Self::Queries => "rows of Q",
            Self::HeadSize => "size of a head",
            Self::OnChip => "on chip",
            Self::Heads => return self.letter().to_owned(),
        };
        format!("{}, {what}", self.letter())
    }

    /// The largest value that can be typed, which keeps counts of bytes far below 2^64.
    pub const fn max(self) -> u64 {
        match self {
            Self::Length | Self::Queries => 1 << 20,
            Self::HeadSize | Self::OnChip => 1024,
            Self::Heads => 1 << 16,
        }
    }

    /// The positions of the slider; `None` for a size that can only be typed. The slider of the
    /// length has powers of two.
    pub fn slider(self) -> Option<SliderRange> {
        let (min, max, step) = match self {
            Self::Length => (
                (*LENGTH_POWERS.start()).into(),
                (*LENGTH_POWERS.end()).into(),
                1,
            ),
            Self::HeadSize => (16, 256, 16),
            Self::OnChip => (16, 512, 1),
            Self::Queries | Self::Heads => return None,
        };
        Some(SliderRange { min, max, step })
    }
}

impl AttentionSizes {
    /// The sizes and the type of an attention in the program.
    #[must_use]
    pub const fn of_program(self, TypedAttention { shape, dtype }: TypedAttention) -> Self {
        Self {
            is_self: shape.queries == shape.keys,
            shape,
            dtype,
            ..self
        }
    }

    /// The type, such as `f16, 2 bytes per element`, and the program's type if that differs.
    pub fn type_words(&self, in_program: Option<TypedAttention>) -> String {
        let words = |shape: AttentionShape, dtype: Option<DType>| {
            let width = counted(shape.bytes_per_element as usize, "byte");
            let name = dtype.map_or_else(String::new, |dtype| format!("{}, ", dtype.name()));
            let of_keys = match shape.key_bytes_per_element {
                same if same == shape.bytes_per_element => String::new(),
                own => format!(", {own} of K and V"),
            };
            format!("{name}{width} per element{of_keys}")
        };
        let own = words(self.shape, self.dtype);
        let of_program = in_program.map(|of_program| words(of_program.shape, of_program.dtype));
        match of_program.filter(|of_program| *of_program != own) {
            Some(of_program) => format!("{own}. The program has {of_program}."),
            None => own,
        }
    }

    /// The sizes with self-attention, where Q has as many rows as K and V, or without.
    #[must_use]
    pub const fn with_self_attention(mut self, is_self: bool) -> Self {
        self.is_self = is_self;
        self.at_length(self.shape.keys)
    }

    /// The sizes at another length of K and V.
    const fn at_length(mut self, length: u64) -> Self {
        self.shape.keys = length;
        if self.is_self {
            self.shape.queries = length;
        }
        self
    }

    /// The sizes after a slider was moved; `None` if the position has no size.
    pub fn with_slider(self, size: AttentionSize, place: &str) -> Option<Self> {
        let place: u64 = place.parse().ok()?;
        let value = match size {
            AttentionSize::Length => 1_u64.checked_shl(u32::try_from(place).ok()?)?,
            _ => place,
        };
        self.with(size, value)
    }

    /// The sizes after a value was typed; `None` if it is not a size.
    pub fn with_typed(self, size: AttentionSize, value: &str) -> Option<Self> {
        self.with(size, value.parse().ok()?)
    }

    fn with(mut self, size: AttentionSize, value: u64) -> Option<Self> {
        if !(1..=size.max()).contains(&value) {
            return None;
        }
        match size {
            AttentionSize::Length => self = self.at_length(value),
            AttentionSize::Queries => {
                self.is_self = false;
                self.shape.queries = value;
            }
            AttentionSize::HeadSize => self.shape.head_size = value,
            AttentionSize::OnChip => self.own_on_chip_bytes = Some(value * 1024),
            AttentionSize::Heads => self.shape.heads = value,
        }
        Some(self)
    }

    /// The present value of a size.
    pub fn value(&self, size: AttentionSize, device: &Device) -> u64 {
        match size {
            AttentionSize::Length => self.shape.keys,
            AttentionSize::Queries => self.shape.queries,
            AttentionSize::HeadSize => self.shape.head_size,
            AttentionSize::OnChip => self.on_chip_bytes(device) / 1024,
            AttentionSize::Heads => self.shape.heads,
        }
    }

    /// The position of the slider of a size.
    pub fn slider_place(&self, size: AttentionSize, device: &Device) -> u64 {
        let value = self.value(size, device);
        match size {
            AttentionSize::Length => value.max(1).ilog2().into(),
            _ => value,
        }
    }

    /// On-chip memory of one block, in bytes.
    pub fn on_chip_bytes(&self, device: &Device) -> u64 {
        self.own_on_chip_bytes
            .unwrap_or_else(|| device.on_chip_bytes())
    }

    /// The bytes at a length of K and V.
    pub fn growth_at(&self, length: u64, device: &Device) -> Growth {
        let shape = self.at_length(length).shape;
        Growth::of(&shape, self.on_chip_bytes(device), self.order)
    }
}

/// What the tab counts: the attention of the program, until the visitor changes one of its sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttentionChoice {
    sizes: AttentionSizes,
    is_own: bool,
}

impl AttentionChoice {
    /// The sizes that are counted.
    pub fn sizes(&self, in_program: Option<TypedAttention>) -> AttentionSizes {
        match in_program {
            Some(of_program) if !self.is_own => self.sizes.of_program(of_program),
            _ => self.sizes,
        }
    }

    /// The choice with other sizes.
    ///
    /// Sizes that equal the program's, except for loop order and on-chip memory, keep following the
    /// program.
    #[must_use]
    pub fn with(self, sizes: AttentionSizes, in_program: Option<TypedAttention>) -> Self {
        let is_own = if let Some(of_program) = in_program {
            sizes != sizes.of_program(of_program)
        } else {
            let before = self.sizes;
            self.is_own || (sizes.shape, sizes.is_self) != (before.shape, before.is_self)
        };
        Self { sizes, is_own }
    }
}

/// Over which tiles the outer loop goes.
pub const fn loop_words(order: LoopOrder) -> ChoiceWords {
    match order {
        LoopOrder::Queries => ChoiceWords {
            name: "over Q",
            sentence: "FlashAttention-2: K and V are read again for each tile of Q.",
        },
        LoopOrder::Keys => ChoiceWords {
            name: "over K and V",
            sentence: "The first FlashAttention paper: O is read and written for each tile of K.",
        },
    }
}

/// A way to count the bytes of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter)]
pub enum AttentionCount {
    /// Three kernels. In self-attention the bytes grow with the square of the length.
    ScoresInMemory,
    /// One kernel without a cache.
    TilesFetchedAnew,
    /// One kernel and a cache that holds K and V of one head. The bytes grow with the length.
    TensorsOnce,
}

impl AttentionCount {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ScoresInMemory => "three kernels, scores go through memory",
            Self::TilesFetchedAnew => "one kernel, each tile loaded again",
            Self::TensorsOnce => "one kernel, compulsory traffic",
        }
    }

    pub const fn bytes(self, growth: &Growth) -> u64 {
        match self {
            Self::ScoresInMemory => growth.standard_bytes,
            Self::TilesFetchedAnew => growth.tiled_bytes,
            Self::TensorsOnce => growth.compulsory_bytes,
        }
    }

    /// The elements of one head as a formula.
    ///
    /// Self-attention has the formula of the papers; otherwise Q has `N_q` rows. If g heads share K
    /// and V, these have `2Nd / g` elements.
    const fn formula(self, sizes: &AttentionSizes) -> &'static str {
        match (self, sizes.is_self, sizes.shape.group, sizes.order) {
            (Self::ScoresInMemory, true, 0 | 1, _) => "4Nd + 4N²",
            (Self::ScoresInMemory, true, ..) => "2Nd + 2Nd / g + 4N²",
            (Self::ScoresInMemory, false, 0 | 1, _) => "2N_q d + 2Nd + 4N_q N",
            (Self::ScoresInMemory, false, ..) => "2N_q d + 2Nd / g + 4N_q N",
            (Self::TilesFetchedAnew, true, _, LoopOrder::Queries) => "2Nd + T_r · 2Nd + N",
            (Self::TilesFetchedAnew, true, _, LoopOrder::Keys) => "3Nd + 2N + T_c (3Nd + 4N)",
            (Self::TilesFetchedAnew, false, _, LoopOrder::Queries) => "2N_q d + T_r · 2Nd + N_q",
            (Self::TilesFetchedAnew, false, _, LoopOrder::Keys) => {
                "2Nd + N_q d + 2N_q + T_c (3N_q d + 4N_q)"
            }
            (Self::TensorsOnce, true, 0 | 1, _) => "4Nd",
            (Self::TensorsOnce, true, ..) => "2Nd + 2Nd / g",
            (Self::TensorsOnce, false, 0 | 1, _) => "2N_q d + 2Nd",
            (Self::TensorsOnce, false, ..) => "2N_q d + 2Nd / g",
        }
    }
}

/// What else to know about the figures, in sentences.
pub fn notes(sizes: &AttentionSizes, device: &Device) -> Vec<String> {
    let shape = &sizes.shape;
    let tiles = Tiles::new(shape, sizes.on_chip_bytes(device));
    let (head_bytes, name) = (shape.head_bytes(), &device.name);
    let head = format!("K and V of one head are {}", format_bytes(head_bytes));
    let shared = (shape.group > 1).then(|| {
        let group = shape.group;
        format!(
            "g = {group} query heads share each head of K and V, and each query head loads its own tiles."
        )
    });
    let cache = match device.hardware.l2_bytes {
        Some(l2) if head_bytes as f64 <= l2.value => format!(
            "{head} and fit in the last-level cache of {name}. Tiles that are loaded again come from there, so the memory traffic is about the compulsory traffic."
        ),
        Some(_) => format!(
            "{head}, more than the last-level cache of {name} holds. Tiles that are loaded again come from memory."
        ),
        None => format!("{head}."),
    };
    let rescaling = format!(
        "Rescaling adds {} over all tiles of keys. The backward pass with the loop over K and V has {} of memory traffic.",
        format_flops(shape.rescaling(tiles).vector_flops),
        format_bytes(shape.backward_bytes(tiles)),
    );
    let rest = "The rest of the page counts compulsory traffic, also for fused attention.";
    let all = [shared, Some(cache), Some(rescaling), Some(rest.to_owned())];
    all.into_iter().flatten().collect()
}
