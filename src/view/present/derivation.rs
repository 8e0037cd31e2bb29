//! A number with the calculation that gives it, as data: the page and the tests read the same
//! terms.

use crate::present::names::counted;
use crate::present::number::Number;
use fuseline_core::numeral::Numeral;

/// Most terms of a sum that are listed.
const MAX_TERMS: usize = 8;

/// A number with its name, and its derivation unless it is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What the number is of; may be empty.
    pub name: String,
    pub number: Number,
    /// It rests on an assumed size.
    pub is_assumed: bool,
    /// `None` where the number is given.
    pub derivation: Option<Derivation>,
    /// Its formula in symbols, if that differs from the formula of its quantity.
    pub formula: Option<&'static str>,
}

impl Term {
    pub fn given(name: impl Into<String>, number: Number) -> Self {
        Self {
            name: name.into(),
            number,
            is_assumed: false,
            derivation: None,
            formula: None,
        }
    }

    /// A number that is computed.
    pub fn derived(name: impl Into<String>, number: Number, derivation: Derivation) -> Self {
        Self {
            derivation: Some(derivation),
            ..Self::given(name, number)
        }
    }

    /// The term, marked if it rests on an assumed size.
    pub(in crate::present) fn assumed(self, is_assumed: bool) -> Self {
        Self { is_assumed, ..self }
    }

    /// What it is computed from.
    pub fn terms(&self) -> &[Self] {
        self.derivation
            .as_ref()
            .map_or(&[], |derivation| &derivation.terms)
    }

    /// The number as it is shown.
    pub fn text(&self) -> String {
        let mark = if self.is_assumed { "~" } else { "" };
        format!("{mark}{}", self.number.text())
    }
}

impl Term {
    /// The term as a whole number, of things or bytes.
    fn whole_number(&self) -> u64 {
        match self.number {
            Number::Count(count) | Number::Bytes(count) => count,
            _ => 0,
        }
    }

    /// A whole number computed from whole numbers; in bytes if one of them is.
    fn of_whole(name: &str, operation: Operation, terms: Vec<Self>, number: u64) -> Self {
        let is_bytes = |term: &Self| matches!(term.number, Number::Bytes(_));
        let number = if terms.iter().any(is_bytes) {
            Number::Bytes(number)
        } else {
            Number::Count(number)
        };
        Self::derived(name, number, Derivation::new(operation, terms))
    }

    /// Drops the derivation of a number beyond 64 bits, because its terms do not give the number.
    fn exact(self) -> Self {
        let is_exact = self.whole_number() < u64::MAX;
        Self {
            derivation: self.derivation.filter(|_| is_exact),
            ..self
        }
    }
}

/// Evaluates formulas with terms: each result equals that of plain numbers, and keeps the terms
/// that it was computed from.
impl Numeral for Term {
    type Share = Self;

    fn count(name: &'static str, count: u64) -> Self {
        Self::given(name, Number::Count(count))
    }

    fn bytes(name: &'static str, bytes: u64) -> Self {
        Self::given(name, Number::Bytes(bytes))
    }

    fn whole(name: &'static str, count: f64) -> Self {
        Self::count(name, u64::whole("", count))
    }

    fn sum(name: &'static str, terms: impl IntoIterator<Item = Self>) -> Self {
        let terms: Vec<Self> = terms.into_iter().collect();
        let sum = u64::sum("", terms.iter().map(Self::whole_number));
        Self::of_whole(name, Operation::Sum, terms, sum).exact()
    }

    fn product(name: &'static str, factors: impl IntoIterator<Item = Self>) -> Self {
        let factors: Vec<Self> = factors.into_iter().collect();
        let product = u64::product("", factors.iter().map(Self::whole_number));
        Self::of_whole(name, Operation::Product, factors, product).exact()
    }

    fn ceiling(name: &'static str, above: Self, below: Self) -> Self {
        let number = u64::ceiling("", above.whole_number(), below.whole_number());
        let derivation = Derivation::new(Operation::RoundedUp, vec![above, below]);
        Self::derived(name, Number::Count(number), derivation)
    }

    fn floor(name: &'static str, above: Self, below: Self) -> Self {
        let number = u64::floor("", above.whole_number(), below.whole_number());
        let derivation = Derivation::new(Operation::RoundedDown, vec![above, below]);
        Self::derived(name, Number::Count(number), derivation)
    }

    fn smallest(name: &'static str, terms: impl IntoIterator<Item = Self>) -> Self {
        let terms: Vec<Self> = terms.into_iter().collect();
        let number = u64::smallest("", terms.iter().map(Self::whole_number));
        Self::of_whole(name, Operation::Smallest, terms, number)
    }

