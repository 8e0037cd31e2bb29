//! One op as an expression of PyTorch. The meaning of each function is that of `core::interpret`.

use super::names::Names;
use super::{shape_of, torch_dtype};
use crate::core::interpret::{Call, function_of};
use crate::core::model::dtype::DType;
use crate::core::model::functions::Function;
use crate::core::model::graph::Graph;
use crate::core::model::ids::OpId;
use crate::core::model::op::{Indexing, Op};
use crate::core::model::op_type::OpType;

/// An op and what its value depends on.
struct Task<'a> {
    graph: &'a Graph,
    id: OpId,
    op: &'a Op,
    function: &'static Function,
    call: &'a Call,
    /// Its operands in their order, numbers among them as they are written.
    operands: Vec<String>,
}

/// The value of an op, of the element type of its output.
///
/// # Errors
/// Why PyTorch has no such op, as a clause about it.
pub(super) fn expression(
    graph: &Graph,
    names: &Names,
    id: OpId,
    call: &Call,
) -> Result<String, String> {
    let op = &graph.ops[id];
    let mut operands: Vec<String> = (graph.inputs[id].iter())
        .map(|&tensor| names.of_tensor(tensor).to_owned())
        .collect();
    for &(place, number) in &call.literals {
        operands.insert(place.min(operands.len()), number_of(number));
    }
    let task = Task {
        graph,
        id,
        op,
        function: function_of(op)?,
        call,
        operands,
    };
    let value = match task.function.op_type {
        OpType::Elementwise => task.elementwise(),
        OpType::Reduction => task.reduction(),
        OpType::Matmul => task.product(),
        OpType::Reshape => task.layout(),
    }?;
    task.of_type(value)
}

/// A number of Python.
fn number_of(value: f64) -> String {
    if value.is_finite() {
        format!("{value:?}")
    } else if value.is_nan() {
        "float(\"nan\")".to_owned()
    } else {
        format!("float(\"{}inf\")", if value < 0.0 { "-" } else { "" })
    }
}

/// `(2, 2)`
fn pair_of(pair: [u64; 2]) -> String {
    shape_of(&pair)
}

