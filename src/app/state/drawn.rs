//! Where the shown program is drawn.

use super::analysed::AnalysedText;
use super::memos::{in_next_task, shared_memo, shared_option};
use super::page::SetIfChanged;
use fuseline_core::Analysis;
use fuseline_import::matching::Matching;
use fuseline_view::picture::dag::layout_of;
use fuseline_view::picture::dag::repeats::Repeats;
use fuseline_view::picture::dag::{DagLayout, has_same_picture};
use leptos::prelude::*;
use std::sync::Arc;

/// Where the shown program is drawn, with one round of what is repeated or with all of them.
#[derive(Clone, Copy)]
pub struct Drawing(StoredValue<Signals>);

#[derive(Clone, Copy)]
struct Signals {
    is_unfolded: RwSignal<bool>,
    drawn: Memo<Arc<Drawn>>,
}

impl Drawing {
    pub(super) fn new(shown: Memo<Arc<AnalysedText>>, is_unfolded: RwSignal<bool>) -> Self {
        let drawn =
            shared_memo(move |last| shown.with(|shown| Drawn::of(shown, is_unfolded.get(), last)));
        Self(StoredValue::new(Signals { is_unfolded, drawn }))
    }

    /// The present layout. Tracked.
    pub fn get(self) -> Arc<Drawn> {
        self.0.get_value().drawn.get()
    }

    /// Looks at the present layout. Tracked.
    pub fn with<T>(self, of: impl FnOnce(&Drawn) -> T) -> T {
        self.0.get_value().drawn.with(|drawn| of(drawn))
    }

    /// Whether all rounds are drawn. Tracked.
    pub fn is_unfolded(self) -> bool {
        self.0.get_value().is_unfolded.get()
    }

    /// Draws all rounds, or one of them again.
    pub fn toggle_rounds(self) {
        let is_unfolded = self.0.get_value().is_unfolded;
        is_unfolded.update(|is_unfolded| *is_unfolded = !*is_unfolded);
    }

    /// Draws one round of what is repeated.
    pub fn fold(self) {
        self.0.get_value().is_unfolded.set_if_changed(false);
    }
}

/// What the charts draw: the kernels and which of them the graph shows.
pub struct Charted {
    /// The kernels.
    pub analysis: Arc<Analysis>,
    /// Where the graph shows them.
    pub drawn: Arc<Drawn>,
    /// What was measured of them.
    pub measured: Option<Arc<Matching>>,
}

/// What the charts draw. Of a large program they follow the graph in a task of their own.
pub(super) fn charted(
    shown: Memo<Arc<AnalysedText>>,
    drawing: Drawing,
    measured: Memo<Option<Arc<Matching>>>,
) -> Memo<Arc<Charted>> {
    let now = shared_memo(move |_| {
        Arc::new(Charted {
            analysis: shown.with(|shown| shown.analysis.clone()),
            drawn: drawing.get(),
            measured: measured.get(),
        })
    });
    let soon = in_next_task(shared_option(move || Some(now.get())));
    shared_memo(move |last| {
        let is_long = shown.with(|shown| shown.is_long());
        let followed = is_long.then(|| soon.get().or_else(|| last.cloned()));
        followed.flatten().unwrap_or_else(|| now.get())
    })
}

/// A graph with its layout in one column. Laid out again only when names, reads or kernels change.
pub struct Drawn {
    /// The analysis at the time of the layout. Names, reads and kernels are up to date, sizes may be older.
    pub analysis: Arc<Analysis>,
    /// The layout, by the page itself or by the worker.
    pub layout: Arc<DagLayout>,
    /// Whether something is repeated, be one round of it drawn or all.
    pub is_foldable: bool,
    is_unfolded: bool,
}

impl Drawn {
    /// `last` as long as only sizes have changed, else a new layout. What is folded stays so until sizes make it unequal.
    pub(super) fn of(
        shown: &AnalysedText,
        is_unfolded: bool,
        last: Option<&Arc<Self>>,
    ) -> Arc<Self> {
        let (graph, partition) = (&shown.analysis.graph, &shown.analysis.partition);
        if let Some(last) = last.filter(|last| last.is_of(shown, is_unfolded)) {
            return last.clone();
        }
        let layout = (shown.layout.clone())
            .unwrap_or_else(|| Arc::new(layout_of(graph, partition, is_unfolded)));
        let is_foldable = !layout.repeats.is_empty()
            || is_unfolded && !Repeats::of_large(graph, partition).is_empty();
        Arc::new(Self {
            analysis: shown.analysis.clone(),
            layout,
            is_foldable,
            is_unfolded,
        })
    }

    fn is_of(&self, shown: &AnalysedText, is_unfolded: bool) -> bool {
        let analysis = &shown.analysis;
        let before = (&self.analysis.graph, &self.analysis.partition);
        let is_same_layout = match &shown.layout {
            // It is the worker's, and may be older than the choice.
            Some(layout) => Arc::ptr_eq(layout, &self.layout) || *layout == self.layout,
            None => {
                self.is_unfolded == is_unfolded && self.layout.repeats.still_hold(&analysis.graph)
            }
        };
        is_same_layout && has_same_picture(before, (&analysis.graph, &analysis.partition))
    }
}
