//! The program on the GPU of the visitor: what the button of the *Your GPU* tab does.

use crate::app::analysed::AnalysedText;
use crate::app::state::{Page, today};
use fuseline_browser::{self as browser, Gpu, Stop};
use fuseline_codegen::interpret::{Budget, NotRun, Reference, Setup};
use fuseline_codegen::your_gpu::probe::{self, CHAIN_STEPS, Probe, SHORT_S};
use fuseline_codegen::your_gpu::{
    Check, Checks, DRAWN_ELEMENTS, Failure, Outcome, ProgramJob, Rates, Times, predicted,
    timed_budget,
};
use fuseline_core::model::device::DeviceProbe;
use fuseline_core::{IdVec, Partition, ReshapeCost};
use fuseline_view::present::your_gpu::verdict;
use leptos::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// How far a run is.
#[derive(Clone)]
pub enum Running {
    /// Nothing was run yet.
    Idle,
    /// It runs; the phrase says what it does.
    Busy(String),
    Ended(Result<Arc<Ran>, Failure>),
}

/// A run, and what it was of.
pub struct Ran {
    /// The text, its choices and its kernels.
    pub of: Arc<AnalysedText>,
    /// The results of the run.
    pub outcome: Outcome,
}

/// Times of single kernels in seconds, by their code: kernels of equal layers, and ops that stay
/// separate in the fused program, are timed once.
type KnownTimes = HashMap<String, f64>;

/// The state of the tab. It is kept while the tab is closed.
#[derive(Clone, Copy)]
pub struct YourGpu {
    page: Page,
    /// How far the run is.
    pub running: RwSignal<Running>,
    /// Whether the results of the present run are right, in a sentence, once that is known.
    pub verdict: RwSignal<Option<String>>,
    stop: StoredValue<Stop, LocalStorage>,
    /// What the GPU reaches. Measured once in a visit: it belongs to the GPU and not to the
    /// program.
    pub measured: RwSignal<Option<Arc<DeviceProbe>>>,
}

impl Ran {
    /// Whether the page shows what was run. The device may be another one now.
    pub fn is_of(&self, shown: &AnalysedText) -> bool {
        let key = |of: &AnalysedText| (of.step(), of.options.conventions.reshape);
        self.of.text == shown.text
            && key(&self.of) == key(shown)
            && self.of.partition() == shown.partition()
    }
}

impl YourGpu {
    /// Nothing is run before [`YourGpu::run`].
    pub fn new(page: Page) -> Self {
        Self {
            page,
            running: RwSignal::new(Running::Idle),
            verdict: RwSignal::new(None),
            stop: StoredValue::new_local(Stop::default()),
            measured: RwSignal::new(None),
        }
    }

    /// Runs the shown program. Each run opens the GPU anew.
    pub fn run(self) {
        let of = self.page.shown.get_untracked();
        self.begin(async move |stop| {
            let outcome = self.outcome(&of, stop).await;
            Running::Ended(outcome.map(|outcome| Arc::new(Ran { of, outcome })))
        });
    }

    /// Measures the rates of the GPU anew. What a run has shown before stays.
    pub fn measure(self) {
        let before = self.running.get_untracked();
        self.begin(async move |stop| {
            let measured = async { self.measure_rates(&Gpu::open(stop).await?).await };
            match measured.await {
                Ok(_) => before,
                Err(failure) => Running::Ended(Err(failure)),
            }
        });
    }

