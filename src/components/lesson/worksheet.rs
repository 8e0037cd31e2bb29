//! A lesson on paper: questions with space, an empty roofline, the way to the page, and the key on a sheet of its own.

use super::prose::{inlines, prose};
use crate::STYLE_SHEETS;
use crate::app::learning::Learning;
use crate::app::sharing::lesson_link;
use crate::components::paper::Paper;
use crate::components::presenter::qr_code::QrCode;
use crate::components::sentence::sentence;
use fuseline_browser as browser;
use fuseline_learn::worksheet::{Field, Listing, Question, Worksheet};
use fuseline_view::picture::charts::roofline::empty_scene;
use fuseline_view::picture::export::chart;
use leptos::prelude::*;

/// The sheets of the open lesson, over the page, which is not printed meanwhile. Escape closes them.
#[component]
pub fn WorksheetDialog(
    /// The lessons.
    learning: Learning,
) -> impl IntoView {
    view! {
        <Show when=move || learning.is_worksheet_open.get()>
            <Sheets learning />
        </Show>
    }
}

#[component]
fn Sheets(
    /// The lessons.
    learning: Learning,
) -> impl IntoView {
    let seed = RwSignal::new(0_u32);
    let link = RwSignal::new(None::<Result<String, String>>);
    if let Some(open) = learning.open.get_untracked() {
        browser::spawn(async move {
            let made = lesson_link(&open, 0).await;
            link.set(Some(made.map_err(str::to_owned)));
        });
    }
    let sheets = move || {
        let seed = seed.get();
        let sheet =
            (learning.open).with(|open| Some(Worksheet::new(&open.as_ref()?.lesson, seed)))?;
        Some(view! {
            {questions(&sheet, link)}
            {key(&sheet)}
        })
    };
    let bar = view! {
                <p>"Two pages of questions, and the key on a page of its own. Sheet 0 has the numbers of the lesson, each other sheet has other ones."</p>
                <label>
                    "Sheet "
                    <input
                        type="number"
                        min="0"
                        step="1"
                        inputmode="numeric"
                        prop:value=move || seed.get().to_string()
                        on:change:target=move |event| {
                            if let Ok(typed) = event.target().value().parse() {
                                seed.set(typed);
                            }
                        }
                    />
                </label>
                <button type="button" class="button" on:click=move |_| seed.update(|seed| *seed = seed.wrapping_add(1))>"Use other numbers"</button>
    };
    view! {
        <Paper
            label="Worksheet"
            class="worksheet"
            on_close=move || learning.is_worksheet_open.set(false)
            bar
        >
            {sheets}
        </Paper>
    }
}

fn questions(
    sheet: &Worksheet,
    link: RwSignal<Option<Result<String, String>>>,
) -> impl IntoView + use<> {
    let rows = sheet.questions.iter().map(question).collect_view();
    let roofline = sheet.questions.first().and_then(|first| {
        let seen = first.states.asked.seen()?;
        // As wide as the paper, so that its words have their size.
        let scene = empty_scene(&seen.analysis, (680.0, 230.0));
        let source = browser::svg_address(&chart(&scene, true).bare_svg(STYLE_SHEETS));
        let about = format!(
            "A roofline to draw into: {}, with the roofs for the program of question 1.",
            seen.analysis.options.device.name
        );
        Some(view! {
            <figure class="paper-roofline">
                <img src=source alt="Empty roofline" />
                <figcaption class="sheet-key">{about}</figcaption>
            </figure>
        })
    });
    view! {
        <article class="sheet paper-questions">
            <header class="paper-head">
                <div>
                    <h2>{sheet.title.clone()}</h2>
                    <p class="paper-name">"Name" <span class="paper-line"></span> "Date" <span class="paper-line"></span></p>
                    <p class="sheet-key">{format!("Sheet {}. The code on the right opens the lesson.", sheet.seed)}</p>
                </div>
                <aside class="paper-code">{move || link.get().map(|link| view! { <QrCode link /> })}</aside>
            </header>
            <ol class="paper-list">{rows}</ol>
            {roofline}
        </article>
    }
}

fn question(question: &Question) -> impl IntoView + use<> {
    let setting = question.setting.join(" ");
    let setting = (!setting.is_empty()).then(|| view! { <p class="sheet-key">{setting}</p> });
    let listing = match &question.listing {
        Listing::Whole(lines) => {
            view! { <pre><code>{lines.clone()}</code></pre> }.into_any()
        }
        Listing::Sizes(lines) => view! {
            <p class="sheet-key">"The program of the question before, with"</p>
            <pre><code>{lines.clone()}</code></pre>
        }
        .into_any(),
        Listing::Same => {
            view! { <p class="sheet-key">"The program of the question before."</p> }.into_any()
        }
        Listing::OnPage(lines) => view! {
            <p class="sheet-key">{format!("The program has {lines} lines. The page shows it, in step {}.", question.step + 1)}</p>
        }
        .into_any(),
    };
    view! {
        <li class="paper-question">
            <h3>{question.title.clone()}</h3>
            {prose(&question.before, None)}
            {setting}
            {listing}
            <p class="paper-ask">{inlines(&question.ask, None)}</p>
            {field(&question.field, question.step)}
        </li>
    }
}

fn field(field: &Field, step: usize) -> AnyView {
    let on_page = format!("On the page, in step {}: ☐ done", step + 1);
    match field {
        Field::Number(unit) => view! {
            <p class="paper-space"></p>
            <p class="paper-answer">"Answer" <span class="paper-line"></span> <small>{unit.form()}</small></p>
        }
        .into_any(),
        Field::Param {
            name,
            range,
            is_dragged,
        } => view! {
            {is_dragged.then(|| view! { <p class="sheet-key">"On the page, or by calculation:"</p> })}
            <p class="paper-space"></p>
            <p class="paper-answer">{format!("{name} =")} <span class="paper-line"></span> <small>{range.clone()}</small></p>
        }
        .into_any(),
        Field::Options { labels, is_one } => {
            let how = if *is_one {
                "Tick one."
            } else {
                "Tick all that are right."
            };
            let options = labels
                .iter()
                .map(|label| view! { <li>"☐ " {sentence(label)}</li> });
            view! {
                <p class="sheet-key">{how}</p>
                <ul class="paper-options">{options.collect_view()}</ul>
            }
            .into_any()
        }
        Field::OnPage => view! { <p class="paper-answer">{on_page}</p> }.into_any(),
    }
}

fn key(sheet: &Worksheet) -> impl IntoView + use<> {
    let rows = sheet.questions.iter().map(|question| {
        // What is done on the page can be done in other ways, too.
        let is_done = match question.field {
            Field::OnPage => true,
            Field::Param { is_dragged, .. } => is_dragged,
            Field::Number(_) | Field::Options { .. } => false,
        };
        let others = is_done.then_some(" This is one way of several: the page checks any other.");
        view! {
            <li>
                <strong>{question.title.clone()}</strong>
                <p>{sentence(&question.key)}{others}</p>
            </li>
        }
    });
    view! {
        <article class="sheet paper-key">
            <h2>{format!("Key, sheet {}: {}", sheet.seed, sheet.title)}</h2>
            <ol class="paper-list">{rows.collect_view()}</ol>
        </article>
    }
}
