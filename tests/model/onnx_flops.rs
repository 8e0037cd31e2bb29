//! FLOPs of operators of ONNX that no function of the notation computes.

use crate::onnx::{converted, statements};
use crate::onnx_files::{
    Model, attribute_float, attribute_int, attribute_text, field, node, of_version, typed,
};

/// The call that one node becomes. Its inputs are all inputs of the model, and the model states its
/// outputs.
fn call(operator: &str, inputs: &[&str], outputs: &[&str], attributes: &[Vec<u8>]) -> String {
    let name = |tensor: &&str| tensor.split(' ').next().unwrap().to_owned();
    let names = |tensors: &[&str]| tensors.iter().map(name).collect::<Vec<_>>().join(" ");
    let (domain, operator) = operator.rsplit_once('/').unwrap_or(("", operator));
    let own = node(operator, &names(inputs), &names(outputs), attributes);
    let model = Model {
        inputs: inputs.iter().map(|input| typed(input)).collect(),
        weights: Vec::new(),
        nodes: vec![[own, field(7, domain)].concat()],
        between: Vec::new(),
        outputs: outputs.iter().map(|output| typed(output)).collect(),
    };
    let text = converted(&model.bytes()).text;
    let line = text.lines().find(|line| line.contains("opaque(")).unwrap();
    line.split_once(" = ").unwrap().1.to_owned()
}

#[test]
fn a_shape_that_only_the_file_states_gives_the_flops() {
    let cubic = [attribute_text("mode", "cubic")];
    let (image, sizes) = ("x f32[1, 2, 4, 4]", "s i64[4]");
    let large = ["y f32[1, 2, 9, 10]"];
    assert_eq!(
        call("Resize", &[image, sizes], &large, &cubic),
        format!(
            "opaque(x, s, name=Resize, flops={}, units=vector) : f32[1, 2, 9, 10]",
            // Along two dimensions four products and sums each: 4 + 1 times.
            2 * 9 * 10 * 5 * 4 * 2
        )
    );
    let map = ["t f32[2, 3, 4]", "s i64[5]"];
    assert_eq!(
        call("AffineGrid", &map, &["y f32[2, 4, 5, 6, 3]"], &[]),
        format!(
            "opaque(t, s, name=AffineGrid, flops={}, units=vector) : f32[2, 4, 5, 6, 3]",
            2 * 4 * 5 * 6 * 3 * 6
        )
    );
    let signal = ["x f32[1, 128, 1]", "s i64[]", "w f32[16]"];
    assert_eq!(
        call("STFT", &signal, &["y f32[1, 15, 9, 2]"], &[]),
        format!(
            "opaque(x, s, w, name=STFT, flops={}, units=vector) : f32[1, 15, 9, 2]",
            15 * 5 * 16 * 4
        )
    );
}

#[test]
fn an_optimizer_is_one_kernel_of_all_its_tensors() {
    let update = |operator: &str, states: &[&str], attributes: &[Vec<u8>]| {
        let sizes = ["[4]", "[2, 8]"];
        let group = |name: &&str| sizes.map(|size| format!("{name}{} f32{size}", size.len()));
        let all = [&["X", "G"], states].concat();
        let inputs: Vec<String> = all.iter().flat_map(group).collect();
        let inputs: Vec<&str> = ["R f32[]", "T i64[]"]
            .into_iter()
            .chain(inputs.iter().map(String::as_str))
            .collect();
        let new = [&["X"], states].concat();
        let outputs: Vec<String> = (new.iter().flat_map(group))
            .map(|output| format!("N{output}"))
            .collect();
        let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
        let own = format!("ai.onnx.preview.training/{operator}");
        call(&own, &inputs, &outputs, attributes)
    };
    let norm = attribute_float("norm_coefficient", 0.01);
    let nesterov = attribute_text("mode", "nesterov");
    for (operator, states, attributes, per_element) in [
        ("Momentum", vec!["V"], vec![], 5),
        ("Momentum", vec!["V"], vec![nesterov, norm.clone()], 9),
        ("Adagrad", vec!["H"], vec![], 7),
        ("Adam", vec!["V", "H"], vec![norm], 14),
    ] {
        let text = update(operator, &states, &attributes);
        let flops = format!(", flops={}, units=vector)", 20 * per_element);
        let elements = 20 * (states.len() + 1);
        assert!(text.contains(&flops), "{text}");
        assert!(text.ends_with(&format!(" : f32[{elements}]")), "{text}");
    }
}

