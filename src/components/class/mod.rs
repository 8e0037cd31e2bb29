//! Results without a server: what a student hands in, and what a class has handed in.

pub mod discussion;
mod guesses;
pub mod hand_in;
pub mod pane;
pub mod questions;
mod standings;
mod tables;

use crate::app::learning::{Learning, Room};
use leptos::html;
use leptos::prelude::*;

/// The title of a room, with the ways out of it. The title gets the focus: a screen reader goes on
/// there.
#[component]
fn RoomHead(
    learning: Learning,
    /// What the room is.
    title: &'static str,
) -> impl IntoView {
    let heading = NodeRef::<html::H3>::new();
    heading.on_load(move |_| fuseline_browser::focus(heading));
    view! {
        <header class="lesson-head">
            <h3 tabindex="-1" node_ref=heading>{title}</h3>
            <button type="button" class="link-button" on:click=move |_| learning.room.set(Room::Lists)>"Lessons and puzzles"</button>
            <button type="button" class="link-button" on:click=move |_| learning.leave()>"Back to your program"</button>
        </header>
    }
}
