//! Reasons as data, for programs downstream: what the words of a reason are made of.

use super::Reason;
use crate::core::fusion::inductor::Loop;
use crate::core::fusion::legality::{self, RowDomain};
use crate::core::fusion::record::Refusal;
use crate::core::graph::{Graph, OpId};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A reason's kind, and its figures and ops by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// What the reason is called.
    pub kind: &'static str,
    /// In a fixed order; an object in JSON.
    pub named: Named,
}

/// What a reason names.
#[derive(Clone, Debug, PartialEq)]
pub struct Named(pub Vec<(&'static str, Fact)>);

/// One thing that a reason names.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Fact {
    /// A figure; in bytes where its name says so.
    Count(u64),
    /// What a loop is.
    Word(&'static str),
    /// Name of an op.
    Op(String),
    /// Names of ops.
    Ops(Vec<String>),
}

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, fact) in &self.0 {
            map.serialize_entry(name, fact)?;
        }
        map.end()
    }
}

impl Facts {
    /// The facts of a reason.
    pub fn of(graph: &Graph, reason: &Reason) -> Self {
        let mut facts = Collected {
            graph,
            named: Vec::new(),
        };
        let kind = match reason {
            Reason::Illegal(reason) => facts.legality(reason),
            Reason::AnotherConsumer { consumer } => facts.other_consumer(*consumer),
            Reason::Refused(refusal) => facts.refusal(refusal),
            Reason::NotCompared => "not_compared",
            Reason::NotWorthIt => "not_worth_it",
            Reason::NotLookedAt => "not_looked_at",
            Reason::NotStated => "not_stated",
        };
        Self {
            kind,
            named: Named(facts.named),
        }
    }
}

struct Collected<'a> {
    graph: &'a Graph,
    named: Vec<(&'static str, Fact)>,
}

impl Collected<'_> {
    fn count(&mut self, name: &'static str, count: u64) {
        self.named.push((name, Fact::Count(count)));
    }

    fn counts(&mut self, first: (&'static str, usize), second: (&'static str, usize)) {
        self.count(first.0, first.1 as u64);
        self.count(second.0, second.1 as u64);
    }

    fn name(&self, op: OpId) -> String {
        let op = self.graph.ops.get(op);
        op.map_or_else(String::new, |op| op.name.clone())
    }

    fn op(&mut self, name: &'static str, op: OpId) {
        let op = self.name(op);
        self.named.push((name, Fact::Op(op)));
    }

    fn rows(&mut self, names: [&'static str; 3], rows: RowDomain) {
        for (name, count) in names.into_iter().zip([rows.rows, rows.width, rows.stride]) {
            self.count(name, count);
        }
    }

    fn other_consumer(&mut self, consumer: OpId) -> &'static str {
        self.op("consumer", consumer);
        "another_consumer"
    }

    fn legality(&mut self, reason: &legality::Reason) -> &'static str {
        use legality::Reason as R;
        match *reason {
            R::TooManyOps { ops, limit } => {
                self.counts(("ops", ops), ("limit", limit));
                "too_many_ops"
            }
            R::TwoMatmuls { first, second } => {
                self.op("first", first);
                self.op("second", second);
                "two_matmuls"
            }
            R::MatmulAndReduction { matmul, reduction } => {
                self.op("matmul", matmul);
                self.op("reduction", reduction);
                "matmul_and_reduction"
            }
            R::MatmulStarts { matmul, before } => {
                self.op("matmul", matmul);
                self.op("before", before);
                "matmul_starts"
            }
            R::TooManyReductions { reductions, limit } => {
                self.counts(("reductions", reductions), ("limit", limit));
                "too_many_reductions"
            }
            R::RowDomains {
                reduction,
                rows,
                other,
                other_rows,
            } => {
                self.op("reduction", reduction);
                self.rows(["rows", "width", "stride"], rows);
                self.op("other", other);
                self.rows(["other_rows", "other_width", "other_stride"], other_rows);
                "row_domains"
            }
            R::MixesRows { reduction, reshape } => {
                self.op("reduction", reduction);
                self.op("reshape", reshape);
                "mixes_rows"
            }
            R::ReductionEnds { reduction, after } => {
                self.op("reduction", reduction);
                self.op("after", after);
                "reduction_ends"
            }
            R::OnChip {
                reduction,
                values,
                needed_bytes,
                available_bytes,
            } => {
                self.op("reduction", reduction);
                self.count("values", values as u64);
                self.count("needed_bytes", needed_bytes);
                self.count("available_bytes", available_bytes);
                "on_chip"
            }
            R::TooManyOperands { operands, limit } => {
                self.counts(("operands", operands), ("limit", limit));
                "too_many_operands"
            }
            R::NotConnected { first, second } => {
                self.op("first", first);
                self.op("second", second);
                "not_connected"
            }
            R::Cycle { ref path } => {
                let path = path.iter().map(|&op| self.name(op)).collect();
                self.named.push(("through", Fact::Ops(path)));
                "cycle"
            }
        }
    }

    fn refusal(&mut self, refusal: &Refusal) -> &'static str {
        match *refusal {
            Refusal::Illegal(ref reason) => self.legality(reason),
            Refusal::AnotherConsumer { consumer } => self.other_consumer(consumer),
            Refusal::TooManyNodes { nodes, limit } => {
                self.counts(("nodes", nodes), ("limit", limit));
                "too_many_nodes"
            }
            Refusal::LibraryCall { matmul } => {
                self.op("matmul", matmul);
                "library_call"
            }
            Refusal::Loops { first, second } => {
                self.space(
                    ["first", "first_elements", "first_rows", "first_width"],
                    first,
                );
                self.space(
                    ["second", "second_elements", "second_rows", "second_width"],
                    second,
                );
                "loops"
            }
            Refusal::Reordered => "reordered",
            Refusal::TooLittleShared {
                shared_bytes,
                places,
            } => {
                self.count("shared_bytes", shared_bytes);
                self.count("places", places as u64);
                "too_little_shared"
            }
            Refusal::Between { through } => {
                self.op("through", through);
                "between"
            }
            Refusal::TooFar { places } => {
                self.count("places", places as u64);
                "too_far"
            }
            Refusal::TooManyCycles { rounds } => {
                self.count("rounds", rounds as u64);
                "too_many_cycles"
            }
        }
    }

    fn space(&mut self, [kind, elements, rows, width]: [&'static str; 4], space: Loop) {
        let (word, counts) = match space {
            Loop::Library => ("library", [None; 3]),
            Loop::Template(count) => ("matmul", [Some(count), None, None]),
            Loop::Pointwise(count) => ("pointwise", [Some(count), None, None]),
            Loop::Reduction {
                rows: r, width: w, ..
            } => ("reduction", [None, Some(r), Some(w)]),
        };
        self.named.push((kind, Fact::Word(word)));
        for (name, count) in [elements, rows, width].into_iter().zip(counts) {
            if let Some(count) = count {
                self.count(name, count);
            }
        }
    }
}
