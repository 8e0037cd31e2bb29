//! Puzzles: every one has a proven par, and steps and hints lead there from wherever a visitor may
//! be.

use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::analysis::why::Why;
use fuseline_core::fusion::certificate::Amount;
use fuseline_core::{KernelId, Objective, Policy};
use fuseline_learn::lesson::state::AnalyzedProgram;
use fuseline_learn::puzzle::library::{PUZZLES, listed, next};
use fuseline_learn::puzzle::progress::PuzzleProgress;
use fuseline_learn::puzzle::rank::Rank;
use fuseline_learn::puzzle::standing::{Graded, Maker, Standing, amount_text};
use fuseline_learn::puzzle::{Posed, Region, read};
use fuseline_view::present::figure::explanation;
use fuseline_view::present::manual::{Change, propose};
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use proptest::prelude::*;
use std::sync::LazyLock;

pub(crate) static POSED: LazyLock<Vec<(&str, Posed)>> = LazyLock::new(|| {
    let posed = |text| Posed::of(read(text).0).unwrap();
    (PUZZLES.iter().map(|p| (p.id, posed(p.text)))).collect()
});

pub(crate) fn posed(id: &str) -> &'static Posed {
    &POSED.iter().find(|(known, _)| *known == id).unwrap().1
}

fn seen(posed: &Posed, text: &str) -> AnalyzedProgram {
    AnalyzedProgram::of(text, &posed.puzzle.page.options()).unwrap()
}

fn graded(posed: &Posed, seen: &AnalyzedProgram) -> Graded {
    match posed.standing(&seen.analysis, seen.has_error) {
        Standing::Graded(graded) => graded,
        Standing::Ungraded(words) => panic!("{words}"),
    }
}

/// The text with the kernels of these two ops merged.
fn merged(posed: &Posed, seen: &AnalyzedProgram, ops: [&str; 2]) -> AnalyzedProgram {
    let analysis = &seen.analysis;
    let [a, b] = ops.map(|op| analysis.partition.kernel_of[analysis.graph.op_named(op).unwrap()]);
    changed(posed, seen, Change::Merge(a, b)).unwrap()
}

fn changed(posed: &Posed, from: &AnalyzedProgram, change: Change) -> Option<AnalyzedProgram> {
    let proposal = propose(
        change,
        KernelsInText {
            text: &from.text,
            program: from.program(),
            analysis: &from.analysis,
            statement_of_op: &from.statement_of_op,
        },
    );
    Some(seen(posed, &proposal.text?))
}

#[test]
fn there_are_twelve_and_their_files_are_in_order() {
    assert_eq!(PUZZLES.len(), 12);
    for puzzle in PUZZLES {
        let (read, problems) = read(puzzle.text);
        assert_eq!(problems, [], "{}", puzzle.id);
        assert!(read.about.split_whitespace().count() <= 50, "{}", puzzle.id);
        let seen = read.page.analyzed().unwrap();
        assert!(!seen.has_error, "{}", puzzle.id);
        let kernels = &seen.analysis.partition.kernels;
        assert_eq!(
            kernels.len(),
            seen.analysis.graph.ops.len(),
            "no kernels are stated"
        );
    }
    let ops = |id| posed(id).analyzed().unwrap().analysis.graph.ops.len();
    assert_eq!((ops("two_ops"), ops("llama")), (2, 46));
    assert_eq!(next("two_ops").map(|p| p.id), Some("chain"));
    assert_eq!(next("llama"), None);
    assert_eq!(listed("none"), None);
    let objectives = POSED
        .iter()
        .map(|(_, p)| p.puzzle.page.shared.fusion.objective);
    assert!(objectives.clone().any(|o| o == Objective::Time));
}

#[test]
fn the_optimum_of_every_puzzle_is_proven_within_the_budget_of_the_page() {
    for puzzle in PUZZLES {
        let mut page = read(puzzle.text).0.page;
        page.shared.policy = Policy::Optimal;
        let certificate = page.analyzed().unwrap().analysis.certificate.unwrap();
        assert!(certificate.is_optimal, "{}", puzzle.id);
        let posed = posed(puzzle.id);
        let par = certificate.cost.value();
        assert!(
            (posed.par.value() - par).abs() <= par * 1e-6,
            "{}",
            puzzle.id
        );
        assert!(
            posed.start.value() > par * 1.01,
            "{}: there is nothing to do",
            puzzle.id
        );
    }
}

