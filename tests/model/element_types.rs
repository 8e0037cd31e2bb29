//! Floats of 8 bits in two formats, elements of 4 bits, and products of two types.
#![allow(clippy::float_cmp, reason = "every bit of a rounded number is meant")]

use fuseline_codegen::interpret::rounded;
use fuseline_core::analysis::device_model::{Outside, Product};
use fuseline_core::fusion::inductor::{OutsideCall, outside_call};
use fuseline_core::json::read_json;
use fuseline_core::model::device::device_called;
use fuseline_core::model::element_size::ElementSize;
use fuseline_core::model::op::byte_count;
use fuseline_core::notation::import::{OpList, program_of_op_list};
use fuseline_core::notation::{parse, print};
use fuseline_core::{
    Analysis, Bound, DType, F32Matmul, KernelId, OpId, Options, Policy, analyze_program, device,
};
use fuseline_view::present::report::Report;
use fuseline_view::present::times::{kernel_time, time_note, total_times};
use strum::VariantArray;

fn analysis(text: &str, id: &str, policy: Policy) -> Analysis {
    let options = Options {
        device: device(id).unwrap().clone(),
        ..Options::of_policy(policy)
    };
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let outcome = analyze_program(&parsed.program, &options);
    outcome.analysis.unwrap()
}

#[test]
fn f8_means_e4m3_and_every_type_is_read_as_it_is_printed() {
    let text = "input x : f8[4, 4]\ny = relu(x)\n";
    let printed = print(&parse(text).program);
    assert!(printed.contains("input x : f8e4m3[4, 4]"), "{printed}");
    for &dtype in DType::VARIANTS {
        assert_eq!(dtype.name().parse(), Ok(dtype));
        assert_eq!(DType::named(dtype.name()), Some(dtype));
        let json = serde_json::to_string(&dtype).unwrap();
        assert_eq!(json, format!("\"{}\"", dtype.name()));
    }
    let named = [
        ("torch.float8_e5m2", DType::F8e5m2),
        ("float8_e4m3fn", DType::F8e4m3),
        ("fp8", DType::F8e4m3),
        ("float4_e2m1fn_x2", DType::F4),
        ("torch.float8_e8m0fnu", DType::F8e8m0),
        ("int4", DType::I4),
    ];
    for (name, dtype) in named {
        assert_eq!(DType::named(name), Some(dtype), "{name}");
    }
    assert_eq!(
        serde_json::from_str::<DType>("\"f8\"").unwrap(),
        DType::F8e4m3
    );
}

#[test]
fn two_elements_of_4_bits_share_a_byte_and_an_odd_one_takes_one() {
    let half = DType::I4.size();
    assert_eq!(half, DType::F4.size());
    assert_eq!(byte_count(&[3, 5], half), Some(8));
    assert_eq!(byte_count(&[], half), Some(1));
    // The largest count of elements has bytes, although its bits exceed 64.
    assert_eq!(half.bytes_of(u64::MAX / 2), Some(1 << 62));
    assert_eq!(ElementSize::of_bytes(2).bytes_of(1 << 62), None);
    let text = "input q : i4[3, 5]\nx = cast(q, dtype=f16)\n";
    let analysis = analysis(text, "h200", Policy::Rules);
    assert_eq!(analysis.fused.traffic.bytes_read, 8);
    assert_eq!(analysis.fused.traffic.bytes_written, 30);
}

#[test]
fn half_a_byte_goes_through_json_and_back() {
    let text = "input q : i4[3, 5]\nx = cast(q, dtype=f4)\n";
    let before = analysis(text, "h200", Policy::Rules);
    let report = serde_json::to_string(&Report::new(&before, &[], text)).unwrap();
    assert!(report.contains("\"bytes_per_element\":0.5"), "{report}");
    let list = read_json::<OpList>(&report).unwrap();
    let read = program_of_op_list(&list);
    assert_eq!(read.diagnostics, []);
    let after = analyze_program(&read.program, &before.options);
    assert_eq!(after.analysis.unwrap().fused.traffic, before.fused.traffic);
    // Without a type, half a byte is the float of 4 bits.
    let list = r#"[{"op_type": "elementwise", "inputs": ["x"], "output": "y", "shape": [7], "bytes_per_element": 0.5}]"#;
    let read = program_of_op_list(&read_json::<OpList>(list).unwrap());
    assert!(print(&read.program).contains("f4[7]"));
    let list = list.replace("0.5", "0.25");
    let read = program_of_op_list(&read_json::<OpList>(&list).unwrap());
    assert_eq!(read.diagnostics.len(), 1);
}

