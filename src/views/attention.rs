//! Attention as one kernel: sizes to drag, tiles, and bytes by every count.

use crate::core::fusion::attention::{AttentionShape, LoopOrder, Tiles, growth};
use crate::core::model::device::Device;
use crate::markup::{ABSENT, Markup};
use crate::picture::charts::attention_growth::{AttentionView, LENGTH_POWERS};
use crate::present::format::{format_bytes, format_exact, format_flops, format_ratio};

/// Sizes that a visitor chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of Q, K and V; the same number, as in self-attention.
    pub shape: AttentionShape,
    /// Memory on chip, where it is not the device's.
    pub own_on_chip_bytes: Option<u64>,
    /// Which loop is outside.
    pub order: LoopOrder,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            shape: AttentionShape {
                heads: 16,
                group: 1,
                queries: 2048,
                keys: 2048,
                head_size: 64,
                bytes_per_element: 2,
            },
            own_on_chip_bytes: None,
            order: LoopOrder::default(),
        }
    }
}

/// A size that can be chosen, by the name in its fields' ids: `attention-NAME` slides, `attention-NAME-box` is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Rows, `n`; slides over powers of two.
    Length,
    /// Columns, `d`.
    HeadSize,
    /// KiB on chip, `m`.
    OnChip,
    /// Heads of all sequences, `heads`.
    Heads,
}

impl Sizes {
    /// The sizes of an attention in the program; its keys count as its length.
    #[must_use]
    pub const fn of_program(self, shape: AttentionShape) -> Self {
        Self {
            shape: AttentionShape {
                queries: shape.keys,
                ..shape
            },
            ..self
        }
    }

    /// What a field's id and value ask for; `None` where the value is no size.
    pub fn with(self, field: &str, value: &str) -> Option<Self> {
        let name = field.strip_prefix("attention-")?;
        let (name, is_box) = match name.strip_suffix("-box") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let size = Size::ALL.into_iter().find(|size| size.name() == name)?;
        let value: u64 = value.parse().ok()?;
        let most = size.most();
        let value = match size {
            Size::Length if !is_box => 1_u64.checked_shl(u32::try_from(value).ok()?)?,
            _ => value,
        };
        if !(1..=most).contains(&value) {
            return None;
        }
        let mut sizes = self;
        match size {
            Size::Length => (sizes.shape.queries, sizes.shape.keys) = (value, value),
            Size::HeadSize => sizes.shape.head_size = value,
            Size::OnChip => sizes.own_on_chip_bytes = Some(value * 1024),
            Size::Heads => sizes.shape.heads = value,
        }
        Some(sizes)
    }

    /// What the chart is drawn of.
    pub fn view(&self, device: &Device) -> AttentionView {
        AttentionView {
            shape: self.shape,
            on_chip_bytes: (self.own_on_chip_bytes).unwrap_or_else(|| device.on_chip_bytes()),
            order: self.order,
        }
    }
}

impl Size {
    const ALL: [Self; 4] = [Self::Length, Self::HeadSize, Self::OnChip, Self::Heads];

    const fn name(self) -> &'static str {
        match self {
            Self::Length => "n",
            Self::HeadSize => "d",
            Self::OnChip => "m",
            Self::Heads => "heads",
        }
    }

    /// The largest that can be typed; counts of bytes stay far below 2^64.
    const fn most(self) -> u64 {
        match self {
            Self::Length => 1 << 20,
            Self::HeadSize | Self::OnChip => 1024,
            Self::Heads => 1 << 16,
        }
    }
}

