//! Figures of lessons about the device: they are those that the tabs show, and say why.

use fuseline_core::analysis::limits::limits;
use fuseline_core::examples::example;
use fuseline_core::{Options, Policy, device};
use fuseline_learn::lesson::answer::Answer;
use fuseline_learn::lesson::check::check;
use fuseline_learn::lesson::library::LESSONS;
use fuseline_learn::lesson::named_figure::NamedFigure;
use fuseline_learn::lesson::prose::figures;
use fuseline_learn::lesson::read;
use fuseline_learn::lesson::state::AnalyzedProgram;
use fuseline_learn::lesson::value::{FigureValue, Unit};
use fuseline_view::page::view::View;
use fuseline_view::picture::charts::roofline;
use fuseline_view::present::format::{format_flops, format_seconds};
use fuseline_view::present::quantity::Quantity;

fn seen(id: &str, policy: Policy) -> AnalyzedProgram {
    let text = example(id).map_or("", |example| example.text);
    let mut options = Options::of_policy(policy);
    if let Some(h200) = device("h200") {
        options.device = h200.clone();
    }
    AnalyzedProgram::of(text, &options).unwrap_or_else(|| unreachable!("{id}"))
}

fn value(quantity: &str, seen: &AnalyzedProgram) -> FigureValue {
    let parsed = NamedFigure::parse(quantity).unwrap_or_else(|why| unreachable!("{why}"));
    let value = parsed.value(seen);
    value.unwrap_or_else(|why| unreachable!("{quantity}: {why}"))
}

fn number(quantity: &str, seen: &AnalyzedProgram) -> f64 {
    match value(quantity, seen) {
        FigureValue::Number(number, _) => number,
        FigureValue::Word(word) => unreachable!("{quantity}: {word}"),
    }
}

#[test]
fn resources_are_those_of_the_tab_limits() {
    let seen = seen("linear_bias_relu", Policy::Rules);
    let limits = limits(&seen.analysis).unwrap_or_else(|| unreachable!());
    let kernel = limits.iter().next().unwrap_or_else(|| unreachable!());
    let tiling = kernel.tiling.unwrap_or_else(|| unreachable!());
    for (quantity, expected) in [
        ("registers of kernel y", kernel.registers_per_thread as f64),
        ("occupancy of kernel y", 100.0 * kernel.occupancy),
        ("blocks of kernel y", kernel.blocks as f64),
        ("waves of kernel y", kernel.waves as f64),
        ("onchip of kernel y", kernel.on_chip_bytes as f64),
        ("tile-rows of kernel y", tiling.tile.rows),
        ("tile-columns of kernel y", tiling.tile.columns),
        (
            "wave-efficiency of kernel y",
            100.0 * tiling.wave_efficiency,
        ),
        (
            "tile-efficiency of kernel y",
            100.0 * tiling.tile_efficiency,
        ),
        ("multiprocessors", 132.0),
        ("onchip", 232_448.0),
    ] {
        assert!(
            (number(quantity, &seen) - expected).abs() < 1e-9,
            "{quantity}"
        );
    }
    let alone = number("unfused registers of kernel y", &seen);
    assert!(
        alone < kernel.registers_per_thread as f64,
        "a ReLU alone: {alone}"
    );
    assert!(
        NamedFigure::parse("tile-rows of kernel y").is_ok_and(|q| q.unit() == Some(Unit::Count))
    );
}

#[test]
fn a_kernel_without_a_matmul_has_no_tile() {
    let seen = seen("layernorm_gelu", Policy::Inductor);
    let quantity = NamedFigure::parse("tile-rows of kernel gelu");
    assert!(quantity.is_ok_and(|quantity| quantity.value(&seen).is_err()));
}

#[test]
fn dram_reads_are_those_of_the_device_model() {
    // Counted on an H200: 216,131,840 bytes op by op, see `public/measured/h200.json`.
    let seen = seen("linear_bias_relu", Policy::Rules);
    let expected = number("unfused dram", &seen);
    assert!((expected / 216_131_840.0 - 1.0).abs() < 0.1, "{expected}");
    assert!(
        expected > number("unfused reads", &seen),
        "a later wave reads again"
    );
    let kernels = number("none dram of kernel h", &seen) + number("none dram of kernel a", &seen);
    assert!(kernels < expected);
}

