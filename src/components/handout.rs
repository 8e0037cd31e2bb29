//! A handout of the program: two sheets that are shown as they print.

use crate::app::queries;
use crate::app::state::{Page, SetIfChanged};
use crate::components::paper::Paper;
use fuseline_browser as browser;
use fuseline_view::picture::export::{HandoutPictures, PictureKind};
use fuseline_view::present::advice::AdviceRow;
use fuseline_view::present::handout::{COLUMNS, KERNEL_ROWS, SheetRow, largest_kernels};
use fuseline_view::present::quantity::Quantity;
use fuseline_view::present::saved::Saved;
use fuseline_view::present::setup::setup;
use leptos::either::Either;
use leptos::prelude::*;
use std::sync::Arc;

/// The sheets, over the page, which is not printed meanwhile. Escape closes it.
#[component]
pub fn Handout() -> impl IntoView {
    let page = Page::of_context();
    view! {
        <Show when=move || page.screen.is_handout_open.get()>
            <Sheets />
        </Show>
    }
}

#[component]
fn Sheets() -> impl IntoView {
    let page = Page::of_context();
    // Until the worker has drawn them, there are words in the place of pictures.
    let pictures = Memo::new(move |_| {
        page.ask(queries::Handout {
            is_fused: page.chosen.is_fused.get(),
            folding: page.pictures.drawing.folding(),
        })
    });
    let picture = move |class: &'static str,
                        of: fn(&HandoutPictures) -> &str,
                        words: &'static str| {
        let source =
            move || pictures.with(|pictures| Some(browser::svg_address(of(pictures.as_deref()?))));
        view! { <img class=class src=source alt=words /> }
    };
    let choices = move || (page.shown).with(|shown| setup(&shown.options, shown.program()));
    let choice = |(name, value): (&'static str, String)| view! { <dt>{name}</dt> <dd>{value}</dd> };
    view! {
        <Paper
            label="Handout"
            on_close=move || page.screen.is_handout_open.set_if_changed(false)
            bar=view! { <p>"Two pages, A4 or Letter"</p> }
        >
            <article class="sheet">
                <h2>{move || page.program_name()}</h2>
                <p>{move || page.headline_sentence()}</p>
                {move || page.shown_note().map(|note| view! { <p><strong>{page.note_label()}</strong><bdi>{note.to_string()}</bdi></p> })}
                <dl>{move || choices().into_iter().map(choice).collect_view()}</dl>
                {picture("handout-graph", |of| &of.graph, "Graph of the operations and their kernels")}
                <p class="sheet-key">{move || PictureKind::Graph.key(page.chosen.is_fused.get())}</p>
            </article>
            <article class="sheet">
                <h2>{move || page.program_name()} ": roofline, memory and kernels"</h2>
                {picture("handout-roofline", |of| &of.roofline, "Roofline")}
                <p class="sheet-key">{move || PictureKind::Roofline.key(page.chosen.is_fused.get())}</p>
                {picture("handout-timeline", |of| &of.timeline, "Memory timeline")}
                <p class="sheet-key">{move || PictureKind::Timeline.key(page.chosen.is_fused.get())}</p>
                {picture("handout-traffic", |of| &of.traffic, "Memory traffic, unfused and fused")}
                <p class="sheet-key">{move || PictureKind::Traffic.key(page.chosen.is_fused.get())}</p>
                <KernelList />
                <AdviceList />
            </article>
        </Paper>
    }
}

/// The kernels with the most memory traffic.
#[component]
fn KernelList() -> impl IntoView {
    let page = Page::of_context();
    let listed = Memo::new(move |_| {
        page.analysis
            .with(|analysis| largest_kernels(analysis, KERNEL_ROWS))
    });
    let rows = move || {
        let rows = listed.with(|listed| listed.rows.clone());
        let row = |row: SheetRow| {
            view! {
                <tr>
                    <th scope="row">{row.kernel.number()}</th>
                    <td class="sheet-ops">{row.ops}</td>
                    {row.numbers.into_iter().map(|number| view! { <td>{number}</td> }).collect_view()}
                </tr>
            }
        };
        rows.into_iter().map(row).collect_view()
    };
    let head = move |(head, quantity): (&'static str, Quantity)| match quantity {
        Quantity::Time => Either::Left(
            view! { <th scope="col">{move || listed.with(|listed| listed.time_title)}</th> },
        ),
        _ => Either::Right(view! { <th scope="col">{head}</th> }),
    };
    view! {
        <table>
            <thead>
                <tr>
                    <th scope="col">"#"</th>
                    <th scope="col" class="sheet-ops">"ops"</th>
                    {COLUMNS.map(head).collect_view()}
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
        <p class="sheet-key">{move || listed.with(|listed| listed.rest.clone())}</p>
    }
}

/// What would save time.
#[component]
fn AdviceList() -> impl IntoView {
    const MOST: usize = 3;
    let page = Page::of_context();
    let rows = Memo::new(move |_| {
        let rows = page.ask(queries::Advice).map(Arc::unwrap_or_clone);
        let mut rows = rows.unwrap_or_default();
        rows.retain(AdviceRow::matters);
        rows
    });
    let item = |row: AdviceRow| {
        let words = format!(
            "{} Saves {} ({}).",
            row.action.replace('`', ""),
            row.saved(Saved::Time),
            row.saved(Saved::Share)
        );
        view! { <li>{words}</li> }
    };
    view! {
        <Show when=move || rows.with(|rows| !rows.is_empty())>
            <h3>"What to do"</h3>
            <ol>{move || rows.get().into_iter().take(MOST).map(item).collect_view()}</ol>
        </Show>
    }
}
