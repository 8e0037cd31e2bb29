//! The selected kernel as code, with the bytes of each load and store, and struck through what
//! fusion removed.

use crate::app::state::Page;
use crate::components::radio_button::RadioButton;
use fuseline_browser as browser;
use fuseline_codegen::kernel_code::CodeLanguage;
use fuseline_core::TensorId;
use fuseline_view::present::kernel_code::{CodeLine, KernelCode, Moved, kernel_code, no_code};
use leptos::prelude::*;
use strum::VariantArray;

/// A button that shows the code. The code is generated only while it is shown.
#[component]
pub fn KernelCodePanel() -> impl IntoView {
    let is_open = RwSignal::new(false);
    view! {
        <h4>
            <button
                type="button"
                class="link-button"
                aria-expanded=move || is_open.get().to_string()
                on:click=move |_| is_open.update(|is_open| *is_open = !*is_open)
            >
                "Code"
            </button>
        </h4>
        <Show when=move || is_open.get()>
            <Code />
        </Show>
    }
}

/// The choice of a language, and the code.
#[component]
fn Code() -> impl IntoView {
    let page = Page::of_context();
    let language = RwSignal::new(CodeLanguage::default());
    let code = Memo::new(move |_| {
        let kernel = page.selected_kernel()?;
        page.shown.with(|shown| {
            let (program, statements) = (shown.program(), shown.statement_of_op());
            let language = language.get();
            Some(kernel_code(
                shown.analysis(),
                program,
                statements,
                kernel,
                language,
            ))
        })
    });
    let choices = CodeLanguage::VARIANTS.iter().map(|&own| {
        view! {
            <RadioButton
                set="code-language"
                is_chosen=move || language.get() == own
                choose=move || language.set(own)
            >
                {own.title()}
            </RadioButton>
        }
    });
    let copy = move |_| {
        let Some(KernelCode::Lines { text, .. }) = code.get_untracked() else {
            return;
        };
        browser::spawn(async move {
            page.copy(
                &text,
                "The code is copied, without the lines that fusion removed.",
                "The browser does not let the page copy. Select the code instead.",
            )
            .await;
        });
    };
    let shown = move || match code.get()? {
        KernelCode::Nothing => {
            Some(view! { <p class="quiet">{KernelCode::NOTHING}</p> }.into_any())
        }
        KernelCode::Refused(reason) => {
            Some(view! { <p class="quiet">{no_code(&reason)}</p> }.into_any())
        }
        KernelCode::Lines { lines, .. } => {
            Some(view! { <Lines language=language.get() lines /> }.into_any())
        }
    };
    let has_lines = move || code.with(|code| matches!(code, Some(KernelCode::Lines { .. })));
    view! {
        <div class="code-choices">
            <fieldset>
                <legend class="sr-only">"Language of the code"</legend>
                {choices.collect_view()}
            </fieldset>
            <Show when=has_lines>
                <button type="button" class="button" on:click=copy>"Copy the code"</button>
            </Show>
        </div>
        {shown}
        <p class="quiet hint">{KernelCode::NOTE}</p>
    }
}

/// The lines, with the bytes of each at its end.
#[component]
fn Lines(language: CodeLanguage, lines: Vec<CodeLine>) -> impl IntoView {
    let page = Page::of_context();
    let line = |line: CodeLine| match line.moved {
        None => view! { <div class="code-line"><code>{line.text}</code></div> }.into_any(),
        Some(moved) => {
            let Moved {
                tensor,
                words,
                bytes,
                is_removed,
            } = moved;
            let code = line.text.trim_start().to_owned();
            let indent = " ".repeat(line.text.len() - code.len());
            let code = if is_removed {
                view! { <code>{indent}<del>{code}</del></code> }.into_any()
            } else {
                view! { <code>{indent}{code}</code> }.into_any()
            };
            view! {
                <div
                    class=move || format!("code-line moves {}", class_of(page, tensor))
                    class:is-removed=is_removed
                    title=words.clone()
                >
                    {code}
                    <span class="sr-only">{format!(" {words} ")}</span>
                    {bytes.map(|bytes| view! { <span class="code-bytes">{bytes}</span> })}
                </div>
            }
            .into_any()
        }
    };
    view! {
        <div
            class="kernel-code"
            role="region"
            tabindex="0"
            aria-label=format!("{} of this kernel", language.title())
        >
            <div>{lines.into_iter().map(line).collect_view()}</div>
        </div>
        <p class="quiet hint">{KernelCode::COLOURS}</p>
    }
}

/// The colour of the kernel that writes the tensor, as in the graph; none for what comes from
/// outside.
fn class_of(page: Page, tensor: TensorId) -> String {
    let kernel = page.analysis.with(|analysis| {
        let producer = analysis.graph.tensors.get(tensor)?.producer?;
        analysis.partition.kernel_of.get(producer).copied()
    });
    kernel.map_or_else(String::new, |kernel| page.kernel_class(kernel))
}