    fn between(name: &'static str, number: Self, least: Self, most: Self) -> Self {
        let [value, low, high] = [&number, &least, &most].map(Self::whole_number);
        let terms = vec![number, least, most];
        Self::of_whole(
            name,
            Operation::Between,
            terms,
            u64::between("", value, low, high),
        )
    }

    fn share(above: Self, below: Self, formula: &'static str) -> Self {
        let share = u64::share(above.whole_number(), below.whole_number(), "");
        let derivation = Derivation::new(Operation::Percent, vec![above, below]);
        Self::derived("", Number::Percent(share * 100.0), derivation).by(formula)
    }

    fn at_least(self, count: u64) -> Self {
        if self.whole_number() >= count {
            return self;
        }
        // The minimum counts, not the result of the formula, so there is no derivation.
        Self {
            derivation: None,
            number: Number::Count(count),
            ..self
        }
    }

    fn named(self, name: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            ..self
        }
    }

    fn by(self, formula: &'static str) -> Self {
        Self {
            formula: Some(formula),
            ..self
        }
    }
}

/// An operation on terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    pub operation: Operation,
    /// The terms, in the order of the calculation.
    pub terms: Vec<Term>,
}

/// What a calculation does with its terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Adds all.
    Sum,
    /// Takes the second from the first.
    Difference,
    /// Multiplies all.
    Product,
    /// Divides the first by the second.
    Quotient,
    /// Divides the first by the second, in percent.
    Percent,
    /// Divides the first by the second, rounded up.
    RoundedUp,
    /// Divides the first by the second, rounded down.
    RoundedDown,
    /// Takes the smallest.
    Smallest,
    /// Takes the first, but at least the second and at most the third.
    Between,
    /// Divides the first by the second and takes 1 from it.
    RelativeError,
    /// Takes the longest, because all happen at the same time.
    Longest,
}

impl Derivation {
    /// A calculation with all of these terms.
    pub const fn new(operation: Operation, terms: Vec<Term>) -> Self {
        Self { operation, terms }
    }

    /// The sum of many terms, the largest first. Terms that are not listed become one.
    pub fn sum(mut terms: Vec<Term>) -> Self {
        terms.retain(|term| term.number.value() != 0.0);
        terms.sort_by(|a, b| b.number.value().total_cmp(&a.number.value()));
        if terms.len() > MAX_TERMS {
            let rest = terms.split_off(MAX_TERMS - 1);
            let name = format!("and {}", counted(rest.len(), "more").trim_end_matches('s'));
            let is_assumed = rest.iter().any(|term| term.is_assumed);
            let numbers = rest.into_iter().map(|term| term.number);
            let rest = numbers
                .reduce(Number::and)
                .map(|number| Term::given(format!("{name}, in total"), number).assumed(is_assumed));
            terms.extend(rest);
        }
        Self::new(Operation::Sum, terms)
    }

    /// One number over another.
    pub fn quotient(above: Term, below: Term) -> Self {
        Self::new(Operation::Quotient, vec![above, below])
    }

    /// The derivation without enclosing sums and maxima of a single term.
    pub fn simplest(&self) -> &Self {
        let mut derivation = self;
        while let (
            Operation::Sum | Operation::Longest,
            [
                Term {
                    derivation: Some(only),
                    ..
                },
            ],
        ) = (derivation.operation, &derivation.terms[..])
        {
            derivation = only;
        }
        derivation
    }

    fn is_small_difference(&self) -> bool {
        let [from, by] = &self.terms[..] else {
            return false;
        };
        let [from, by] = [from, by].map(|term| term.number.value());
        (from - by).abs() < 0.05 * from.abs()
    }

    /// The calculation on one line: `117 MB / 2.04 TB/s`. `None` for what is listed line by line.
    pub fn line(&self) -> Option<String> {
        let (before, sign, after) = match self.operation {
            Operation::Difference => ("", " − ", ""),
            Operation::Product => ("", " × ", ""),
            Operation::Quotient | Operation::Percent => ("", " / ", ""),
            Operation::RoundedUp => ("⌈", " / ", "⌉"),
            Operation::RoundedDown => ("⌊", " / ", "⌋"),
            Operation::Smallest => ("min(", ", ", ")"),
            Operation::Between => ("", ", ", ""),
            Operation::RelativeError => ("", " / ", " − 1"),
            Operation::Sum | Operation::Longest => return None,
        };
        // Three digits of nearly equal numbers do not give their difference.
        let is_precise = self.operation == Operation::Difference && self.is_small_difference();
        let number = |term: &Term| {
            if is_precise {
                term.number.exact()
            } else {
                term.text()
            }
        };
        let words: Vec<String> = (self.terms.iter())
            .map(|term| {
                format!("{} {}", number(term), term.name)
                    .trim_end()
                    .to_owned()
            })
            .collect();
        Some(format!("{before}{}{after}", words.join(sign)))
    }
}
