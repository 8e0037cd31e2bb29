//! Edits of products whose weight nothing else reads: several as one, and weights in eight bits.

use crate::model::diagnostic::Span;
use crate::model::dtype::DType;
use crate::model::fix::TextEdit;
use crate::model::functions::{AttributeName, Function};
use crate::model::op::TensorRole;
use crate::model::program::{AttributeValue, Declaration, OpStatement, Program, TypeAnnotation};
use crate::notation::edit::kernels::edit_of;
use crate::notation::edit::lines::{indent, whole_lines};
use crate::notation::edit::replaced;
use crate::notation::{call_parens, names_in, written_name};
use std::collections::{HashMap, HashSet};

/// `y = linear(x, w)` or `matmul(x, w)`, where `w` is a weight of two dimensions that nothing else
/// reads.
struct Product<'a> {
    /// Its statement.
    op: usize,
    statement: &'a OpStatement,
    /// The name of `x`.
    operand: &'a str,
    weight: &'a Declaration,
    /// The blocks of the statement and of the weight.
    blocks: [Option<usize>; 2],
    /// Whether the weight is `[N, K]`, as `linear` reads it, and not `[K, N]`.
    is_n_first: bool,
}

impl Product<'_> {
    /// The number of columns of the result as written, and K.
    fn n_and_k<'t>(&self, text: &'t str) -> Option<[&'t str; 2]> {
        let [first, second] = &self.weight.annotation.dims[..] else {
            return None;
        };
        let [first, second] = [first, second].map(|dim| dim.span.slice(text));
        Some(if self.is_n_first {
            [first, second]
        } else {
            [second, first]
        })
    }

    /// A weight of this type with `n` columns of the result and length `k`.
    fn weight_type(&self, dtype: &str, n: &str, k: &str) -> String {
        if self.is_n_first {
            format!("{dtype}[{n}, {k}]")
        } else {
            format!("{dtype}[{k}, {n}]")
        }
    }

    /// From the function to the end of its call.
    fn call(&self, text: &str) -> Option<Span> {
        let close = call_parens(text, self.statement)?.close;
        Some(Span::new(self.statement.callee.span.start, close.end))
    }

    /// The attribute by which a product reads a weight `[N, K]`.
    fn layout(&self) -> &'static str {
        if self.is_n_first {
            ", transpose_b=true"
        } else {
            ""
        }
    }
}

/// The products of a program, in text order.
fn products(program: &Program) -> Vec<Product<'_>> {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    let read = program.ops.iter().flat_map(|op| &op.inputs);
    let carried = program.blocks.iter().flat_map(|block| &block.carried);
    let carried = carried.flat_map(|carried| [&carried.name, &carried.from]);
    for name in read.chain(&program.outputs).chain(carried) {
        *uses.entry(&name.text).or_default() += 1;
    }
    let mut weights = HashMap::new();
    for (index, declared) in program.declarations.iter().enumerate() {
        let is_lone = uses.get(declared.name.text.as_str()) == Some(&1)
            && !program.mentioned.contains(&declared.name.text);
        if is_lone && declared.role == TensorRole::Weight && declared.annotation.dims.len() == 2 {
            let mut blocks = program.blocks.iter();
            let block = blocks.position(|block| block.declarations.contains(&index));
            weights.insert(&*declared.name.text, (declared, block));
        }
    }
    let product = |(op, statement)| product(program, &weights, op, statement);
    program.ops.iter().enumerate().filter_map(product).collect()
}

fn product<'a>(
    program: &'a Program,
    weights: &HashMap<&str, (&'a Declaration, Option<usize>)>,
    op: usize,
    statement: &'a OpStatement,
) -> Option<Product<'a>> {
    let [operand, weight] = &statement.inputs[..] else {
        return None;
    };
    let is_transposed = match &statement.attributes[..] {
        [] => false,
        [only] if only.is(AttributeName::TransposeB) => match &only.value {
            AttributeValue::Word(word) => word == "true",
            _ => return None,
        },
        _ => return None,
    };
    let is_n_first = match statement.function()? {
        Function::Linear => true,
        Function::Matmul => is_transposed,
        _ => return None,
    };
    let &(weight, of_weight) = weights.get(weight.text.as_str())?;
    let is_of_weight = |annotation: &TypeAnnotation| annotation.dtype == weight.annotation.dtype;
    let keeps_type = statement.annotation.as_ref().is_none_or(is_of_weight);
    let is_plain = !statement.is_in_place() && statement.literals.is_empty();
    (keeps_type && is_plain).then_some(Product {
        op,
        statement,
        operand: &operand.text,
        weight,
        blocks: [program.block_of_op(op), of_weight],
        is_n_first,
    })
}

