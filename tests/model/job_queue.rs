//! The order in which the worker does its jobs, and which it does no longer.

use fuseline::app::job_queue::{JobQueue, OUTDATED, Rest};
use fuseline::app::jobs::{Job, Task};
use fuseline::core::{Options, Policy};

const ALL: Task = Task::Picture { step: None };
const FIRST: Task = Task::Picture { step: Some(0) };
const REPORT: Task = Task::Report { step: None };

fn job(text: &str, task: Task) -> Job {
    Job {
        text: text.into(),
        options: Options::default(),
        task,
    }
}

fn policy(policy: Policy) -> Job {
    Job {
        options: Options::of_policy(policy),
        ..job("a", Task::Plan)
    }
}

/// All jobs in the order in which they run.
fn order(queue: &mut JobQueue) -> Vec<Job> {
    std::iter::from_fn(|| {
        let job = queue.start(0.0)?;
        assert_eq!(queue.finish().as_ref(), Some(&job));
        Some(job)
    })
    .collect()
}

#[test]
fn the_picture_comes_first_and_one_job_runs_for_a_time() {
    let mut queue = JobQueue::default();
    assert_eq!(queue.rest(), Some(Rest::Done));
    assert!(queue.add(&job("a", Task::Record)));
    assert!(queue.add(&job("a", ALL)));
    assert_eq!(queue.start(0.0), Some(job("a", ALL)));
    assert_eq!(queue.start(0.0), None);
    assert_eq!(queue.rest(), None);
    queue.finish();
    assert_eq!(order(&mut queue), [job("a", Task::Record)]);
}

#[test]
fn a_job_is_asked_for_once_and_replaces_a_waiting_one_of_its_kind() {
    let mut queue = JobQueue::default();
    assert!(queue.add(&job("a", Task::Record)));
    assert!(!queue.add(&job("a", Task::Record)));
    assert!(queue.add(&job("b", Task::Record)));
    assert_eq!(order(&mut queue), [job("b", Task::Record)]);
}

#[test]
fn the_policies_of_a_comparison_and_both_pictures_wait_side_by_side() {
    let mut queue = JobQueue::default();
    let jobs = [
        job("a", FIRST),
        job("a", ALL),
        policy(Policy::None),
        policy(Policy::Optimal),
    ];
    for job in &jobs {
        assert!(queue.add(job));
    }
    assert_eq!(order(&mut queue).len(), jobs.len());
}

#[test]
fn a_running_job_is_outdated_after_a_while_by_its_kind_or_by_the_picture() {
    let late = OUTDATED.as_secs_f64() * 1000.0;
    for (running, waiting, is_outdated) in [
        (Task::Record, job("b", Task::Record), true),
        (Task::Record, job("b", ALL), true),
        (Task::Record, job("b", REPORT), false),
        (Task::Record, job("a", FIRST), false),
        (ALL, job("b", ALL), true),
        (ALL, job("b", Task::Plan), false),
    ] {
        let mut queue = JobQueue::default();
        queue.add(&job("a", running));
        queue.start(0.0);
        queue.add(&waiting);
        assert!(!queue.end_outdated(late - 1.0));
        assert_eq!(
            queue.end_outdated(late),
            is_outdated,
            "{running:?} {waiting:?}"
        );
        assert_eq!(queue.start(late), is_outdated.then_some(waiting));
    }
}

#[test]
fn what_is_stopped_waits_for_the_visitor_and_reports_are_dropped() {
    let mut queue = JobQueue::default();
    queue.add(&job("a", ALL));
    queue.start(0.0);
    queue.add(&job("a", Task::Record));
    queue.add(&job("a", REPORT));
    queue.stop();
    assert_eq!(queue.start(0.0), None);
    assert_eq!(queue.rest(), Some(Rest::Stopped));
    assert!(!queue.add(&job("a", ALL)));
    // Another job does not begin it again.
    assert!(queue.add(&policy(Policy::None)));
    assert_eq!(order(&mut queue), [policy(Policy::None)]);
    assert_eq!(queue.rest(), Some(Rest::Stopped));
    queue.resume();
    assert_eq!(order(&mut queue), [job("a", ALL), job("a", Task::Record)]);
    assert_eq!(queue.rest(), Some(Rest::Done));
}

#[test]
fn a_new_text_takes_the_place_of_what_was_stopped() {
    let mut queue = JobQueue::default();
    queue.add(&job("a", ALL));
    queue.stop();
    assert!(queue.add(&job("b", ALL)));
    assert_eq!(order(&mut queue), [job("b", ALL)]);
    assert_eq!(queue.rest(), Some(Rest::Done));
}

#[test]
fn a_program_that_needs_no_worker_leaves_only_the_report() {
    let mut queue = JobQueue::default();
    queue.add(&job("a", Task::Record));
    queue.start(0.0);
    queue.add(&job("a", REPORT));
    assert!(queue.clear());
    assert_eq!(queue.start(0.0), Some(job("a", REPORT)));
    assert!(!queue.clear());
    assert_eq!(queue.finish(), Some(job("a", REPORT)));
}
