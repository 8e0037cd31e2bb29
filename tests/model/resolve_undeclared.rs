//! Tensors that are not declared: their sizes, and what is said about them.

use crate::resolve::resolved;
use fuseline_core::model::graph::SizeSource;
use fuseline_core::model::sizes::inferred_shape;
use fuseline_core::notation::parse;
use fuseline_core::{Code, KernelId, OpId, Options, analyze_program, build_graph};

#[test]
fn a_matmul_with_unknown_k_has_a_note_and_no_flops() {
    let unknown = |text: &str| {
        let found = resolved(text).diagnostics;
        found.iter().filter(|d| d.code == Code::UnknownK).count()
    };
    assert_eq!(unknown("y = matmul(u, v) : f16[8, 5]"), 1);
    assert_eq!(
        unknown(
            "input p : f16[7, 3]\ninput q : f16[9, 6]\ny = matmul(p, q, k=unknown) : f16[8, 5]"
        ),
        1
    );
    // One declared operand gives K.
    assert_eq!(
        unknown("input u : f16[8, 6]\ny = matmul(u, v) : f16[8, 5]"),
        0
    );

    let program = parse("y = matmul(u, v) : f16[8, 5]").program;
    let analysis = analyze_program(&program, &Options::default())
        .analysis
        .unwrap();
    assert!(analysis.fused.kernels[KernelId::new(0)].work.is_unknown);
}

/// Adding the declaration of the hint to the text resolves the warning and changes no byte.
#[test]
fn the_offered_declaration_says_what_was_inferred_or_assumed() {
    let head = "input x : f16[8, 6]\nweight m : f16[6, 5]\n";
    for (call, line, source) in [
        (
            "matmul(x, w) : f16[8, 5]",
            "weight w : f16[6, 5]",
            SizeSource::Inferred,
        ),
        (
            "matmul(x, w, transpose_b=true) : f16[8, 5]",
            "weight w : f16[5, 6]",
            SizeSource::Inferred,
        ),
        (
            "matmul(w, m) : f16[9, 5]",
            "input w : f16[9, 6]",
            SizeSource::Inferred,
        ),
        (
            "matmul(w, m, transpose_a=true) : f16[9, 5]",
            "input w : f16[6, 9]",
            SizeSource::Inferred,
        ),
        (
            "linear(x, w) : f16[8, 5]",
            "weight w : f16[5, 6]",
            SizeSource::Inferred,
        ),
        (
            "add(x, w) : f16[8, 6]",
            "input w : f16[8, 6]",
            SizeSource::Assumed,
        ),
        (
            "layer_norm(x, w) : f16[8, 6]",
            "weight w : f16[8, 6]",
            SizeSource::Assumed,
        ),
        (
            "matmul(w, x, k=4096) : f16[3, 7]",
            "input w : f16[3, 4096]",
            SizeSource::Inferred,
        ),
        (
            "matmul(x, w, k=4096, transpose_b=true) : f16[3, 7]",
            "weight w : f16[7, 4096]",
            SizeSource::Inferred,
        ),
        (
            "reshape(w) : f16[4, 6]",
            "input w : f16[4, 6]",
            SizeSource::Inferred,
        ),
        (
            "elementwise(w) : f32[4]",
            "input w : f32[4]",
            SizeSource::Assumed,
        ),
    ] {
        // Both declared tensors have a reader, so that there is no note about them.
        let text = format!("{head}y = {call}\nz = neg(x)\nv = neg(m)\n");
        let resolved = resolved(&text);
        let [warning] = &resolved.diagnostics[..] else {
            panic!("{call}: {:?}", resolved.diagnostics)
        };
        assert_eq!(warning.code, Code::UndeclaredTensor);
        assert_eq!(
            warning.hint,
            Some(format!("declare it: `{line}`")),
            "{call}"
        );

        let graph = build_graph(&resolved.ops, &resolved.externals).unwrap();
        let mut tensors = graph.tensors.ids();
        let w = tensors.find(|&t| graph.tensor_name(t) == "w").unwrap();
        let inferred = inferred_shape(&graph, OpId::new(0), w);
        assert_eq!(inferred.is_some(), source == SizeSource::Inferred, "{call}");
        let total = |text: &str| {
            let outcome = analyze_program(&parse(text).program, &Options::default());
            (
                outcome.analysis.unwrap().unfused.traffic,
                outcome.diagnostics.len(),
            )
        };
        let mended = total(&format!("{line}\n{text}"));
        assert_eq!(mended, (total(&text).0, 0), "{call}");
    }
}

