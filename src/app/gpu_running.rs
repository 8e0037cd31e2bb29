//! The program on the GPU of the visitor: what the button of the *Your GPU* tab does.

use crate::app::state::{AnalysedText, Page};
use crate::browser::{self, Gpu, Stop};
use crate::core::interpret::{Budget, Reference, Setup};
use crate::core::own_gpu::probe::{self, CHAIN_STEPS, Probe, SHORT_S};
use crate::core::own_gpu::{
    Check, DRAWN_ELEMENTS, Failure, Outcome, ProgramJob, Rates, Times, predicted, timed_budget,
};
use crate::core::{IdVec, Partition, ReshapeCost};
use crate::present::own_gpu::verdict;
use leptos::prelude::*;
use std::sync::Arc;

/// How far a run is.
#[derive(Clone)]
pub enum Running {
    /// Nothing was run yet.
    Idle,
    /// It runs; what it does, as a phrase.
    Busy(String),
    /// It has ended.
    Ended(Result<Arc<Ran>, Failure>),
}

/// A run, and what it was of.
pub struct Ran {
    /// The text, its choices and its kernels.
    pub of: Arc<AnalysedText>,
    /// What it has shown.
    pub outcome: Outcome,
}

/// The state of the tab. It is kept while the tab is closed.
#[derive(Clone, Copy)]
pub struct OwnGpu {
    page: Page,
    /// How far the run is.
    pub running: RwSignal<Running>,
    /// Whether the results of the run that goes on are right, once it is known.
    pub verdict: RwSignal<Option<String>>,
    stop: StoredValue<Stop, LocalStorage>,
    /// Measured once in a visit: they belong to the GPU and not to the program.
    rates: RwSignal<Option<Rates>>,
}

impl OwnGpu {
    /// Nothing is run before [`OwnGpu::run`].
    pub fn new(page: Page) -> Self {
        Self {
            page,
            running: RwSignal::new(Running::Idle),
            verdict: RwSignal::new(None),
            stop: StoredValue::new_local(Stop::default()),
            rates: RwSignal::new(None),
        }
    }

    /// Runs the shown program. Each run opens the GPU anew.
    pub fn run(self) {
        if self
            .running
            .with_untracked(|running| matches!(running, Running::Busy(_)))
        {
            return;
        }
        let stop = Stop::default();
        self.stop.set_value(stop.clone());
        self.verdict.set(None);
        self.tell("Opening the GPU");
        let of = self.page.shown.get_untracked();
        browser::spawn(async move {
            let outcome = self.outcome(&of, stop).await;
            let ended = outcome.map(|outcome| Arc::new(Ran { of, outcome }));
            // The page may be gone.
            self.running.try_set(Running::Ended(ended));
        });
    }

    /// Ends the run as soon as the GPU answers.
    pub fn stop(self) {
        self.stop.with_value(|stop| stop.set(true));
    }

    fn tell(self, what: impl Into<String>) {
        self.running.try_set(Running::Busy(what.into()));
    }

