//! The present text as it is understood: at once, or with the kernels that the worker has chosen.

use super::memos::{answered, in_next_task, shared_memo, shared_option};
use crate::app::analysed::AnalysedText;
use crate::app::background::Background;
use crate::app::jobs::Job;
use crate::app::queries::Picture;
use fuseline_view::picture::dag::Folding;
use leptos::prelude::*;
use std::sync::Arc;

/// The present text as it is understood.
pub(super) struct Understanding {
    /// The present text; an older one while [`Understanding::is_computing`].
    pub(super) understood: Memo<Arc<AnalysedText>>,
    /// Whether the worker has not understood the present text yet.
    pub(super) is_computing: Memo<bool>,
}

impl Understanding {
    pub(super) fn new(
        present_text: Memo<Arc<AnalysedText>>,
        folding: Memo<Folding>,
        worker: Background,
    ) -> Self {
        let wanted_picture = wanted_picture(present_text, folding);
        let by_worker = understood_by_worker(present_text, wanted_picture, worker);
        let is_computing = Memo::new(move |_| {
            wanted_picture.with(Option::is_some) && by_worker.with(Option::is_none)
        });
        clear_when_quick(worker, wanted_picture);
        Self {
            understood: understood(present_text, by_worker, is_computing),
            is_computing,
        }
    }
}

/// What the worker has to compute before the present text is understood; `None` if that is quick.
fn wanted_picture(
    present_text: Memo<Arc<AnalysedText>>,
    folding: Memo<Folding>,
) -> Memo<Option<Job>> {
    Memo::new(move |_| {
        let picture = || Picture {
            folding: folding.get(),
        };
        present_text.with(|text| text.is_long().then(|| Job::new(picture(), text)))
    })
}

/// The present text with the kernels that the worker has chosen; `None` without a wanted picture,
/// and until it is there.
///
/// The analysis and the pictures of it are each a task of some 50 ms for 2,000 ops: between them
/// the page answers its visitor.
fn understood_by_worker(
    present_text: Memo<Arc<AnalysedText>>,
    wanted_picture: Memo<Option<Job>>,
    worker: Background,
) -> Memo<Option<Arc<AnalysedText>>> {
    let picture = answered::<Picture>(wanted_picture, worker);
    let understood = shared_option(move || {
        let picture = picture.get()?;
        let understood = present_text.with(|text| text.fresh().with_picture(&picture));
        // In this task, and not in that of what reads it first.
        understood.analysis();
        Some(Arc::new(understood))
    });
    in_next_task(understood)
}

/// The present text; an older one while `is_computing`.
fn understood(
    present_text: Memo<Arc<AnalysedText>>,
    by_worker: Memo<Option<Arc<AnalysedText>>>,
    is_computing: Memo<bool>,
) -> Memo<Arc<AnalysedText>> {
    shared_memo(move |last| {
        if is_computing.get() {
            let nothing =
                || present_text.with(|text| AnalysedText::empty(&text.options, Arc::default()));
            return last.cloned().unwrap_or_else(|| Arc::new(nothing()));
        }
        by_worker.get().unwrap_or_else(|| present_text.get())
    })
}

/// Ends the work for a large program when a small one follows it.
fn clear_when_quick(worker: Background, wanted_picture: Memo<Option<Job>>) {
    let is_quick_text = Memo::new(move |_| wanted_picture.with(Option::is_none));
    Effect::watch(
        move || is_quick_text.get(),
        move |&is_quick_text, _, _| {
            if is_quick_text {
                worker.clear();
            }
        },
        false,
    );
}
