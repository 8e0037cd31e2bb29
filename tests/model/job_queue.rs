//! The order in which the worker does its jobs, and which it does no longer.

use fuseline::app::analysed::AnalysisInput;
use fuseline::app::job_queue::{JobQueue, OUTDATED, Rest};
use fuseline::app::jobs::Job;
use fuseline::app::queries::{Effect, Picture, PlanUnder, Report, Steps, Task, WhySeparate};
use fuseline_core::{KernelId, OpId, Options, Policy};
use fuseline_view::picture::dag::Folding;
use fuseline_view::present::manual::Change;

const ALL: Task = Task::Picture(Picture {
    folding: Folding::Iterations,
});
const STEPS: Task = Task::Steps(Steps);
const PLAN: Task = Task::PlanUnder(PlanUnder {
    policy: Policy::None,
});
const REPORT: Task = Task::Report(Report);

fn job(text: &str, task: Task) -> Job {
    Job {
        input: AnalysisInput {
            text: text.into(),
            options: Options::default(),
            step: None,
        },
        task,
    }
}

/// The picture before the first decision.
fn first(text: &str) -> Job {
    let mut job = job(text, ALL);
    job.input.step = Some(0);
    job
}

fn apart(first: usize) -> Task {
    WhySeparate(OpId::new(first), OpId::new(9)).into()
}

fn merge() -> Task {
    Effect(Change::Merge(KernelId::new(0), KernelId::new(1))).into()
}

fn policy(policy: Policy) -> Job {
    let mut job = job("a", PlanUnder { policy }.into());
    job.input.options = Options::of_policy(policy);
    job
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
    assert!(queue.add(&job("a", STEPS)));
    assert!(queue.add(&job("a", ALL)));
    assert_eq!(queue.start(0.0), Some(job("a", ALL)));
    assert_eq!(queue.start(0.0), None);
    assert_eq!(queue.rest(), None);
    queue.finish();
    assert_eq!(order(&mut queue), [job("a", STEPS)]);
}

#[test]
fn a_job_is_asked_for_once_and_replaces_a_waiting_one_of_its_kind() {
    let mut queue = JobQueue::default();
    assert!(queue.add(&job("a", STEPS)));
    assert!(!queue.add(&job("a", STEPS)));
    assert!(queue.add(&job("b", STEPS)));
    assert_eq!(order(&mut queue), [job("b", STEPS)]);
}