#[test]
fn readers_and_recomputed_ops_are_counted() {
    let rules = seen("diamond", Policy::Rules);
    assert_eq!(value("unfused readers of tensor y1", &rules).text(), "2");
    assert_eq!(value("readers of tensor y1", &rules).text(), "1");
    assert_eq!(value("recomputed", &rules).text(), "0");
    let text = "input x : f16[4096, 4096]\ne = exp(x)\nr = sum(e)\nc = sum(e, axis=0)\n";
    let options = Options::of_policy(Policy::Inductor);
    let twice = AnalyzedProgram::of(text, &options).unwrap_or_else(|| unreachable!());
    assert_eq!(value("recomputed", &twice).text(), "1");
    assert_eq!(value("recomputed of kernel r", &twice).text(), "0");
    assert_eq!(value("unfused recomputed", &twice).text(), "0");
}

#[test]
fn warnings_are_those_that_fusion_costs_time() {
    let text = "input x : f16[16, 65536]\ne = exp(x)\nt = sum(e)\n";
    let few = AnalyzedProgram::of(text, &Options::of_policy(Policy::Rules))
        .unwrap_or_else(|| unreachable!());
    assert_eq!(value("warnings", &few).text(), "1");
    assert_eq!(value("warnings of kernel e", &few).text(), "1");
    assert_eq!(value("unfused warnings", &few).text(), "0");
}

#[test]
fn ridges_are_peaks_over_bandwidth() {
    let seen = seen("exercise", Policy::Rules);
    let ridge = number("matrix", &seen) / number("bandwidth", &seen);
    assert!((number("ridge", &seen) - ridge).abs() < 1e-9);
    let ridge = number("vector", &seen) / number("bandwidth", &seen);
    assert!((number("vector-ridge", &seen) - ridge).abs() < 1e-9);
}

/// What is said to who chooses the first option.
fn told(task: &str, page: &str) -> String {
    let head = "---\ntitle: T\n---\n\n## Step\n";
    let text = format!("{head}```page\nexample: exercise\n{page}\n```\n```{task}\n```\n");
    let (lesson, mut problems) = read(&text);
    problems.extend(check(&lesson));
    assert_eq!(problems, []);
    let states = lesson.states(&mut Vec::new());
    let task = lesson.steps[0].task.as_ref();
    let task = task.unwrap_or_else(|| unreachable!());
    let state = &states[0].answered;
    let seen = state.analyzed().unwrap_or_else(|| unreachable!());
    let answer = match task.kind.unit() {
        Some(unit) => Answer::Text(format!("1{}", unit.symbol())),
        None => Answer::Chosen(vec![0]),
    };
    let judged = task.judge(&answer, state, &seen);
    judged.unwrap_or_else(|why| unreachable!("{why}")).words
}

#[test]
fn a_wrong_answer_gets_the_reason() {
    let words = told(
        "choose\nask: A?\n- Apart :: kernels = 3\n- Together :: one kernel: matmul1, relu",
        "policy: rules",
    );
    assert!(words.contains("`matmul1 + bias1 + relu`"), "{words}");
    let words = told("predict\nask: A?\nnumber: blocks of kernel matmul1", "");
    assert!(words.contains("one block per tile"), "{words}");
    let words = told(
        "predict\nask: A?\nfirst: B\nwhen: bound of kernel matmul1 = compute",
        "policy: rules",
    );
    assert_eq!(
        words,
        "Not quite. The answer is `B` = 192. At `B` = 176 kernel 1 is memory-bound, at `B` = 192 it is compute-bound."
    );
    let words = told("predict\nask: A?\nnumber: ridge", "");
    assert!(
        words.contains("312 TFLOP/s / 2.04 TB/s = 153 FLOP/B"),
        "{words}"
    );
    let words = told("predict\nask: A?\nnumber: dram", "");
    assert!(
        words.contains("The operands of all kernels hold"),
        "{words}"
    );
    let words = told("predict\nask: A?\nnumber: intensity", "policy: none");
    assert!(words.contains("and 71.3 MB of memory traffic"), "{words}");
}

#[test]
fn only_the_flops_of_the_slowest_unit_have_a_time() {
    let words = told(
        "choose\nask: A?\n- Memory :: bound of kernel matmul1 = memory\n- Arithmetic :: bound of kernel matmul1 = compute",
        "policy: rules",
    );
    // The matmul; bias and ReLU are 8.4 MFLOP more, on the vector units.
    let product = 2 * 1024 * 4096 * 1024_u128;
    let time_s = product as f64 / 312e12;
    let arithmetic = format!("its {} {}", format_flops(product), format_seconds(time_s));
    assert!(words.contains(&arithmetic), "{words}");
}

