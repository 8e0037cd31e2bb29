//! Goes through the positions of a picture that has steps: back, on, to any of them, or by itself.

use fuseline_browser::{Debounce, wants_less_motion};
use leptos::prelude::*;
use std::time::Duration;

/// Most positions that a picture shows one after the other while it plays. If there are more, it
/// leaves some out.
const MAX_BEATS: u64 = 150;

/// Where a picture is among its positions, from 0 to `last`.
#[derive(Clone, Copy)]
pub struct Player {
    last: Signal<u64>,
    at: RwSignal<u64>,
    is_playing: RwSignal<bool>,
    beat: Debounce,
}

impl Player {
    /// At its first position, and from one to the next in `beat` while it plays.
    pub fn at_start(last: Signal<u64>, beat: Duration) -> Self {
        Self::at_position(0, last, beat)
    }

    /// At its last position, and there also when another one is the last.
    pub fn at_end(last: Signal<u64>, beat: Duration) -> Self {
        Self::at_position(u64::MAX, last, beat)
    }

    fn at_position(at: u64, last: Signal<u64>, beat: Duration) -> Self {
        Self {
            last,
            at: RwSignal::new(at),
            is_playing: RwSignal::new(false),
            beat: Debounce::after(beat),
        }
    }

    /// The position. Tracked.
    pub fn position(self) -> u64 {
        self.at.get().min(self.last.get())
    }

    /// Goes to a position and stays there.
    pub fn go_to(self, at: u64) {
        self.pause();
        self.at.set(at);
    }

    fn pause(self) {
        self.beat.cancel();
        self.is_playing.set(false);
    }

    /// Plays on, or from the start after the last position. Shows the end at once where the visitor
    /// asked for less motion.
    fn play(self) {
        if untrack(|| self.position() == self.last.get()) {
            self.at.set(0);
        }
        if wants_less_motion() {
            self.go_to(u64::MAX);
            return;
        }
        self.is_playing.set(true);
        self.next_beat();
    }

    fn next_beat(self) {
        self.beat.call(move || {
            let last = self.last.get_untracked();
            let at = untrack(|| self.position()).saturating_add((last / MAX_BEATS).max(1));
            self.at.set(at.min(last));
            if at >= last {
                self.is_playing.set(false);
            } else {
                self.next_beat();
            }
        });
    }
}

/// The buttons and the slider of a player.
#[component]
pub fn PlayerBar(
    player: Player,
    /// What it goes through, for people who do not see the picture.
    label: &'static str,
    /// The position in words.
    #[prop(into)]
    words: Signal<String>,
) -> impl IntoView {
    let by = move |steps: i64| {
        let at = untrack(|| player.position());
        player.go_to(at.saturating_add_signed(steps));
    };
    let is_first = move || player.position() == 0;
    let is_last = move || player.position() == player.last.get();
    let is_playing = player.is_playing;
    view! {
        <div class="player" role="group" aria-label=label>
            <button
                type="button"
                on:click=move |_| {
                    if is_playing.get_untracked() { player.pause() } else { player.play() }
                }
            >
                {move || if is_playing.get() { "Pause" } else { "Play" }}
            </button>
            <button type="button" aria-disabled=move || is_first().to_string() on:click=move |_| by(-1)>
                "Step back"
            </button>
            <button type="button" aria-disabled=move || is_last().to_string() on:click=move |_| by(1)>
                "Step forward"
            </button>
            <input
                type="range"
                aria-label=label
                aria-valuetext=words
                min="0"
                max=move || player.last.get().to_string()
                step="1"
                prop:value=move || player.position().to_string()
                on:input:target=move |event| {
                    if let Ok(at) = event.target().value().parse() {
                        player.go_to(at);
                    }
                }
            />
            <span class="player-words">{words}</span>
        </div>
    }
}