/// As PyTorch 2.11 casts f32 to `float8_e5m2`; E2M1 is that of the OCP formats, whose largest value
/// takes what is beyond.
#[test]
fn short_types_round_to_the_nearest_value() {
    let e5m2 = |value| rounded(value, DType::F8e5m2);
    let least = 2.0_f64.powi(-16);
    assert_eq!(
        [
            1e-9,
            0.5 * least,
            0.76 * least,
            2.3e-5,
            0.3,
            1.125,
            1.126,
            1.375,
            3.3,
            100.0
        ]
        .map(e5m2),
        [
            0.0,
            0.0,
            least,
            2.0 * least,
            0.3125,
            1.0,
            1.25,
            1.5,
            3.5,
            96.0
        ]
    );
    assert_eq!(
        [57_344.0, 61_439.0, 61_440.0, -1e6].map(e5m2),
        [57_344.0, 57_344.0, f64::INFINITY, -f64::INFINITY]
    );
    // PyTorch 2.11 casts to `float8_e8m0fnu` by the magnitude alone.
    let e8m0 = |value| rounded(value, DType::F8e8m0);
    let least = 2.0_f64.powi(-127);
    assert_eq!(
        [0.0, 1e-40, 1.5 * least, 0.75, 1.25, 1.5, -3.0, 3.01].map(e8m0),
        [least, least, 2.0 * least, 1.0, 1.0, 2.0, 4.0, 4.0]
    );
    assert!(
        [3e38, f64::INFINITY, f64::NAN]
            .iter()
            .all(|&v| e8m0(v).is_nan())
    );
    let e2m1 = |value| rounded(value, DType::F4);
    assert_eq!(
        [0.2, 0.25, 0.3, 0.75, 1.3, 1.75, 2.5, 3.4, 5.0, -5.1, 100.0].map(e2m1),
        [0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.0, 3.0, 4.0, -6.0, 6.0]
    );
    let i4 = |value| rounded(value, DType::I4);
    assert_eq!(
        [7.9, 8.0, -8.0, -9.0, 17.0].map(i4),
        [7.0, -8.0, -8.0, 7.0, 1.0]
    );
}

fn matrix_dtype(left: &str, right: &str) -> Option<DType> {
    let text = format!(
        "input x : {left}[64, 64]\nweight w : {right}[64, 64]\ny = matmul(x, w) : f16[64, 64]\n"
    );
    let analysis = analysis(&text, "h200", Policy::Rules);
    analysis.unfused.kernels[KernelId::new(0)].work.matrix_dtype
}

#[test]
fn a_product_of_two_types_multiplies_in_the_wider_one() {
    assert_eq!(matrix_dtype("f16", "i8"), Some(DType::F16));
    assert_eq!(matrix_dtype("i8", "f16"), Some(DType::F16));
    assert_eq!(matrix_dtype("f8e4m3", "f8e5m2"), Some(DType::F8e4m3));
    assert_eq!(matrix_dtype("f8e5m2", "f4"), Some(DType::F8e5m2));
    assert_eq!(matrix_dtype("i8", "i4"), Some(DType::I8));
    assert_eq!(matrix_dtype("f4", "i32"), Some(DType::F4));
}

