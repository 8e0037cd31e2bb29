//! The lines of an einsum: a product for each further operand, with the sums and orders of
//! dimensions around it.

use crate::shapes::{Sizes, elements};
use crate::size::Size;

/// A letter of the equation, or a dimension of its ellipsis, counted from the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Ellipsis(std::cmp::Reverse<usize>),
    Letter(char),
}

/// A tensor with the label of each dimension.
#[derive(Clone)]
struct Labelled {
    name: String,
    labels: Vec<Label>,
}

/// An operand: what names it in a line, and its shape.
pub(crate) type Operand<'a> = (String, &'a [Size]);

/// Lines under construction, and the size of each label.
struct Contraction<'a> {
    list: &'a dyn Fn(&[Size]) -> String,
    lines: Vec<String>,
    sizes: Vec<(Label, Size)>,
}

/// The lines of an einsum, the last of which writes `{y}`; none where it gives its operand.
/// `list`: sizes as a line has them. `None` for a diagonal.
pub(crate) fn einsum(
    equation: &str,
    given: &[Operand<'_>],
    list: &dyn Fn(&[Size]) -> String,
) -> Option<String> {
    let equation: String = equation.split_whitespace().collect();
    let (terms, output) = match equation.split_once("->") {
        Some((terms, output)) => (terms, Some(output)),
        None => (equation.as_str(), None),
    };
    let mut operands = Vec::new();
    let mut sizes: Vec<(Label, Size)> = Vec::new();
    let mut ellipsis = 0;
    (terms.split(',').count() == given.len()).then_some(())?;
    for (term, (name, shape)) in terms.split(',').zip(given) {
        let labels = labels(term, shape.len())?;
        let mut seen = labels.clone();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() != labels.len() {
            return None;
        }
        let of_ellipsis = |label: &&Label| matches!(label, Label::Ellipsis(_));
        ellipsis = ellipsis.max(labels.iter().filter(of_ellipsis).count());
        for (&label, size) in labels.iter().zip(*shape) {
            match sizes.iter_mut().find(|(own, _)| *own == label) {
                Some((_, known)) if known.is_one() => known.clone_from(size),
                Some(_) => {}
                None => sizes.push((label, size.clone())),
            }
        }
        operands.push(Labelled {
            name: name.clone(),
            labels,
        });
    }
    let output = match output {
        Some(output) => {
            let letters = output.chars().filter(char::is_ascii_alphabetic).count();
            labels(
                output,
                letters + if output.contains("...") { ellipsis } else { 0 },
            )?
        }
        None => implicit_output(&operands),
    };
    let mut contraction = Contraction {
        list,
        lines: Vec::new(),
        sizes,
    };
    let mut rest = operands.into_iter();
    let mut all = rest.next()?;
    let mut step = 0;
    while let Some(next) = rest.next() {
        let is_kept = |label: &Label| {
            output.contains(label) || rest.as_slice().iter().any(|own| own.labels.contains(label))
        };
        all = contraction.product(&all, &next, step, is_kept)?;
        step += 1;
    }
    let all = contraction.summed(&all, &format!("{step}_rest"), |label| {
        output.contains(label)
    });
    let all = contraction.ordered(&all, &output, "ordered")?;
    let mut lines = contraction.lines;
    match lines.last_mut() {
        Some(end) => *end = end.replacen(&all.name, "{y}", 1),
        None => return Some(String::new()),
    }
    Some(lines.join("\n"))
}

/// The labels of a term for a tensor of this rank.
fn labels(term: &str, rank: usize) -> Option<Vec<Label>> {
    let letters = |text: &str| {
        text.chars()
            .map(|c| c.is_ascii_alphabetic().then_some(Label::Letter(c)))
            .collect::<Option<Vec<Label>>>()
    };
    let Some((before, behind)) = term.split_once("...") else {
        return letters(term).filter(|labels| labels.len() == rank);
    };
    let (mut labels, behind) = (letters(before)?, letters(behind)?);
    let open = rank.checked_sub(labels.len() + behind.len())?;
    labels.extend(
        (0..open)
            .rev()
            .map(|at| Label::Ellipsis(std::cmp::Reverse(at))),
    );
    labels.extend(behind);
    Some(labels)
}

/// Without an arrow the output has the ellipsis and each letter that occurs once, by the alphabet.
fn implicit_output(operands: &[Labelled]) -> Vec<Label> {
    let mut all: Vec<Label> = operands.iter().flat_map(|own| own.labels.clone()).collect();
    all.sort_unstable();
    let count = |label: &Label| all.iter().filter(|own| *own == label).count();
    let mut output: Vec<Label> = all
        .iter()
        .filter(|label| matches!(label, Label::Ellipsis(_)) || count(label) == 1)
        .copied()
        .collect();
    output.dedup();
    output
}

impl Contraction<'_> {
    fn size(&self, label: Label) -> Option<Size> {
        let known = self.sizes.iter().find(|(own, _)| *own == label);
        known.map(|(_, size)| size.clone())
    }

    fn shape(&self, labels: &[Label]) -> Option<Sizes> {
        labels.iter().map(|&label| self.size(label)).collect()
    }

    fn count(&self, labels: &[Label]) -> Option<Size> {
        elements(&self.shape(labels)?)
    }

    fn line(&mut self, name: &str, call: &str) -> String {
        let name = format!("{{y}}_{name}");
        self.lines.push(format!("{name} = {call}"));
        name
    }

    /// The sum over the labels that are not kept.
    fn summed(&mut self, own: &Labelled, name: &str, is_kept: impl Fn(&Label) -> bool) -> Labelled {
        let axes: Vec<usize> = (0..own.labels.len())
            .filter(|&axis| own.labels.get(axis).is_some_and(|label| !is_kept(label)))
            .collect();
        if axes.is_empty() {
            return own.clone();
        }
        let call = format!("sum({}, axis={axes:?}, keepdim=false)", own.name);
        Labelled {
            name: self.line(name, &call),
            labels: own
                .labels
                .iter()
                .copied()
                .filter(|label| is_kept(label))
                .collect(),
        }
    }

    /// The dimensions in another order.
    fn ordered(&mut self, own: &Labelled, labels: &[Label], name: &str) -> Option<Labelled> {
        if own.labels == labels {
            return Some(own.clone());
        }
        let position = |label: &Label| own.labels.iter().position(|known| known == label);
        let perm: Vec<usize> = labels.iter().map(position).collect::<Option<_>>()?;
        if perm.len() != own.labels.len() {
            return None;
        }
        let call = format!("transpose({}, perm={perm:?})", own.name);
        Some(Labelled {
            name: self.line(name, &call),
            labels: labels.to_vec(),
        })
    }

    fn reshaped(&mut self, own: &str, from: &[Size], to: &[Size], name: &str) -> String {
        if from == to {
            return own.to_owned();
        }
        let list = (self.list)(to);
        self.line(name, &format!("reshape({own}, shape={list})"))
    }

    /// The product of two operands over the labels that only they have.
    fn product(
        &mut self,
        a: &Labelled,
        b: &Labelled,
        step: usize,
        is_kept: impl Fn(&Label) -> bool,
    ) -> Option<Labelled> {
        let a = self.summed(a, &format!("{step}_a_sum"), |label| {
            b.labels.contains(label) || is_kept(label)
        });
        let b = self.summed(b, &format!("{step}_b_sum"), |label| {
            a.labels.contains(label) || is_kept(label)
        });
        let of = |own: &Labelled, is_in_other: bool, other: &Labelled, is_kept_here: bool| {
            let own = own.labels.iter().copied();
            own.filter(|label| {
                other.labels.contains(label) == is_in_other && is_kept(label) == is_kept_here
            })
            .collect::<Vec<Label>>()
        };
        let (batch, contracted) = (of(&a, true, &b, true), of(&a, true, &b, false));
        let (left, right) = (of(&a, false, &b, true), of(&b, false, &a, true));
        let labels = [batch.as_slice(), &left, &right].concat();
        let shape = self.shape(&labels)?;
        let ones = |count: usize| vec![Size::from(1); count];
        if contracted.is_empty() {
            let own = [batch.as_slice(), &left].concat();
            let a = self.ordered(&a, &own, &format!("{step}_a"))?;
            let from = self.shape(&own)?;
            let to = [from.as_slice(), &ones(right.len())].concat();
            let a = self.reshaped(&a.name, &from, &to, &format!("{step}_a_wide"));
            let own = [batch.as_slice(), &right].concat();
            let b = self.ordered(&b, &own, &format!("{step}_b"))?;
            let (from, batch) = (self.shape(&own)?, self.shape(&batch)?);
            let right = self.shape(&right)?;
            let to = [batch.as_slice(), &ones(left.len()), &right].concat();
            let b = self.reshaped(&b.name, &from, &to, &format!("{step}_b_wide"));
            let name = self.line(&step.to_string(), &format!("mul({a}, {b})"));
            return Some(Labelled { name, labels });
        }
        // An operand whose last two dimensions are in the other order is transposed in the product.
        let is_turned = |own: &Labelled, last: &[Label]| {
            own.labels == [batch.as_slice(), &contracted, last].concat()
        };
        let (turns_a, turns_b) = (is_turned(&a, &left), !is_turned(&b, &right));
        let mut operands = Vec::new();
        let sides = [(a, "a", &left, turns_a), (b, "b", &right, !turns_b)];
        for (own, word, free, contracted_first) in sides {
            let (first, second) = if contracted_first {
                (&contracted, free)
            } else {
                (free, &contracted)
            };
            let order = [batch.as_slice(), first, second].concat();
            let own = self.ordered(&own, &order, &format!("{step}_{word}"))?;
            let from = self.shape(&order)?;
            let batch = self.shape(&batch)?;
            let sides = [self.count(first)?, self.count(second)?];
            let to = [batch.as_slice(), &sides].concat();
            operands.push(self.reshaped(&own.name, &from, &to, &format!("{step}_{word}_matrix")));
        }
        let mut arguments = operands;
        arguments.extend(turns_a.then(|| "transpose_a=true".to_owned()));
        arguments.extend(turns_b.then(|| "transpose_b=true".to_owned()));
        let call = format!("matmul({})", arguments.join(", "));
        let name = self.line(&step.to_string(), &call);
        let matrix = [self.count(&left)?, self.count(&right)?];
        let from = [self.shape(&batch)?.as_slice(), &matrix].concat();
        let name = self.reshaped(&name, &from, &shape, &format!("{step}_shaped"));
        Some(Labelled { name, labels })
    }
}