/// The fields. `in_program` is an attention of the visitor's own program, if there is one.
pub fn controls(sizes: &Sizes, device: &Device, in_program: Option<AttentionShape>) -> Markup {
    let mut markup = Markup::new();
    let shape = &sizes.shape;
    let on_chip_kib = sizes.view(device).on_chip_bytes / 1024;
    let length = shape.queries.max(1);
    slider(
        &mut markup,
        ["n", "N", "length of the sequence"],
        [
            (*LENGTH_POWERS.start()).into(),
            (*LENGTH_POWERS.end()).into(),
            1,
        ],
        length.ilog2().into(),
        length,
    );
    slider(
        &mut markup,
        ["d", "d", "size of a head"],
        [16, 256, 16],
        shape.head_size,
        shape.head_size,
    );
    slider(
        &mut markup,
        ["m", "M/KiB", "on chip"],
        [16, 512, 1],
        on_chip_kib,
        on_chip_kib,
    );
    markup.fill(
        r#"<div class="slider"><label for="attention-heads-box">heads</label><input type="number" id="attention-heads-box" inputmode="numeric" min="1" max="65536" step="1" value="{}"></div>"#,
        &[&shape.heads.to_string()],
    );
    let (over_queries, over_keys) = match sizes.order {
        LoopOrder::Queries => ("", ABSENT),
        LoopOrder::Keys => (ABSENT, ""),
    };
    markup.fill(
        r#"<fieldset><legend>Outer loop</legend><label class="radio"><input type="radio" name="attention-order" id="attention-order-queries" checked="{}"><span>over Q <small>FlashAttention-2: K and V are read again for each tile of Q</small></span></label><label class="radio"><input type="radio" name="attention-order" id="attention-order-keys" checked="{}"><span>over K and V <small>the first paper: O is read and written for each tile of K</small></span></label></fieldset>"#,
        &[over_queries, over_keys],
    );
    let device_text = ["M of ", &device.name].concat();
    let is_device = sizes.own_on_chip_bytes.is_none();
    let holds_already = in_program.is_none_or(|shape| sizes.of_program(shape) == *sizes);
    markup.fill(
        r#"<p class="attention-buttons"><button type="button" id="attention-device" aria-disabled="{}">{}</button><button type="button" id="attention-program" aria-disabled="{}">Sizes of the program</button></p>"#,
        &[flag(is_device), &device_text, flag(holds_already)],
    );
    markup
}

const fn flag(is_set: bool) -> &'static str {
    if is_set { "true" } else { "false" }
}

/// A slider and the box beside it; `[id, letter, name]`, `[least, most, step]`.
fn slider(
    markup: &mut Markup,
    [id, letter, name]: [&str; 3],
    [least, most, step]: [u64; 3],
    place: u64,
    value: u64,
) {
    let id = ["attention-", id].concat();
    let box_id = [&id, "-box"].concat();
    let name = [letter, ", ", name].concat();
    let exact = format_exact(value.into());
    markup.fill(
        r#"<div class="slider has-range"><label for="{}" title="{}">{}</label><input type="range" id="{}" aria-label="{}" aria-valuetext="{}" min="{}" max="{}" step="{}" value="{}"><input type="number" id="{}" aria-label="{}" inputmode="numeric" min="1" step="1" value="{}"></div>"#,
        &[
            &id,
            &name,
            letter,
            &id,
            &name,
            &exact,
            &least.to_string(),
            &most.to_string(),
            &step.to_string(),
            &place.to_string(),
            &box_id,
            &[&name, ", exact value"].concat(),
            &value.to_string(),
        ],
    );
}

