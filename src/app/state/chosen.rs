//! What the visitor chose beside the text.

use super::slider::SliderState;
use crate::app::measured_devices::MeasuredDevices;
use fuseline_core::model::calibration::Calibrations;
use fuseline_core::model::options::PAGE_BUDGET_STATES;
use fuseline_core::{Conventions, Device, FusionOptions, Options, Policy, default_device};
use leptos::prelude::*;
use std::sync::Arc;

/// States that a search visits while a slider is dragged, so that the handler of one event stays
/// short.
const DRAG_BUDGET_STATES: usize = 2_000;

/// What the visitor chose beside the text.
#[derive(Clone, Copy)]
pub struct Chosen {
    /// Who decides what fuses.
    pub policy: RwSignal<Policy>,
    /// The policy before *no fusion*, which *Fused* goes back to.
    pub(super) fusing_policy: RwSignal<Policy>,
    /// Options of the policies.
    pub fusion: RwSignal<FusionOptions>,
    /// How bytes are counted.
    pub conventions: RwSignal<Conventions>,
    /// The device that the kernels run on.
    pub device: RwSignal<Device>,
    /// GPUs that the visitor measured, or that came with a link.
    pub measured_devices: RwSignal<MeasuredDevices>,
    /// Measured patterns of the visitor's own, until the page is left.
    pub own_calibrations: RwSignal<Option<Arc<Calibrations>>>,
    /// Whether the graph is shown fused.
    pub is_fused: RwSignal<bool>,
}

impl Chosen {
    /// The default choices.
    pub(super) fn new() -> Self {
        Self {
            policy: RwSignal::default(),
            fusing_policy: RwSignal::default(),
            fusion: RwSignal::default(),
            conventions: RwSignal::default(),
            device: RwSignal::new(default_device().clone()),
            measured_devices: RwSignal::default(),
            own_calibrations: RwSignal::new(None),
            is_fused: RwSignal::new(true),
        }
    }

    /// Under what choices the text is analysed. While a slider is dragged, a search has a small
    /// budget.
    pub(super) fn options(self, slider: SliderState) -> Memo<Options> {
        Memo::new(move |_| {
            let mut options = Options {
                policy: self.policy.get(),
                fusion: self.fusion.get(),
                conventions: self.conventions.get(),
                device: self.device.get(),
                own_calibrations: self.own_calibrations.get(),
            };
            options.fusion.budget_states = PAGE_BUDGET_STATES;
            if options.policy == Policy::Optimal && slider.is_dragging() {
                options.fusion.budget_states = DRAG_BUDGET_STATES;
            }
            options
        })
    }
}
