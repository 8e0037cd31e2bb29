//! What a change saves: the cost now less the cost after the change.

use super::explanation::Explanation;
use super::whole;
use crate::present::advice::{AdviceRow, changed_words, sides};
use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::explain::has_assumed_size;
use crate::present::format::format_count;
use crate::present::manual::Change;
use crate::present::names::counted;
use crate::present::number::Number;
use crate::present::quantity::{Figure, Run, Subject};
use crate::present::saved::{Saved, saved_text};
use crate::present::slower::slower_because;
use fuseline_core::analysis::Analysis;
use fuseline_core::analysis::advice::Advice;
use fuseline_core::analysis::why::{Cost, Price, RepeatedPrice};
use fuseline_core::model::ids::KernelId;
use fuseline_core::numeral::Numeral;

/// The explanation of what fusing two kernels would save; `None` where the analysis has no such
/// kernels.
pub fn merge_explanation(
    analysis: &Analysis,
    kernels: [KernelId; 2],
    price: RepeatedPrice,
    saved: Saved,
) -> Option<Explanation> {
    let total = price.total();
    let is_predicted = total.is_predicted();
    let quantity = saved.quantity(is_predicted);
    let mut figures = Vec::new();
    for id in kernels {
        figures.extend(Subject::kernel(analysis, id).map(|of| Figure::fused(of, quantity)));
    }
    let term = merge_term(analysis, kernels, price, saved);
    let note = match saved {
        _ if term.is_none() => {
            Some("No known kernel runs all of their ops, so the saved time is unknown.")
        }
        Saved::Bytes => Some(
            "As one kernel, tensors between the two stay on chip, and a tensor that both read is read once.",
        ),
        Saved::Time | Saved::Share if is_predicted => Some(
            "The estimate assumes that the remaining accesses hit the cache as often as before the merge.",
        ),
        Saved::Time | Saved::Share => None,
    };
    let [a, b] = kernels.map(KernelId::number);
    let in_iterations = match price.iterations {
        1 => String::new(),
        iterations => format!(", in each of {} iterations", format_count(iterations)),
    };
    let formula = match saved {
        Saved::Bytes => "bytes of both kernels − bytes of the fused kernel",
        Saved::Time => "time of both kernels − time of the fused kernel",
        Saved::Share => "time saved / time of the program",
    };
    let subject = format!("kernels {a} and {b} fused into one kernel{in_iterations}");
    let cause = match saved {
        Saved::Bytes => None,
        Saved::Time | Saved::Share => slower_because(analysis, kernels, total),
    };
    let explanation = Explanation {
        value: saved_text(total, saved),
        notes: cause.into_iter().chain(note.map(str::to_owned)).collect(),
        ..Explanation::of(saved.title(analysis), subject, formula, term)
    };
    let counted_as = |explanation: Explanation, figure| explanation.counted_as(figure, analysis);
    Some(figures.into_iter().fold(explanation, counted_as))
}

/// The saving as a term; `None` if no kernel can do the work of both.
fn merge_term(
    analysis: &Analysis,
    kernels: [KernelId; 2],
    price: RepeatedPrice,
    saved: Saved,
) -> Option<Term> {
    let total = price.total();
    let number = |cost| saved.of(cost, total.is_predicted());
    let mut now = Vec::new();
    for id in kernels {
        let kernel = analysis.fused.kernels.get(id)?;
        let name = whole::name(analysis, Run::Fused, id, kernel);
        let number = number(Cost::of_kernel(analysis, id)?)?;
        now.push(Term::given(name, number).assumed(has_assumed_size(kernel)));
    }
    let mut then = vec![Term::given("in this iteration", number(price.own.after)?)];
    let is_repeated = price.iterations > 1;
    if is_repeated {
        let others = format!("in {}", counted(price.iterations - 1, "other iteration"));
        now.push(Term::given(&*others, number(price.others.before)?));
        then.push(Term::given(others, number(price.others.after)?));
    }
    let before = number(total.before)?;
    let sides = [
        Term::derived(
            "of both kernels",
            before,
            Derivation::new(Operation::Sum, now),
        ),
        Term {
            derivation: is_repeated.then(|| Derivation::new(Operation::Sum, then)),
            ..Term::given("fused into one kernel", number(total.after)?)
        },
    ];
    difference(saved, total, sides)
}

fn difference(saved: Saved, price: Price, sides: [Term; 2]) -> Option<Term> {
    let derivation = Derivation::new(Operation::Difference, sides.into());
    Some(Term::derived("", saved.number(price)?, derivation))
}

/// The explanation of what an advice would save.
pub fn advice_explanation(
    analysis: &Analysis,
    row: &AdviceRow,
    saved: Saved,
) -> Option<Explanation> {
    let explanation = change_explanation(analysis, row, saved)?;
    let Saved::Share = saved else {
        return Some(explanation);
    };
    let time = explanation.term?.named("saved");
    let before = saved.of(row.price.before, row.price.is_predicted())?;
    let of_program = Term::given("of the program", before);
    let share = Derivation::new(Operation::Percent, vec![time, of_program]);
    let term = Term::derived("", Number::Percent(row.share_percent), share);
    Some(Explanation {
        value: term.text(),
        term: Some(term),
        ..explanation
    })
}

/// The explanation of what other options, or kernels by hand, would save.
fn change_explanation(analysis: &Analysis, row: &AdviceRow, saved: Saved) -> Option<Explanation> {
    let price = row.price;
    let is_predicted = price.is_predicted();
    let side = |name: &str, cost| Some(Term::given(name, saved.of(cost, is_predicted)?));
    let [before, after] = sides(row.advice);
    let sides = [side(&before, price.before)?, side(&after, price.after)?];
    let formula = match saved {
        Saved::Bytes => "bytes of the program now − bytes with the change",
        Saved::Time => "time of the program now − time with the change",
        Saved::Share => "time saved / time of the program",
    };
    let term = difference(saved, price, sides);
    let changed = match row.advice {
        Advice::Merge(a, b) => {
            let [first, second] = [a, b].map(KernelId::number);
            let others = if Change::MergeOnTop(a, b).keeps_policy(analysis.options.policy) {
                "the policy decides on the others"
            } else {
                "every other kernel that is not legal as a kernel by hand is split"
            };
            format!("kernels {first} and {second} are merged by hand, and {others}")
        }
        advice => changed_words(advice)?,
    };
    let explanation = Explanation {
        value: saved_text(price, saved),
        notes: vec![format!("The change: {changed}.")],
        ..Explanation::of(saved.title(analysis), "the whole program", formula, term)
    };
    let figure = Figure::fused(Subject::Program, saved.quantity(is_predicted));
    Some(explanation.counted_as(figure, analysis))
}