/// A time is worked out from the roofline: with measured rates the page would show another one.
#[test]
fn the_page_shows_the_time_that_a_puzzle_grades() {
    for (id, posed) in POSED.iter() {
        let analysis = posed.analyzed().unwrap().analysis;
        assert!(analysis.predicted.is_none(), "{id}");
    }
}

#[test]
fn the_steps_lead_from_the_start_to_par_by_legal_kernels_with_their_prices() {
    for (id, posed) in POSED.iter() {
        let start = posed.analyzed().unwrap();
        let steps = posed.way(&start).unwrap_or_else(|| panic!("{id}: no way"));
        let mut now = start;
        for step in &steps {
            let next = changed(posed, &now, step.change).unwrap();
            assert_eq!(*next.text, *step.text, "{id}");
            assert!(!next.has_error, "{id}: {}", step.done);
            now = next;
        }
        assert!(graded(posed, &now).is_solved(), "{id}");
        assert_eq!(posed.way(&now), Some(Vec::new()), "{id}: nothing is left");
    }
}

#[test]
fn a_merge_that_is_in_the_way_is_cut_again() {
    let posed = posed("swiglu");
    let start = posed.analyzed().unwrap();
    let stuck = merged(
        posed,
        &merged(posed, &start, ["gate", "silu"]),
        ["silu", "product"],
    );
    let before = graded(posed, &stuck);
    assert!(!before.is_solved());
    let steps = posed.way(&stuck).unwrap();
    assert!(
        matches!(steps[0].change, Change::Cut { .. }),
        "{:?}",
        steps[0]
    );
    assert!(steps[0].hint.contains("in the way"), "{}", steps[0].hint);
    // The first hint names the kernel, and neither its ops nor the cut.
    let nudge = &steps[0].nudge;
    assert!(matches!(nudge.region, Region::Kernel(_)), "{nudge:?}");
    assert!(nudge.words.contains("in the way"), "{}", nudge.words);
    assert!(!nudge.words.contains("gate"), "{}", nudge.words);
    let other = merged(posed, &start, ["up", "product"]);
    let cuts = posed
        .way(&other)
        .unwrap()
        .into_iter()
        .map(|step| step.change);
    assert_eq!(cuts.filter(|c| matches!(c, Change::Cut { .. })).count(), 0);
}

#[test]
fn other_kernels_programs_and_choices_are_not_graded() {
    let posed = posed("epilogue");
    let start = posed.analyzed().unwrap();
    let ungraded = |text: &str, change: &dyn Fn(&mut fuseline_core::Options)| {
        let mut options = posed.puzzle.page.options();
        change(&mut options);
        let seen = AnalyzedProgram::of(text, &options).unwrap();
        match posed.standing(&seen.analysis, seen.has_error) {
            Standing::Ungraded(words) => words,
            Standing::Graded(graded) => panic!("{graded:?}"),
        }
    };
    let same = |_: &mut fuseline_core::Options| {};
    let mark =
        |function: &str, text: String| text.replace(function, &format!("{function} @kernel 1"));
    let both = mark("matmul(clean, w_up)", start.text.to_string());
    let refused = mark("matmul(act, w_down)", both);
    assert!(ungraded(&refused, &same).contains("not legal"));
    let other = start
        .text
        .replace("x      : f16[4096, 1024]", "x      : f16[2048, 1024]");
    assert!(ungraded(&other, &same).contains("program or its sizes"));
    let optimal = |options: &mut fuseline_core::Options| options.policy = Policy::Optimal;
    assert!(ungraded(&start.text, &optimal).contains("by hand"));
    let device = |options: &mut fuseline_core::Options| {
        options.device = fuseline_core::device("h100").unwrap().clone();
    };
    assert!(ungraded(&start.text, &device).contains("A100 SXM 80GB"));
    let switch = |options: &mut fuseline_core::Options| options.fusion.prologue = true;
    assert!(ungraded(&start.text, &switch).contains("options"));
    // A comment changes nothing.
    let commented = seen(posed, &format!("# mine\n{}", start.text));
    assert_eq!(graded(posed, &commented), graded(posed, &start));
}

