//! Advice to change the program: each change is made in the text, and the new text is analysed.

use crate::analysis::advice::{Advice, Advised, cost};
use crate::analysis::by_hand::KernelsInText;
use crate::analysis::why::{Cost, Price};
use crate::analysis::{Analysis, analyze_program};
use crate::model::diagnostic::has_errors;
use crate::model::dtype::DType;
use crate::model::graph::Graph;
use crate::model::op::TensorRole;
use crate::model::program::{Expr, ExprKind, Program};
use crate::notation::edit::joinable_products;
use crate::notation::parse;

/// Most kinds of products that are joined for a try, because each takes an analysis.
const KINDS: usize = 4;
/// Most params that are tried as the number of rows.
const PARAMS: usize = 6;
/// By how much the number of rows grows at most. Decode steps of so many rows read the weights as
/// fast as those of one.
const MOST_TIMES: u32 = 8;

/// The changes of the program with their prices, whether they save time or not.
pub(super) fn program_changes(shown: KernelsInText<'_>) -> Vec<Advised> {
    // Half a program has no price.
    if !is_whole(shown.analysis) {
        return Vec::new();
    }
    let kinds = joinable_products(shown.text, shown.program);
    let firsts = kinds.iter().filter_map(|kind| kind.groups.first()?.first());
    let joined = firsts.take(KINDS).map(|&first| Advice::JoinProducts(first));
    let short = [Advice::F8Products, Advice::Int8Weights];
    let short = short
        .into_iter()
        .filter(|&advice| suits_device(advice, shown.analysis));
    let changes = joined.chain(short);
    let priced = changes.filter_map(|advice| priced(advice, shown, 1));
    priced.chain(larger_batch(shown)).collect()
}

/// Whether matrix units of the device multiply f8 without widening it.
fn suits_device(advice: Advice, analysis: &Analysis) -> bool {
    let options = &analysis.options;
    let peak = || (options.device).matmul_peak(DType::F8e4m3, options.conventions.f32_matmul);
    advice != Advice::F8Products
        || peak().is_some_and(|peak| peak.computed_as.is_none() && !peak.is_on_vector_units)
}

/// A change and its price, where one run after it does the work of `runs` before. `None` where the
/// new program has an error, or work without a known time.
fn priced(advice: Advice, shown: KernelsInText<'_>, runs: u32) -> Option<Advised> {
    let after = analysed(&advice.text(shown.text, shown.program)?, shown.analysis)?;
    let fits = after.fits_memory() != Some(false) || shown.analysis.fits_memory() == Some(false);
    fits.then(|| Advised {
        advice,
        price: Price {
            before: cost(shown.analysis).times(runs),
            after: cost(&after),
        },
        merge: None,
        iterations: 1,
    })
}

/// The analysis of another text under the same options.
fn analysed(text: &str, like: &Analysis) -> Option<Analysis> {
    let parsed = parse(text);
    let outcome = analyze_program(&parsed.program, &like.options);
    let has_error = has_errors(&parsed.diagnostics) || has_errors(&outcome.diagnostics);
    let is_fit = |analysis: &Analysis| {
        is_whole(analysis) && !has_error && analysis.refused.len() <= like.refused.len()
    };
    outcome.analysis.filter(is_fit)
}

/// Whether the time counts all work.
fn is_whole(analysis: &Analysis) -> bool {
    analysis.fused.first_incomplete().is_none() && !analysis.is_partial()
}

/// More rows at once, where a param is the number of rows.
fn larger_batch(shown: KernelsInText<'_>) -> Option<Advised> {
    let params = shown.program.params.iter().enumerate();
    let candidates = params.filter_map(|(index, param)| {
        let most = param.range.as_ref()?.max;
        let is_free = param.range.as_ref()?.dividing.is_none()
            && !is_in_weights(shown.program, &param.name.text);
        let factor = |&factor: &u32| {
            (param.value.checked_mul(i64::from(factor))).is_some_and(|value| value <= most)
        };
        let factors = [MOST_TIMES, MOST_TIMES / 2, 2];
        let factor = factors.into_iter().find(factor)?;
        (param.value > 0 && is_free).then_some((index, param.value, factor))
    });
    candidates.take(PARAMS).find_map(|(param, now, factor)| {
        let advice = |factor: u32| Advice::LargerBatch {
            param,
            value: now * i64::from(factor),
            factor,
        };
        let twice = advice(2).text(shown.text, shown.program)?;
        let twice = analysed(&twice, shown.analysis)?;
        if is_twice(shown.analysis, &twice) {
            priced(advice(factor), shown, factor)
        } else {
            None
        }
    })
}

/// Whether a weight has a size that names this param.
fn is_in_weights(program: &Program, param: &str) -> bool {
    let mut declared = program.declarations.iter();
    declared.any(|declared| {
        let mut dims = declared.annotation.dims.iter();
        declared.role == TensorRole::Weight && dims.any(|dim| names(dim, param))
    })
}

/// Whether an expression names this param. Without recursion, because it can be deep.
fn names(expr: &Expr, param: &str) -> bool {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Param(name) if name == param => return true,
            ExprKind::Int(_) | ExprKind::Param(_) => {}
            ExprKind::Negate(inner) => open.push(inner),
            ExprKind::Binary(_, left, right) => open.extend([&**left, &**right]),
        }
    }
    false
}

/// Whether a program does the work of another one for twice as many rows: it has the same weights,
/// all its results are twice as large, and it takes twice the FLOPs. A sequence length takes more
/// in attention, and the length of a cache leaves results as they are.
fn is_twice(once: &Analysis, twice: &Analysis) -> bool {
    let flops = |analysis: &Analysis| -> u128 {
        let kernels = analysis.unfused.kernels.iter();
        kernels.map(|kernel| kernel.work.matrix_flops).sum()
    };
    let weights = |analysis: &Analysis| -> u64 {
        let tensors = analysis.graph.tensors.iter().zip(&analysis.tensors);
        let weights =
            tensors.filter(|(tensor, _)| tensor.is_external() && tensor.role == TensorRole::Weight);
        weights.map(|(_, traffic)| traffic.bytes).sum()
    };
    let [before, after] = [once, twice].map(|analysis| results(&analysis.graph));
    let mut pairs = before.iter().zip(&after);
    !before.is_empty()
        && before.len() == after.len()
        && pairs.all(|(before, after)| before.checked_mul(2) == Some(*after))
        && weights(once) > 0
        && weights(once) == weights(twice)
        && flops(once).checked_mul(2) == Some(flops(twice))
}

/// The sizes of the results, without the tensors of the caller that the program writes into.
fn results(graph: &Graph) -> Vec<u64> {
    let tensors = graph.tensors.iter_enumerated();
    let results = tensors.filter(|&(id, tensor)| {
        !tensor.is_external() && graph.is_final(id) && !graph.is_kept_by_caller(id)
    });
    results
        .filter_map(|(_, tensor)| tensor.elements())
        .collect()
}

impl Cost {
    /// The cost of this many runs.
    fn times(self, runs: u32) -> Self {
        let times = |seconds: Option<f64>| Some(seconds? * f64::from(runs));
        Self {
            bytes: self.bytes.saturating_mul(u64::from(runs)),
            bound_s: times(self.bound_s),
            predicted_s: times(self.predicted_s),
        }
    }
}
