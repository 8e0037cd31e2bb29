//! What an example tells to watch for: each number in it is the engine's.

use crate::examples::{at, positions};
use crate::examples_claims::claims;
use fuseline_core::examples::{EXAMPLES, Example, example};
use fuseline_core::model::op_type::OpType;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Execution, Options, Policy, TensorId, analyze_program};

/// Positions of a slider at which a claim is checked, both ends among them.
const POSITIONS: usize = 7;

/// A text under a policy with its default options.
pub(crate) struct Found(pub(crate) Analysis);

pub(crate) fn found(text: &str, policy: Policy) -> Found {
    let outcome = analyze_program(&parse(text).program, &Options::of_policy(policy));
    assert_eq!(outcome.diagnostics, [], "{text}");
    Found(outcome.analysis.unwrap())
}

impl Found {
    pub(crate) fn ops(&self) -> usize {
        self.0.graph.ops.len()
    }

    pub(crate) fn kernels(&self) -> usize {
        self.0.fused.kernels.len()
    }

    /// How many of these tensors stay on chip.
    pub(crate) fn on_chip(&self, names: &[&str]) -> usize {
        let tensors = names.iter().map(|name| self.tensor(name));
        let on_chip = tensors.filter(|&tensor| self.0.tensors[tensor].is_on_chip);
        on_chip.count()
    }

    pub(crate) fn tensor(&self, name: &str) -> TensorId {
        let mut ids = self.0.graph.tensors.ids();
        ids.find(|&id| self.0.graph.tensor_name(id) == name)
            .unwrap()
    }

    /// Kernels that read, and kernels that write these tensors.
    pub(crate) fn accesses(
        &self,
        run: fn(&Analysis) -> &Execution,
        names: &[&str],
    ) -> (usize, usize) {
        let is_one = |tensor: TensorId| names.contains(&self.0.graph.tensor_name(tensor));
        let kernels = || run(&self.0).kernels.iter();
        let reads = kernels().flat_map(|kernel| &kernel.traffic.reads);
        let writes = kernels().flat_map(|kernel| &kernel.traffic.writes);
        (
            reads.filter(|access| is_one(access.tensor)).count(),
            writes.filter(|access| is_one(access.tensor)).count(),
        )
    }

    /// Times that these tensors move.
    pub(crate) fn moves(&self, run: fn(&Analysis) -> &Execution, names: &[&str]) -> usize {
        let (reads, writes) = self.accesses(run, names);
        reads + writes
    }

    pub(crate) fn all_moves(&self, run: fn(&Analysis) -> &Execution) -> usize {
        let kernels = run(&self.0).kernels.iter();
        kernels
            .map(|kernel| kernel.traffic.reads.len() + kernel.traffic.writes.len())
            .sum()
    }

    /// The names of the ops that share a kernel with this one.
    pub(crate) fn kernel_of(&self, op: &str) -> Vec<&str> {
        let op = self.0.graph.op_named(op).unwrap();
        let kernel = self.0.partition.kernel_of[op];
        let ops = self.0.partition.kernels[kernel].iter();
        ops.map(|&op| self.0.graph.ops[op].name.as_str()).collect()
    }

    /// The largest number of matmuls in a kernel.
    pub(crate) fn matmuls_of_a_kernel(&self) -> usize {
        let is_matmul = |op| self.0.graph.ops[op].op_type == OpType::Matmul;
        let kernels = self.0.partition.kernels.iter();
        let counts = kernels.map(|ops| ops.iter().filter(|&&op| is_matmul(op)).count());
        counts.max().unwrap()
    }
}

pub(crate) fn unfused(analysis: &Analysis) -> &Execution {
    &analysis.unfused
}

pub(crate) fn fused(analysis: &Analysis) -> &Execution {
    &analysis.fused
}

pub(crate) fn word(count: usize) -> String {
    const WORDS: [&str; 11] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    WORDS
        .get(count)
        .map_or_else(|| count.to_string(), |&word| word.to_owned())
}

pub(crate) fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{} times", word(count)),
    }
}

/// The words of a text that count something, beside `one`.
fn counts(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '%');
    let is_count = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            || (2..=10).any(|count| self::word(count).eq_ignore_ascii_case(word))
            || ["once", "twice", "half", "third", "thirds", "quarter"].contains(word)
    };
    words.filter(is_count).collect()
}