#[test]
fn unfused_ops_are_told_with_their_own_bytes() {
    let words = told(
        "choose\nask: A?\n- Left :: intensity of kernel relu < unfused intensity of kernel relu\n- Right :: intensity of kernel relu > unfused intensity of kernel relu",
        "policy: rules",
    );
    // matmul1 alone moves 18.9 MB, with bias1 and relu one by one 52.4 MB.
    assert!(
        words.contains("It has 8.60 GFLOP and 18.9 MB of memory traffic."),
        "{words}"
    );
    assert!(
        words.contains("They have 8.60 GFLOP and 52.4 MB of memory traffic."),
        "{words}"
    );
}

#[test]
fn tensors_that_were_wrongly_chosen_come_first() {
    let task = "choose\nask: A?\ntensors: place = memory";
    assert_eq!(
        told(task, "policy: rules"),
        "Not quite. The answer is `y3` and `y4`. `y1` (8.39 MB) has readers only in the kernel that computes it. \
         `relu` writes `y3` (8.39 MB), and `matmul2` reads it in another kernel. \
         `y4` (2.10 MB) is a result, so the kernel writes it to memory."
    );
}

#[test]
fn tiles_are_counted_in_both_directions() {
    let words = told(
        "predict\nask: A?\nnumber: blocks of kernel matmul1",
        "device: h200",
    );
    assert!(words.contains("4 × 32 = 128 tiles"), "{words}");
    assert!(words.contains("one block per tile"), "{words}");
    let words = told("predict\nask: A?\nnumber: size of tensor y1", "");
    assert!(
        words.contains("1,024 × 4,096 elements of 2 bytes"),
        "{words}"
    );
}

#[test]
fn what_the_engine_changed_is_told_without_comments() {
    let head = "---\ntitle: T\n---\n\n## Step\n```page\nexample: exercise\n```\n";
    let until = "until: bound of kernel matmul1 = memory";
    let text = format!("{head}```do\nask: A?\n{until}\nby: param B\n```\n");
    let (lesson, _) = read(&text);
    let states = lesson.states(&mut Vec::new());
    let task = lesson.steps[0].task.as_ref();
    let told = task.and_then(|task| task.right_answer(&states[0]));
    assert_eq!(told.as_deref(), Some("Move the slider to `B = 16`."));
}

#[test]
fn figures_of_questions_hints_and_notes_are_checked() {
    let head = "---\ntitle: T\n---\n\n## Step\n```page\nexample: exercise\n```\n";
    for (block, line) in [
        ("predict\nask: `=bytes of op nobody`?\nnumber: kernels", 10),
        (
            "predict\nask: A?\nnumber: kernels\nhint: *`=bytes of op nobody`*",
            12,
        ),
        ("notes\nA list:\n\n- `=bytes of op nobody`", 12),
    ] {
        let (lesson, mut problems) = read(&format!("{head}```{block}\n```\n"));
        problems.extend(check(&lesson));
        let lines: Vec<_> = problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [line], "{block}: {problems:?}");
    }
}

/// A ridge point that a step speaks of is the one in the chart that it points at.
#[test]
fn a_ridge_point_in_prose_is_that_of_the_chart() {
    let mut ridges = 0;
    for listed in LESSONS {
        let (lesson, _) = read(listed.text);
        let states = lesson.states(&mut Vec::new());
        for (step, states) in lesson.steps.iter().zip(states) {
            for (parts, state) in [
                (&step.before, &states.asked),
                (&step.after, &states.answered),
            ] {
                if !states.asked.look.contains(&View::Roofline) {
                    continue;
                }
                let seen = state.analyzed().unwrap_or_else(|| unreachable!());
                let chart = roofline::scene(&seen.analysis, (600.0, 400.0), None);
                for figure in figures(parts) {
                    if matches!(
                        figure.quantity.quantity,
                        Quantity::Ridge | Quantity::VectorRidge
                    ) {
                        let ridge = figure.text(&seen).unwrap_or_default();
                        let in_chart = format!("ridge point at {ridge}");
                        let description = &chart.description;
                        assert!(description.contains(&in_chart), "{}: {ridge}", step.title);
                        ridges += 1;
                    }
                }
            }
        }
    }
    assert!(ridges >= 4, "{ridges}");
}
