//! Sizes as polynomials over the params, so that a size that a file computes (`batch * heads`) can
//! be written and compared.

use fuseline_core::model::diagnostic::Span;
use fuseline_core::model::program::{BinaryOp, Expr, ExprKind};

/// Most terms of a size; one with more becomes a number.
const MAX_TERMS: usize = 12;

/// Most params in one term.
const MAX_DEGREE: usize = 6;

/// How many times as large a sampled number is at the second sample of the params. No param has
/// this factor, so that no sampled number is taken for one.
const SAMPLED_FACTOR: i64 = 19;

/// A sum of terms, each an integer times params. The zero has no term.
#[derive(Clone, Debug)]
pub(crate) struct Size {
    /// The params of each term, by index, ascending, and its factor, which is not 0. Ascending by
    /// params.
    terms: Vec<(Vec<usize>, i64)>,
    /// Whether a number in it depends on params in a way that no sum of terms expresses, as the
    /// windows of a convolution over an open image, and holds at their defaults.
    is_sampled: bool,
}

impl PartialEq for Size {
    fn eq(&self, other: &Self) -> bool {
        self.terms == other.terms
    }
}

impl Eq for Size {}

impl From<i64> for Size {
    fn from(value: i64) -> Self {
        Self::of_terms(vec![(Vec::new(), value)], false).unwrap_or(Self {
            terms: Vec::new(),
            is_sampled: false,
        })
    }
}

impl Size {
    pub(crate) fn param(index: usize) -> Self {
        Self {
            terms: vec![(vec![index], 1)],
            is_sampled: false,
        }
    }

    /// The same size, of which a number holds only at the defaults of the params.
    #[must_use]
    pub(crate) fn sampled(self) -> Self {
        Self {
            is_sampled: true,
            ..self
        }
    }

    pub(crate) fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    /// Whether it depends on no param.
    pub(crate) fn is_closed(&self) -> bool {
        self.as_int().is_some() && !self.is_sampled
    }

    /// The same size, sampled if it was computed from a size that depends on params.
    #[must_use]
    pub(crate) fn computed_from(self, source: &Self) -> Self {
        if source.is_closed() {
            self
        } else {
            self.sampled()
        }
    }

    fn of_terms(mut terms: Vec<(Vec<usize>, i64)>, is_sampled: bool) -> Option<Self> {
        terms.sort_unstable();
        let mut sum: Vec<(Vec<usize>, i64)> = Vec::with_capacity(terms.len());
        for (params, factor) in terms {
            match sum.last_mut() {
                Some(last) if last.0 == params => last.1 = last.1.checked_add(factor)?,
                _ => sum.push((params, factor)),
            }
        }
        sum.retain(|&(_, factor)| factor != 0);
        let is_small = |(params, _): &(Vec<usize>, i64)| params.len() <= MAX_DEGREE;
        (sum.len() <= MAX_TERMS && sum.iter().all(is_small)).then_some(Self {
            terms: sum,
            is_sampled,
        })
    }

    /// The number, where no param is in it.
    pub(crate) fn as_int(&self) -> Option<i64> {
        match self.terms.as_slice() {
            [] => Some(0),
            [(params, factor)] if params.is_empty() => Some(*factor),
            _ => None,
        }
    }

    pub(crate) fn term_count(&self) -> usize {
        self.terms.len()
    }

    pub(crate) fn is_one(&self) -> bool {
        self.as_int() == Some(1)
    }

    pub(crate) fn add(&self, other: &Self) -> Option<Self> {
        let is_sampled = self.is_sampled || other.is_sampled;
        Self::of_terms([self.terms.as_slice(), &other.terms].concat(), is_sampled)
    }

    pub(crate) fn sub(&self, other: &Self) -> Option<Self> {
        self.add(&other.mul(&Self::from(-1))?)
    }