impl Task<'_> {
    fn refuse(&self) -> String {
        format!("a script knows no `{}` of these shapes", self.function.name)
    }

    fn operand(&self, place: usize) -> Result<&str, String> {
        self.operands
            .get(place)
            .map(String::as_str)
            .ok_or_else(|| self.refuse())
    }

    fn shape(&self, place: usize) -> Option<&[u64]> {
        let &tensor = self.graph.inputs[self.id].get(place)?;
        self.graph.operand_shape(tensor)
    }

    fn dtype(&self, place: usize) -> Option<DType> {
        let &tensor = self.graph.inputs[self.id].get(place)?;
        self.graph.tensors[tensor].dtype
    }

    /// The type that PyTorch gives the value without a word; `None` where that is not known.
    fn natural_dtype(&self) -> Option<DType> {
        if self.function.gives_bool() {
            return Some(DType::Bool);
        }
        match self.function.name {
            "cast" | "full" | "arange" => self.op.dtype,
            "where" => promoted(self.dtype(1), self.dtype(2)),
            "embedding" => self.dtype(1),
            "matmul" | "linear" | "conv2d" => self.op.element_type(),
            _ if self.function.op_type == OpType::Elementwise => {
                let places = 1..self.graph.inputs[self.id].len();
                places.fold(self.dtype(0), |dtype, place| {
                    promoted(dtype, self.dtype(place))
                })
            }
            _ => self.dtype(0),
        }
    }

    /// The value, in the element type of the output.
    fn of_type(&self, value: String) -> Result<String, String> {
        let Some(dtype) = self.op.element_type() else {
            return Ok(value);
        };
        let name = torch_dtype(dtype)?;
        if self.natural_dtype() == Some(dtype) {
            return Ok(value);
        }
        Ok(format!("({value}).to({name})"))
    }

    /// An operand of a product in the element type of the output, which PyTorch wants of both.
    fn factor(&self, place: usize) -> Result<String, String> {
        let operand = self.operand(place)?;
        let dtype = self.op.element_type();
        match dtype {
            Some(dtype) if self.dtype(place).is_some_and(|own| own != dtype) => {
                Ok(format!("{operand}.to({})", torch_dtype(dtype)?))
            }
            _ => Ok(operand.to_owned()),
        }
    }

    fn number(&self, attribute: &str) -> Result<String, String> {
        self.call.stated(attribute).map(number_of)
    }

    fn elementwise(&self) -> Result<String, String> {
        let name = self.function.name;
        let binary = |sign: &str| Ok(format!("{} {sign} {}", self.operand(0)?, self.operand(1)?));
        let called = |function: &str| Ok(format!("{function}({})", self.operands.join(", ")));
        let x = || self.operand(0);
        let shape = shape_of(&self.op.shape);
        match (name, self.operands.len()) {
            ("mask", 1) => self.causal(),
            ("add" | "mask", _) => binary("+"),
            ("sub", _) => binary("-"),
            ("mul", _) => binary("*"),
            ("div", _) => binary("/"),
            ("pow", 1) => Ok(format!("{} ** {}", x()?, self.number("exponent")?)),
            ("pow", _) => binary("**"),
            ("lt", _) => binary("<"),
            ("le", _) => binary("<="),
            ("gt", _) => binary(">"),
            ("ge", _) => binary(">="),
            ("eq", _) => binary("=="),
            ("ne", _) => binary("!="),
            ("maximum" | "minimum", _) => self.bounded(),
            ("neg", _) => Ok(format!("-{}", x()?)),
            ("relu" | "silu", _) => called(&format!("F.{name}")),
            ("gelu", _) => Ok(format!("F.gelu({}, approximate=\"tanh\")", x()?)),
            ("gelu_erf", _) => called("F.gelu"),
            ("scale", _) => Ok(format!("{} * {}", x()?, self.number("factor")?)),
            ("shift", _) => Ok(format!("{} + {}", x()?, self.number("amount")?)),
            ("tril" | "triu", _) => {
                let diagonal = self.call.size("diagonal").unwrap_or(0);
                Ok(format!("torch.{name}({}, {diagonal})", x()?))
            }
            ("full", _) => {
                let dtype = torch_dtype(self.op.element_type().unwrap_or(DType::F32))?;
                let value = self.number("value")?;
                Ok(format!(
                    "torch.full({shape}, {value}, dtype={dtype}, device=DEVICE)"
                ))
            }
            ("arange", _) => {
                let dtype = torch_dtype(self.op.element_type().unwrap_or(DType::I64))?;
                let count: u64 = self.op.shape.iter().product();
                Ok(format!(
                    "torch.arange({count}, dtype={dtype}, device=DEVICE).reshape({shape})"
                ))
            }
            ("dropout", _) => {
                let p = self.call.number("p").unwrap_or(0.5);
                Ok(format!("F.dropout({}, {p:?}, training=True)", x()?))
            }
            ("cast", _) => Ok(format!(
                "{}.to({})",
                x()?,
                torch_dtype(self.op.element_type().unwrap_or(DType::F32))?
            )),
            ("clamp", _) => {
                let bounds = ["min", "max"].into_iter().filter_map(|bound| {
                    Some(format!(", {bound}={}", number_of(self.call.number(bound)?)))
                });
                Ok(format!(
                    "torch.clamp({}{})",
                    x()?,
                    bounds.collect::<String>()
                ))
            }
            ("batch_norm", 3) => {
                let of_channel = self.of_channel();
                Ok(format!(
                    "{} * {}.view({of_channel}) + {}.view({of_channel})",
                    x()?,
                    self.operand(1)?,
                    self.operand(2)?
                ))
            }
            ("batch_norm", _) => {
                let eps = self.call.number("eps").unwrap_or(1e-5);
                Ok(format!(
                    "F.batch_norm({}, eps={eps:?})",
                    self.operands.join(", ")
                ))
            }
            _ => called(&format!("torch.{name}")),
        }
    }

    /// `-1, 1, 1`: a value for each channel, with a dimension of 1 for each one behind it.
    fn of_channel(&self) -> String {
        let behind = self.op.shape.len().saturating_sub(2);
        format!("-1{}", ", 1".repeat(behind))
    }

    /// Above the diagonal minus infinity. The last row sees all columns.
    fn causal(&self) -> Result<String, String> {
        let x = self.operand(0)?;
        let (rows, columns) = match self.op.shape[..] {
            [.., rows, columns] => (rows, columns),
            [columns] => (1, columns),
            [] => (1, 1),
        };
        let diagonal = columns.saturating_sub(rows) + 1;
        Ok(format!(
            "{x}.masked_fill(torch.ones({rows}, {columns}, dtype=torch.bool, device=DEVICE).triu({diagonal}), float(\"-inf\"))"
        ))
    }

    /// The larger or the smaller of two, one of which may be a number.
    fn bounded(&self) -> Result<String, String> {
        let name = self.function.name;
        let bound = if name == "maximum" { "min" } else { "max" };
        match (&self.operands[..], &self.call.literals[..]) {
            ([a, b], []) => Ok(format!("torch.{name}({a}, {b})")),
            ([a, b], [(place, _)]) => {
                let (x, number) = if *place == 0 { (b, a) } else { (a, b) };
                Ok(format!("torch.clamp({x}, {bound}={number})"))
            }
            _ => Err(self.refuse()),
        }
    }

    /// The dimensions that are reduced.
    fn axes(&self) -> Vec<usize> {
        let rank = self.shape(0).map_or(1, <[u64]>::len);
        match self.op.axes {
            0 => vec![rank.saturating_sub(1)],
            bits => (0..rank.min(32))
                .filter(|axis| bits & (1 << axis) != 0)
                .collect(),
        }
    }

    fn reduction(&self) -> Result<String, String> {
        let name = self.function.name;
        let x = self.operand(0)?;
        let axes = self.axes();
        let keeps = self
            .shape(0)
            .is_some_and(|shape| shape.len() == self.op.shape.len());
        let keepdim = if keeps { ", keepdim=True" } else { "" };
        let dims: Vec<String> = axes.iter().map(usize::to_string).collect();
        let dims = match &dims[..] {
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        };
        let eps = |default: f64| self.call.number("eps").unwrap_or(default);
        let factors = self.operands.get(1..).unwrap_or_default();
        let normalized = || {
            let sizes: Vec<u64> = (axes.iter())
                .filter_map(|&axis| self.shape(0)?.get(axis).copied())
                .collect();
            shape_of(&sizes)
        };
        match name {
            "sum" | "mean" | "var" => Ok(format!("{x}.{name}({dims}{keepdim})")),
            "max" | "min" => Ok(format!("{x}.a{name}({dims}{keepdim})")),
            "softmax" | "log_softmax" => Ok(format!("F.{name}({x}, {dims})")),
            "cumsum" => Ok(format!("{x}.cumsum({dims})")),
            "l2_norm" => Ok(format!(
                "F.normalize({x}, dim={dims}, eps={:?})",
                eps(1e-12)
            )),
            "layer_norm" => {
                let inputs = [&[x.to_owned(), normalized()], factors].concat();
                let eps = eps(1e-5);
                Ok(format!("F.layer_norm({}, eps={eps:?})", inputs.join(", ")))
            }
            "rms_norm" => {
                let weight = factors.first().map_or(String::new(), |w| format!(", {w}"));
                let bias = factors.get(1).map_or(String::new(), |b| format!(" + {b}"));
                Ok(format!(
                    "F.rms_norm({x}, {}{weight}, eps={:?}){bias}",
                    normalized(),
                    eps(1e-6)
                ))
            }
            "batch_norm_train" => {
                let none = "None".to_owned();
                let inputs = [&[x.to_owned(), none.clone(), none], factors].concat();
                let (inputs, eps) = (inputs.join(", "), eps(1e-5));
                Ok(format!(
                    "F.batch_norm({inputs}, training=True, eps={eps:?})"
                ))
            }
            "max_pool2d" | "avg_pool2d" => {
                let window = self.indexing()?.window.ok_or_else(|| self.refuse())?;
                let [size, stride, padding] =
                    [window.size, window.stride, window.padding].map(pair_of);
                Ok(format!("F.{name}({x}, {size}, {stride}, {padding})"))
            }
            _ => Err(self.refuse()),
        }
    }

    fn indexing(&self) -> Result<&Indexing, String> {
        self.op.indexing.as_deref().ok_or_else(|| self.refuse())
    }

    fn product(&self) -> Result<String, String> {
        let name = self.function.name;
        match name {
            "matmul" => self.matmul(),
            "linear" => {
                let factors = (0..self.operands.len()).map(|place| self.factor(place));
                let factors: Vec<String> = factors.collect::<Result<_, _>>()?;
                Ok(format!("F.linear({})", factors.join(", ")))
            }
            "conv2d" => {
                let factors = (0..self.operands.len()).map(|place| self.factor(place));
                let factors: Vec<String> = factors.collect::<Result<_, _>>()?;
                let pairs = [("stride", 1), ("padding", 0), ("dilation", 1)].into_iter();
                let pairs = pairs.filter_map(|(name, default)| {
                    let pair = self.call.pair(name, default)?;
                    let [height, width] = pair;
                    (pair != [default; 2]).then(|| format!(", {name}=({height}, {width})"))
                });
                let groups = self.call.size("groups").filter(|&groups| groups != 1);
                let groups = groups.map_or(String::new(), |groups| format!(", groups={groups}"));
                Ok(format!(
                    "F.conv2d({}{}{groups})",
                    factors.join(", "),
                    pairs.collect::<String>()
                ))
            }
            _ => Err(self.refuse()),
        }
    }

    fn matmul(&self) -> Result<String, String> {
        let turned = |operand: String, attribute: &str| {
            if self.call.is_set(attribute) {
                format!("{operand}.mT")
            } else {
                operand
            }
        };
        let left = turned(self.factor(0)?, "transpose_a");
        let last = self.operands.len().saturating_sub(1);
        let right = turned(self.factor(last)?, "transpose_b");
        if !self.call.has("k") {
            return Ok(format!("{left} @ {right}"));
        }
        self.packed(left, right, last)
    }

    /// Operands that hold Q, K and V side by side: the pieces that the interpreter reads.
    fn packed(&self, left: String, right: String, last: usize) -> Result<String, String> {
        let refuse = || self.refuse();
        let k = self.op.k.filter(|&k| k > 0).ok_or_else(refuse)?;
        let &[.., rows, columns] = &self.op.shape[..] else {
            return Err(refuse());
        };
        let sides = |place: usize, attribute: &str| {
            let (first, second) = match self.shape(place)? {
                [.., rows, columns] => (*rows, *columns),
                _ => return None,
            };
            Some(if self.call.is_set(attribute) {
                (second, first)
            } else {
                (first, second)
            })
        };
        let (left_rows, left_columns) = sides(0, "transpose_a").ok_or_else(refuse)?;
        let (right_rows, right_columns) = sides(last, "transpose_b").ok_or_else(refuse)?;
        if left_rows != rows || left_columns % k != 0 {
            return Err(refuse());
        }
        let inputs = &self.graph.inputs[self.id];
        let is_same = last == 0 || inputs.first() == inputs.get(last);
        let columns_from = |operand: String, start: u64, count: u64, all: u64| {
            if count == all {
                operand
            } else {
                format!("{operand}[..., {start}:{}]", start + count)
            }
        };
        let by_columns = right_rows == columns && right_columns % k == 0;
        let by_rows = right_rows == k && right_columns % columns.max(1) == 0;
        let right = if by_columns && (is_same || !by_rows) {
            let piece = u64::from(is_same && right_columns > k);
            format!("{}.mT", columns_from(right, piece * k, k, right_columns))
        } else if by_rows {
            columns_from(right, right_columns - columns, columns, right_columns)
        } else {
            return Err(refuse());
        };
        let left = columns_from(left, 0, k, left_columns);
        Ok(format!("{left} @ {right}"))
    }

    fn layout(&self) -> Result<String, String> {
        let name = self.function.name;
        let x = self.operand(0)?;
        let shape = shape_of(&self.op.shape);
        match name {
            "reshape" => Ok(format!("{x}.reshape({shape})")),
            "contiguous" => Ok(format!("{x}.reshape({shape}).contiguous()")),
            "rearrange" => self.rearranged(),
            "transpose" => {
                let perm: Vec<String> =
                    self.indexing()?.perm.iter().map(usize::to_string).collect();
                Ok(format!("{x}.permute({})", perm.join(", ")))
            }
            "split" | "slice" => {
                let Indexing {
                    axis, start, step, ..
                } = *self.indexing()?;
                let &size = self.op.shape.get(axis).ok_or_else(|| self.refuse())?;
                let end = start + (size.saturating_sub(1)) * step + 1;
                let step = if step == 1 {
                    String::new()
                } else {
                    format!(":{step}")
                };
                let before = ":, ".repeat(axis);
                Ok(format!("{x}[{before}{start}:{end}{step}]"))
            }
            "concat" => {
                let axis = self.indexing()?.axis;
                Ok(format!("torch.cat(({}), {axis})", self.operands.join(", ")))
            }
            "expand" => Ok(format!("{x}.expand({shape})")),
            "repeat" => {
                let own = self.shape(0).ok_or_else(|| self.refuse())?;
                let added = self.op.shape.len().saturating_sub(own.len());
                let own = std::iter::repeat_n(&1, added).chain(own);
                let times: Vec<u64> = (self.op.shape.iter().zip(own))
                    .map(|(size, own)| size / own.max(&1))
                    .collect();
                Ok(format!("{x}.repeat({})", shape_of(&times)))
            }
            "repeat_interleave" => {
                let own = self.shape(0).ok_or_else(|| self.refuse())?;
                let sizes = own.iter().zip(&self.op.shape);
                let axis = sizes.clone().position(|(own, size)| own != size);
                let axis = axis.unwrap_or(own.len().saturating_sub(1));
                let times = self.op.shape.get(axis).zip(own.get(axis));
                let times = times.map_or(1, |(size, own)| size / own.max(&1));
                Ok(format!("{x}.repeat_interleave({times}, dim={axis})"))
            }
            "embedding" => Ok(format!("F.embedding({x}, {})", self.operand(1)?)),
            "gather" => {
                let axis = self.indexing()?.axis;
                Ok(format!("torch.gather({x}, {axis}, {})", self.operand(1)?))
            }
            "pad" => {
                let border = self.call.sizes("pad").ok_or_else(|| self.refuse())?;
                let border: Vec<String> = border.iter().map(i64::to_string).collect();
                Ok(format!("F.pad({x}, ({}))", border.join(", ")))
            }
            _ => Err(self.refuse()),
        }
    }

    /// Columns split over heads, or heads brought together; else the elements in their order.
    fn rearranged(&self) -> Result<String, String> {
        let shape = shape_of(&self.op.shape);
        let [x] = &self.operands[..] else {
            let flat: Vec<String> = self
                .operands
                .iter()
                .map(|x| format!("{x}.flatten()"))
                .collect();
            return Ok(format!("torch.cat(({})).reshape({shape})", flat.join(", ")));
        };
        let own = self.shape(0).ok_or_else(|| self.refuse())?;
        match (own, &self.op.shape[..]) {
            ([batch @ .., s, wide], [own @ .., heads, rows, d])
                if batch == own && s == rows && *wide == heads * d =>
            {
                let split = [batch, &[*s, *heads, *d]].concat();
                Ok(format!(
                    "{x}.reshape({}).transpose(-3, -2)",
                    shape_of(&split)
                ))
            }
            ([own @ .., heads, rows, d], [batch @ .., s, wide])
                if batch == own && s == rows && *wide == heads * d =>
            {
                Ok(format!("{x}.transpose(-3, -2).reshape({shape})"))
            }
            _ => Ok(format!("{x}.reshape({shape})")),
        }
    }
}

/// The type of a calculation with both.
fn promoted(a: Option<DType>, b: Option<DType>) -> Option<DType> {
    let rank = |dtype: DType| match dtype {
        DType::Bool => 0,
        DType::I8 => 1,
        DType::I32 => 2,
        DType::I64 => 3,
        DType::F8 => 4,
        DType::F16 | DType::Bf16 => 5,
        DType::F32 => 6,
        DType::F64 => 7,
    };
    let (Some(a), Some(b)) = (a, b) else {
        return a.or(b);
    };
    match (a, b) {
        (DType::F16, DType::Bf16) | (DType::Bf16, DType::F16) => Some(DType::F32),
        _ if rank(a) >= rank(b) => Some(a),
        _ => Some(b),
    }
}
