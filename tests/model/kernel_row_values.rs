//! A kernel that computes elements of a softmax or a norm again reads the row values that the
//! kernel of the op has computed, as the analysis counts it.

use crate::kernel_code::{check, ran, validate};
use crate::your_gpu::{job, reference};
use fuseline_codegen::interpret::Budget;
use fuseline_codegen::kernel_code::{Kernel, cuda, triton};
use fuseline_core::notation::parse;
use fuseline_core::{Options, Policy, analyze_program, plan};
use fuseline_view::present::kernel_driver::triton_driver;

const LOSS: &str = "\
input lab : i64[16, 1]
input lg : bf16[16, 1000]
lp = log_softmax(lg, axis=1)
g = gather(lp, lab, axis=1)
sm = mean(lp, axis=1)
l = sub(sm, g)
loss = sum(l, axis=0)
";

fn names(kernel: &Kernel, is_written: bool) -> Vec<&str> {
    let own = kernel.arguments.iter();
    let own = own.filter(|own| own.is_written == is_written);
    let own = own.filter_map(|own| own.row_value.as_ref());
    own.map(|own| own.name.as_str()).collect()
}

/// Each kernel under the rules of torch.compile, with its numbers checked.
fn kernels(text: &str) -> Vec<Kernel> {
    let program = parse(text).program;
    let ran = ran(&program, &Options::of_policy(Policy::Inductor), &[]);
    let coded = ran
        .kernels
        .iter()
        .filter_map(|(_, code)| code.clone().unwrap());
    let kernels: Vec<Kernel> = coded.collect();
    for kernel in &kernels {
        assert!(validate(&ran.graph, kernel, text));
        assert!(triton(&ran.graph, kernel).is_ok() && cuda(&ran.graph, kernel).is_ok());
    }
    check(ran, text);
    kernels
}

#[test]
fn row_values_are_written_once_and_read_by_other_kernels() {
    let norm = |call: &str| {
        format!(
            "input x : f32[12, 40]\nn = {call}\ns = sum(n, axis=0)\nr = relu(n)\nt = sum(r, axis=1)\n"
        )
    };
    let image = "input x : f32[4, 16, 8, 8]\nn = group_norm(x, groups=4)\ns = sum(n, axis=0)\nr = relu(n)\nt = sum(n, axis=1)\n";
    let columns = "input x : f32[3, 40, 12]\nn = softmax(x, axis=1)\ns = sum(n, axis=2)\nt = sum(n, axis=1)\n";
    let softmax = &["largest of n", "total of n"][..];
    let two = &["total of n", "second total of n"][..];
    let cases = [
        (LOSS.to_owned(), &["largest of lp", "total of lp"][..]),
        (norm("softmax(x)"), softmax),
        (norm("log_softmax(x)"), softmax),
        (norm("layer_norm(x)"), two),
        (norm("rms_norm(x)"), &["total of n"]),
        (norm("l2_norm(x)"), &["total of n"]),
        (image.to_owned(), two),
        (columns.to_owned(), softmax),
    ];
    for (text, expected) in cases {
        let kernels = kernels(&text);
        let written: Vec<&str> = kernels.iter().flat_map(|own| names(own, true)).collect();
        assert_eq!(written, expected, "{text}");
        let is_read = |own: &&Kernel| names(own, false) == expected;
        assert!(kernels.iter().any(|own| is_read(&own)), "{text}");
        let writes_and_reads =
            |own: &Kernel| !names(own, false).is_empty() && !names(own, true).is_empty();
        assert!(!kernels.iter().any(writes_and_reads), "{text}");
    }
}

/// The second kernel of the loss loads the logit of each label and not the whole row.
#[test]
fn a_loss_does_not_go_over_its_logits_twice() {
    let program = parse(LOSS).program;
    let outcome = analyze_program(&program, &Options::of_policy(Policy::Inductor));
    let analysis = outcome.analysis.unwrap();
    let kernels = kernels(LOSS);
    let [rows, loss] = &kernels[..] else {
        panic!("{}", kernels.len())
    };
    let code = |kernel: &Kernel| triton(&analysis.graph, kernel).unwrap().text();
    assert!(code(rows).contains("tl.store(total_of_lp_ptr + row, total)"));
    let second = code(loss);
    assert!(!second.contains("range(1000)"), "{second}");
    assert!(second.contains("tl.load(total_of_lp_ptr + k"), "{second}");
    let driver = triton_driver(&analysis, &program, &outcome.statement_of_op).unwrap();
    let allocated = "\"total of lp\": torch.empty([16], dtype=torch.float32, device=\"cuda\")";
    assert!(driver.contains(allocated), "{driver}");
}

/// A GPU in the browser passes them in buffers of their own, and compares none.
#[test]
fn a_job_has_buffers_for_row_values() {
    let (small, _) = reference(LOSS, &Budget::INTERPRETED);
    let partition = plan(&small.graph, &Options::of_policy(Policy::Inductor)).partition;
    let all = job(&small, &partition, usize::MAX);
    let buffers = all.job.buffers.iter();
    let names: Vec<&str> = buffers.map(|buffer| buffer.name.as_str()).collect();
    let passed = ["largest of lp", "total of lp"];
    assert!(passed.iter().all(|name| names.contains(name)), "{names:?}");
    let written = all.written(&small);
    assert!(
        written
            .iter()
            .all(|&(buffer, _)| !passed.contains(&names[buffer]))
    );
    assert_eq!(all.results(&small).len(), small.graph.tensors.len());
}
