//! What a trace records: kernels, and which of them are a run.

use super::TraceEvent;
use crate::profile::latest::Latest;
use crate::profile::{
    Kind, MAX_KERNELS, MeasuredKernel, MeasuredRun, Names, Profile, ProfileError, VARIANTS,
};
use std::collections::HashMap;

/// How the profiler names a step of its schedule.
const STEP: &str = "ProfilerStep#";
/// Most ranges with the name of a variant, and most steps, that are kept.
const MAX_RANGES: usize = 10_000;

/// The events of a trace that matter, times in seconds.
pub(super) struct Recording {
    pub(super) events: usize,
    pub(super) device: Option<String>,
    /// Each with its correlation.
    kernels: Latest<(MeasuredKernel, Option<u64>)>,
    /// The variants that ran on the GPU: the name and the end of each.
    variants: Latest<(&'static str, f64)>,
    /// The correlations of the calls that launch kernels.
    launches: Latest<u64>,
    /// The end of each step of the schedule on the CPU.
    steps: Latest<f64>,
    /// The start and the end of the last step of the schedule on the GPU.
    last_gpu_step: Option<(f64, f64)>,
    names: Names,
    /// Whether JAX has written the trace.
    is_of_jax: bool,
}

impl Default for Recording {
    fn default() -> Self {
        Self {
            events: 0,
            device: None,
            kernels: Latest::new(MAX_KERNELS),
            variants: Latest::new(MAX_RANGES),
            launches: Latest::new(MAX_KERNELS),
            steps: Latest::new(MAX_RANGES),
            last_gpu_step: None,
            names: Names::default(),
            is_of_jax: false,
        }
    }
}

impl Recording {
    pub(super) fn keep(&mut self, event: &TraceEvent) -> Result<(), ProfileError> {
        self.events += 1;
        self.is_of_jax |= event.name == "process_name"
            && (event.named.starts_with("/host:") || event.named.starts_with("/device:"));
        let span = event.start_us.zip(event.duration_us);
        let Some((from_us, duration_us)) = span.filter(|(start, duration)| {
            start.is_finite() && duration.is_finite() && *duration >= 0.0
        }) else {
            return Ok(());
        };
        let [start_s, end_s] = [from_us, from_us + duration_us].map(|us| us * 1e-6);
        if event.category.eq_ignore_ascii_case("kernel") || !event.kernel_details.is_empty() {
            let name = self.names.intern(&event.name)?;
            let kernel = MeasuredKernel {
                start_s: Some(start_s),
                grid: (event.grid.as_slice().try_into().ok()).or_else(|| event.detail("grid:")),
                block: (event.block.as_slice().try_into().ok()).or_else(|| event.detail("block:")),
                ..MeasuredKernel::new(name, duration_us * 1e-6)
            };
            self.kernels.push(start_s, (kernel, event.correlation));
        } else if event.is_launch() {
            if let Some(correlation) = event.correlation {
                self.launches.push(start_s, correlation);
            }
        } else if event.category == "gpu_user_annotation" {
            if event.name.starts_with(STEP) {
                if (self.last_gpu_step).is_none_or(|(last_s, _)| start_s >= last_s) {
                    self.last_gpu_step = Some((start_s, end_s));
                }
            } else if let Some(variant) = VARIANTS.into_iter().find(|name| *name == event.name) {
                self.variants.push(start_s, (variant, end_s));
            }
        } else if event.name.starts_with(STEP) {
            self.steps.push(start_s, end_s);
        }
        Ok(())
    }