    async fn outcome(self, of: &AnalysedText, stop: Stop) -> Result<Outcome, Failure> {
        let gpu = Gpu::open(stop).await?;
        let analysis = &of.analysis;
        let program = &of.parsed.program;
        let fused = &analysis.partition;
        let reshape = analysis.options.conventions.reshape;
        let setup = Setup::default();
        self.step("Computing the exact results").await;
        let small = Reference::new(program, fused, &setup, &Budget::INTERPRETED)?;
        let unfused = small.unfused();
        let jobs =
            [&unfused, fused].map(|kernels| ProgramJob::new(&small, kernels, reshape, usize::MAX));
        let [unfused_job, fused_job] = jobs;
        let (unfused_job, fused_job) = (unfused_job?, fused_job?);
        let exact = small.checked(fused)?;
        self.step("Comparing results").await;
        let mut checks = [Check::default(), Check::default()];
        for (job, check) in [unfused_job, fused_job].iter().zip(&mut checks) {
            let read = results(&gpu, &small, job).await?;
            *check = Check::new(&small, &exact, job, &read);
        }
        let [unfused_check, fused_check] = checks;
        let told = verdict(&unfused_check, &fused_check).join(" ");
        self.verdict.try_set(Some(told));
        let rates = self.rates(&gpu).await?;
        self.step("Choosing sizes").await;
        let budget = timed_budget(&gpu.limits, &rates);
        let large = Reference::new(program, fused, &setup, &budget)?;
        let predicted = predicted(&large, fused, &rates, &analysis.options)?;
        let unfused_times = self
            .times(&gpu, &large, (&unfused, reshape), "unfused")
            .await?;
        let fused_times = self.times(&gpu, &large, (fused, reshape), "fused").await?;
        Ok(Outcome {
            rates,
            has_clock: gpu.has_clock(),
            checked_sizes: small.sizes,
            timed_sizes: large.sizes,
            unfused_check,
            fused_check,
            unfused: unfused_times,
            fused: fused_times,
            predicted,
        })
    }

    /// Tells what comes next and lets the browser show it.
    async fn step(self, what: &str) {
        self.tell(what);
        browser::painted().await;
    }

    /// What the GPU reaches: measured, unless it was before.
    async fn rates(self, gpu: &Gpu) -> Result<Rates, Failure> {
        if let Some(known) = self
            .rates
            .get_untracked()
            .filter(|known| known.name == gpu.name)
        {
            return Ok(known);
        }
        self.tell("Measuring its bandwidth");
        let copy = probe::copy(&gpu.limits);
        let memory_bytes_per_s = copy.amount / time_s(gpu, &copy).await?;
        self.tell("Measuring its rate");
        let [short, long] = CHAIN_STEPS.map(probe::chains);
        let mut vector_s = time_s(gpu, &short).await? / short.amount;
        if vector_s * short.amount < SHORT_S {
            vector_s = time_s(gpu, &long).await? / long.amount;
        }
        let launch_s = time_s(gpu, &probe::launches()).await?;
        let rates = Rates {
            name: gpu.name.clone(),
            memory_bytes_per_s,
            vector_flops_per_s: 1.0 / vector_s,
            launch_s,
        };
        self.rates.try_set(Some(rates.clone()));
        Ok(rates)
    }

    async fn times(
        self,
        gpu: &Gpu,
        reference: &Reference,
        (partition, reshape): (&Partition, ReshapeCost),
        how: &str,
    ) -> Result<Times, Failure> {
        let ProgramJob { job, kernels, .. } =
            ProgramJob::new(reference, partition, reshape, DRAWN_ELEMENTS)?;
        self.step(&format!("Compiling the {how} kernels")).await;
        let prepared = gpu.prepare(&job).await?;
        prepared.run(gpu).await?;
        let mut times = Times {
            total_s: gpu.time_s(&prepared, &job, None).await?,
            kernels_s: IdVec::from_elem(0.0, partition.kernels.len()),
        };
        let count = kernels.len();
        for (launch, kernel) in kernels.into_iter().enumerate() {
            self.tell(format!("Timing {how}, kernel {} of {count}", launch + 1));
            times.kernels_s[kernel] = gpu.time_s(&prepared, &job, Some(launch)).await?;
        }
        Ok(times)
    }
}

/// What the kernels of a job have written, after one run.
async fn results(
    gpu: &Gpu,
    reference: &Reference,
    job: &ProgramJob,
) -> Result<Vec<Vec<u8>>, Failure> {
    let prepared = gpu.prepare(&job.job).await?;
    prepared.run(gpu).await?;
    let mut read = Vec::new();
    for (buffer, _) in job.written(reference) {
        read.push(prepared.read(gpu, buffer).await?);
    }
    Ok(read)
}

/// The time of one run of a probe.
async fn time_s(gpu: &Gpu, probe: &Probe) -> Result<f64, Failure> {
    let prepared = gpu.prepare(&probe.job).await?;
    gpu.time_s(&prepared, &probe.job, None).await
}