/// Tiles, bytes and extra arithmetic.
pub fn figures(sizes: &Sizes, device: &Device) -> Markup {
    let view = sizes.view(device);
    let shape = &view.shape;
    let tiles = Tiles::new(shape, view.on_chip_bytes);
    let mut markup = Markup::new();
    markup.raw(r#"<table class="attention-table"><caption>Tiles</caption><thead><tr><th scope="col">of</th><th scope="col" class="number">rows in one</th><th scope="col" class="number">how many</th></tr></thead><tbody>"#);
    for (what, rows, count) in [
        (
            "K and V: B_c = ⌈M / 4d⌉, T_c = ⌈N / B_c⌉",
            tiles.key_rows,
            tiles.key_tiles,
        ),
        (
            "Q: B_r = min(B_c, d), T_r = ⌈N / B_r⌉",
            tiles.query_rows,
            tiles.query_tiles,
        ),
    ] {
        markup.fill(
            r#"<tr><th scope="row">{}</th><td class="number">{}</td><td class="number">{}</td></tr>"#,
            &[what, &format_exact(rows.into()), &format_exact(count.into())],
        );
    }
    markup.raw(r#"</tbody></table><table class="attention-table"><caption>Bytes of one forward pass</caption><thead><tr><th scope="col">count</th><th scope="col">elements of one head</th><th scope="col" class="number">bytes</th><th scope="col" class="number" title="bytes of three kernels over these">factor</th></tr></thead><tbody>"#);
    let formula_of_tiles = match view.order {
        LoopOrder::Queries => "2Nd + T_r · 2Nd + N",
        LoopOrder::Keys => "3Nd + 2N + T_c (3Nd + 4N)",
    };
    let counts = growth(
        shape,
        view.on_chip_bytes,
        view.order,
        std::iter::once(shape.queries),
    );
    // With g heads that share K and V: `2Nd + 2Nd / g` for all four.
    let (once, standard) = match shape.group {
        0 | 1 => ("4Nd", "4Nd + 4N²"),
        _ => ("2Nd + 2Nd / g", "2Nd + 2Nd / g + 4N²"),
    };
    if let Some(here) = counts.first() {
        for (key, name, formula, bytes) in [
            (
                "key-square",
                "three kernels, scores in memory",
                standard,
                here.standard_bytes,
            ),
            (
                "key-tile",
                "one kernel, each tile fetched anew",
                formula_of_tiles,
                here.tiled_bytes,
            ),
            (
                "key-line",
                "one kernel, every tensor once",
                once,
                here.compulsory_bytes,
            ),
        ] {
            let less = here.standard_bytes as f64 / bytes.max(1) as f64;
            markup.fill(
                r#"<tr><th scope="row"><span class="{}" aria-hidden="true"></span>{}</th><td>{}</td><td class="number" title="{}">{}</td><td class="number">{}</td></tr>"#,
                &[
                    &["curve-key ", key].concat(),
                    name,
                    formula,
                    &[&format_exact(bytes.into()), " B"].concat(),
                    &format_bytes(bytes),
                    &format_ratio(less),
                ],
            );
        }
    }
    markup.raw("</tbody></table>");
    notes(&mut markup, shape, tiles, device);
    markup
}

fn notes(markup: &mut Markup, shape: &AttentionShape, tiles: Tiles, device: &Device) {
    let head_bytes = shape.head_bytes();
    let head = format_bytes(head_bytes);
    let cache = match device.hardware.l2_bytes {
        Some(l2) if head_bytes as f64 <= l2.value => [
            "K and V of one head are ",
            &head,
            " and fit the last cache of ",
            &device.name,
            ": tiles that are fetched again come from there, and memory sees every tensor about once.",
        ]
        .concat(),
        Some(_) => [
            "K and V of one head are ",
            &head,
            ", more than the last cache of ",
            &device.name,
            " holds: tiles that are fetched again come from memory.",
        ]
        .concat(),
        None => ["K and V of one head are ", &head, "."].concat(),
    };
    if shape.group > 1 {
        markup.fill(
            r#"<p class="quiet">{}</p>"#,
            &[&[
                "Each head of K and V is shared by g = ",
                &shape.group.to_string(),
                " heads; tiles are fetched by each of them.",
            ]
            .concat()],
        );
    }
    let more = shape.rescaling(tiles).vector_flops;
    markup.fill(
        r#"<p class="quiet">{}</p><p class="quiet">{}</p><p class="quiet">The rest of the page counts every tensor once, also where attention runs as one kernel.</p>"#,
        &[
            &cache,
            &["Rescaling for each tile of keys adds ", &format_flops(more), "; backward, in the first paper's order, all tiles move ", &format_bytes(shape.backward_bytes(tiles)), "."].concat(),
        ],
    );
}
