//! A measurement of the visitor's own: what was opened, and which of its kernels are which of the
//! page's.

use super::memos::shared_option;
use fuseline_core::Analysis;
use fuseline_import::matching::{Matching, match_kernels};
use fuseline_import::profile::{MeasuredRun, Profile};
use leptos::prelude::*;
use std::sync::Arc;

/// An opened measurement. It lasts until it is closed or the page is left.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenProfile {
    /// What the files say.
    pub profile: Profile,
    /// The names of the files.
    pub names: Vec<String>,
    /// The program that was measured: by a file, else the one that was open when the first came.
    pub digest: String,
    /// The run that is shown.
    pub run: usize,
}

impl OpenProfile {
    fn run(&self) -> Option<&MeasuredRun> {
        self.profile.runs.get(self.run)
    }
}

/// The kernels of the shown run beside those of the page. While a slider is held, partners stay as
/// they are.
pub(super) fn matching(
    profile: RwSignal<Option<Arc<OpenProfile>>>,
    analysis: Memo<Arc<Analysis>>,
    is_held: impl Fn() -> bool + Send + Sync + 'static,
) -> Memo<Option<Arc<Matching>>> {
    let last: StoredValue<Option<(Arc<OpenProfile>, Arc<Matching>)>> = StoredValue::new(None);
    shared_option(move || {
        let profile = profile.get()?;
        analysis.with(|analysis| {
            let held = last.get_value().filter(|(of, matching)| {
                is_held()
                    && Arc::ptr_eq(of, &profile)
                    && matching.of_kernel.len() == analysis.fused.kernels.len()
            });
            if let Some((_, matching)) = held {
                return Some(matching);
            }
            let matching = Arc::new(match_kernels(analysis, profile.run()?));
            last.set_value(Some((profile.clone(), matching.clone())));
            Some(matching)
        })
    })
}
