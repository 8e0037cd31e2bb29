//! Sentences with code in backquotes.

use fuseline_view::present::words::pieces;
use leptos::either::Either;
use leptos::prelude::*;

/// A sentence with the parts in backquotes as `<code>`.
pub fn sentence(text: &str) -> impl IntoView + use<> {
    let pieces = pieces(text).map(|piece| {
        let text = piece.text.to_owned();
        if piece.is_code {
            Either::Left(view! { <code>{text}</code> })
        } else {
            Either::Right(text)
        }
    });
    pieces.collect_view()
}
