//! Prose as elements: text reaches the page as text, never as markup.

use fuseline_learn::lesson::prose::{Inline, ProsePart};
use fuseline_learn::lesson::state::AnalyzedProgram;
use leptos::prelude::*;

/// Paragraphs, lists and code. Figures have their values in what the engine sees.
pub fn prose(parts: &[ProsePart], seen: Option<&AnalyzedProgram>) -> impl IntoView + use<> {
    let parts = parts.iter().map(|part| match part {
        ProsePart::Paragraph(content) => view! { <p>{inlines(content, seen)}</p> }.into_any(),
        ProsePart::List { is_numbered, items } => {
            let items = items
                .iter()
                .map(|item| view! { <li>{inlines(item, seen)}</li> });
            let items = items.collect_view();
            if *is_numbered {
                view! { <ol>{items}</ol> }.into_any()
            } else {
                view! { <ul>{items}</ul> }.into_any()
            }
        }
        ProsePart::Code(code) => view! { <pre><code>{code.clone()}</code></pre> }.into_any(),
    });
    parts.collect_view()
}

/// The parts of a line.
pub fn inlines(content: &[Inline], seen: Option<&AnalyzedProgram>) -> Vec<AnyView> {
    content.iter().map(|inline| one(inline, seen)).collect()
}

fn one(inline: &Inline, seen: Option<&AnalyzedProgram>) -> AnyView {
    match inline {
        Inline::Text(text) => text.clone().into_any(),
        Inline::Code(code) => view! { <code>{code.clone()}</code> }.into_any(),
        Inline::Emphasis(content) => view! { <em>{inlines(content, seen)}</em> }.into_any(),
        Inline::Strong(content) => view! { <strong>{inlines(content, seen)}</strong> }.into_any(),
        Inline::Figure(figure) => {
            let quantity = figure.quantity.to_string();
            match seen.map(|seen| figure.text(seen)) {
                Some(Ok(text)) => {
                    view! { <span class="figure" title=quantity>{text}</span> }.into_any()
                }
                Some(Err(problem)) => {
                    view! { <span class="figure is-missing" title=problem.to_string()>"?"</span> }
                        .into_any()
                }
                None => {
                    view! { <span class="figure is-missing" title=quantity>"?"</span> }.into_any()
                }
            }
        }
        Inline::Link { address, content } => {
            let is_elsewhere = !address.starts_with('#');
            view! {
                <a
                    href=address.clone()
                    target=is_elsewhere.then_some("_blank")
                    rel=is_elsewhere.then_some("noopener noreferrer")
                >
                    {inlines(content, seen)}
                </a>
            }
            .into_any()
        }
    }
}