    pub(super) fn profile(self) -> Result<Profile, ProfileError> {
        let (kernels, passed_over) = self.kernels.finish();
        if kernels.is_empty() {
            return Err(if self.is_of_jax {
                ProfileError::NoKernelInJaxTrace(self.events)
            } else {
                ProfileError::NoKernelInTrace(self.events)
            });
        }
        let launched = last_launched(self.steps, self.launches, &kernels, passed_over.until_s);
        let kernels: Vec<MeasuredKernel> = (kernels.into_iter())
            .map(|(_, (kernel, _))| kernel)
            .collect();
        let mut named: Vec<Named> = match self.last_gpu_step {
            Some((start_s, end_s)) => vec![(None, start_s, end_s)],
            None => disjoint(self.variants),
        };
        // A range that has lost kernels is no run.
        named.retain(|&(_, start_s, _)| start_s > passed_over.until_s);
        let start = |kernel: &MeasuredKernel| kernel.start_s.unwrap_or(0.0);
        let before = |time_s: f64| kernels.partition_point(|kernel| start(kernel) < time_s);
        let run_of = |(variant, start_s, end_s): Named| MeasuredRun {
            variant: variant.map(str::to_owned),
            kernels: kernels[before(start_s)..before(end_s)].to_vec(),
            ..MeasuredRun::default()
        };
        let mut runs: Vec<MeasuredRun> = match launched {
            Some(kernels) => vec![MeasuredRun {
                kernels,
                ..MeasuredRun::default()
            }],
            None => named.into_iter().map(run_of).collect(),
        };
        runs.retain(|run| !run.kernels.is_empty());
        if runs.is_empty() {
            runs.push(MeasuredRun {
                kernels,
                is_cut: passed_over.count > 0,
                ..MeasuredRun::default()
            });
        }
        for run in &mut runs {
            run.start_at_zero();
        }
        Ok(Profile {
            kind: Kind::Trace,
            program: None,
            digest: None,
            text: None,
            device: self.device,
            probe: None,
            torch: None,
            runs,
            passed_over: passed_over.count,
        })
    }
}

/// The kernels that the last step of the CPU launched, if the trace says so: a GPU runs them later,
/// when the step may be over. Kernels that started up to `lost_until_s` were passed over, so no
/// earlier step has all of its own.
fn last_launched(
    steps: Latest<f64>,
    launches: Latest<u64>,
    kernels: &[(f64, (MeasuredKernel, Option<u64>))],
    lost_until_s: f64,
) -> Option<Vec<MeasuredKernel>> {
    let (launches, launches_passed_over) = launches.finish();
    let lost_until_s = lost_until_s.max(launches_passed_over.until_s);
    let (mut steps, _) = steps.finish();
    steps.retain(|&(start_s, _)| start_s > lost_until_s);
    let step_at = |time_s: f64| {
        let begun = steps.partition_point(|&(start_s, _)| start_s <= time_s);
        let step = begun.checked_sub(1)?;
        let (_, end_s) = *steps.get(step)?;
        (time_s < end_s).then_some(step)
    };
    let launches = launches.into_iter();
    let launches = launches.filter_map(|(start_s, launch)| Some((launch, step_at(start_s)?)));
    let step_of_launch: HashMap<u64, usize> = launches.collect();
    let step_of = |launch: &Option<u64>| step_of_launch.get(launch.as_ref()?).copied();
    let kernels = kernels.iter().map(|(_, kernel)| kernel);
    let stepped = kernels.filter_map(|(kernel, launch)| Some((step_of(launch)?, kernel)));
    // A step may end before it has launched anything, so the last one with a kernel counts.
    let last = stepped.clone().map(|(step, _)| step).max()?;
    let own = stepped.filter(|&(step, _)| step == last);
    Some(own.map(|(_, kernel)| kernel.clone()).collect())
}

/// A range of the program: the variant that ran, its start and its end.
type Named = (Option<&'static str>, f64, f64);

/// Ranges that do not overlap, so that each kernel belongs to at most one run. Nested ranges, and
/// those of several streams, overlap.
fn disjoint(variants: Latest<(&'static str, f64)>) -> Vec<Named> {
    let (variants, _) = variants.finish();
    let named = variants.into_iter();
    let named = named.map(|(start_s, (name, end_s))| (Some(name), start_s, end_s));
    let mut named: Vec<Named> = named.collect();
    named.sort_by(|a, b| a.1.total_cmp(&b.1).then(b.2.total_cmp(&a.2)));
    let mut free_from_s = f64::NEG_INFINITY;
    named.retain(|&(_, start_s, end_s)| {
        let is_free = start_s >= free_from_s;
        if is_free {
            free_from_s = end_s;
        }
        is_free
    });
    named
}

impl TraceEvent {
    /// Three sizes among the details that JAX writes.
    fn detail(&self, key: &str) -> Option<[u32; 3]> {
        let mut details = self.kernel_details.split_ascii_whitespace();
        let sizes = details.find_map(|detail| detail.strip_prefix(key))?;
        let mut sizes = sizes.split(',').map(|size| size.parse().ok());
        Some([sizes.next()??, sizes.next()??, sizes.next()??])
    }

    /// Whether it is a call of the driver or of its runtime that launches kernels: one, or all
    /// those of a graph.
    fn is_launch(&self) -> bool {
        let category = self.category.to_ascii_lowercase();
        let is_call = ["runtime", "driver"]
            .iter()
            .any(|end| category.ends_with(end));
        is_call && self.name.contains("Launch")
    }
}
