//! The page's worker: what it is doing, and what it has answered.

use super::analysed::AnalysedText;
use super::job_queue::{JobQueue, OUTDATED, Rest, is_same_kind};
use super::jobs::{Job, Message};
use super::queries::{Answer, Asked, Stage};
use fuseline_browser::{Debounce, Worker, now_ms, spawn};
use fuseline_view::picture::dag::DagLayout;
use leptos::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Answers of one kind that are kept: while the text has an error, the page shows two texts.
const KEPT_OF_KIND: usize = 2;

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
    /// Whether it has been computing for so long that the page says so.
    pub takes_long: RwSignal<bool>,
    answers: RwSignal<VecDeque<(Job, Answer)>>,
    inner: StoredValue<Inner, LocalStorage>,
}

/// Non-reactive state of the worker: a change of it wakes no reader.
struct Inner {
    queue: JobQueue,
    worker: Option<Worker>,
    /// The last layout that was sent.
    layout: Option<Arc<DagLayout>>,
    /// Looks whether the running job is outdated.
    outdated: Debounce,
    /// What is done with the answers to awaited jobs.
    awaiting: Vec<(Job, OnAnswer)>,
}

/// Something to do with an answer; `None` if there will be none.
type OnAnswer = Box<dyn FnOnce(Option<&Answer>)>;

impl Background {
    /// A worker that has nothing to do yet, as long as the present owner lives.
    pub fn start() -> Self {
        let work = RwSignal::default();
        let is_running = Memo::new(move |_| work.with(|work| matches!(work, Work::Running(_))));
        let takes_long = RwSignal::new(false);
        let soon = Debounce::after(SOON);
        Effect::new(move || {
            if is_running.get() {
                soon.call(move || takes_long.set(true));
            } else {
                soon.cancel();
                takes_long.set(false);
            }
        });
        Self {
            work,
            takes_long,
            answers: RwSignal::default(),
            inner: StoredValue::new_local(Inner {
                queue: JobQueue::default(),
                worker: None,
                layout: None,
                outdated: Debounce::after(OUTDATED),
                awaiting: Vec::new(),
            }),
        }
    }

    /// The answer to a query about a text: at once if that is quick, else from the worker; `None`
    /// until there is one, and then what reads this runs again. Tracked.
    pub fn ask<Q: Asked>(self, of: &AnalysedText, query: Q) -> Option<Arc<Q::Answer>> {
        if !of.is_long() {
            return Some(Arc::new(query.run(of, &mut |_| {})));
        }
        self.answer::<Q>(&Job::new(query, of))
    }

    /// The worker's answer to a job of such a query; `None` until there is one. Tracked.
    pub fn answer<Q: Asked>(self, job: &Job) -> Option<Arc<Q::Answer>> {
        let known = self.known(job);
        if known.is_none() {
            self.add(job);
        }
        Q::of(&known?)
    }

    fn known(self, job: &Job) -> Option<Answer> {
        self.answers.with(|answers| {
            let answer = answers.iter().find(|(answered, _)| answered == job);
            answer.map(|(_, answer)| answer.clone())
        })
    }

    /// Calls `act` with the answer to a query about a text: at once, or when the worker has given
    /// it; with `None` when the visitor stops the work or goes on to another text before.
    pub fn when_answered<Q: Asked>(
        self,
        of: &AnalysedText,
        query: Q,
        act: impl FnOnce(Option<&Q::Answer>) + 'static,
    ) {
        if !of.is_long() {
            act(Some(&query.run(of, &mut |_| {})));
            return;
        }
        let act = move |answer: Option<&Answer>| act(answer.and_then(Q::of).as_deref());
        let job = Job::new(query, of);
        if let Some(answer) = untrack(|| self.known(&job)) {
            act(Some(&answer));
            return;
        }
        self.inner.update_value(|inner| {
            inner.queue.add_awaited(&job);
            inner.awaiting.push((job, Box::new(act)));
        });
        self.next();
    }

    /// Whether it computes. Tracked.
    pub fn is_running(self) -> bool {
        self.work.with(|work| matches!(work, Work::Running(_)))
    }

    /// Ends all work at once.
    pub fn stop(self) {
        self.end(Work::Stopped);
    }

    /// Begins again what was stopped or has failed.
    pub fn resume(self) {
        self.inner.update_value(|inner| inner.queue.resume());
        self.work.set(Work::Idle);
        self.next();
    }

