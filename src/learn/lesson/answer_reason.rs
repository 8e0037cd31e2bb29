//! Why an answer is right: the reasons of both sides of its condition.

use super::condition::{Condition, ConditionOperand};
use super::named_figure::{NamedFigure, NamedSubject, kernel_names};
use super::reason::{of_ops, reason};
use super::solve::{value_before, with_param};
use super::state::{AnalyzedProgram, PageState, tensor_named};
use super::task::Things;
use super::tensor_reason::of_tensors;
use super::value::{FigureValue, Unit};
use super::wording::{Naming, join_sentences, noun, operand_words, relation_words, value_words};
use fuseline_core::model::functions::Function;
use fuseline_core::{Graph, OpId, TensorId};
use fuseline_view::present::quantity::Quantity;
use fuseline_view::present::words::capitalized;

/// A tensor or a kernel that may be chosen.
pub(super) struct Thing {
    pub name: String,
    /// Which one that is: the op that writes a tensor and those that read it, the function of a
    /// kernel with one op. Empty where the name says it.
    pub about: String,
    /// The subject of the condition.
    pub subject: NamedSubject,
}

/// The things of a kind.
pub(super) fn things_of(things: Things, analyzed: &AnalyzedProgram) -> Vec<Thing> {
    let (analysis, graph) = (&analyzed.analysis, &analyzed.analysis.graph);
    match things {
        Things::Tensors => (graph.tensors.iter_enumerated())
            .filter(|(_, tensor)| !tensor.is_external())
            .map(|(id, _)| {
                let name = graph.tensor_name(id).to_owned();
                Thing {
                    about: way_of(graph, id),
                    subject: NamedSubject::Tensor(name.clone()),
                    name,
                }
            })
            .collect(),
        Things::Kernels => {
            let kernels = analysis.fused.kernels.iter();
            let kernels = kernels.filter(|kernel| !kernel.is_free);
            let things = kernels.zip(kernel_names(analysis)).map(|(kernel, name)| {
                let first = kernel.ops.first().and_then(|&op| graph.ops.get(op));
                let function = first.and_then(|op| op.function).map(Function::name);
                let about =
                    function.filter(|&function| kernel.ops.len() == 1 && !name.contains(function));
                Thing {
                    about: about.unwrap_or_default().to_owned(),
                    subject: NamedSubject::Kernel(
                        first.map_or_else(String::new, |op| op.name.clone()),
                    ),
                    name,
                }
            });
            things.collect()
        }
    }
}

/// Where a tensor lies in the graph: `matmul1 → bias1`, `matmul2 → result`.
fn way_of(graph: &Graph, tensor: TensorId) -> String {
    let name = |&op: &OpId| graph.ops.get(op).map(|op| op.name.as_str());
    let producer = graph.tensors.get(tensor).and_then(|tensor| tensor.producer);
    let readers = graph.consumers.get(tensor).into_iter().flatten();
    let mut ends: Vec<_> = readers.filter_map(name).collect();
    if graph.is_final(tensor) {
        ends.push("result");
    }
    let start = producer.as_ref().and_then(name).unwrap_or_default();
    format!("{start} → {}", ends.join(", "))
}

/// Most kernels whose reason is given.
const MAX_REASONS: usize = 2;

pub(super) fn reason_for_things(
    subjects: &[NamedSubject],
    condition: &Condition,
    analyzed: &AnalyzedProgram,
) -> String {
    let tensors = subjects.iter().filter_map(|subject| match subject {
        NamedSubject::Tensor(name) => tensor_named(&analyzed.analysis.graph, name),
        _ => None,
    });
    let tensors: Vec<TensorId> = tensors.collect();
    if !tensors.is_empty() {
        return of_tensors(&analyzed.analysis, &tensors);
    }
    let reasons = subjects.iter().take(MAX_REASONS);
    let reasons = reasons.map(|subject| reasons_of(&condition.about(subject), analyzed));
    reasons.collect::<Vec<_>>().join(" ")
}

/// The reasons of both sides of a condition.
pub(super) fn reasons_of(condition: &Condition, analyzed: &AnalyzedProgram) -> String {
    let (left, right) = match condition {
        Condition::OneKernel(names) => return of_ops(names, analyzed),
        Condition::Compare { left, right, .. } => (left, right),
    };
    let other = match right {
        ConditionOperand::Figure { figure, .. } => sided(figure, analyzed),
        ConditionOperand::Value(_) => String::new(),
    };
    join_sentences(&sided(left, analyzed), &other)
}

/// A quantity with its value and its reason.
fn sided(figure: &NamedFigure, analyzed: &AnalyzedProgram) -> String {
    let Ok(value) = figure.value(analyzed) else {
        return String::new();
    };
    let why = reason(figure, analyzed);
    if matches!(figure.quantity, Quantity::Place) {
        return why;
    }
    let value = value_words(figure.quantity, &value, analyzed);
    let named = noun(figure, analyzed, Naming::Ops);
    join_sentences(&format!("{} is {value}.", capitalized(&named)), &why)
}

/// The left side of a condition at a value of a param and at the value before it, with the right
/// side.
pub(super) fn around(state: &PageState, param: &str, right: i64, when: &Condition) -> String {
    let Condition::Compare {
        left,
        relation,
        right: limit,
    } = when
    else {
        return String::new();
    };
    let at = |value: i64| {
        let analyzed = with_param(state, param, value)?.analyzed()?;
        let is = value_words(left.quantity, &left.value(&analyzed).ok()?, &analyzed);
        let against = operand_words(left.quantity, limit, &analyzed);
        Some((
            format!("at {}", param_value(param, value as f64)),
            is,
            noun(left, &analyzed, Naming::Number),
            against,
        ))
    };
    let Some((from, is, named, against)) = at(right) else {
        return String::new();
    };
    let wanted = match left.unit() {
        Some(_) => format!(", which {} {against}", relation_words(*relation)),
        None => String::new(),
    };
    let words = match value_before(state, param, right).and_then(at) {
        Some((before, was, ..)) => {
            format!("{before} {named} is {was}, {from} it is {is}{wanted}.")
        }
        None => format!("{from} {named} is {is}{wanted}."),
    };
    capitalized(&words)
}

/// `S = 1,920`.
pub(super) fn param_value(param: &str, value: f64) -> String {
    let value = FigureValue::Number(value, Unit::Count).text();
    format!("`{param}` = {value}")
}
