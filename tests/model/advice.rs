//! What would save time: each line is priced as following it turns out.

use crate::why::under;
use fuseline::core::analysis::advice::{Advice, advise};
use fuseline::core::examples::EXAMPLES;
use fuseline::core::notation::parse;
use fuseline::core::{
    Analysis, F32Matmul, Options, Policy, analyze_graph, analyze_program, device,
};
use fuseline::present::advice::advice_rows;
use fuseline::present::manual::{Change, propose};

fn outcome(text: &str, options: &Options) -> fuseline::core::Outcome {
    analyze_program(&parse(text).program, options)
}

fn analysis(text: &str, options: &Options) -> Analysis {
    outcome(text, options).analysis.unwrap()
}

fn on(id: &str, policy: Policy) -> Options {
    Options {
        device: device(id).unwrap().clone(),
        ..under(policy)
    }
}

#[test]
fn each_advice_saves_what_it_says() {
    for example in EXAMPLES {
        for policy in [Policy::None, Policy::Rules, Policy::Inductor] {
            for id in ["a100-80", "h200"] {
                let options = on(id, policy);
                let outcome = outcome(example.text, &options);
                let before = outcome.analysis.as_ref().unwrap();
                let advised = advise(before);
                assert!(advised.is_sorted_by(|a, b| a.price.time_s() >= b.price.time_s()));
                // Kernels by hand compute nothing twice, so their bytes differ from those of a compiler that does.
                let computes_again = before
                    .partition
                    .recomputed
                    .iter()
                    .any(|ops| !ops.is_empty());
                for advised in advised {
                    if computes_again && matches!(advised.advice, Advice::Merge(..)) {
                        continue;
                    }
                    let mut then = options.clone();
                    let after = match advised.advice {
                        Advice::Compile => {
                            then.policy = Policy::Inductor;
                            analyze_graph(before.graph.clone(), &then)
                        }
                        Advice::Attention => {
                            then.fusion.attention = true;
                            analyze_graph(before.graph.clone(), &then)
                        }
                        Advice::MaxAutotune => {
                            then.fusion.max_autotune = true;
                            analyze_graph(before.graph.clone(), &then)
                        }
                        Advice::Tf32 => {
                            then.conventions.f32_matmul = F32Matmul::Tf32;
                            analyze_graph(before.graph.clone(), &then)
                        }
                        Advice::Merge(a, b) => {
                            let program = parse(example.text).program;
                            let change = Change::Merge(a, b);
                            let statements = &outcome.statement_of_op;
                            let proposal =
                                propose(change, example.text, &program, before, statements);
                            then.policy = Policy::Manual;
                            analysis(&proposal.text.unwrap(), &then)
                        }
                    };
                    // A merge by hand is one of every round of a block, and an advice tells of one of them.
                    let rounds = match advised.advice {
                        Advice::Merge(a, _) => {
                            let statements = &outcome.statement_of_op;
                            let first = statements[before.partition.kernels[a][0]];
                            statements
                                .iter()
                                .filter(|&&statement| statement == first)
                                .count()
                        }
                        _ => 1,
                    };
                    let saved = before.fused.traffic.total.cast_signed()
                        - after.fused.traffic.total.cast_signed();
                    assert_eq!(
                        advised.price.saved_bytes * i64::try_from(rounds).unwrap(),
                        saved,
                        "{} {:?}",
                        example.id,
                        advised
                    );
                    let saved_s = before.fused.time_s - after.fused.time_s;
                    let error_s = (advised.price.saved_s * rounds as f64 - saved_s).abs();
                    assert!(
                        error_s <= 1e-9 * before.fused.time_s,
                        "{} {advised:?}",
                        example.id
                    );
                    assert!(advised.price.time_s() > 0.0);
                }
            }
        }
    }
}

#[test]
fn the_transformer_is_told_to_call_attention_by_name() {
    let text = EXAMPLES
        .iter()
        .find(|e| e.id == "transformer")
        .unwrap()
        .text;
    let rows = advice_rows(&analysis(text, &on("h200", Policy::Rules)));
    assert!(
        rows[0].action.contains("scaled_dot_product_attention")
            || rows[0].action.contains("torch.compile")
    );
    assert!(
        rows.iter().any(|row| row.advice == Advice::Attention),
        "{rows:?}"
    );
    // Once that is done it is no longer told.
    let mut options = on("h200", Policy::Rules);
    options.fusion.attention = true;
    let rows = advice_rows(&analysis(text, &options));
    assert!(
        rows.iter().all(|row| row.advice != Advice::Attention),
        "{rows:?}"
    );
}

#[test]
fn a_matmul_in_f32_is_told_of_tf32_with_its_price() {
    let text = "input a : f32[4096, 4096]\ninput b : f32[4096, 4096]\ny = matmul(a, b)\n";
    let rows = advice_rows(&analysis(text, &on("a100-80", Policy::Inductor)));
    assert_eq!(rows[0].advice, Advice::Tf32);
    assert!(rows[0].action.contains("set_float32_matmul_precision"));
    assert!(!rows[0].caveat.is_empty());
    assert_eq!(rows.len(), 1);
}

#[test]
fn nothing_is_told_where_nothing_can_be_saved() {
    for text in ["", "input a : f16[1024, 1024]\ny = relu(a)\n"] {
        let rows = advice_rows(&analysis(text, &on("h200", Policy::Inductor)));
        assert_eq!(rows, [], "{text}");
    }
}
