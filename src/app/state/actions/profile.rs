//! Opens a measurement, and makes the choices fit it.

use crate::app::state::page::Page;
use crate::app::state::profile::OpenProfile;
use fuseline_core::{Policy, ReshapeCost};
use fuseline_import::matching::policy_of_variant;
use fuseline_import::profile::{MeasuredRun, Profile};
use fuseline_view::page::tab::Tab;
use fuseline_view::present::names::counted;
use fuseline_view::present::profile::Offer;
use leptos::prelude::*;
use std::sync::Arc;

impl Page {
    /// Shows a measurement of the open program, beside one of another kind that is open already.
    pub fn open_profile(self, profile: Profile, name: String) {
        let before = self.against.profile.get_untracked();
        let opened = match before.as_deref().cloned() {
            Some(mut opened) => {
                if opened.profile.kind == profile.kind {
                    opened.names.clear();
                    opened.digest.clear();
                }
                if let Err(problem) = opened.profile.add(profile) {
                    self.tell_failure(problem);
                    return;
                }
                opened
            }
            None => OpenProfile {
                digest: String::new(),
                names: Vec::new(),
                run: 0,
                profile,
            },
        };
        let OpenProfile {
            profile,
            mut names,
            digest,
            ..
        } = opened;
        names.push(name);
        let known = profile.digest.clone();
        let digest = known.or((!digest.is_empty()).then_some(digest));
        let digest = digest.unwrap_or_else(|| {
            self.analysis
                .with_untracked(|analysis| analysis.graph.digest())
        });
        let kernels = profile.runs.iter().map(|run| run.kernels.len()).sum();
        let text = format!(
            "{} in {} from {}.",
            counted(kernels, "measured kernel"),
            counted(profile.runs.len(), "run"),
            names.join(" and ")
        );
        let run = self.best_run(&profile);
        let device_kept =
            (profile.probe.as_ref()).map_or(Ok(()), |probe| self.keep_device_of_profile(probe));
        self.against.profile.set(Some(Arc::new(OpenProfile {
            profile,
            names,
            digest,
            run,
        })));
        self.screen.tab.set(Tab::Measured);
        match device_kept {
            Ok(()) => self.tell(text),
            Err(problem) => {
                self.tell_failure(format!(
                    "{text} The rates of its GPU could not be used: {problem}."
                ));
            }
        }
    }

    /// The run whose kernels the chosen policy predicts, else that of the compiler, else the first.
    fn best_run(self, profile: &Profile) -> usize {
        let policy = self.chosen.policy.get_untracked();
        let is_tuned = self
            .chosen
            .fusion
            .with_untracked(|fusion| fusion.max_autotune);
        let chosen = (policy, policy == Policy::Inductor && is_tuned);
        let run_of = |wanted: (Policy, bool)| {
            let policy = |run: &MeasuredRun| policy_of_variant(run.variant.as_deref()?);
            profile
                .runs
                .iter()
                .position(|run| policy(run) == Some(wanted))
        };
        run_of(chosen)
            .or_else(|| run_of((Policy::Inductor, false)))
            .unwrap_or(0)
    }

    /// Shows another run of the measurement.
    pub fn show_run(self, run: usize) {
        self.against.profile.update(|profile| {
            if let Some(profile) = profile {
                *profile = Arc::new(OpenProfile {
                    run,
                    ..OpenProfile::clone(profile)
                });
            }
        });
    }

    /// Closes the measurement.
    pub fn close_profile(self) {
        self.against.profile.set(None);
    }

    /// Follows an offer to make choices and measurement fit.
    pub fn follow_offer(self, offer: &Offer) {
        match offer {
            Offer::Device(measured) => {
                self.choose(|choices| choices.device.clone_from(measured));
            }
            Offer::Policy(policy, is_tuned) => self.choose(|choices| {
                choices.policy = *policy;
                if *policy == Policy::Inductor {
                    choices.fusion.max_autotune = *is_tuned;
                }
                // An eager run that was measured may have called attention as one operation.
                choices.fusion.eager_attention = *policy == Policy::None;
            }),
            Offer::Views => {
                self.choose(|choices| choices.conventions.reshape = ReshapeCost::View);
            }
        }
    }
}