#[test]
fn the_policies_of_a_comparison_and_both_pictures_wait_side_by_side() {
    let mut queue = JobQueue::default();
    let jobs = [
        first("a"),
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
        (STEPS, job("b", STEPS), true),
        (STEPS, job("b", ALL), true),
        (STEPS, job("b", REPORT), false),
        (STEPS, first("a"), false),
        (ALL, job("b", ALL), true),
        (ALL, job("b", PLAN), false),
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
fn a_question_waits_for_one_about_the_same_kernels() {
    let late = OUTDATED.as_secs_f64() * 1000.0;
    for (text, is_outdated) in [("a", false), ("b", true)] {
        let mut queue = JobQueue::default();
        queue.add(&job("a", apart(0)));
        queue.start(0.0);
        queue.add(&job(text, apart(1)));
        assert_eq!(queue.end_outdated(late), is_outdated, "{text}");
    }
}

#[test]
fn what_is_stopped_waits_for_the_visitor_and_reports_are_dropped() {
    let mut queue = JobQueue::default();
    queue.add(&job("a", ALL));
    queue.start(0.0);
    queue.add(&job("a", STEPS));
    queue.add_awaited(&job("a", REPORT));
    queue.stop();
    assert_eq!(queue.start(0.0), None);
    assert_eq!(queue.rest(), Some(Rest::Stopped));
    assert!(!queue.add(&job("a", ALL)));
    // Another job does not begin it again.
    assert!(queue.add(&policy(Policy::None)));
    assert_eq!(order(&mut queue), [policy(Policy::None)]);
    assert_eq!(queue.rest(), Some(Rest::Stopped));
    queue.resume();
    assert_eq!(order(&mut queue), [job("a", ALL), job("a", STEPS)]);
    assert_eq!(queue.rest(), Some(Rest::Done));
}

#[test]
fn what_is_awaited_is_not_replaced_by_its_kind() {
    let late = OUTDATED.as_secs_f64() * 1000.0;
    for is_running in [false, true] {
        let mut queue = JobQueue::default();
        queue.add_awaited(&job("a", apart(0)));
        if is_running {
            queue.start(0.0);
        }
        queue.add(&job("b", apart(1)));
        assert!(!queue.end_outdated(late));
        queue.finish();
        let both = [job("a", apart(0)), job("b", apart(1))];
        assert_eq!(order(&mut queue), both[usize::from(is_running)..]);
        // Once it is answered, it is like any other.
        queue.add(&job("a", apart(0)));
        queue.add(&job("b", apart(1)));
        assert_eq!(order(&mut queue), both[1..]);
    }
}

#[test]
fn the_picture_of_a_new_text_goes_before_what_is_awaited() {
    let mut queue = JobQueue::default();
    queue.add_awaited(&job("a", REPORT));
    queue.start(0.0);
    queue.add(&job("b", ALL));
    assert!(queue.end_outdated(OUTDATED.as_secs_f64() * 1000.0));
    assert_eq!(order(&mut queue), [job("b", ALL), job("a", REPORT)]);
}

#[test]
fn another_text_gives_up_what_is_awaited_for_the_old_one() {
    let mut queue = JobQueue::default();
    queue.add_awaited(&job("a", merge()));
    queue.start(0.0);
    assert!(queue.is_awaited(&job("a", merge())));
    queue.add(&job("b", ALL));
    assert!(!queue.is_awaited(&job("a", merge())));
    assert!(queue.end_outdated(OUTDATED.as_secs_f64() * 1000.0));
    assert_eq!(order(&mut queue), [job("b", ALL)]);
}

#[test]
fn stopping_and_a_small_program_give_up_a_change_by_hand() {
    for is_running in [false, true] {
        for end in [JobQueue::stop, |queue: &mut JobQueue| {
            assert!(queue.clear());
        }] {
            let mut queue = JobQueue::default();
            queue.add_awaited(&job("a", merge()));
            if is_running {
                queue.start(0.0);
            }
            end(&mut queue);
            assert!(!queue.is_awaited(&job("a", merge())));
            assert_eq!(queue.rest(), Some(Rest::Done));
            queue.resume();
            assert_eq!(queue.start(0.0), None);
        }
    }
}

#[test]
fn what_the_visitor_points_at_goes_before_the_tabs() {
    let mut queue = JobQueue::default();
    let jobs = [
        policy(Policy::Optimal),
        job("a", STEPS),
        job("a", apart(0)),
        first("a"),
        job("a", ALL),
    ];
    for job in &jobs {
        queue.add(job);
    }
    let [plan, steps, apart, first, all] = jobs;
    assert_eq!(order(&mut queue), [all, first, apart, plan, steps]);
}

#[test]
fn work_is_shared_by_all_that_needs_more_than_the_kernels() {
    let shared = [job("a", apart(0)), first("a"), job("a", STEPS)];
    for one in &shared {
        for other in &shared {
            assert!(one.shares_work(other));
        }
        assert!(!one.shares_work(&job("a", ALL)));
        assert!(!one.shares_work(&first("b")));
        let mut other_choice = one.clone();
        other_choice.input.options = Options::of_policy(Policy::None);
        assert!(!one.shares_work(&other_choice));
    }
}

#[test]
fn what_was_stopped_begins_again_when_it_is_awaited() {
    let mut queue = JobQueue::default();
    queue.add(&job("a", apart(0)));
    queue.stop();
    assert!(!queue.add(&job("a", apart(0))));
    queue.add_awaited(&job("a", apart(0)));
    assert_eq!(order(&mut queue), [job("a", apart(0))]);
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
fn a_program_that_needs_no_worker_leaves_only_what_is_awaited() {
    let mut queue = JobQueue::default();
    queue.add(&job("a", STEPS));
    queue.start(0.0);
    queue.add_awaited(&job("a", REPORT));
    assert!(!queue.clear());
    assert_eq!(queue.start(0.0), Some(job("a", REPORT)));
    assert!(!queue.clear());
    assert_eq!(queue.finish(), Some(job("a", REPORT)));
    assert!(queue.clear());
}