#[test]
fn an_operator_that_only_moves_elements_has_no_flops() {
    // The sizes of the output are values of the input.
    let of_open_size = |operator: &str, inputs: &[&str], names: &str| {
        let model = Model {
            inputs: inputs.iter().map(|input| typed(input)).collect(),
            nodes: vec![node(operator, names, "y", &[])],
            outputs: vec![field(1, "y")],
            ..Model::default()
        };
        converted(&model.bytes()).text
    };
    let range = of_open_size("Range", &["a i64[]", "b i64[]", "c i64[]"], "a b c");
    assert!(range.contains("name=Range, flops=0) : i64["), "{range}");
    let filled = of_open_size("ConstantOfShape", &["s i64[2]"], "s");
    assert!(
        filled.contains("name=ConstantOfShape, flops=0) : f32["),
        "{filled}"
    );
    assert_eq!(
        call(
            "ai.onnx.ml/Binarizer",
            &["x f32[3, 4]"],
            &["y f32[3, 4]"],
            &[]
        ),
        "opaque(x, name=ai.onnx.ml.Binarizer, flops=12, units=vector) : f32[3, 4]"
    );
    // An index that is larger than the tensor does not fit `gather`.
    assert_eq!(
        call(
            "GatherElements",
            &["x f32[2, 3]", "i i64[8, 3]"],
            &["y f32[8, 3]"],
            &[attribute_int("axis", 1)]
        ),
        "opaque(x, i, name=gather, flops=0) : f32[8, 3]"
    );
}

/// Before version 13 a softmax takes all dimensions from its axis on as one row.
#[test]
fn an_old_softmax_is_one_where_its_row_is_one_dimension() {
    let of = |shape: &str| {
        let model = Model {
            inputs: vec![typed(&format!("x f32{shape}"))],
            nodes: vec![node("Softmax", "x", "y", &[])],
            outputs: vec![field(1, "y")],
            ..Model::default()
        };
        let text = converted(&of_version(&model.graph(), 12)).text;
        text.lines().last().unwrap().to_owned()
    };
    assert_eq!(of("[2, 8]"), "y = softmax(x, axis=1)");
    assert_eq!(of("[2, 8, 1, 1]"), "y = softmax(x, axis=1)");
    assert_eq!(
        of("[2, 8, 3]"),
        "y = opaque(x, name=Softmax, flops=240, units=vector) : f32[2, 8, 3]"
    );
}

/// The mean of the notation is one of floats, as PyTorch's.
#[test]
fn a_mean_of_integers_is_one_of_their_floats() {
    let node = node("ReduceMean", "x", "y", &[]);
    assert_eq!(
        statements(&["x i32[4, 8]"], &[], &[node], "y"),
        "y_floats = cast(x, dtype=f32)\ny_mean = mean(y_floats, axis=[0, 1])\ny = cast(y_mean, dtype=i32)"
    );
}

#[test]
fn a_scale_of_8_bits_is_a_power_of_two() {
    let model = Model {
        inputs: vec![typed("s f8e8m0[4]")],
        nodes: vec![node("Cast", "s", "y", &[attribute_int("to", 1)])],
        outputs: vec![field(1, "y")],
        ..Model::default()
    };
    let text = converted(&model.bytes()).text;
    assert!(
        text.contains("input s : f8e8m0[4]\ny = cast(s, dtype=f32)"),
        "{text}"
    );
}