#[test]
fn a_broken_file_says_what_is_wrong() {
    let (_, problems) =
        read("# device: abacus\n# objective: beauty\n# allow: magic\ny = relu(x)\n");
    let told: Vec<_> = problems.iter().map(|p| (p.line, p.what.as_str())).collect();
    assert_eq!(
        told,
        [
            (1, "there is no device `abacus`"),
            (2, "`beauty` is not an objective"),
            (3, "there is no option `magic`"),
            (1, "the puzzle has no title"),
            (1, "the puzzle has no goal"),
        ]
    );
}

/// Kernels of a puzzle that cost so much more than par.
fn above(above_pct: f64) -> Graded {
    let at_par = above_pct == 0.0;
    Graded {
        cost: Amount::Bytes(100),
        above: Amount::Bytes(0),
        above_pct,
        gone_pct: 0.0,
        rank: Some(if at_par { Rank::Optimum } else { Rank::Legal }),
    }
}

#[test]
fn progress_keeps_the_best() {
    let mut progress = PuzzleProgress::default();
    assert_eq!(progress.above_pct("chain"), None);
    progress.note("chain", &above(12.5), 2);
    progress.note("chain", &above(40.0), 3);
    assert_eq!(progress.above_pct("chain"), Some(12.5));
    assert_eq!(progress.rank("chain"), Some(Rank::Legal));
    assert_eq!(progress.fewest_moves("chain"), None);
    progress.note("chain", &above(0.0), 6);
    progress.note("chain", &above(0.0), 4);
    progress.note("chain", &above(0.0), 5);
    progress.note("chain", &above(12.5), 1);
    assert!(progress.is_solved("chain") && !progress.is_solved("diamond"));
    assert_eq!(progress.rank("chain"), Some(Rank::Optimum));
    assert_eq!(progress.fewest_moves("chain"), Some(4));
    assert_eq!(progress.solved(), 1);
    // Of the puzzles of the page, one is solved.
    progress.note("own.1f", &above(0.0), 1);
    assert_eq!(progress.solved(), 1);
    progress.keep_kernels("chain", Some("moves=2".to_owned()));
    progress.keep_kernels("diamond", Some("moves=1".to_owned()));
    progress.keep_kernels("diamond", None);
    assert_eq!(
        (progress.kernels("chain"), progress.kernels("diamond")),
        (Some("moves=2"), None)
    );
    assert_eq!(PuzzleProgress::read(&progress.write()), progress);
    assert_eq!(PuzzleProgress::read("{"), PuzzleProgress::default());
    let old = PuzzleProgress::read(r#"{"above_pct":{"chain":0.0}}"#);
    assert_eq!(
        (old.rank("chain"), old.fewest_moves("chain")),
        (Some(Rank::Optimum), None)
    );
}

#[test]
fn ranks_are_thresholds_that_kernels_pass_one_after_the_other() {
    for (id, posed) in POSED.iter() {
        let ranks = posed.ranks();
        let names: Vec<_> = ranks.iter().map(|row| row.name).collect();
        assert_eq!(names[0], "Legal", "{id}");
        assert!(names.last().unwrap().starts_with("Proven optimum"), "{id}");
        let mut now = posed.analyzed().unwrap();
        let mut reached = vec![graded(posed, &now).rank];
        for step in posed.way(&now).unwrap() {
            now = seen(posed, &step.text);
            reached.push(graded(posed, &now).rank);
        }
        assert_eq!(reached[0], None, "{id}: the start saves nothing");
        assert_eq!(*reached.last().unwrap(), Some(Rank::Optimum), "{id}");
    }
    // The compiler leaves something to do in some, and nothing in others.
    let ranks = |id| {
        posed(id)
            .ranks()
            .into_iter()
            .map(|row| (row.name, row.costs))
    };
    let costs = |costs: &str| costs.to_owned();
    assert!(ranks("layer_norm").eq([
        ("Legal", costs("below 407 MB")),
        ("Better than torch.compile", costs("below 155 MB")),
        ("Proven optimum", costs("122 MB")),
    ]));
    assert!(ranks("two_ops").eq([
        ("Legal", costs("below 336 MB")),
        ("Proven optimum, as good as torch.compile", costs("201 MB")),
    ]));
}

#[test]
fn par_says_whose_kernels_reach_it() {
    let posed = posed("two_ops");
    let start = posed.analyzed().unwrap();
    let solved = graded(posed, &merged(posed, &start, ["sum", "relu"]));
    let words = |maker| solved.words(posed.start, maker);
    assert_eq!(
        words(Maker::Visitor(1)),
        "Solved in 1 move: 201 MB instead of 336 MB, 1.67× less. No legal kernels cost less."
    );
    assert!(words(Maker::Sender).starts_with("Solved by the sender's kernels"));
    for maker in [Maker::Search, Maker::Other] {
        assert!(!words(maker).contains("Solved"), "{}", words(maker));
    }
    let open = graded(posed, &start);
    assert_eq!(
        open.words(posed.start, Maker::Visitor(0)),
        "134 MB above par, 66.7 %"
    );
    // A time is a lower bound.
    let (id, timed) = (POSED.iter())
        .find(|(_, posed)| matches!(posed.par, Amount::Seconds(_)))
        .unwrap();
    let last = timed.way(&timed.analyzed().unwrap()).unwrap();
    let solved = graded(timed, &seen(timed, &last.last().unwrap().text));
    let words = solved.words(timed.start, Maker::Visitor(last.len()));
    assert!(words.contains(", at best "), "{id}: {words}");
}

/// The move is what the second hint names.
#[test]
fn a_first_hint_asks_about_a_tensor_and_names_no_kernel_to_merge() {
    for (id, posed) in POSED.iter() {
        for step in posed.way(&posed.analyzed().unwrap()).unwrap() {
            let words = &step.nudge.words;
            assert!(words.ends_with('?'), "{id}: {words}");
            let tells = ["Merging", "merge", "kernels "].map(|word| words.contains(word));
            assert_eq!(tells, [false; 3], "{id}: {words}");
        }
    }
    let first = |id: &str| {
        posed(id)
            .way(&posed(id).analyzed().unwrap())
            .unwrap()
            .remove(0)
    };
    assert_eq!(
        first("two_ops").nudge.words,
        "sum goes to memory and comes back: 67.1 MB written, 67.1 MB read. Which kernel could keep it on chip?"
    );
    let readers = first("two_readers").nudge.words;
    assert!(readers.contains("read"), "{readers}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// From any legal kernels the hints, each looked for anew, end at par.
    #[test]
    fn hints_lead_to_par_from_any_kernels(
        puzzle in 0..PUZZLES.len() - 1,
        picks in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 0..24),
    ) {
        let (id, posed) = &POSED[puzzle];
        let mut now = posed.analyzed().unwrap();
        for pick in picks {
            let kernels = now.analysis.partition.kernels.len();
            let [a, b] = pick.map(|index| KernelId::new(index.index(kernels)));
            if a != b && Why::new(&now.analysis).merge(a, b).is_ok() {
                now = changed(posed, &now, Change::Merge(a, b)).unwrap();
            }
        }
        let most = 3 * now.analysis.graph.ops.len();
        for _ in 0..most {
            let steps = posed.way(&now);
            prop_assert!(steps.is_some(), "{id}: no way from\n{}", now.text);
            let Some(first) = steps.unwrap().into_iter().next() else {
                break;
            };
            now = changed(posed, &now, first.change).unwrap();
            prop_assert!(!now.has_error, "{id}: {}", first.hint);
        }
        prop_assert!(graded(posed, &now).is_solved(), "{id}: hints end at\n{}", now.text);
    }
}

#[test]
fn start_and_par_explain_themselves_and_par_tells_no_kernels() {
    for (id, posed) in POSED.iter() {
        let start = posed.analyzed().unwrap().analysis;
        let quantity = match posed.par {
            Amount::Bytes(_) => Quantity::Bytes,
            Amount::Seconds(_) => Quantity::LowerBound,
        };
        let told = explanation(Figure::unfused(Subject::Program, quantity), &start).unwrap();
        assert_eq!(told.value, amount_text(posed.unfused), "{id}");
        let told = posed.par_explanation();
        assert_eq!(told.value, amount_text(posed.par), "{id}");
        let term = told.term.unwrap();
        assert_eq!((term.text(), term.derivation), (told.value, None), "{id}");
    }
}