/// The scales of a block of MXFP8 are powers of two, which hold no result.
#[test]
fn a_scaled_product_by_powers_of_two_gives_bf16() {
    let text = "input x : f8e4m3[64, 128]\nweight w : f8e4m3[128, 32]\ninput s : f8e8m0[64, 4]\n\
                weight t : f8e8m0[4, 32]\ny = scaled_matmul(x, w, s, t)\n\
                v = dequantize(w, t)\nz = scaled_matmul(x, w, s, t) : f32[64, 32]\n";
    let analysis = analysis(text, "b200", Policy::None);
    let types = [0, 1, 2].map(|op| analysis.graph.ops[OpId::new(op)].dtype.unwrap());
    assert_eq!(types, [DType::Bf16, DType::Bf16, DType::F32]);
    let product = &analysis.unfused.kernels[KernelId::new(0)];
    assert_eq!(product.work.matrix_dtype, Some(DType::F8e4m3));
    let read = 64 * 128 + 128 * 32 + 64 * 4 + 4 * 32;
    assert_eq!(product.traffic.bytes_read(), read);
    assert_eq!(product.traffic.bytes_written(), 2 * 64 * 32);
    let scales = |id| {
        device(id)
            .unwrap()
            .matrix_peak(DType::F8e8m0, F32Matmul::F32)
    };
    assert_eq!(scales("b200"), None);
}

#[test]
fn each_operand_of_a_product_has_the_size_of_its_own_type() {
    let text = "input x : f16[64, 128]\nweight w : i4[128, 256]\ny = matmul(x, w) : f32[64, 256]\n";
    let analysis = analysis(text, "h200", Policy::Rules);
    let product = Product::of_op(&analysis.graph, OpId::new(0)).unwrap();
    assert_eq!(product.operand_bytes, [2.0, 0.5]);
    assert_eq!(product.output_bytes, 4.0);
}

#[test]
fn a_library_call_adds_only_a_bias_of_its_own_type() {
    let text = |bias: &str| {
        format!(
            "input x : f16[64, 64]\nweight w : f16[64, 64]\nweight b : {bias}[64]\nh = matmul(x, w)\ny = add(h, b)\n"
        )
    };
    let refused = |bias: &str| {
        let analysis = analysis(&text(bias), "h200", Policy::Inductor);
        let [matmul, add] = [OpId::new(0), OpId::new(1)];
        (
            analysis.fused.launches,
            outside_call(&analysis.graph, matmul, matmul, add),
        )
    };
    assert_eq!(refused("f16").0, 1);
    // bf16 is as wide as f16, and yet another type.
    assert_eq!(refused("bf16"), (2, Some(OutsideCall::OtherOperand)));
}

#[test]
fn types_without_units_of_their_own_are_computed_in_the_next_wider_one() {
    let peak = |id: &str, dtype| {
        let peak = device(id).unwrap().matrix_peak(dtype, F32Matmul::F32);
        peak.map(|figure| (figure.value / 1e12).round())
    };
    assert_eq!(peak("b200", DType::F4), Some(8901.0));
    assert_eq!(peak("h200", DType::F4), peak("h200", DType::F8e4m3));
    assert_eq!(peak("a100-80", DType::F4), peak("a100-80", DType::F16));
    assert_eq!(peak("a100-80", DType::I4), peak("a100-80", DType::I8));
    // Blackwell Ultra multiplies integers at a thirtieth of the rate of f8.
    assert_eq!(peak("b300", DType::I8), Some(150.0));
    for id in [
        "t4",
        "a10g",
        "l4",
        "l40",
        "l40s",
        "rtx-6000-ada",
        "rtx-4090",
        "rtx-5090",
        "h20",
        "gh200",
        "b200",
    ] {
        assert!(peak(id, DType::I8).is_some(), "{id}");
    }
    assert_eq!(peak("rtx-pro-6000", DType::F8e5m2), Some(1008.0));
}

/// A product of i8, of which none was measured, between ops whose kernels were.
const MIXED: &str = "input x : f16[4096, 4096]
weight w : i8[4096, 14336]
a = relu(x)
q = cast(a, dtype=i8)
y = matmul(q, w) : f16[4096, 14336]
z = layer_norm(y)
";

