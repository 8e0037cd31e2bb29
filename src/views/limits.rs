//! What each kernel asks of the device, and when fusing it hurts.

use super::badge::kernel_class;
use crate::core::analysis::limits::{KernelLimits, Warning, limits};
use crate::core::{Analysis, KernelId};
use crate::markup::Markup;
use crate::present::explain::op_names;
use crate::present::format::{format_bytes, format_exact, format_percent, more_kernels};

/// Rows that are shown.
const ROWS: usize = 200;

/// What the device leaves unsaid.
fn unknown(analysis: &Analysis) -> Markup {
    let mut markup = Markup::new();
    markup.fill(
        r#"<p class="quiet">{}</p>"#,
        &[&[
            "The multiprocessors of ",
            &*analysis.options.device.name,
            " are not known, so what its kernels ask of them is not either. Choose another device.",
        ]
        .concat()],
    );
    markup
}

/// A row for each fused kernel of `analysis`, the selected one marked. `O(ops + reads)`.
pub fn table(analysis: &Analysis, selected: Option<KernelId>) -> Markup {
    let Some(limits) = limits(analysis) else {
        return unknown(analysis);
    };
    let mut markup = Markup::new();
    markup.raw(r#"<table class="limits"><thead><tr><th scope="col">#</th><th scope="col">ops</th><th scope="col" class="number" title="what one block wants / what it may have">on chip</th><th scope="col" class="number" title="estimate of one thread, before spills">registers</th><th scope="col" class="number" title="resident threads / those that a multiprocessor could hold">occupancy</th><th scope="col" class="number">blocks</th><th scope="col" class="number" title="rounds of blocks">waves</th><th scope="col" class="number" title="part of the slots of all waves that compute, and of the tiles that lies inside the output">wave · tile efficiency</th><th scope="col">worth knowing</th></tr></thead><tbody>"#);
    for (kernel, limits) in limits.iter_enumerated().take(ROWS) {
        row(
            &mut markup,
            analysis,
            kernel,
            limits,
            selected == Some(kernel),
        );
    }
    markup.raw("</tbody></table>");
    if limits.len() > ROWS {
        let more = more_kernels(limits.len() - ROWS);
        markup.fill(r#"<p class="quiet">and {}</p>"#, &[&more]);
    }
    markup
}

fn row(
    markup: &mut Markup,
    analysis: &Analysis,
    kernel: KernelId,
    limits: &KernelLimits,
    is_selected: bool,
) {
    let place = kernel.to_string();
    let number = kernel.number().to_string();
    let fused = analysis.fused.kernels.get(kernel);
    let ops = fused.map_or_else(String::new, |fused| op_names(&analysis.graph, fused));
    // A view that nobody launches asks for nothing.
    let is_free = fused.is_none_or(|fused| fused.is_free);
    let launched = |text: String| if is_free { "–".to_owned() } else { text };
    let on_chip = [
        &format_bytes(limits.on_chip_bytes),
        " / ",
        &format_bytes(limits.on_chip_available_bytes),
    ];
    let tiles = limits.tiling.map_or_else(
        || "–".to_owned(),
        |tiling| {
            [
                &format_percent(tiling.wave_efficiency * 100.0),
                " · ",
                &format_percent(tiling.tile_efficiency * 100.0),
            ]
            .concat()
        },
    );
    let selected = if is_selected { " is-selected" } else { "" };
    markup.fill(
        r#"<tr class="{}" data-kernel="{}"><td><button type="button" class="badge" id="{}" aria-pressed="{}" aria-label="{}">{}</button></td><td class="op-names">{}</td><td class="number">{}</td><td class="number" title="{}">{}</td><td class="number">{}</td><td class="number">{}</td><td class="number">{}</td><td class="number">{}</td><td class="limit-warnings">{}</td></tr>"#,
        &[
            &["kernel-row ", &kernel_class(kernel), selected].concat(),
            &place,
            &["limit-button-", &place].concat(),
            if is_selected { "true" } else { "false" },
            &["limits of kernel ", &number, ": ", &ops].concat(),
            &number,
            &ops,
            &launched(on_chip.concat()),
            &[&limits.live_values.to_string(), " values live at once"].concat(),
            &launched(limits.registers_per_thread.to_string()),
            &launched(format_percent(limits.occupancy * 100.0)),
            &launched(format_exact(limits.blocks.into())),
            &launched(format_exact(limits.waves.into())),
            &tiles,
            &joined(limits, |_| true),
        ],
    );
}

fn joined(limits: &KernelLimits, is_wanted: fn(&Warning) -> bool) -> String {
    let wanted = limits.warnings.iter().filter(|warning| is_wanted(warning));
    wanted.map(Warning::text).collect::<Vec<_>>().join("; ")
}

/// For each kernel of `analysis` what would hurt, in words; empty where nothing does.
pub fn warnings(analysis: &Analysis) -> Vec<String> {
    let limits = limits(analysis).unwrap_or_default();
    let hurting = |limits| joined(limits, Warning::hurts);
    limits.iter().map(hurting).collect()
}