/// The params whose values a sentence names, as in `S = 2048`: it speaks of no other value of them.
fn named_sizes(example: &Example) -> Vec<String> {
    let program = parse(example.text).program;
    let sizes = program.params.iter();
    let sizes = sizes.map(|param| format!("{} = {}", param.name.text, param.value));
    let is_named = |size: &String| {
        let mut places = example.watch.match_indices(size.as_str());
        places.any(|(at, _)| !example.watch[..at].ends_with(char::is_alphanumeric))
    };
    sizes.filter(is_named).collect()
}

#[test]
fn every_number_that_an_example_tells_is_the_engines() {
    for example in EXAMPLES {
        let Example { id, watch, .. } = example;
        let mut rest = watch.to_lowercase();
        for claim in claims(id, example.text)
            .into_iter()
            .chain(named_sizes(example))
        {
            let claim = claim.to_lowercase();
            assert!(
                rest.contains(&claim),
                "{id}: {watch:?} does not say {claim:?}"
            );
            rest = rest.replacen(&claim, "", 1);
        }
        assert_eq!(
            counts(&rest),
            [""; 0],
            "{id}: no claim has these of {watch:?}"
        );
    }
}

/// A sentence stays on the page while a slider moves, so it has to be true at each position of a
/// slider whose value it does not name.
#[test]
fn what_an_example_tells_is_true_wherever_its_sliders_stand() {
    for example in EXAMPLES {
        let named = named_sizes(example);
        let told = claims(example.id, example.text);
        for (place, param) in parse(example.text).program.params.iter().enumerate() {
            let name = &param.name.text;
            if named.contains(&format!("{name} = {}", param.value)) {
                continue;
            }
            let all = positions(example.text, place);
            let last = all.len() - 1;
            for at_position in (0..POSITIONS).map(|part| all[part * last / (POSITIONS - 1)]) {
                assert_eq!(
                    claims(example.id, &at(example.text, place, at_position)),
                    told,
                    "{} at {name} = {at_position}",
                    example.id
                );
            }
        }
    }
}

/// At 2944 for the first time, which is one step of the slider after 2816.
#[test]
fn scores_become_two_thirds_of_the_fused_traffic_of_the_transformer() {
    let text = example("transformer").unwrap().text;
    for length in positions(text, 0) {
        let rules = found(&at(text, 0, length), Policy::Rules);
        let scores = ["scores_raw", "scores"].map(|name| rules.tensor(name));
        let scores = scores.map(|tensor| rules.0.tensors[tensor].fused_bytes);
        let [scores, total] = [scores.iter().sum(), rules.0.fused.traffic.total];
        assert_eq!(scores * 3 > total * 2, length >= 2944, "S = {length}");
    }
}

/// A text of an example under the choices with which the example opens.
pub(crate) fn as_it_opens(example: &Example, text: &str) -> Analysis {
    let mut options = Options::of_policy(example.opening.policy);
    options.conventions.reshape = example.opening.reshape;
    let outcome = analyze_program(&parse(text).program, &options);
    assert_eq!(outcome.diagnostics, []);
    outcome.analysis.unwrap()
}

/// The share of the memory traffic that an example saves as it opens, in percent.
fn saving_pct(example: &Example, text: &str) -> f64 {
    as_it_opens(example, text).savings_pct
}

/// The sentence invites to drag S, and what fusion saves has to grow on the whole way, whatever the
/// other sliders say.
#[test]
fn the_saving_of_the_transformer_block_grows_with_its_length() {
    let block = example("transformer_block").unwrap();
    let savings = |text: &str| -> Vec<f64> {
        let lengths = positions(text, 0).into_iter();
        lengths
            .map(|length| saving_pct(block, &at(text, 0, length)))
            .collect()
    };
    let own = savings(block.text);
    let (first, last) = (own.first().unwrap(), own.last().unwrap());
    let told = format!("saves {first:.1} % to {last:.1} %");
    assert!(block.watch.contains(&told), "{told}");
    let others = [[2048, 8], [4096, 8], [4096, 128], [16_384, 128]];
    let others = others.map(|[h, heads]| savings(&at(&at(block.text, 1, h), 2, heads)));
    for savings in others.iter().chain([&own]) {
        assert!(savings.len() > 20);
        assert!(savings.is_sorted_by(|before, after| before < after));
    }
}
