//! The page's worker: what was asked of it, what it has answered, and how far it is.

use super::jobs::{Answer, Job, Message, Stage, Task};
use crate::browser::{Later, Worker, now_ms, spawn};
use crate::picture::dag::DagLayout;
use leptos::prelude::*;
use std::collections::VecDeque;
use std::mem::discriminant;
use std::sync::Arc;
use std::time::Duration;

/// Answers of one kind that are kept: while the text has an error, the page shows two texts.
const KEPT_OF_KIND: usize = 2;

/// A job is ended when it has run for this long and another one of its kind waits. Shorter ones are left: under a slider
/// that moves all the time, an answer that comes is better than ever new beginnings.
const OUTDATED: Duration = Duration::from_secs(2);

/// Work that ends sooner is not shown: it would flicker under a moving slider.
const SOON: Duration = Duration::from_millis(400);

/// What the worker is doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Work {
    /// Nothing is to be done.
    #[default]
    Idle,
    /// It computes.
    Running(Stage),
    /// The visitor has stopped it.
    Stopped,
    /// It has failed, with this message.
    Failed(String),
}

/// The worker. It starts with the first job.
#[derive(Clone, Copy)]
pub struct Background {
    /// What it is doing.
    pub work: RwSignal<Work>,
    /// Whether it has not been idle for some time, so that the visitor is told.
    pub takes_long: RwSignal<bool>,
    answers: RwSignal<VecDeque<(Job, Arc<Answer>)>>,
    hidden: StoredValue<Hidden, LocalStorage>,
}

/// What nobody follows.
struct Hidden {
    queue: Queue,
    worker: Option<Worker>,
    /// The last one that was sent.
    layout: Option<Arc<DagLayout>>,
    /// Looks whether the running job is outdated.
    outdated: Later,
}

/// The jobs that have no answer.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<Job>,
    running: Option<(Job, f64)>,
    /// Not started again until the visitor wants it, or asks for something else.
    stopped: VecDeque<Job>,
}

impl Background {
    /// A worker that has nothing to do yet, as long as the present owner lives.
    pub fn start() -> Self {
        let work = RwSignal::default();
        let is_idle = Memo::new(move |_| work.with(|work| *work == Work::Idle));
        let takes_long = RwSignal::new(false);
        let soon = Later::after(SOON);
        Effect::new(move || {
            if is_idle.get() {
                soon.cancel();
                takes_long.set(false);
            } else {
                soon.call(move || takes_long.set(true));
            }
        });
        Self {
            work,
            takes_long,
            answers: RwSignal::default(),
            hidden: StoredValue::new_local(Hidden {
                queue: Queue::default(),
                worker: None,
                layout: None,
                outdated: Later::after(OUTDATED),
            }),
        }
    }

    /// The answer to a job; `None` until there is one, and then what reads this runs again. Tracked.
    pub fn answer(self, job: &Job) -> Option<Arc<Answer>> {
        let known = self.answers.with(|answers| {
            let answer = answers.iter().find(|(answered, _)| answered == job);
            answer.map(|(_, answer)| answer.clone())
        });
        if known.is_none() {
            self.ask(job);
        }
        known
    }

    /// Whether it computes. Tracked.
    pub fn is_running(self) -> bool {
        self.work.with(|work| matches!(work, Work::Running(_)))
    }

    /// Ends all work at once.
    pub fn stop(self) {
        self.hidden.update_value(|hidden| {
            hidden.worker = None;
            hidden.queue.stop();
        });
        self.work.set(Work::Stopped);
    }

    /// Begins again what was stopped or has failed.
    pub fn resume(self) {
        self.hidden.update_value(|hidden| {
            let Queue {
                waiting, stopped, ..
            } = &mut hidden.queue;
            waiting.append(stopped);
        });
        self.next();
    }

    fn ask(self, job: &Job) {
        let new = self.hidden.try_update_value(|hidden| {
            let is_new = hidden.queue.add(job);
            is_new.then_some(hidden.outdated)
        });
        if let Some(outdated) = new.flatten() {
            // Memos ask, and a memo does not write signals.
            spawn(async move {
                self.next();
                outdated.call(move || self.next());
            });
        }
    }

