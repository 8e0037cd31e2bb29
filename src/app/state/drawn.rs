//! Where the shown program is drawn.

use super::memos::{in_next_task, shared_memo, shared_option};
use super::set_if_changed::SetIfChanged;
use crate::app::analysed::AnalysedText;
use fuseline_core::Analysis;
use fuseline_import::matching::Matching;
use fuseline_view::picture::dag::{DagLayout, Folding, has_same_picture};
use leptos::prelude::*;
use std::sync::Arc;

/// What the picture of a large program leaves out.
#[derive(Clone, Copy)]
pub(super) struct Fold {
    /// Whether the visitor wants to see all of it.
    is_unfolded: RwSignal<bool>,
    /// What is left out unless they do.
    usual: Memo<Folding>,
    /// What is left out.
    pub(super) folding: Memo<Folding>,
}

impl Fold {
    /// Folds whole kernels while the visitor moves kernels, else iterations.
    pub(super) fn new(moves_kernels: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let is_unfolded = RwSignal::new(false);
        let usual = Memo::new(move |_| {
            if moves_kernels() {
                Folding::Kernels
            } else {
                Folding::Iterations
            }
        });
        let folding = Memo::new(move |_| {
            if is_unfolded.get() {
                Folding::Nothing
            } else {
                usual.get()
            }
        });
        Self {
            is_unfolded,
            usual,
            folding,
        }
    }
}

/// Where the shown program is drawn, folded or in full.
#[derive(Clone, Copy)]
pub struct Drawing(StoredValue<Signals>);

#[derive(Clone, Copy)]
struct Signals {
    fold: Fold,
    drawn: Memo<Arc<Drawn>>,
}

impl Drawing {
    pub(super) fn new(shown: Memo<Arc<AnalysedText>>, fold: Fold) -> Self {
        let drawn = shared_memo(move |last| {
            shown.with(|shown| Drawn::of(shown, fold.folding.get(), fold.usual.get(), last))
        });
        Self(StoredValue::new(Signals { fold, drawn }))
    }

    /// The present layout. Tracked.
    pub fn get(self) -> Arc<Drawn> {
        self.0.get_value().drawn.get()
    }

    /// Looks at the present layout. Tracked.
    pub fn with<T>(self, of: impl FnOnce(&Drawn) -> T) -> T {
        self.0.get_value().drawn.with(|drawn| of(drawn))
    }

    /// What is left out. Tracked.
    pub fn folding(self) -> Folding {
        self.0.get_value().fold.folding.get()
    }

    /// What is left out unless the visitor unfolds it. Tracked.
    pub fn usual_folding(self) -> Folding {
        self.0.get_value().fold.usual.get()
    }

    /// Whether all is drawn at the visitor's wish. Tracked.
    pub fn is_unfolded(self) -> bool {
        self.0.get_value().fold.is_unfolded.get()
    }

    /// Draws all, or folds it again.
    pub fn toggle_fold(self) {
        let is_unfolded = self.0.get_value().fold.is_unfolded;
        is_unfolded.update(|is_unfolded| *is_unfolded = !*is_unfolded);
    }

    /// Folds what can be folded.
    pub fn fold(self) {
        let is_unfolded = self.0.get_value().fold.is_unfolded;
        is_unfolded.set_if_changed(false);
    }
}

/// What the charts draw: the kernels and which of them the graph shows.
pub struct Charted {
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
            analysis: shown.with(|shown| shown.analysis().clone()),
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
    /// The analysis at the time of the layout. Names, reads and kernels are up to date, sizes may
    /// be older.
    pub analysis: Arc<Analysis>,
    /// The layout, by the page itself or by the worker.
    pub layout: Arc<DagLayout>,
    /// Whether something is folded, or would be if the visitor had not unfolded it.
    pub is_foldable: bool,
    folding: Folding,
    usual: Folding,
}

impl Drawn {
    /// `last` as long as only sizes have changed, else a new layout. What is folded stays so until
    /// sizes make it unequal.
    pub(super) fn of(
        shown: &AnalysedText,
        folding: Folding,
        usual: Folding,
        last: Option<&Arc<Self>>,
    ) -> Arc<Self> {
        let (graph, partition) = (shown.graph(), shown.partition());
        if let Some(last) = last.filter(|last| last.usual == usual && last.is_of(shown, folding)) {
            shown.keep_layout(folding, &last.layout);
            return last.clone();
        }
        let layout = (shown.layout.clone()).unwrap_or_else(|| shown.layout_under(folding).clone());
        let is_foldable = layout.shown_op_count() < graph.ops.len()
            || folding != usual && usual.leaves_out(graph, partition);
        Arc::new(Self {
            analysis: shown.analysis().clone(),
            layout,
            is_foldable,
            folding,
            usual,
        })
    }

    fn is_of(&self, shown: &AnalysedText, folding: Folding) -> bool {
        let analysis = shown.analysis();
        let before = (&self.analysis.graph, &self.analysis.partition);
        let is_same_layout = match &shown.layout {
            // The layout comes from the worker, and may be older than the choice.
            Some(layout) => Arc::ptr_eq(layout, &self.layout) || *layout == self.layout,
            None => self.folding == folding && self.layout.repeats.still_hold(&analysis.graph),
        };
        is_same_layout && has_same_picture(before, (&analysis.graph, &analysis.partition))
    }
}
