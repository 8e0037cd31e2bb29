//! A lesson on paper: questions with space, an empty roofline, the way to the page, and the key on
//! a sheet of its own.

use super::prose::{inlines, prose};
use crate::STYLE_SHEETS;
use crate::app::learning::Learning;
use crate::app::sharing::lesson_link;
use crate::components::paper::Paper;
use crate::components::presenter::qr_code::QrCode;
use crate::components::seed_input::SeedInput;
use crate::components::sentence::sentence;
use fuseline_browser as browser;
use fuseline_learn::language::Language;
use fuseline_learn::lesson::value::AnswerUnit;
use fuseline_learn::worksheet::{Field, Listing, Question, Worksheet};
use fuseline_view::picture::charts::roofline::empty_scene;
use fuseline_view::picture::export::chart;
use leptos::prelude::*;

/// The sheets of the open lesson, over the page, which is not printed meanwhile. Escape closes
/// them.
#[component]
pub fn WorksheetDialog(learning: Learning) -> impl IntoView {
    view! {
        <Show when=move || learning.is_worksheet_open.get()>
            <Sheets learning />
        </Show>
    }
}

#[component]
fn Sheets(learning: Learning) -> impl IntoView {
    // Nothing changes the lesson below the dialog.
    let words = untrack(|| learning.language());
    let seed = RwSignal::new(0_u32);
    let link = RwSignal::new(None::<Result<String, String>>);
    if let Some(open) = learning.open.get_untracked() {
        browser::spawn(async move {
            let result = lesson_link(&open, 0).await;
            link.set(Some(result.map_err(str::to_owned)));
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
                <p>{words.sheets_about()}</p>
                <label>
                    {words.sheet()}
                    <SeedInput seed=seed.into() choose=move |typed| seed.set(typed) />
                </label>
                <button type="button" class="button" on:click=move |_| seed.update(|seed| *seed = seed.wrapping_add(1))>{words.other_numbers()}</button>
    };
    view! {
        <Paper
            label=words.worksheet()
            class="worksheet"
            words
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
    let words = sheet.lang.language();
    let lang = sheet.lang.as_str();
    let rows = sheet.questions.iter();
    let rows = rows
        .map(|row| question(row, words, lang.to_owned()))
        .collect_view();
    let roofline = sheet.questions.first().and_then(|first| {
        let seen = first.states.asked.analyzed()?;
        // As wide as the paper, so that its words have their size.
        let scene = empty_scene(&seen.analysis, (680.0, 230.0));
        let source = browser::svg_address(&chart(&scene, true).bare_svg(STYLE_SHEETS));
        let about = words.roofline_about(&seen.analysis.options.device.name);
        Some(view! {
            <figure class="paper-roofline">
                <img src=source alt=words.empty_roofline() />
                <figcaption class="sheet-key">{about}</figcaption>
            </figure>
        })
    });
    view! {
        <article class="sheet paper-questions">
            <header class="paper-head">
                <div>
                    <h2 lang=lang.to_owned()>{sheet.title.clone()}</h2>
                    <p class="paper-name">{words.name()} <span class="paper-line"></span> {words.date()} <span class="paper-line"></span></p>
                    <p class="sheet-key">{words.sheet_opens(sheet.seed)}</p>
                </div>
                <aside class="paper-code">{move || link.get().map(|link| view! { <QrCode link words /> })}</aside>
            </header>
            <ol class="paper-list">{rows}</ol>
            {roofline}
        </article>
    }
}

fn question(question: &Question, words: Language, lang: String) -> impl IntoView + use<> {
    let setting = question.setting.join(" ");
    let setting = (!setting.is_empty())
        .then(|| view! { <p class="sheet-key" lang=words.tag()>{setting}</p> });
    let listing = match &question.listing {
        Listing::Whole(lines) => {
            view! { <pre><code>{lines.clone()}</code></pre> }.into_any()
        }
        Listing::Sizes(lines) => view! {
            <p class="sheet-key" lang=words.tag()>{words.program_before_with()}</p>
            <pre><code>{lines.clone()}</code></pre>
        }
        .into_any(),
        Listing::Same => {
            view! { <p class="sheet-key" lang=words.tag()>{words.program_before()}</p> }.into_any()
        }
        Listing::OnPage(lines) => view! {
            <p class="sheet-key" lang=words.tag()>{words.long_program(*lines, question.step + 1)}</p>
        }
        .into_any(),
    };
    view! {
        <li class="paper-question" lang=lang>
            <h3>{question.title.clone()}</h3>
            {prose(&question.before, None)}
            {setting}
            {listing}
            <p class="paper-ask">{inlines(&question.ask, None)}</p>
            {field(&question.field, question.step, words)}
        </li>
    }
}

fn field(field: &Field, step: usize, words: Language) -> AnyView {
    match field {
        Field::Number(unit) => view! {
            <p class="paper-space"></p>
            <p class="paper-answer" lang=words.tag()>{words.answer_line()} <span class="paper-line"></span> <small>{unit.form_in(words)}</small></p>
        }
        .into_any(),
        Field::Param {
            name,
            range,
            is_dragged,
        } => view! {
            {is_dragged.then(|| view! { <p class="sheet-key" lang=words.tag()>{words.by_calculation()}</p> })}
            <p class="paper-space"></p>
            <p class="paper-answer" lang=words.tag()>{format!("{name} =")} <span class="paper-line"></span> <small>{range.clone()}</small></p>
        }
        .into_any(),
        Field::Options { labels, is_one } => {
            let how = if *is_one {
                words.tick_one()
            } else {
                words.tick_all()
            };
            let options = labels
                .iter()
                .map(|label| view! { <li>"☐ " {sentence(label)}</li> });
            view! {
                <p class="sheet-key" lang=words.tag()>{how}</p>
                <ul class="paper-options">{options.collect_view()}</ul>
            }
            .into_any()
        }
        Field::OnPage => view! { <p class="paper-answer" lang=words.tag()>{words.done_on_page(step + 1)}</p> }.into_any(),
    }
}

fn key(sheet: &Worksheet) -> impl IntoView + use<> {
    let words = sheet.lang.language();
    let rows = sheet.questions.iter().map(|question| {
        let others = question.others.as_deref().map(sentence);
        view! {
            <li>
                <strong lang=sheet.lang.as_str().to_owned()>{question.title.clone()}</strong>
                // The engine gives its reasons in English.
                <p><span lang="en">{sentence(&question.key)}</span>{others}</p>
            </li>
        }
    });
    view! {
        <article class="sheet paper-key">
            <h2>{words.key(sheet.seed, &sheet.title)}</h2>
            <ol class="paper-list">{rows.collect_view()}</ol>
        </article>
    }
}
