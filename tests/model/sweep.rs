//! A param along an axis: the figures are those of the program at each value, and crossings are
//! exact.

use crate::cli::{json, run, stderr, stdout};
use fuseline_core::analysis::sweep::{Crossing, CrossingChange, Measure, Relation, Sweep, sweep};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::edit::set_param;
use fuseline_core::resolve::{ParamValues, param_values};
use fuseline_core::{
    Analysis, Objective, Options, Policy, Tensor, TensorRole, analyze_program, device, notation,
};
use fuseline_view::present::sweep::swept_params;
use proptest::prelude::*;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub(crate) fn example(id: &str) -> &'static str {
    EXAMPLES.iter().find(|e| e.id == id).unwrap().text
}

fn param_index(text: &str, name: &str) -> usize {
    let params = notation::parse(text).program.params;
    params.iter().position(|p| p.name.text == name).unwrap()
}

pub(crate) fn swept(text: &str, param: &str, options: &Options) -> Sweep {
    let program = notation::parse(text).program;
    sweep(&program, param_index(text, param), options).unwrap()
}

/// What the page shows when the slider stands at a value; `None` if the text has an error there.
fn analysis_at(text: &str, param: &str, value: i64, policy: Policy) -> Option<Analysis> {
    at(text, param, value, &Options::of_policy(policy))
}

fn at(text: &str, param: &str, value: i64, options: &Options) -> Option<Analysis> {
    let program = notation::parse(text).program;
    let text = set_param(text, &program, param_index(text, param), value);
    let outcome = analyze_program(&notation::parse(&text).program, options);
    outcome
        .analysis
        .filter(|_| !has_errors(&outcome.diagnostics))
}

/// All values of the slider.
fn grid(text: &str, param: &str) -> Vec<i64> {
    let program = notation::parse(text).program;
    match param_values(&program, usize::MAX)[param_index(text, param)].clone() {
        Some(ParamValues::Steps { min, max, step }) => {
            (0..=(max - min) / step).map(|at| min + at * step).collect()
        }
        Some(ParamValues::Listed(values)) => values,
        None => panic!("{param} has no range"),
    }
}

fn tensor_bytes(analysis: &Analysis, name: &str) -> u64 {
    let graph = &analysis.graph;
    let tensors = graph.tensors.ids();
    let named = tensors.filter(|&tensor| graph.tensor_name(tensor) == name);
    named
        .filter_map(|tensor| graph.tensors[tensor].bytes())
        .sum()
}

fn weight_bytes(analysis: &Analysis) -> u64 {
    let tensors = analysis.graph.tensors.iter();
    let weights = tensors.filter(|t| t.is_external() && t.role == TensorRole::Weight);
    weights.filter_map(Tensor::bytes).sum()
}

fn moved_bytes(analysis: &Analysis, name: &str) -> u64 {
    let graph = &analysis.graph;
    let tensors = graph.tensors.ids();
    let named = tensors.filter(|&tensor| graph.tensor_name(tensor) == name);
    named
        .map(|tensor| analysis.tensors[tensor].fused_bytes)
        .sum()
}

fn relation(measure: Measure, [one, other]: [&Analysis; 2]) -> Relation {
    let value = |analysis: &Analysis| match measure {
        Measure::Bytes => analysis.fused.traffic.total as f64,
        Measure::Time => analysis.time_s(),
        Measure::Kernels => analysis.fused.launches as f64,
        Measure::Intensity => unreachable!("no crossing is about it"),
    };
    let (one, other) = (value(one), value(other));
    if (one - other).abs() <= 1e-9 * one.max(other) {
        Relation::Equal
    } else if one < other {
        Relation::Below
    } else {
        Relation::Above
    }
}

/// Analyses of a text with other values of a param, each computed once.
#[derive(Default)]
struct Analysed(RefCell<HashMap<(i64, Policy), Rc<Analysis>>>);

impl Analysed {
    fn at(&self, text: &str, param: &str, value: i64, policy: Policy) -> Rc<Analysis> {
        let mut known = self.0.borrow_mut();
        let analysis = known
            .entry((value, policy))
            .or_insert_with(|| Rc::new(analysis_at(text, param, value, policy).unwrap()));
        Rc::clone(analysis)
    }
}