/// Products of one tensor that one product can compute, such as Q, K and V of each layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joinable {
    /// For each tensor the statements of its products. The weights of all tensors have the same
    /// shapes as written.
    pub groups: Vec<Vec<usize>>,
}

/// The products that can be joined, each kind once, in text order.
pub fn joinable_products(text: &str, program: &Program) -> Vec<Joinable> {
    let kinds = kinds_of_groups(text, program);
    let statements = |group: Vec<Product<'_>>| group.iter().map(|product| product.op).collect();
    let kind = |groups: Vec<Vec<Product<'_>>>| Joinable {
        groups: groups.into_iter().map(statements).collect(),
    };
    kinds.into_iter().map(kind).collect()
}

/// Groups of products of one tensor; groups whose weights have the same types are of one kind.
fn kinds_of_groups<'a>(text: &str, program: &'a Program) -> Vec<Vec<Vec<Product<'a>>>> {
    let mut group_of = HashMap::new();
    let mut groups: Vec<Vec<Product<'_>>> = Vec::new();
    for product in products(program) {
        let dtype = product.weight.annotation.dtype;
        let key = (product.operand, product.blocks, product.is_n_first, dtype);
        let group = *group_of.entry(key).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(group) => group.push(product),
            None => groups.push(vec![product]),
        }
    }
    let mut kind_of = HashMap::new();
    let mut kinds: Vec<Vec<Vec<Product<'_>>>> = Vec::new();
    for group in groups.into_iter().filter(|group| group.len() > 1) {
        let types = group.iter().map(|product| product.weight.annotation.span);
        let types: Vec<&str> = types.map(|span| span.slice(text)).collect();
        let kind = *kind_of.entry(types).or_insert(kinds.len());
        match kinds.get_mut(kind) {
            Some(groups) => groups.push(group),
            None => kinds.push(vec![group]),
        }
    }
    kinds
}

/// Joins the products of the kind whose first statement is `first`: one product with the weights
/// side by side, and a slice of its result for each. `None` if there is no such kind.
pub fn join_products(text: &str, program: &Program, first: usize) -> Option<String> {
    let is_kind = |groups: &Vec<Vec<Product<'_>>>| {
        let product = groups.first().and_then(|group| group.first());
        product.is_some_and(|product| product.op == first)
    };
    let groups = kinds_of_groups(text, program).into_iter().find(is_kind)?;
    let mut taken = names_in(text);
    let mut edits = Vec::new();
    for group in groups {
        edits.extend(join(text, program, &group, &mut taken)?);
    }
    Some(replaced(text, edits))
}

