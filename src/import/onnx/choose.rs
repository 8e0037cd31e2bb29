//! Chooses values for open sizes that the graph allows: what operators say are equal sizes is one
//! size, and where a size after windows over an image must be another, values are tried.

use crate::Problem;
use crate::onnx::agree::Agreements;
use crate::onnx::import::Import;
use crate::onnx::proto::Model;
use crate::params::{Chosen, IMAGE_SIZE, Params};
use fuseline_core::model::program::Expr;
use std::collections::BTreeMap;

/// How well the sizes of an import fit together; the least is the best: sizes that contradict each
/// other, and windows that leave out the end of an image.
type Misfit = (usize, usize);

/// Most imports that give further equal sizes.
const MAX_PASSES: usize = 6;

/// Most tensors and sizes that ops read in all imports after the first.
const MAX_READS_OF_ALL: usize = 1 << 22;

/// Values that are tried: sizes of images, and small ones.
const TRIED: &[i64] = &[
    1, 2, 4, 8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 299, 320, 384, 448, 512, 640,
    1024,
];

/// What the nodes of a graph say about open sizes.
#[derive(Debug, Default)]
pub(super) struct Fit {
    /// Params that are another size, by name.
    sizes: BTreeMap<String, Expr>,
    /// Values at which sizes that are broadcast to each other are equal, by the name of the param.
    values: BTreeMap<String, i64>,
    misfit: Misfit,
}

impl Fit {
    /// Adds what a node says.
    pub(super) fn add(&mut self, agreements: Agreements, params: &Params) {
        self.misfit.0 += usize::from(agreements.is_impossible);
        self.misfit.1 += agreements.left_out;
        for agreement in agreements.sizes {
            let [a, b] = &agreement.sizes;
            let values = [a, b].map(|size| size.value(&params.values));
            let is_equal = values.first() == values.last();
            let is_one = agreement.is_broadcast && values.contains(&Some(1));
            self.misfit.0 += usize::from(!is_equal && !is_one);
            if a.is_sampled() || b.is_sampled() || is_one {
                continue;
            }
            let Some((param, rest)) = a.sub(b).and_then(|difference| difference.solved()) else {
                continue;
            };
            let value = rest.value(&params.values).filter(|&value| value > 0);
            let (Some(name), Some(value)) = (params.names.get(param), value) else {
                continue;
            };
            if !agreement.is_broadcast {
                let size = rest.expr(&params.names);
                self.sizes.entry(name.clone()).or_insert(size);
            } else if !is_equal {
                self.values.entry(name.clone()).or_insert(value);
            }
        }
    }
}

/// The import at values of the open sizes that the graph allows. A visitor's values stay.
pub(super) fn fitted<'a>(model: &'a Model, given: &[(String, i64)]) -> Result<Import<'a>, Problem> {
    let mut chosen = Chosen::of(given);
    let mut import = Import::of(model, chosen.clone())?;
    let mut imports_left = MAX_READS_OF_ALL / import.written.spent().max(1);
    for _ in 0..MAX_PASSES.min(imports_left) {
        let Fit { sizes, values, .. } = &import.fit;
        let known = chosen.sizes.len() + chosen.values.len();
        for (name, size) in sizes {
            chosen.sizes.entry(name.clone()).or_insert(size.clone());
        }
        for (name, value) in values {
            chosen.values.entry(name.clone()).or_insert(*value);
        }
        if chosen.sizes.len() + chosen.values.len() == known {
            break;
        }
        import = Import::of(model, chosen.clone())?;
    }
    for (name, default) in tried_params(&import.written.params) {
        if import.fit.misfit.0 == 0 {
            break;
        }
        if chosen.values.contains_key(&name) {
            continue;
        }
        let mut best: Option<(Misfit, u64, i64, Import<'a>)> = None;
        for &value in TRIED {
            let Some(left) = imports_left.checked_sub(1) else {
                break;
            };
            imports_left = left;
            let mut tried = chosen.clone();
            tried.values.insert(name.clone(), value);
            let own = Import::of(model, tried)?;
            let (misfit, distance) = (own.fit.misfit, value.abs_diff(default));
            let is_better = (best.as_ref())
                .is_none_or(|(best, other, ..)| (misfit, distance) < (*best, *other));
            if is_better {
                best = Some((misfit, distance, value, own));
            }
        }
        if let Some((misfit, _, value, own)) = best
            && misfit.0 < import.fit.misfit.0
        {
            chosen.values.insert(name, value);
            import = own;
        }
    }
    Ok(import)
}

/// Params with their defaults, those of images first: windows follow them.
fn tried_params(params: &Params) -> Vec<(String, i64)> {
    let own = params.names.iter().cloned();
    let mut own: Vec<(String, i64)> = own.zip(params.values.iter().copied()).collect();
    own.sort_by_key(|&(_, default)| default != IMAGE_SIZE);
    own
}