    /// Begins work on the GPU, which ends with the state that it gives, unless other work goes on.
    fn begin<W>(self, work: W)
    where
        W: AsyncFnOnce(Stop) -> Running + 'static,
    {
        let is_busy = |running: &Running| matches!(running, Running::Busy(_));
        if self.running.with_untracked(is_busy) {
            return;
        }
        let stop = Stop::default();
        self.stop.set_value(stop.clone());
        self.verdict.set(None);
        self.tell("Opening the GPU");
        browser::spawn(async move {
            let ended = work(stop).await;
            // The page may be gone.
            self.running.try_set(ended);
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
        let analysis = of.analysis();
        let program = of.program();
        let fused = &analysis.partition;
        let reshape = analysis.options.conventions.reshape;
        let checks = self.checks(&gpu, of).await?;
        let explanation = verdict(&checks).join(" ");
        self.verdict.try_set(Some(explanation));
        let measured = self.rates(&gpu).await?;
        self.step("Choosing sizes").await;
        let budget = timed_budget(&gpu.limits, &measured);
        let large = Reference::new(program, fused, &Setup::default(), &budget)?;
        let predicted = predicted(&large, fused, &measured, &analysis.options)?;
        let unfused = large.unfused();
        let [unfused, fused] = [(&unfused, "unfused"), (fused, "fused")];
        let mut known = HashMap::new();
        Ok(Outcome {
            unfused: self
                .times(&gpu, &large, unfused, reshape, &mut known)
                .await?,
            fused: self.times(&gpu, &large, fused, reshape, &mut known).await?,
            measured: DeviceProbe::clone(&measured),
            limits: gpu.limits,
            has_clock: gpu.has_clock(),
            own_sizes: program
                .params
                .iter()
                .map(|param| (param.name.text.clone(), param.value))
                .collect(),
            timed_sizes: large.sizes,
            checks,
            predicted,
        })
    }

    /// Results of the GPU beside the interpreter's, at sizes that the interpreter computes quickly;
    /// else why it does not.
    async fn checks(self, gpu: &Gpu, of: &AnalysedText) -> Result<Result<Checks, NotRun>, Failure> {
        let fused = of.partition();
        let reshape = of.options.conventions.reshape;
        self.step("Computing the exact results").await;
        let setup = Setup::default();
        let small = match Reference::new(of.program(), fused, &setup, &Budget::INTERPRETED) {
            Ok(small) => small,
            Err(refused) => return Ok(Err(refused)),
        };
        let job = |kernels| ProgramJob::new(&small, kernels, reshape, usize::MAX);
        let jobs = [job(&small.unfused())?, job(fused)?];
        let exact = small.checked(fused)?;
        self.step("Comparing results").await;
        let mut checks = [Check::default(), Check::default()];
        for (job, check) in jobs.iter().zip(&mut checks) {
            let read = results(gpu, &small, job).await?;
            *check = Check::new(&small, &exact, job, &read);
        }
        let [unfused, fused] = checks;
        Ok(Ok(Checks {
            sizes: small.sizes,
            unfused,
            fused,
        }))
    }

    /// Shows what comes next, and lets the browser draw it.
    async fn step(self, what: &str) {
        self.tell(what);
        browser::painted().await;
    }

    /// The rates that the GPU reaches, measured at the first call.
    async fn rates(self, gpu: &Gpu) -> Result<Arc<DeviceProbe>, Failure> {
        let known = self.measured.get_untracked();
        if let Some(known) = known.filter(|known| known.name == gpu.name) {
            return Ok(known);
        }
        self.measure_rates(gpu).await
    }

    async fn measure_rates(self, gpu: &Gpu) -> Result<Arc<DeviceProbe>, Failure> {
        self.tell("Measuring the bandwidth");
        let copy = probe::copy(&gpu.limits);
        let memory_bytes_per_s = copy.rate(time_s(gpu, &copy).await?)?;
        self.tell("Measuring the vector rate");
        let (chains, chains_s) = chain_s(gpu, probe::chains).await?;
        self.tell("Measuring matmuls");
        let vector_flops_per_s = chains.rate(chains_s)?;
        let product = probe::product(&gpu.limits, vector_flops_per_s)?;
        let product_s = time_s(gpu, &product).await?;
        self.tell("Measuring exponentials");
        let (exponentials, exponentials_s) = chain_s(gpu, probe::exponentials).await?;
        self.tell("Measuring launches");
        let rates = Rates {
            memory_bytes_per_s,
            vector_flops_per_s,
            shader_product_flops_per_s: product.per_s(product_s),
            exp_per_s: exponentials.per_s(exponentials_s),
            launch_s: time_s(gpu, &probe::launches()).await?,
        };
        let measured = rates.device_probe(&gpu.name, today(), &gpu.limits)?;
        let measured = Arc::new(measured);
        self.measured.try_set(Some(Arc::clone(&measured)));
        Ok(measured)
    }

    async fn times(
        self,
        gpu: &Gpu,
        reference: &Reference,
        (partition, how): (&Partition, &str),
        reshape: ReshapeCost,
        known: &mut KnownTimes,
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
        for (index, (kernel, launch)) in kernels.into_iter().zip(&job.launches).enumerate() {
            times.kernels_s[kernel] = if let Some(&known_s) = known.get(&launch.code) {
                known_s
            } else {
                self.tell(format!("Timing {how}, kernel {} of {count}", index + 1));
                let lone_s = gpu.time_s(&prepared, &job, Some(index)).await?;
                known.insert(launch.code.clone(), lone_s);
                lone_s
            };
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

/// Chains of enough steps, and the time of one run of them.
async fn chain_s(gpu: &Gpu, chains: fn(u32) -> Probe) -> Result<(Probe, f64), Failure> {
    let [short, long] = CHAIN_STEPS.map(chains);
    let short_s = time_s(gpu, &short).await?;
    if short_s >= SHORT_S {
        return Ok((short, short_s));
    }
    let long_s = time_s(gpu, &long).await?;
    Ok((long, long_s))
}

/// The time of one run of a probe.
async fn time_s(gpu: &Gpu, probe: &Probe) -> Result<f64, Failure> {
    let prepared = gpu.prepare(&probe.job).await?;
    gpu.time_s(&prepared, &probe.job, None).await
}