#[test]
fn one_product_of_i8_leaves_the_other_kernels_their_predicted_times() {
    let analysis = analysis(MIXED, "h200", Policy::Rules);
    let predicted = analysis.predicted.as_ref().unwrap();
    let times: Vec<_> = predicted.kernels.iter().collect();
    let is_at_peak = |outside| outside == Some(Outside::AtPeak(DType::I8));
    let at_peak: Vec<bool> = times.iter().map(|time| is_at_peak(time.outside)).collect();
    assert_eq!(at_peak, [false, true, false]);
    // 2 * 4096 * 4096 * 14336 FLOP at 1,978.3 TFLOP/s.
    let product_s = 2.0 * 4096.0 * 4096.0 * 14336.0 / 1978.3e12;
    let excess = times[1].time_s / product_s;
    assert!((1.0..1.02).contains(&excess), "{excess}");
    assert_eq!(times[1].bound(), Some(Bound::Matrix));
    // The total says what it is, and so does the kernel; the others are what they were.
    assert!(
        total_times(&analysis)
            .iter()
            .all(|time| time.time.starts_with("≥ "))
    );
    for (id, is_at_peak) in analysis.partition.kernels.ids().zip(at_peak) {
        let time = kernel_time(&analysis, id).unwrap();
        assert_eq!(time.time.starts_with("≥ "), is_at_peak, "{time:?}");
    }
    let note = time_note(&analysis);
    assert!(
        note.contains("its arithmetic in i8 counts at the peak rate"),
        "{note}"
    );
}

#[test]
fn a_program_of_nothing_that_was_measured_has_lower_bounds_alone() {
    let text = "input x : i8[4096, 4096]\nweight w : i8[4096, 14336]\ny = matmul(x, w) : f16[4096, 14336]\n";
    let one = analysis(text, "h100", Policy::Rules);
    assert_eq!(one.predicted, None);
    let micros = (one.fused.time_s * 1e6).round();
    assert_eq!(micros, 245.0);
}

/// FLOPs of an opaque operator are in the sum, and no unit's rate makes a time of them.
#[test]
fn the_work_of_an_opaque_operator_makes_no_time() {
    let text = |flops: &str| {
        format!(
            "input x : f8[4096, 4096]\nweight w : f8[4096, 14336]\ny = opaque(x, w, name=aten._scaled_mm{flops}) : f16[4096, 14336]\n"
        )
    };
    for id in ["h100", "gaudi-3", "m2-ultra"] {
        let of = |flops| analysis(&text(flops), id, Policy::Rules);
        let (stated, none) = (of(", flops=2*4096*4096*14336"), of(", flops=0"));
        assert_eq!(stated.fused.time_s, none.fused.time_s, "{id}");
        let kernel = &stated.fused.kernels[KernelId::new(0)];
        assert_eq!(kernel.placement.bound, Bound::Unknown);
        assert_eq!(kernel.placement.attainable_flops_per_s, None);
    }
    // Nor does a product in a type without a peak.
    let product = "input x : i32[512, 512]\nweight w : i32[512, 512]\ny = matmul(x, w)\n";
    let kernels = analysis(product, "h200", Policy::Rules).fused.kernels;
    let placement = kernels[KernelId::new(0)].placement;
    let launch_s = device("h200").unwrap().launch_s.value;
    let bytes_s = 3.0 * 512.0 * 512.0 * 4.0 / 4800e9;
    assert!((placement.time_s - launch_s - bytes_s).abs() < 1e-12);
}

/// A weight in groups of 128 numbers of 4 bits, as a decoder multiplies it.
const WEIGHT_ONLY: &str = "input x : f16[16, 4096]
weight q : i4[4096, 14336]
weight s : f16[32, 14336]
weight z : i4[32, 14336]
w = dequantize(q, s, z) @kernel 1
y = matmul(x, w) @kernel 1
";