fn join(
    text: &str,
    program: &Program,
    group: &[Product<'_>],
    taken: &mut HashSet<String>,
) -> Option<Vec<TextEdit>> {
    let first = group.first()?;
    let results: Vec<&str> =
        (group.iter().map(|product| &*product.statement.output.text)).collect();
    let weights: Vec<&str> = (group.iter().map(|product| &*product.weight.name.text)).collect();
    let joined = unused(joined_name(&results), taken);
    let weight = unused(joined_name(&weights), taken);
    let [_, k] = first.n_and_k(text)?;
    let mut edits = Vec::new();
    let mut start = String::new();
    for product in group {
        let [n, _] = product.n_and_k(text)?;
        let end = match &*start {
            "" => n.to_owned(),
            before => format!("{before} + {n}"),
        };
        let from = if start.is_empty() { "0" } else { &start };
        let slice = format!(
            "slice({}, axis=-1, start={from}, end={end})",
            written_name(&joined)
        );
        edits.push(TextEdit::replace(product.call(text)?, slice));
        edits.extend(edit_of(text, program, product.op, None));
        start = end;
        if product.op != first.op {
            edits.push(TextEdit::remove(whole_lines(text, product.weight.span)));
        }
    }
    let dtype = first.weight.annotation.dtype_span.slice(text);
    let declared = format!(
        "weight {} : {}",
        written_name(&weight),
        first.weight_type(dtype, &start, k)
    );
    edits.push(TextEdit::replace(first.weight.span, declared));
    let at = first.statement.span.start;
    let product = format!(
        "{} = {}({}, {}{})\n{}",
        written_name(&joined),
        first.statement.callee.span.slice(text),
        written_name(first.operand),
        written_name(&weight),
        if first.statement.attributes.is_empty() {
            ""
        } else {
            first.layout()
        },
        indent(text, at)
    );
    edits.push(TextEdit::insert(at, product));
    Some(edits)
}

/// `q_k_v` for `q`, `k` and `v`, or a short name where that is long.
fn joined_name(names: &[&str]) -> String {
    const LONGEST: usize = 40;
    let joined = names.join("_");
    if joined.chars().count() > LONGEST {
        "joined".to_owned()
    } else {
        joined
    }
}

/// The name, or a longer one if it is taken. It is taken from now on.
fn unused(mut name: String, taken: &mut HashSet<String>) -> String {
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// Stores the weights of all products in 16 bits as integers of 8 bits with a scale for each
/// column of the result, which `dequantize` widens. `None` without such a product.
pub fn store_weights_in_int8(text: &str, program: &Program) -> Option<String> {
    let mut taken = names_in(text);
    let mut edits = Vec::new();
    for product in of_16_bits(program) {
        let Declaration {
            name,
            annotation,
            span,
            ..
        } = product.weight;
        let [n, k] = product.n_and_k(text)?;
        let stored = unused(format!("{}_int8", name.text), &mut taken);
        let scale = unused(format!("{}_scale", name.text), &mut taken);
        let [name, stored, scale] = [&name.text, &stored, &scale].map(|name| written_name(name));
        let dtype = annotation.dtype_span.slice(text);
        let lines = format!(
            "weight {stored} : {int8}{line}weight {scale} : {scale_type}{line}{name} = dequantize({stored}, {scale})",
            int8 = product.weight_type(DType::I8.name(), n, k),
            scale_type = product.weight_type(dtype, n, "1"),
            line = new_line(text, span.start),
        );
        edits.push(TextEdit::replace(*span, lines));
    }
    (!edits.is_empty()).then(|| replaced(text, edits))
}

/// Computes all products in 16 bits in f8: the weights are stored so, with a scale for each column
/// of the result, and their operands are rounded with one scale. `None` without such a product.
pub fn multiply_in_f8(text: &str, program: &Program) -> Option<String> {
    let mut taken = names_in(text);
    let mut rounded_of: HashMap<(&str, Option<usize>), [String; 2]> = HashMap::new();
    let mut edits = Vec::new();
    for product in of_16_bits(program) {
        let Declaration {
            name, annotation, ..
        } = product.weight;
        let [n, k] = product.n_and_k(text)?;
        let dtype = annotation.dtype_span.slice(text);
        let f8 = DType::F8e4m3.name();
        let scale = unused(format!("{}_scale", name.text), &mut taken);
        edits.push(TextEdit::replace(
            product.weight.span,
            format!(
                "weight {} : {}{}weight {} : {}",
                written_name(&name.text),
                product.weight_type(f8, n, k),
                new_line(text, product.weight.span.start),
                written_name(&scale),
                product.weight_type(dtype, n, "1"),
            ),
        ));
        let operand = product.operand;
        let [of_operand, of_block] = product.blocks;
        let key = (operand, of_operand.or(of_block));
        let at = product.statement.span.start;
        let [rounded, operand_scale] = rounded_of.entry(key).or_insert_with(|| {
            let mut name = |end: &str| unused(format!("{operand}_{end}"), &mut taken);
            let [scaled, rounded, scale] = [name("scaled"), name("f8"), name("scale")];
            let [scaled, rounded, scale] = [scaled, rounded, scale].map(|name| written_name(&name));
            let lines = [
                format!("weight {scale} : {dtype}[1]"),
                format!("{scaled} = div({}, {scale})", written_name(operand)),
                format!("{rounded} = cast({scaled}, dtype={f8})"),
                String::new(),
            ];
            edits.push(TextEdit::insert(at, lines.join(&new_line(text, at))));
            [rounded, scale]
        });
        let call = format!(
            "scaled_matmul({rounded}, {}, {operand_scale}, {}{})",
            written_name(&name.text),
            written_name(&scale),
            product.layout()
        );
        edits.push(TextEdit::replace(product.call(text)?, call));
    }
    (!edits.is_empty()).then(|| replaced(text, edits))
}

fn of_16_bits(program: &Program) -> impl Iterator<Item = Product<'_>> {
    let products = products(program).into_iter();
    products.filter(|product| product.weight.annotation.dtype.is_half())
}

/// A line break, and the indent of the line at `offset`.
fn new_line(text: &str, offset: usize) -> String {
    format!("\n{}", indent(text, offset))
}
