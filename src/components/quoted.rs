//! Sentences in which `backquotes` stand for code.

use crate::present::quoted::{Part, parts};
use leptos::either::Either;
use leptos::prelude::*;

/// The sentence with its quoted parts as `<code>`.
pub(super) fn with_code(sentence: &str) -> impl IntoView + use<> {
    let view = |part| match part {
        Part::Words(words) => Either::Left(str::to_owned(words)),
        Part::Code(code) => Either::Right(view! { <code>{str::to_owned(code)}</code> }),
    };
    parts(sentence).map(view).collect_view()
}