/// Whether what a crossing says from its value on is so at another value, by an analysis of the
/// text with that value.
fn holds(analysed: &Analysed, text: &str, param: &str, crossing: &Crossing, value: i64) -> bool {
    let of = |policy| analysed.at(text, param, value, policy);
    let of_all =
        |holds: &dyn Fn(&Analysis) -> bool| crossing.policies.iter().all(|&p| holds(&of(p)));
    match &crossing.change {
        CrossingChange::Fits(fits) => of_all(&|analysis| {
            let memory = analysis.options.device.hardware.memory_bytes.unwrap().value;
            (analysis.fused.peak_memory.bytes as f64 <= memory) == *fits
        }),
        CrossingChange::Weights { tensors, is_larger } => {
            let analysis = of(Policy::None);
            let weights = weight_bytes(&analysis);
            (tensors.iter()).all(|name| (tensor_bytes(&analysis, name) > weights) == *is_larger)
        }
        CrossingChange::Half { tensors, is_more } => of_all(&|analysis| {
            let moved: u64 = tensors.iter().map(|name| moved_bytes(analysis, name)).sum();
            (2 * moved > analysis.fused.traffic.total) == *is_more
        }),
        CrossingChange::Order {
            measure,
            policies,
            now,
            ..
        } => {
            let [one, other] = policies.map(of);
            relation(*measure, [&one, &other]) == *now
        }
        CrossingChange::Largest { tensors, .. } => {
            let leaders = |value| {
                let analysis = analysed.at(text, param, value, Policy::None);
                let ops = analysis.graph.output.iter();
                let sizes: Vec<(u64, String)> = ops
                    .map(|&t| {
                        let name = analysis.graph.tensor_name(t).to_owned();
                        (analysis.graph.tensors[t].bytes().unwrap(), name)
                    })
                    .collect();
                let largest = sizes.iter().map(|(bytes, _)| *bytes).max();
                let leaders = sizes.into_iter().filter(|(b, _)| Some(*b) == largest);
                leaders.map(|(_, name)| name).collect::<Vec<_>>()
            };
            let (here, there) = (leaders(value), leaders(crossing.value));
            here == there && tensors.iter().all(|name| here.contains(name))
        }
        CrossingChange::Kernels { count, .. } => {
            of_all(&|analysis| analysis.fused.launches == *count)
        }
        CrossingChange::Bound { kernels, bound, .. } => of_all(&|analysis| {
            kernels.iter().all(|ops| {
                let mut kernels = analysis.fused.kernels.iter();
                let named = kernels.find(|kernel| {
                    let names = kernel.ops.iter().map(|&op| &analysis.graph.ops[op].name);
                    names.eq(ops)
                });
                named.unwrap().placement.bound == *bound
            })
        }),
    }
}

/// Each example without a block, with each of its params.
fn cases() -> impl Iterator<Item = (&'static str, String)> {
    let plain = EXAMPLES.iter().filter(|e| !e.text.contains("repeat "));
    plain.flat_map(|example| {
        let params = swept_params(&notation::parse(example.text).program);
        params.into_iter().map(|param| (example.text, param.name))
    })
}

#[test]
fn figures_are_those_of_the_text_with_the_value() {
    for id in ["transformer", "layernorm_gelu", "gpt2_layers"] {
        let text = example(id);
        let sweep = swept(text, "S", &Options::default());
        assert_eq!(
            sweep.policies,
            [
                Policy::None,
                Policy::Rules,
                Policy::Inductor,
                Policy::Optimal
            ]
        );
        for point in sweep.points.iter().step_by(5) {
            for (&policy, figures) in sweep.policies.iter().zip(&point.figures) {
                let analysis = analysis_at(text, "S", point.value, policy).unwrap();
                assert_eq!(figures.bytes, analysis.fused.traffic.total, "{id}");
                assert_eq!(
                    figures.time_s.to_bits(),
                    analysis.time_s().to_bits(),
                    "{id}"
                );
                assert_eq!(figures.kernels, analysis.fused.launches, "{id}");
            }
        }
    }
}

#[test]
fn from_its_value_on_a_crossing_holds_and_not_at_the_value_before() {
    let mut kinds = std::collections::HashSet::new();
    for (text, param) in cases() {
        let grid = grid(text, &param);
        let Some(sweep) = sweep(
            &notation::parse(text).program,
            param_index(text, &param),
            &Options::default(),
        ) else {
            continue;
        };
        let analysed = Analysed::default();
        for crossing in &sweep.crossings {
            let title = text.lines().next().unwrap();
            assert!(
                holds(&analysed, text, &param, crossing, crossing.value),
                "{title} {param}: {crossing:?}"
            );
            assert!(
                !holds(&analysed, text, &param, crossing, crossing.before),
                "{title} {param}: {crossing:?}"
            );
            // Between the two the slider has only values at which the text has an error.
            let between = grid
                .iter()
                .filter(|&&v| crossing.before < v && v < crossing.value);
            for &value in between {
                assert!(
                    analysis_at(text, &param, value, Policy::None).is_none(),
                    "{crossing:?}"
                );
            }
            assert!(grid.contains(&crossing.value) && grid.contains(&crossing.before));
            kinds.insert(std::mem::discriminant(&crossing.change));
        }
    }
    assert!(kinds.len() >= 6, "of seven kinds: {}", kinds.len());
}

