//! What pictures draw.

use super::drawn::{Charted, Drawing, Fold, charted};
use super::slider::SliderState;
use super::switching;
use crate::app::analysed::AnalysedText;
use fuseline_core::{IdVec, KernelId};
use fuseline_import::matching::Matching;
use fuseline_view::present::badge::{KernelLook, kernel_looks};
use leptos::prelude::*;
use std::sync::Arc;

/// What pictures draw of [`Page::shown`](super::Page::shown).
#[derive(Clone, Copy)]
pub struct Pictures {
    /// Where it is drawn.
    pub drawing: Drawing,
    /// What the charts draw.
    pub charted: Memo<Arc<Charted>>,
    /// How each kernel is distinguished from the others.
    pub kernel_looks: Memo<IdVec<KernelId, KernelLook>>,
    /// Whether the pictures of a small graph move from some kernels to others.
    pub is_switching: RwSignal<bool>,
}

impl Pictures {
    pub(super) fn new(
        shown: Memo<Arc<AnalysedText>>,
        fold: Fold,
        matching: Memo<Option<Arc<Matching>>>,
        is_fused: RwSignal<bool>,
        slider: SliderState,
    ) -> Self {
        let drawing = Drawing::new(shown, fold);
        Self {
            drawing,
            charted: charted(shown, drawing, matching),
            kernel_looks: Memo::new(move |_| shown.with(|shown| kernel_looks(shown.partition()))),
            is_switching: switching::is_switching(shown, is_fused, slider),
        }
    }
}