#[test]
fn an_undeclared_tensor_is_warned_of_once_at_its_first_use() {
    let text = "a = relu(x) : f16[8]\nb = neg(x) : f16[8]\nc = add(x, y) : f16[8]";
    let places: Vec<_> = resolved(text)
        .diagnostics
        .iter()
        .map(|d| d.span.unwrap().start)
        .collect();
    assert_eq!(places, [text.find('x').unwrap(), text.find("y)").unwrap()]);
}

/// What one reader fixes counts at every reader, in bytes and in FLOPs.
#[test]
fn a_size_that_one_reader_fixes_counts_at_all_of_them() {
    let bytes = |text: &str| {
        let outcome = analyze_program(&parse(text).program, &Options::default());
        let analysis = outcome.analysis.unwrap();
        let external = |name: &str| {
            let mut tensors = analysis.graph.tensors.ids();
            let tensor = tensors.find(|&t| analysis.graph.tensor_name(t) == name);
            let traffic = &analysis.tensors[tensor.unwrap()];
            (traffic.bytes, traffic.source, traffic.unfused_bytes)
        };
        let unknown = outcome
            .diagnostics
            .iter()
            .filter(|d| d.code == Code::UnknownK);
        (external("x"), external("w"), unknown.count())
    };
    // The add broadcasts x: alone it would say 8 x 6 elements.
    let added = "weight w : f16[4, 6]\ny = matmul(x, w) : f16[8, 6]\nz = add(y, x) : f16[8, 6]\nv = neg(w)\n";
    let (x, ..) = bytes(added);
    assert_eq!(x, (2 * 8 * 4, SizeSource::Inferred, 2 * 2 * 8 * 4));
    // The relu tells x, so the matmul tells w and K; the order of the two does not matter.
    for text in [
        "y = relu(x) : f16[8, 16]\nz = matmul(x, w) : f16[8, 4]\n",
        "z = matmul(x, w) : f16[8, 4]\ny = relu(x) : f16[8, 16]\n",
        "z = matmul(x, w) : f32[8, 4]\ny = relu(x) : f16[8, 16]\nv = neg(w) : f16[16, 4]\n",
    ] {
        let (x, w, unknown) = bytes(text);
        assert_eq!(
            x,
            (2 * 8 * 16, SizeSource::Assumed, 2 * 2 * 8 * 16),
            "{text}"
        );
        assert_eq!((w.0, unknown), (2 * 16 * 4, 0), "{text}");
    }
    // A transposed operand of one matmul is a plain one of the next.
    let twice = "input a : f16[8, 6]\ny = matmul(a, w, transpose_b=true) : f16[8, 5]\nz = linear(x, w) : f16[3, 5]\n";
    let (x, w, unknown) = bytes(twice);
    assert_eq!((x.0, w.0, unknown), (2 * 3 * 6, 2 * 5 * 6, 0));
    // A reshape tells the number of elements, not a shape.
    let reshaped = "y = reshape(x) : f16[16, 8]\nz = matmul(x, w) : f16[8, 4]\n";
    let (x, w, unknown) = bytes(reshaped);
    assert_eq!((x.0, w.0, unknown), (2 * 128, 2 * 32, 1));
    // Packed operands hold more than the matmul reads.
    let packed = "y = matmul(x, w, k=4) : f16[8, 6]\nz = add(x, w) : f16[8, 12]\n";
    assert_eq!(bytes(packed).0.2, 2 * 8 * 4 + 2 * 8 * 12);
}

#[test]
fn the_warning_names_the_reader_that_fixes_a_size() {
    let text =
        "a = add(x, b) : f16[8, 6]\nweight w : f16[4, 6]\nmm: y = matmul(x, w) : f16[8, 6]\n";
    let messages: Vec<_> = resolved(text)
        .diagnostics
        .into_iter()
        .map(|d| d.message)
        .collect();
    assert_eq!(
        messages,
        [
            "`x` is not declared: another reader, `mm`, requires f16[8, 4]",
            "`b` is not declared: its assumed size is that of `a`, f16[8, 6]",
        ]
    );
}

/// The dimensions that a reduction drops count as its input's.
#[test]
fn an_axis_of_an_undeclared_tensor_may_name_each_of_its_dimensions() {
    for call in [
        "softmax(x, axis=-2) : f16[4, 8]",
        "sum(x, axis=2, keepdim=false) : f16[4, 8]",
        "sum(x, axis=[0, 3], keepdim=false) : f16[4, 8]",
        "sum(x, axis=1) : f16[4, 1]",
        "transpose(x, perm=[1, 0]) : f16[4, 8]",
        "sum(x) : f16[]",
    ] {
        let found = resolved(&format!("y = {call}")).diagnostics;
        let codes: Vec<_> = found.iter().map(|found| found.code).collect();
        assert_eq!(codes, [Code::UndeclaredTensor], "{call}");
    }
}
