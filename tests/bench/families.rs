//! Programs in which an op has many readers or many inputs: the time for each op and read must not
//! grow with them.

#[path = "../model/families.rs"]
mod reads;

use cpu_time::ThreadTime;
use fuseline_core::analysis::compare::compare;
use fuseline_core::analysis::limits::limits;
use fuseline_core::analysis::why::Why;
use fuseline_core::fusion::decision_trace::trace_decisions;
use fuseline_core::model::options::PAGE_BUDGET_STATES;
use fuseline_core::{Analysis, Options, Policy, analyze_program, notation};
use fuseline_view::picture::dag::layout;
use fuseline_view::present::report::Report;
use reads::{Reads, bipartite, chain, fan_out_and_back, ladder, reads_all, text_of};
use std::hint::black_box;

/// A family: its name, its programs by their number of ops, and the numbers that are measured.
type Family = (&'static str, fn(usize) -> Reads, [usize; 3]);

/// Where reads grow with the square of the ops, 4,000 ops would have millions of reads.
const FAMILIES: [Family; 5] = [
    ("chain", chain, [100, 1_000, 4_000]),
    ("ladder", ladder, [100, 1_000, 4_000]),
    ("fan-out and back", fan_out_and_back, [100, 1_000, 4_000]),
    ("bipartite", bipartite, [100, 200, 400]),
    ("reads all before it", reads_all, [70, 140, 280]),
];

/// A text, and its analysis under a policy.
struct Case {
    text: String,
    options: Options,
    analysis: Analysis,
}

impl Case {
    fn new(reads: &Reads, policy: Policy) -> Self {
        let text = text_of(reads);
        let mut options = Options::of_policy(policy);
        options.fusion.budget_states = PAGE_BUDGET_STATES;
        Self {
            analysis: analysis(&text, &options),
            text,
            options,
        }
    }
}

fn analysis(text: &str, options: &Options) -> Analysis {
    let outcome = analyze_program(&notation::parse(text).program, options);
    outcome.analysis.expect("a valid program")
}

/// What is measured, with the policies under which it differs.
type Step = (&'static str, &'static [Policy], fn(&Case));

const EVERY: &[Policy] = &[
    Policy::None,
    Policy::Rules,
    Policy::Inductor,
    Policy::Manual,
    Policy::Optimal,
];
const PLAIN: &[Policy] = &[Policy::None, Policy::Rules, Policy::Inductor];

const STEPS: [Step; 8] = [
    ("parse", &[Policy::Rules], |case| {
        black_box(notation::parse(&case.text));
    }),
    ("text to analysis", EVERY, |case| {
        black_box(analysis(&case.text, &case.options));
    }),
    ("steps", PLAIN, |case| {
        black_box(trace_decisions(&case.analysis.graph, &case.options));
    }),
    ("why: prices", PLAIN, |case| {
        black_box(Why::new(&case.analysis).priced_edges());
    }),
    ("export", PLAIN, |case| {
        let report = Report::new(&case.analysis, &[], &case.text);
        black_box(serde_json::to_string(&report)).expect("valid JSON");
    }),
    ("limits", PLAIN, |case| {
        black_box(limits(&case.analysis));
    }),
    ("layout", PLAIN, |case| {
        black_box(layout(&case.analysis.graph, &case.analysis.partition));
    }),
    ("compare", &[Policy::Rules], |case| {
        black_box(compare(&case.analysis));
    }),
];

/// Prints the milliseconds of each step at three sizes, and how the time for each op and read grows
/// from the smallest to the largest.
pub(crate) fn summary() {
    for (family, reads_of, sizes) in FAMILIES {
        let programs = sizes.map(reads_of);
        let size = |reads: &Reads| reads.len() + reads.iter().map(Vec::len).sum::<usize>();
        let work = programs.each_ref().map(size);
        let of = |at: usize| format!("{} ops, {} reads", sizes[at], work[at] - sizes[at]);
        println!(
            "\n{family}: ms at {}; {}; {}; growth per op and read",
            of(0),
            of(1),
            of(2)
        );
        for &policy in EVERY {
            let cases = programs.each_ref().map(|reads| Case::new(reads, policy));
            for (step, policies, run) in STEPS {
                if policies.contains(&policy) {
                    let ms = cases.each_ref().map(|case| milliseconds(|| run(case)));
                    let growth = (ms[2] / work[2] as f64) / (ms[0] / work[0] as f64);
                    println!(
                        "{:<10}{step:<18}{:>10.2}{:>10.2}{:>10.2}{growth:>8.1}",
                        policy.name(),
                        ms[0],
                        ms[1],
                        ms[2]
                    );
                }
            }
        }
    }
}

/// Processor time of one run; of the fastest of several where that takes little.
fn milliseconds(run: impl Fn()) -> f64 {
    const RUNS: usize = 5;
    const SHORT_MS: f64 = 20.0;
    let once = || {
        let start = ThreadTime::now();
        run();
        start.elapsed().as_secs_f64() * 1e3
    };
    let first = once();
    if first > SHORT_MS {
        return first;
    }
    (1..RUNS).map(|_| once()).fold(first, f64::min)
}
