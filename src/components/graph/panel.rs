//! The panel of the graph, with the switch between fused and unfused.

use super::canvas::GraphCanvas;
use super::search::GraphSearch;
use crate::app::stage::is_staged;
use crate::app::state::Page;
use crate::components::bar::fusion_menu::FusionMenu;
use crate::components::bar::pickers::PolicyPicker;
use crate::components::charts::enlarged_chart::EnlargedChart;
use crate::components::headline::FullScreenHeadline;
use crate::components::inspector::Inspector;
use crate::components::radio_button::RadioButton;
use fuseline_browser as browser;
use fuseline_view::page::view::View;
use fuseline_view::picture::dag::looks::widest_edge;
use fuseline_view::present::format::format_bytes;
use leptos::html;
use leptos::prelude::*;

/// The graph with the switch above, its legend and the search below.
#[component]
pub fn GraphPanel(
    /// Whether the page shows it alone in a frame.
    #[prop(optional)]
    is_embedded: bool,
) -> impl IntoView {
    let page = Page::of_context();
    let panel = NodeRef::<html::Section>::new();
    let fills_screen = browser::is_full_screen(panel);
    // What the width of a line means.
    let widest = Memo::new(move |_| {
        let is_fused = page.chosen.is_fused.get();
        (page.analysis).with(|analysis| widest_edge(analysis, is_fused))
    });
    let widest_bytes = move || {
        let (bytes, _) = widest.get()?;
        Some(format!(", ≤ {}", format_bytes(bytes)))
    };
    let has_views = Memo::new(move |_| {
        (page.analysis)
            .with(|analysis| analysis.unfused.kernels.iter().any(|kernel| kernel.is_free))
    });
    let widest_px = move || widest.get().map(|(_, width_px)| width_px);
    let enlarged = EnlargedChart::of_context();
    view! {
        <section class="panel graph" node_ref=panel class:is-staged=is_staged(View::Graph) aria-labelledby="graph-title">
            <header class="panel-head">
                <h2 id="graph-title">"Graph"</h2>
                // Where the policies beside the headline are not in sight.
                <Show when=move || fills_screen.get() || is_embedded>
                    <div class="graph-policy">
                        <PolicyPicker />
                        <FusionMenu />
                    </div>
                </Show>
                <fieldset class="switch" title="Ctrl+Enter" aria-keyshortcuts="Control+Enter">
                    <legend class="sr-only">"Show the graph"</legend>
                    <RadioButton set="graph-view" is_chosen=move || !page.shows_fused() choose=move || page.show_unfused()>
                        "Unfused"
                    </RadioButton>
                    <RadioButton set="graph-view" is_chosen=Signal::derive(move || page.shows_fused()) choose=move || page.show_fused()>
                        "Fused"
                    </RadioButton>
                </fieldset>
            </header>
            <Show when=move || fills_screen.get()>
                <FullScreenHeadline />
            </Show>
            <div class="graph-slot" class:is-stale=page.checked.is_grey>
                <GraphCanvas panel>
                    <ul class="legend dag-legend">
                        <li><svg width="22" height="10" aria-hidden="true"><path class="dag-dram" stroke-width=widest_px d="M1 5H21"></path></svg>"through memory" {widest_bytes}</li>
                        <li><svg width="22" height="8" aria-hidden="true"><path class="dag-on-chip" d="M1 4H21"></path></svg>"stays on chip"</li>
                        <Show when=move || has_views.get()>
                            <li class="dag-edge is-view"><svg width="22" height="8" aria-hidden="true"><path class="dag-on-chip" d="M1 4H21"></path></svg>"view, no copy"</li>
                        </Show>
                    </ul>
                    <GraphSearch />
                </GraphCanvas>
                // A dialog has the card of what is pressed in it.
                <Show when=move || !enlarged.is_shown()>
                    <Inspector />
                </Show>
            </div>
        </section>
    }
}