    /// Drops all answers, and all work but reports that are awaited: the page needs none any more.
    pub fn clear(self) {
        let is_done = self.inner.try_update_value(|inner| {
            let is_done = inner.queue.clear();
            if is_done {
                // This also drops what the worker keeps for its next job.
                inner.worker = None;
                inner.layout = None;
            }
            is_done
        });
        self.answers.update(VecDeque::clear);
        if is_done == Some(true) {
            self.work.maybe_update(|work| {
                let is_idle = *work == Work::Idle;
                *work = Work::Idle;
                !is_idle
            });
        }
        self.next();
    }

    fn add(self, job: &Job) {
        let new = self.inner.try_update_value(|inner| {
            let is_new = inner.queue.add(job);
            is_new.then_some(inner.outdated)
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
        let next = self.inner.try_update_value(|inner| {
            if inner.queue.end_outdated(now_ms()) {
                inner.worker = None;
            }
            let given_up = inner.given_up();
            (given_up, inner.queue.start(now_ms()), inner.queue.rest())
        });
        let Some((given_up, job, rest)) = next else {
            return;
        };
        give_up(given_up);
        match (job, rest) {
            (Some(job), _) => {
                self.work.set(Work::Running(Stage::Reading));
                if let Err(problem) = self.post(&job) {
                    self.end(Work::Failed(problem));
                }
            }
            (None, Some(rest)) if untrack(|| self.is_running()) => {
                self.work.set(match rest {
                    Rest::Done => Work::Idle,
                    Rest::Stopped => Work::Stopped,
                });
            }
            _ => {}
        }
    }

    fn post(self, job: &Job) -> Result<(), String> {
        let message = borsh::to_vec(job).map_err(|problem| problem.to_string())?;
        let posted = self.inner.try_update_value(|inner| {
            let worker = if let Some(worker) = inner.worker.take() {
                worker
            } else {
                // A new worker has drawn nothing yet.
                inner.layout = None;
                Worker::start(
                    move |message| self.receive(&message),
                    move |problem| self.end(Work::Failed(problem)),
                )?
            };
            worker.post(&message);
            inner.worker = Some(worker);
            Ok(())
        });
        // Without a page no answer is needed.
        posted.unwrap_or(Ok(()))
    }

    fn receive(self, message: &[u8]) {
        match borsh::from_slice(message) {
            Ok(Message::Stage(stage)) => self.work.set(Work::Running(stage)),
            Ok(Message::Answer(answer)) => {
                self.keep(answer);
                self.next();
            }
            Err(problem) => self.end(Work::Failed(problem.to_string())),
        }
    }

    fn keep(self, mut answer: Answer) {
        let ended = self.inner.try_update_value(|inner| {
            if let Answer::Picture(picture) = &mut answer {
                let layout = &mut Arc::make_mut(picture).layout;
                // The worker leaves out a layout that equals the last one.
                *layout = layout.take().or_else(|| inner.layout.clone());
                inner.layout.clone_from(layout);
            }
            let job = inner.queue.finish()?;
            let acts: Vec<_> = (inner.awaiting)
                .extract_if(.., |(awaited, _)| *awaited == job)
                .collect();
            Some((job, acts))
        });
        let Some((job, acts)) = ended.flatten() else {
            return;
        };
        for (_, act) in acts {
            act(Some(&answer));
        }
        if job.is_file() {
            // The visitor has the file already, and it is too large to keep.
            return;
        }
        self.answers.update(|answers| {
            answers.push_front((job.clone(), answer));
            let mut of_kind = 0;
            answers.retain(|(other, _)| {
                of_kind += usize::from(is_same_kind(other, &job));
                of_kind <= KEPT_OF_KIND || !is_same_kind(other, &job)
            });
        });
    }

    /// Ends all work at once, for the reason that `work` says.
    fn end(self, work: Work) {
        let ended = self.inner.try_update_value(|inner| {
            inner.worker = None;
            inner.queue.stop();
            (inner.given_up(), inner.queue.rest())
        });
        let Some((given_up, rest)) = ended else {
            return;
        };
        let is_all_given_up = work == Work::Stopped && rest == Some(Rest::Done);
        self.work
            .set(if is_all_given_up { Work::Idle } else { work });
        give_up(given_up);
    }
}

impl Inner {
    /// Takes out what waits for answers that will not come.
    fn given_up(&mut self) -> Vec<OnAnswer> {
        let queue = &self.queue;
        let given_up = (self.awaiting).extract_if(.., |(job, _)| !queue.is_awaited(job));
        given_up.map(|(_, act)| act).collect()
    }
}

fn give_up(acts: Vec<OnAnswer>) {
    for act in acts {
        act(None);
    }
}