    /// Gives the worker its next job if it has none.
    fn next(self) {
        let next = self.hidden.try_update_value(|hidden| {
            if hidden.queue.end_outdated() {
                hidden.worker = None;
            }
            (hidden.queue.start(), hidden.queue.running.is_some())
        });
        match next {
            Some((Some(job), _)) => {
                self.work.set(Work::Running(Stage::Reading));
                if let Err(problem) = self.post(&job) {
                    self.fail(problem);
                }
            }
            Some((None, false)) if untrack(|| self.is_running()) => self.work.set(Work::Idle),
            _ => {}
        }
    }

    fn post(self, job: &Job) -> Result<(), String> {
        let message = borsh::to_vec(job).map_err(|problem| problem.to_string())?;
        let posted = self.hidden.try_update_value(|hidden| {
            let worker = match hidden.worker.take() {
                Some(worker) => worker,
                None => Worker::start(
                    move |message| self.receive(&message),
                    move |problem| self.fail(problem),
                )?,
            };
            worker.post(&message);
            hidden.worker = Some(worker);
            Ok(())
        });
        // Without a page nobody waits.
        posted.unwrap_or(Ok(()))
    }

    fn receive(self, message: &[u8]) {
        match borsh::from_slice(message) {
            Ok(Message::Stage(stage)) => self.work.set(Work::Running(stage)),
            Ok(Message::Answer(answer)) => {
                self.keep(*answer);
                self.next();
            }
            Err(problem) => self.fail(problem.to_string()),
        }
    }

    fn keep(self, mut answer: Answer) {
        let ended = self.hidden.try_update_value(|hidden| {
            if let Answer::Picture { layout, .. } = &mut answer {
                *layout = layout.take().or_else(|| hidden.layout.clone());
                hidden.layout.clone_from(layout);
            }
            hidden.queue.running.take()
        });
        let Some((job, _)) = ended.flatten() else {
            return;
        };
        self.answers.update(|answers| {
            answers.push_front((job.clone(), Arc::new(answer)));
            let mut of_kind = 0;
            answers.retain(|(other, _)| {
                of_kind += usize::from(is_same_kind(other, &job));
                of_kind <= KEPT_OF_KIND || !is_same_kind(other, &job)
            });
        });
    }

    fn fail(self, problem: String) {
        self.stop();
        self.work.set(Work::Failed(problem));
    }
}

impl Queue {
    /// Whether the job is new.
    fn add(&mut self, job: &Job) -> bool {
        let is_running = (self.running.as_ref()).is_some_and(|(running, _)| running == job);
        if is_running || self.waiting.contains(job) || self.stopped.contains(job) {
            return false;
        }
        self.stopped.clear();
        self.waiting.retain(|waiting| !is_same_kind(waiting, job));
        if matches!(job.task, Task::Picture { .. }) {
            self.waiting.push_front(job.clone());
        } else {
            self.waiting.push_back(job.clone());
        }
        true
    }

    /// Forgets the running job if it has run for long and another one of its kind waits.
    fn end_outdated(&mut self) -> bool {
        let is_outdated = self.running.as_ref().is_some_and(|(running, since_ms)| {
            now_ms() - since_ms >= OUTDATED.as_secs_f64() * 1000.0
                && (self.waiting.iter()).any(|waiting| is_same_kind(waiting, running))
        });
        if is_outdated {
            self.running = None;
        }
        is_outdated
    }

    fn start(&mut self) -> Option<Job> {
        if self.running.is_some() {
            return None;
        }
        let job = self.waiting.pop_front()?;
        self.running = Some((job.clone(), now_ms()));
        Some(job)
    }

    fn stop(&mut self) {
        self.stopped.extend(self.running.take().map(|(job, _)| job));
        self.stopped.extend(self.waiting.drain(..));
    }
}

/// Whether the later one makes the earlier one needless. The policies of a comparison are needed side by side, and so are
/// the pictures before and after all decisions.
fn is_same_kind(one: &Job, other: &Job) -> bool {
    match (one.task, other.task) {
        (Task::Plan, Task::Plan) => one.options.policy == other.options.policy,
        (Task::Picture { step: one }, Task::Picture { step: other }) => {
            one.is_some() == other.is_some()
        }
        (one, other) => discriminant(&one) == discriminant(&other),
    }
}