#[test]
fn a_product_of_a_4_bit_weight_reads_half_a_byte_for_each_number() {
    let weight = 4096 * 14336 / 2 + 32 * 14336 * 2 + 32 * 14336 / 2;
    let (x, y, w) = (16 * 4096 * 2, 16 * 14336 * 2, 4096 * 14336 * 2);
    // The textbook rules write the wide weight and read it again.
    let of = |policy| analysis(WEIGHT_ONLY, "h200", policy);
    let rules = of(Policy::Rules);
    assert_eq!(rules.fused.traffic.total, weight + w + w + x + y);
    for policy in [Policy::Manual, Policy::Optimal] {
        let fused = of(policy);
        assert_eq!(fused.fused.launches, 1, "{policy:?}");
        assert_eq!(fused.fused.traffic.total, weight + x + y, "{policy:?}");
        let kernel = &fused.fused.kernels[KernelId::new(0)];
        assert_eq!(kernel.work.matrix_dtype, Some(DType::F16));
        assert_eq!(kernel.work.matrix_flops, 2 * 16 * 4096 * 14336);
        assert_eq!(kernel.work.vector_flops, 2 * 4096 * 14336);
    }
}

#[test]
fn scales_follow_the_shapes_and_blocks_must_be_equal() {
    let of = |scale: &str| {
        let text = format!("input q : i8[6, 256]\nweight s : bf16{scale}\nx = dequantize(q, s)\n");
        let parsed = parse(&text);
        let outcome = analyze_program(&parsed.program, &Options::default());
        let dtype = outcome
            .analysis
            .and_then(|a| a.graph.ops.get(OpId::new(0))?.dtype);
        dtype.ok_or_else(|| outcome.diagnostics.first().map(|d| d.message.clone()))
    };
    for scale in ["[]", "[256]", "[2]", "[6, 1]", "[3, 2]", "[6, 256]"] {
        assert_eq!(of(scale), Ok(DType::Bf16), "{scale}");
    }
    for scale in ["[4, 2]", "[512]", "[1, 1, 1]"] {
        let message = of(scale).unwrap_err().unwrap();
        assert!(
            message.contains("does not divide `q` i8[6, 256] into equal blocks"),
            "{message}"
        );
    }
}

#[test]
fn a_scaled_product_is_one_kernel_in_the_type_of_its_operands() {
    let text = "input x : f8[4096, 4096]
weight w : f8[14336, 4096]
input a : f32[4096, 1]
weight b : f32[14336, 1]
y = scaled_matmul(x, w, a, b, transpose_b=true) : bf16[4096, 14336]
";
    for policy in [Policy::None, Policy::Rules, Policy::Inductor] {
        let analysis = analysis(text, "h100", policy);
        let kernel = &analysis.fused.kernels[KernelId::new(0)];
        assert_eq!(analysis.fused.launches, 1);
        assert_eq!(kernel.work.matrix_flops, 2 * 4096 * 4096 * 14336);
        assert_eq!(kernel.work.matrix_dtype, Some(DType::F8e4m3));
        assert_eq!((analysis.fused.time_s * 1e6).round(), 245.0);
        let operands = 4096 * 4096 + 14336 * 4096 + 4096 * 4 + 14336 * 4;
        assert_eq!(analysis.fused.traffic.bytes_read, operands);
    }
}

/// As drivers report them. A GH200 of 144 GB has more bandwidth than the one of the table.
#[test]
fn drivers_name_the_devices_of_the_table() {
    let id = |name: &str| device_called(name).map(|device| &*device.id);
    for (name, expected) in [
        ("Tesla T4", Some("t4")),
        ("NVIDIA A10G", Some("a10g")),
        ("NVIDIA L40", Some("l40")),
        ("NVIDIA L40S", Some("l40s")),
        ("NVIDIA H20", Some("h20")),
        ("NVIDIA RTX 6000 Ada Generation", Some("rtx-6000-ada")),
        ("NVIDIA GH200 480GB", Some("gh200")),
        ("NVIDIA GH200 144G HBM3e", None),
    ] {
        assert_eq!(id(name), expected, "{name}");
    }
}
