//! What covers the page, such as a dialog or a sheet: the browser's *Back* closes it instead of
//! leaving the page.
//!
//! While something covers the page, the tab's history has one entry more for each. Only their
//! number counts, so what opens as something else closes takes over its entry.

use fuseline_browser as browser;
use leptos::prelude::*;

/// What covers the page.
#[derive(Clone, Copy)]
pub struct Covers(StoredValue<State>);

#[derive(Default)]
struct State {
    /// The covers in the order in which they were shown.
    shown: Vec<Cover>,
    next_id: usize,
    /// Depth of the entry that the page is at.
    depth: usize,
    /// Whether the page itself goes back, over entries whose covers are closed.
    is_leaving: bool,
}

struct Cover {
    id: usize,
    close: Callback<()>,
}

impl Covers {
    /// Provides an empty list of covers to all components below the caller.
    pub fn provide() {
        provide_context(Self(StoredValue::new(State {
            // After a reload there may be entries whose covers are gone.
            depth: browser::entry_depth(),
            ..State::default()
        })));
    }

    /// The covers in the context, which the root provides.
    pub fn of_context() -> Self {
        expect_context()
    }

    /// Closes all covers beyond the depth of the entry that the page is at now. Returns whether the
    /// page has gone back over a cover, so that the entry shows no other document.
    pub fn follow_entry(self) -> bool {
        let depth = browser::entry_depth();
        let mut was = State::default();
        let closed = self.0.try_update_value(|state| {
            was.depth = std::mem::replace(&mut state.depth, depth);
            was.is_leaving = std::mem::take(&mut state.is_leaving);
            // What was opened since the page began to go back gets an entry below.
            let rest = if was.is_leaving { usize::MAX } else { depth };
            state.shown.split_off(rest.min(state.shown.len()))
        });
        for cover in closed.into_iter().flatten().rev() {
            cover.close.run(());
        }
        if depth == 0 {
            browser::restore_scroll();
        }
        self.settle_later();
        depth < was.depth
    }

    /// The page has made an entry itself, as its skip link does: what covers it stays.
    pub fn stay_over_entry(self) {
        self.0
            .try_update_value(|state| state.depth = browser::entry_depth());
        self.settle_later();
    }

    fn show(self, cover: &mut Option<usize>, close: Callback<()>) {
        *cover = self.0.try_update_value(|state| {
            let id = state.next_id;
            state.next_id += 1;
            state.shown.push(Cover { id, close });
            id
        });
        self.settle_later();
    }

    fn hide(self, id: usize) {
        (self.0).try_update_value(|state| state.shown.retain(|cover| cover.id != id));
        self.settle_later();
    }

    /// Gives each cover its entry, when all that one press opens and closes has done so.
    fn settle_later(self) {
        browser::next_task(move || {
            self.0.try_update_value(State::settle);
        });
    }
}

impl State {
    fn settle(&mut self) {
        let shown = self.shown.len();
        // The browser goes back later: `follow_entry` settles again when it has done so.
        if self.is_leaving || shown == self.depth {
            return;
        }
        if shown < self.depth {
            self.is_leaving = true;
            browser::go_back(self.depth - shown);
            return;
        }
        for _ in self.depth..shown {
            browser::push_entry();
        }
        self.depth = browser::entry_depth();
    }
}

/// While `is_shown`, and until the caller is unmounted, the browser's *Back* calls `close` and
/// stays on the page.
pub fn closes_on_back(
    is_shown: impl Fn() -> bool + Send + Sync + 'static,
    close: impl Fn() + Send + Sync + 'static,
) {
    // A page in a frame of another one has none: *Back* is that one's.
    let Some(covers) = use_context::<Covers>() else {
        return;
    };
    let close = Callback::new(move |()| close());
    let own = StoredValue::new(None);
    let hide = move || {
        if let Some(id) = own.try_update_value(Option::take).flatten() {
            covers.hide(id);
        }
    };
    let is_shown = Memo::new(move |_| is_shown());
    Effect::new(move || {
        if is_shown.get() {
            own.update_value(|own| covers.show(own, close));
        } else {
            hide();
        }
    });
    on_cleanup(hide);
}