/// All values of the slider at which a property is another than at the value before.
fn changes<T: PartialEq>(grid: &[i64], of: impl Fn(i64) -> T) -> Vec<i64> {
    let classes: Vec<(i64, T)> = grid.iter().map(|&value| (value, of(value))).collect();
    let pairs = classes.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    pairs.map(|pair| pair[1].0).collect()
}

#[test]
fn no_crossing_of_the_whole_slider_is_missed() {
    let text = example("transformer");
    let grid = grid(text, "S");
    let sweep = swept(text, "S", &Options::default());
    let all = |policy| {
        let of = move |&value| analysis_at(text, "S", value, policy).unwrap();
        grid.iter().map(of).collect::<Vec<_>>()
    };
    let place = |value: i64| grid.iter().position(|&v| v == value).unwrap();
    let found = |is: &dyn Fn(&CrossingChange) -> bool| -> Vec<i64> {
        let crossings = sweep.crossings.iter().filter(|c| is(&c.change));
        crossings.map(|crossing| crossing.value).collect()
    };
    let unfused = all(Policy::None);
    let weights = changes(&grid, |v| {
        let analysis = &unfused[place(v)];
        tensor_bytes(analysis, "scores") > weight_bytes(analysis)
    });
    let is_scores = |names: &[String]| names.contains(&"scores".to_owned());
    let found_weights =
        found(&|c| matches!(c, CrossingChange::Weights { tensors, .. } if is_scores(tensors)));
    assert_eq!(found_weights, weights);
    assert_eq!(weights.len(), 1);
    let rules = all(Policy::Rules);
    let half = changes(&grid, |v| {
        let analysis = &rules[place(v)];
        let moved = ["scores", "scores_raw"].map(|name| moved_bytes(analysis, name));
        2 * moved.iter().sum::<u64>() > analysis.fused.traffic.total
    });
    assert_eq!(found(&|c| matches!(c, CrossingChange::Half { .. })), half);
    let compiled = all(Policy::Inductor);
    let order = changes(&grid, |v| {
        relation(Measure::Bytes, [&rules[place(v)], &compiled[place(v)]])
    });
    let pair = [Policy::Rules, Policy::Inductor];
    let of_pair = |c: &CrossingChange| matches!(c, CrossingChange::Order { measure: Measure::Bytes, policies, .. } if *policies == pair);
    assert_eq!(found(&of_pair), order);
    assert_eq!(order.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// A tensor grows with the square of N and a weight with N times K: the slider has one value
    /// from which it is larger.
    #[test]
    fn a_square_passes_a_weight_at_the_first_value_of_the_slider(
        width in 1_i64..40, min in 1_i64..9, step in 1_i64..9, steps in 2_i64..400,
    ) {
        let (min, max) = (min * 8, min * 8 + steps * step * 8);
        let (step, width) = (step * 8, width * 64);
        let text = format!(
            "param N = {min} in {min}..{max} step {step}\ninput x : f16[N, {width}]\nweight w : f16[{width}, N]\nsquare = matmul(x, w)\nout = relu(square)\n"
        );
        let sweep = swept(&text, "N", &Options::default());
        prop_assert!(sweep.points.windows(2).all(|pair| pair[0].value < pair[1].value));
        prop_assert_eq!([sweep.points[0].value, sweep.points[sweep.points.len() - 1].value], [min, max]);
        let first = (0..=steps).map(|at| min + at * step).find(|&n| n > width);
        let found: Vec<i64> = (sweep.crossings.iter())
            .filter(|c| matches!(c.change, CrossingChange::Weights { is_larger: true, .. }))
            .map(|c| c.value)
            .collect();
        let predicted: Vec<i64> = first.filter(|&n| n > min).into_iter().collect();
        prop_assert_eq!(found, predicted);
    }
}

#[test]
fn values_at_which_the_program_has_an_error_are_left_out() {
    // Only every sixth value can be split.
    let text = "param N = 600 in 1..6000\ninput x : f16[N, 64]\nweight w : f16[64, 64]\ny = matmul(x, w)\na = reshape(y) : f16[N/6, 384]\nb = relu(a)\n";
    let sweep = swept(text, "N", &Options::default());
    assert!(sweep.points.len() > 20);
    assert!(sweep.points.iter().all(|point| point.value % 6 == 0));
    for crossing in &sweep.crossings {
        assert_eq!([crossing.value % 6, crossing.before % 6], [0, 0]);
        assert_eq!(crossing.value - crossing.before, 6, "{crossing:?}");
    }
    assert!(!sweep.crossings.is_empty());
}

#[test]
fn params_that_divide_another_follow_it() {
    let text = example("transformer");
    let sweep = swept(text, "H", &Options::default());
    for point in sweep.points.iter().step_by(7) {
        let analysis = analysis_at(text, "H", point.value, Policy::Rules).unwrap();
        assert_eq!(point.figures[1].bytes, analysis.fused.traffic.total);
    }
    let heads: Vec<i64> = swept(text, "heads", &Options::default())
        .points
        .iter()
        .map(|point| point.value)
        .collect();
    assert_eq!(heads, [8, 16, 32, 64, 128], "the values of the slider");
}

#[test]
fn manual_is_swept_where_kernels_are_stated() {
    let marked = "param N = 64 in 64..1024 step 64\ninput x : f16[N]\na = relu(x) @kernel 1\nb = gelu(a) @kernel 1\n";
    let sweep = swept(marked, "N", &Options::default());
    assert!(sweep.policies.contains(&Policy::Manual));
}

#[test]
fn a_param_needs_two_values() {
    let program = |text: &str| notation::parse(text).program;
    let fixed = "param N = 64\ninput x : f16[N]\na = relu(x)\n";
    assert!(sweep(&program(fixed), 0, &Options::default()).is_none());
    assert!(sweep(&program(fixed), 9, &Options::default()).is_none());
    assert!(swept_params(&program(fixed)).is_empty());
    let broken = "param N = 64 in 64..128 step 64\ninput x : f16[N]\na = relu(z, z)\n";
    assert!(sweep(&program(broken), 0, &Options::default()).is_none());
}

#[test]
fn times_and_the_optimum_follow_the_options() {
    let text = example("layernorm_gelu");
    let mut options = Options {
        device: device("h200").unwrap().clone(),
        ..Options::default()
    };
    options.fusion.objective = Objective::Time;
    let sweep = swept(text, "S", &options);
    assert!(sweep.is_predicted);
    let place = sweep.points.len() / 2;
    let value = sweep.points[place].value;
    for (&policy, figures) in sweep.policies.iter().zip(&sweep.points[place].figures) {
        let options = Options {
            policy,
            ..options.clone()
        };
        let analysis = at(text, "S", value, &options).unwrap();
        let predicted_s = analysis.predicted.unwrap().fused_s;
        assert_eq!(figures.time_s.to_bits(), predicted_s.to_bits());
    }
    assert!(
        !swept(
            text,
            "S",
            &Options {
                device: device("a100-80").unwrap().clone(),
                ..options
            }
        )
        .is_predicted
    );
}

#[test]
fn the_command_line_prints_a_sweep() {
    let text = example("transformer");
    let report = json(&["sweep", "-", "S", "--json"], text);
    let swept = swept(text, "S", &Options::default());
    let values: Vec<i64> = swept.points.iter().map(|point| point.value).collect();
    let points = report["points"].as_array().unwrap();
    let printed: Vec<i64> = points
        .iter()
        .map(|p| p["value"].as_i64().unwrap())
        .collect();
    assert_eq!(printed, values);
    assert_eq!(points[0]["policies"][1]["policy"], "rules");
    assert_eq!(
        points[0]["policies"][1]["bytes"],
        swept.points[0].figures[1].bytes
    );
    let bound_s = points[0]["policies"][1]["lower_bound_s"].as_f64().unwrap();
    assert!((bound_s / swept.points[0].figures[1].time_s - 1.0).abs() < 1e-12);
    assert_eq!(points[0]["policies"][1]["predicted_s"], Value::Null);
    let on_h200 = json(&["sweep", "-", "S", "--json", "--device", "h200"], text);
    let figures = &on_h200["points"][0]["policies"][1];
    let [bound_s, predicted_s] =
        ["lower_bound_s", "predicted_s"].map(|name| figures[name].as_f64().unwrap());
    assert!(predicted_s > bound_s && bound_s > 0.0, "{figures}");
    let table = run(&["sweep", "-", "S"], text);
    let sentence = report["crossings"][0]["sentence"].as_str().unwrap();
    assert!(stdout(&table).contains(sentence));
    let unknown = run(&["sweep", "-", "T"], text);
    assert!(!unknown.status.success());
    assert!(
        stderr(&unknown).contains("use one of: S, H, heads"),
        "{}",
        stderr(&unknown)
    );
    let fixed = run(
        &["sweep", "-", "N"],
        "param N = 64\ninput x : f16[N]\na = relu(x)\n",
    );
    assert!(
        stderr(&fixed).contains("give it a range"),
        "{}",
        stderr(&fixed)
    );
}