    pub(crate) fn mul(&self, other: &Self) -> Option<Self> {
        let mut terms = Vec::with_capacity(self.terms.len() * other.terms.len());
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut params = [left.as_slice(), right].concat();
                params.sort_unstable();
                terms.push((params, a.checked_mul(*b)?));
            }
        }
        Self::of_terms(terms, self.is_sampled || other.is_sampled)
    }

    /// The exact quotient; `None` where none is found. A divisor of one term divides each term. A
    /// longer divisor divides only its multiples by one term.
    pub(crate) fn div_exact(&self, divisor: &Self) -> Option<Self> {
        if self == divisor && !self.terms.is_empty() {
            return Some(Self::from(1));
        }
        let is_sampled = self.is_sampled || divisor.is_sampled;
        let [(divisor, by)] = divisor.terms.as_slice() else {
            // A multiple by one term: `(S + 1)*H / (S + 1)`.
            let (first, last) = (divisor.terms.last()?, self.terms.last()?);
            let lead = |term: &(Vec<usize>, i64)| Self {
                terms: vec![term.clone()],
                is_sampled,
            };
            let quotient = lead(last).div_exact(&lead(first))?;
            return (quotient.mul(divisor)? == *self).then_some(quotient);
        };
        let mut terms = Vec::with_capacity(self.terms.len());
        for (params, factor) in &self.terms {
            let mut left = params.clone();
            for param in divisor {
                let index = left.iter().position(|own| own == param)?;
                left.remove(index);
            }
            if factor.checked_rem(*by)? != 0 {
                return None;
            }
            terms.push((left, factor / by));
        }
        Self::of_terms(terms, is_sampled)
    }

    /// The quotient rounded up: exact where one is found, else a number at these values of the
    /// params.
    pub(crate) fn div_up(&self, divisor: &Self, params: &[i64]) -> Option<Self> {
        self.div_exact(divisor).or_else(|| {
            let (all, by) = (self.value(params)?, divisor.value(params)?);
            let more = all.checked_add(by.checked_sub(1)?)?;
            let number = Self::from(more.checked_div(by)?);
            Some(number.computed_from(self).computed_from(divisor))
        })
    }

    /// The value of the size at these values of the params.
    pub(crate) fn value(&self, params: &[i64]) -> Option<i64> {
        self.terms.iter().try_fold(0_i64, |sum, (names, factor)| {
            let term = names.iter().try_fold(*factor, |product, &name| {
                product.checked_mul(*params.get(name)?)
            })?;
            sum.checked_add(term)
        })
    }

    /// The value of the size at the second sample of the params. Numbers that were sampled grow
    /// with the params.
    pub(crate) fn larger_value(&self, params: &[i64]) -> Option<i64> {
        let value = self.value(params)?;
        if self.is_sampled {
            return value.checked_mul(SAMPLED_FACTOR);
        }
        Some(value)
    }

    /// The param that this size says is another size, where both differ by nothing: the last one
    /// that stands alone in a term, with the sizes that it equals. `O(terms)`.
    pub(crate) fn solved(&self) -> Option<(usize, Self)> {
        let alone = |(params, factor): &&(Vec<usize>, i64)| {
            matches!(params.as_slice(), [_]) && factor.abs() == 1
        };
        let (params, factor) = self
            .terms
            .iter()
            .filter(alone)
            .max_by_key(|(params, _)| params)?;
        let param = *params.first()?;
        let own = Self::param(param).mul(&Self::from(*factor))?;
        let rest = self.sub(&own)?.mul(&Self::from(-factor))?;
        let mut others = rest.terms.iter().flat_map(|(params, _)| params);
        others.all(|&other| other < param).then_some((param, rest))
    }

    /// As the notation writes it; `names` are those of the params.
    pub(crate) fn expr(&self, names: &[String]) -> Expr {
        let mut sum: Option<Expr> = None;
        // Those with the most params first, numbers last, and a positive term in front.
        let mut terms: Vec<_> = self.terms.iter().collect();
        terms.sort_by_key(|(params, factor)| (*factor < 0, usize::MAX - params.len()));
        for (params, factor) in terms {
            let number = |value: i64| expr(ExprKind::Int(value));
            let is_subtracted = sum.is_some() && *factor < 0 && *factor != i64::MIN;
            let factor = if is_subtracted { -factor } else { *factor };
            let mut product = (factor != 1 || params.is_empty()).then(|| number(factor));
            for name in params.iter().filter_map(|&param| names.get(param)) {
                let param = expr(ExprKind::Param(name.clone()));
                product = Some(match product {
                    None => param,
                    Some(product) => binary(BinaryOp::Mul, product, param),
                });
            }
            let term = product.unwrap_or_else(|| number(factor));
            sum = Some(match sum {
                None => term,
                Some(sum) if is_subtracted => binary(BinaryOp::Sub, sum, term),
                Some(sum) => binary(BinaryOp::Add, sum, term),
            });
        }
        sum.unwrap_or_else(|| expr(ExprKind::Int(0)))
    }
}

/// The size that an expression of the notation means; `None` past the limits of [`Size`], for a
/// quotient that is no size, and for a name that `param` does not know. The parser limits the depth
/// of an expression.
pub(crate) fn size_of(expr: &Expr, param: &mut dyn FnMut(&str) -> Option<Size>) -> Option<Size> {
    match &expr.kind {
        ExprKind::Int(value) => Some(Size::from(*value)),
        ExprKind::Param(name) => param(name),
        ExprKind::Negate(operand) => Size::from(0).sub(&size_of(operand, param)?),
        ExprKind::Binary(operator, left, right) => {
            let (left, right) = (size_of(left, param)?, size_of(right, param)?);
            match operator {
                BinaryOp::Add => left.add(&right),
                BinaryOp::Sub => left.sub(&right),
                BinaryOp::Mul => left.mul(&right),
                BinaryOp::Div => left.div_exact(&right),
            }
        }
    }
}

fn expr(kind: ExprKind) -> Expr {
    Expr {
        kind,
        span: Span::default(),
    }
}

fn binary(operator: BinaryOp, left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Binary(operator, Box::new(left), Box::new(right)))
}
