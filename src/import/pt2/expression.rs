//! Sizes as an exported program writes them:
//! `Mul(Integer(2), Symbol('s0', positive=True, integer=True))` of sympy, and `2*s0` of older
//! versions.

use crate::size::Size;

/// Longest text of a size, and most calls inside each other, that are read.
const MAX_TEXT: usize = 2000;
const MAX_DEPTH: usize = 32;

/// The size that a text means; `None` where it is none over the symbols that `param` knows.
/// `O(text)`.
pub(super) fn size_of(text: &str, param: &mut dyn FnMut(&str) -> Option<usize>) -> Option<Size> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let mut reader = Reader {
        rest: text,
        depth: 0,
        param,
    };
    let size = reader.sum()?;
    reader.blank();
    reader.rest.is_empty().then_some(size)
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
    param: &'a mut dyn FnMut(&str) -> Option<usize>,
}

impl<'a> Reader<'a> {
    fn blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn takes(&mut self, symbol: &str) -> bool {
        self.blank();
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn while_(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (part, rest) = self.rest.split_at(end);
        self.rest = rest;
        part
    }

    fn sum(&mut self) -> Option<Size> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut sum = self.product()?;
        loop {
            if self.takes("+") {
                sum = sum.add(&self.product()?)?;
            } else if self.takes("-") {
                sum = sum.sub(&self.product()?)?;
            } else {
                self.depth -= 1;
                return Some(sum);
            }
        }
    }

    fn product(&mut self) -> Option<Size> {
        let mut product = self.power()?;
        loop {
            if self.takes("//") {
                product = product.div_exact(&self.power()?)?;
            } else if self.takes("*") {
                product = product.mul(&self.power()?)?;
            } else {
                return Some(product);
            }
        }
    }

    fn power(&mut self) -> Option<Size> {
        let base = self.unit()?;
        if self.takes("**") {
            let exponent = self.unit()?;
            return power(&base, &exponent);
        }
        Some(base)
    }

    fn unit(&mut self) -> Option<Size> {
        if self.takes("(") {
            let inner = self.sum()?;
            return self.takes(")").then_some(inner);
        }
        if self.takes("-") {
            let unit = self.unit_below()?;
            return Size::from(0).sub(&unit);
        }
        self.blank();
        let word = self.while_(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
        if let Ok(number) = word.parse::<i64>() {
            return Some(Size::from(number));
        }
        if word.is_empty() {
            return None;
        }
        if !self.takes("(") {
            return (self.param)(word).map(Size::param);
        }
        match word.rsplit('.').next().unwrap_or(word) {
            "Symbol" => self.symbol(),
            "Integer" => {
                let sign = if self.takes("-") { -1 } else { 1 };
                self.blank();
                let number: i64 = self.while_(|c| c.is_ascii_digit()).parse().ok()?;
                self.takes(")").then_some(Size::from(sign * number))
            }
            function => {
                let arguments = self.arguments()?;
                let (first, others) = arguments.split_first()?;
                let mut others = others.iter();
                match (function, arguments.as_slice()) {
                    ("Add", _) => others.try_fold(first.clone(), |sum, size| sum.add(size)),
                    ("Mul", _) => others.try_fold(first.clone(), |all, size| all.mul(size)),
                    ("Pow" | "PowByNatural", [base, exponent]) => power(base, exponent),
                    ("FloorDiv" | "CleanDiv", [over, under]) => over.div_exact(under),
                    _ => None,
                }
            }
        }
    }

    /// A unit behind a sign, one level deeper.
    fn unit_below(&mut self) -> Option<Size> {
        self.depth += 1;
        let unit = (self.depth <= MAX_DEPTH).then(|| self.unit()).flatten();
        self.depth -= 1;
        unit
    }

    /// The rest of `Symbol('s0', positive=True)`.
    fn symbol(&mut self) -> Option<Size> {
        let quote = ['\'', '"']
            .into_iter()
            .find(|quote| self.takes(&quote.to_string()))?;
        let name = self.while_(|c| c != quote);
        let (_, rest) = self.rest.split_once(')')?;
        self.rest = rest;
        (self.param)(name).map(Size::param)
    }

    fn arguments(&mut self) -> Option<Vec<Size>> {
        let mut arguments = vec![self.sum()?];
        while self.takes(",") {
            arguments.push(self.sum()?);
        }
        self.takes(")").then_some(arguments)
    }
}

fn power(base: &Size, exponent: &Size) -> Option<Size> {
    let exponent = exponent
        .as_int()
        .filter(|exponent| (0..=6).contains(exponent))?;
    (0..exponent).try_fold(Size::from(1), |product, _| product.mul(base))
}
