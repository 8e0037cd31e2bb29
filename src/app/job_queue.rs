//! Which job the worker does next, and which one it does no longer.

use super::jobs::Job;
use super::queries::Task;
use std::collections::VecDeque;
use std::mem::discriminant;
use std::time::Duration;

/// A job is ended when it has run for this long and another one makes it needless. Shorter ones are
/// left: under a slider that moves all the time, an answer that comes is better than ever new
/// beginnings.
pub const OUTDATED: Duration = Duration::from_secs(2);

/// The jobs that have no answer yet: one runs, others wait.
#[derive(Debug, Default)]
pub struct JobQueue {
    running: Option<(Job, f64)>,
    waiting: VecDeque<Job>,
    /// Ended by the visitor or by a failure, and not started again until the visitor wants it.
    stopped: VecDeque<Job>,
    /// Jobs whose answer is used once, such as a file. No other job of their kind makes them
    /// needless.
    awaited: Vec<Job>,
}

/// What the worker does when no job waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Everything is answered.
    Done,
    /// Some jobs were stopped.
    Stopped,
}

impl JobQueue {
    /// Adds a job. `false` if it waits, runs or was stopped already. A waiting job that it makes
    /// needless is dropped.
    pub fn add(&mut self, job: &Job) -> bool {
        let is_running = (self.running.as_ref()).is_some_and(|(running, _)| running == job);
        if is_running || self.waiting.contains(job) || self.stopped.contains(job) {
            return false;
        }
        if job.is_whole_picture() {
            // The visitor has gone on to another text or choice.
            self.awaited.retain(Job::is_file);
        }
        self.stopped.retain(|stopped| !is_same_kind(stopped, job));
        let awaited = &self.awaited;
        (self.waiting).retain(|waiting| awaited.contains(waiting) || !is_same_kind(waiting, job));
        let mut waiting = self.waiting.iter();
        let index = waiting.position(|waiting| order(waiting) > order(job));
        self.waiting
            .insert(index.unwrap_or(self.waiting.len()), job.clone());
        true
    }

    /// Adds a job whose answer changes something once, a file or the text. Begins it again if it
    /// was stopped.
    pub fn add_awaited(&mut self, job: &Job) {
        self.stopped.retain(|stopped| stopped != job);
        self.add(job);
        if !self.is_awaited(job) {
            self.awaited.push(job.clone());
        }
    }

    /// Whether the answer to a job still changes something.
    pub fn is_awaited(&self, job: &Job) -> bool {
        self.awaited.contains(job)
    }

    /// Ends the running job if it has run for [`OUTDATED`] and is outdated. Returns whether it did.
    ///
    /// A job is outdated if a waiting one makes it needless, or is the picture of the present text,
    /// which all else depends on, unless the waiting one needs most of the same work. An awaited
    /// job waits again.
    pub fn end_outdated(&mut self, now_ms: f64) -> bool {
        let is_outdated = |running: &Job, since_ms: f64| {
            let is_replaceable = !self.is_awaited(running);
            let outdates = |job: &Job| {
                job.is_whole_picture()
                    || is_replaceable && is_same_kind(job, running) && !job.shares_work(running)
            };
            now_ms - since_ms >= OUTDATED.as_secs_f64() * 1000.0
                && self.waiting.iter().any(outdates)
        };
        let is_ended =
            (self.running.as_ref()).is_some_and(|(job, since_ms)| is_outdated(job, *since_ms));
        if is_ended
            && let Some((job, _)) = self.running.take()
            && self.is_awaited(&job)
        {
            self.waiting.push_back(job);
        }
        is_ended
    }

    /// The job to start now; `None` if one runs or none waits.
    pub fn start(&mut self, now_ms: f64) -> Option<Job> {
        if self.running.is_some() {
            return None;
        }
        let job = self.waiting.pop_front()?;
        self.running = Some((job.clone(), now_ms));
        Some(job)
    }

    /// Ends the running job and returns it.
    pub fn finish(&mut self) -> Option<Job> {
        let (job, _) = self.running.take()?;
        self.awaited.retain(|awaited| *awaited != job);
        Some(job)
    }

    /// What the worker does now that no job waits; `None` while one runs.
    pub fn rest(&self) -> Option<Rest> {
        let rest = if self.stopped.is_empty() {
            Rest::Done
        } else {
            Rest::Stopped
        };
        self.running.is_none().then_some(rest)
    }

    /// Ends everything. What was awaited is not begun again: a file or another text that comes long
    /// after it was asked for surprises.
    pub fn stop(&mut self) {
        let running = self.running.take().map(|(job, _)| job);
        let ended = running.into_iter().chain(self.waiting.drain(..));
        let awaited = std::mem::take(&mut self.awaited);
        self.stopped
            .extend(ended.filter(|job| !awaited.contains(job)));
    }

    /// Lets what was stopped wait again.
    pub fn resume(&mut self) {
        self.waiting.append(&mut self.stopped);
    }

    /// Drops all jobs but awaited files: the page has gone on to a program that needs none. Returns
    /// whether nothing is left to do.
    pub fn clear(&mut self) -> bool {
        self.awaited.retain(Job::is_file);
        let awaited = &self.awaited;
        self.waiting.retain(|job| awaited.contains(job));
        self.stopped.clear();
        self.running.take_if(|(job, _)| !awaited.contains(job));
        self.running.is_none() && self.waiting.is_empty()
    }
}

/// Jobs wait in this order: pictures, what the visitor points at, and the tabs.
const fn order(job: &Job) -> u8 {
    match job.task {
        Task::Picture(_) if job.input.step.is_none() => 0,
        Task::Picture(_) => 1,
        Task::Effect(_) | Task::Merges(_) | Task::WhySeparate(_) | Task::Handout(_) => 2,
        Task::PlanUnder(_)
        | Task::Steps(_)
        | Task::Sweep(_)
        | Task::Edges(_)
        | Task::Advice(_)
        | Task::OnDevices(_)
        | Task::FusionLimit(_)
        | Task::Report(_)
        | Task::Table(_) => 3,
    }
}

/// Whether the later one of the two makes the earlier one needless. The policies of a comparison
/// are needed side by side, and so are the pictures before and after all decisions.
pub fn is_same_kind(one: &Job, other: &Job) -> bool {
    match (one.task, other.task) {
        (Task::PlanUnder(one), Task::PlanUnder(other)) => one == other,
        (Task::Picture(_), Task::Picture(_)) => {
            one.input.step.is_some() == other.input.step.is_some()
        }
        (one, other) => discriminant(&one) == discriminant(&other),
    }
}
