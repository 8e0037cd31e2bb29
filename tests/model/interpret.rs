//! Rounding on numbers that can be worked out by hand.
#![allow(clippy::float_cmp, reason = "every bit of a rounded number is meant")]

use crate::interpret_functions::run;
use fuseline_codegen::interpret::{Run, Setup, interpret, rounded};
use fuseline_core::notation::parse;
use fuseline_core::{DType, OpId, Options, Partition, Policy, analyze_program};
use half::{bf16, f16};

#[test]
fn of_two_equally_near_values_the_even_one_is_stored() {
    let f16 = |value| rounded(value, DType::F16);
    assert_eq!(f16(0.1), 0.099_975_585_937_5);
    // Above 2048 every second whole number is one.
    assert_eq!([2049.0, 2050.0, 2051.0].map(f16), [2048.0, 2050.0, 2052.0]);
    assert_eq!(f16(-2049.0), -2048.0);
    let bf16 = |value| rounded(value, DType::Bf16);
    let unit = 0.5_f64.powi(7);
    assert_eq!(
        [1.0 + unit / 2.0, 1.0 + 1.5 * unit].map(bf16),
        [1.0, 1.0 + 2.0 * unit]
    );
    let f8 = |value| rounded(value, DType::F8e4m3);
    assert_eq!([17.0, 18.0, 19.0].map(f8), [16.0, 18.0, 20.0]);
    assert_eq!(rounded(16_777_217.0, DType::F32), 16_777_216.0);
    assert_eq!(rounded(0.1, DType::F64), 0.1);
}

#[test]
fn values_below_the_smallest_normal_one_lose_digits_and_then_vanish() {
    let least = 0.5_f64.powi(24);
    let f16 = |value| rounded(value, DType::F16);
    assert_eq!(
        [least, 1.4 * least, 1.5 * least, 2.6 * least].map(f16),
        [least, least, 2.0 * least, 3.0 * least]
    );
    assert_eq!(
        [0.5 * least, 0.51 * least, -0.4 * least].map(f16),
        [0.0, least, 0.0]
    );
    let least = 0.5_f64.powi(9);
    let f8 = |value| rounded(value, DType::F8e4m3);
    assert_eq!(
        [least, 0.5 * least, 1.5 * least].map(f8),
        [least, 0.0, 2.0 * least]
    );
}

#[test]
fn what_is_too_large_overflows() {
    let f16 = |value| rounded(value, DType::F16);
    assert_eq!(
        [65_504.0, 65_519.9, 65_520.0, -1e9].map(f16),
        [65_504.0, 65_504.0, f64::INFINITY, -f64::INFINITY]
    );
    assert_eq!(rounded(1e38, DType::Bf16), f64::from(bf16::from_f64(1e38)));
    assert_eq!(rounded(3.4e38, DType::Bf16), f64::INFINITY);
    // E4M3 has no infinity.
    assert_eq!(
        [448.0, 464.0].map(|value| rounded(value, DType::F8e4m3)),
        [448.0, 448.0]
    );
    assert!(rounded(465.0, DType::F8e4m3).is_nan());
    assert!(rounded(f64::INFINITY, DType::F8e4m3).is_nan());
    assert_eq!(
        [130.0, -1.9, 1e30].map(|value| rounded(value, DType::I8)),
        [-126.0, -1.0, -1.0]
    );
    assert_eq!(
        [0.0, -0.5].map(|value| rounded(value, DType::Bool)),
        [0.0, 1.0]
    );
}

/// Every value of both types stays, and what lies around them goes where another implementation
/// puts it.
#[test]
fn rounding_agrees_with_the_crate_half() {
    let is_same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
    for bits in 0..=u16::MAX {
        let (short, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
        for factor in [
            1.0,
            1.0 + 2e-4,
            1.0 + 0.5_f64.powi(11),
            1.0 - 0.5_f64.powi(9),
            1.002,
        ] {
            let value = f64::from(short.to_f32()) * factor;
            assert!(
                is_same(rounded(value, DType::F16), f16::from_f64(value).to_f64()),
                "{value}"
            );
            let value = f64::from(brain.to_f32()) * factor;
            assert!(
                is_same(rounded(value, DType::Bf16), bf16::from_f64(value).to_f64()),
                "{value}"
            );
        }
    }
}

fn of_policy(policy: Policy) -> Options {
    Options::of_policy(policy)
}

/// 2048 + 1 is no f16, but 2048 + 1 + 1 is: the accumulator keeps what a store between the ops
/// would lose.
#[test]
fn a_matmul_with_its_epilogue_rounds_once() {
    let text = "input x : f16[1, 2]\nweight w : f16[2, 1]\nweight b : f16[1]\n\
                y = matmul(x, w)\nbiased = add(y, b)\nout = relu(biased)";
    let given: &[(&str, &[f64])] = &[("x", &[2048.0, 1.0]), ("w", &[1.0, 1.0]), ("b", &[1.0])];
    let ran = run(text, given, &of_policy(Policy::Rules));
    let runs = |name| {
        ran.tensors[ran.tensor_named(name).unwrap()]
            .clone()
            .unwrap()
    };
    let (y, out) = (runs("y"), runs("out"));
    assert_eq!(
        (&y.exact[..], &y.unfused.first[..], &y.fused.first[..]),
        (&[2049.0][..], &[2048.0][..], &[2049.0][..])
    );
    assert_eq!((y.unfused.is_stored, y.fused.is_stored), (true, false));
    assert_eq!(
        (&out.exact[..], &out.unfused.first[..], &out.fused.first[..]),
        (&[2050.0][..], &[2048.0][..], &[2050.0][..])
    );
    assert_eq!((out.unfused.is_stored, out.fused.is_stored), (true, true));
    let error = ran.error_of(ran.result().unwrap(), Run::Unfused).unwrap();
    assert_eq!(
        (error.max_abs, error.relative, error.overflowed),
        (2.0, 2.0 / 2050.0, 0)
    );
    assert_eq!(
        ran.error_of(ran.result().unwrap(), Run::Fused)
            .unwrap()
            .max_abs,
        0.0
    );
}

/// 300² is no f16, so a norm whose steps are stored in f16 is lost, and one kernel that computes in
/// f32 is not.
#[test]
fn a_layer_norm_without_f32_overflows_where_its_squares_are_stored() {
    let text = "input x : f16[1, 2]\nmean = mean(x)\ncenter = sub(x, mean)\nsquare = square(center)\n\
                variance = mean(square)\nrsqrt = rsqrt(variance)\ny = mul(center, rsqrt)";
    let ran = run(text, &[("x", &[0.0, 600.0])], &of_policy(Policy::Inductor));
    let runs = |name| {
        ran.tensors[ran.tensor_named(name).unwrap()]
            .clone()
            .unwrap()
    };
    let square = runs("square");
    assert_eq!(square.exact, [90_000.0, 90_000.0]);
    assert_eq!(square.unfused.first, [f64::INFINITY; 2]);
    assert_eq!(
        (
            square.unfused.error.overflowed,
            square.fused.error.overflowed
        ),
        (2, 0)
    );
    assert_eq!(square.unfused.error.relative, f64::INFINITY);
    let y = runs("y");
    assert_eq!(y.exact, [-1.0, 1.0]);
    assert_eq!(y.unfused.first, [0.0, 0.0]);
    assert_eq!(y.fused.first, [-1.0, 1.0]);
}

/// exp(12) is no f16: without the subtraction of the maximum a softmax is infinite over infinite.
#[test]
fn a_softmax_without_its_maximum_overflows_unfused() {
    let text = "input x : f16[1, 2]\npower = exp(x)\ntotal = sum(power)\ny = div(power, total)";
    let ran = run(text, &[("x", &[12.0, 0.0])], &of_policy(Policy::Inductor));
    let y = ran.tensors[ran.result().unwrap()].clone().unwrap();
    assert_eq!(y.unfused.error.overflowed, 1);
    assert!(y.unfused.first[0].is_nan());
    assert_eq!(y.fused.first[0], 1.0);
    // The function subtracts it.
    let ran = run(
        "input x : f16[1, 2]\ny = softmax(x)",
        &[("x", &[12.0, 0.0])],
        &Options::default(),
    );
    let y = ran.tensors[ran.result().unwrap()].clone().unwrap();
    assert_eq!(y.unfused.first, y.fused.first);
    assert_eq!(
        y.unfused.first,
        [
            1.0,
            rounded((-12.0_f64).exp() / (1.0 + (-12.0_f64).exp()), DType::F16)
        ]
    );
}

/// Matrix units take operands of the tensor's type, wherever the operands come from.
#[test]
fn a_kept_value_is_rounded_where_a_matmul_reads_it() {
    let text =
        "input x : f16[4, 4]\nweight w : f16[4, 4]\na = scale(x, factor=0.3)\ny = matmul(a, w)";
    let program = parse(text).program;
    let partition = Partition::new(&[vec![OpId::new(0), OpId::new(1)]], 2);
    let ran = interpret(&program, &partition, &Setup::default()).unwrap();
    let runs = |name| {
        ran.tensors[ran.tensor_named(name).unwrap()]
            .clone()
            .unwrap()
    };
    assert!(!runs("a").fused.is_stored);
    assert!(runs("a").fused.error.relative < 1e-6);
    assert!(runs("a").unfused.error.relative > 1e-5);
    assert_eq!(runs("y").fused, runs("y").unfused);
}

#[test]
fn a_large_program_runs_at_smaller_sizes_in_the_same_proportions() {
    let text = "param S = 2048 in 128..8192 step 128\nparam H = 4096 in 128..8192 step 128\n\
                param heads = 32 in 8..128 step 8 dividing H\ninput x : f16[S, H]\n\
                weight w : f16[H, H]\ny = matmul(x, w)\nq = rearrange(y) : f16[heads, S, H/heads]";
    let program = parse(text).program;
    let analysis = analyze_program(&program, &Options::default())
        .analysis
        .unwrap();
    let ran = interpret(&program, &analysis.partition, &Setup::default()).unwrap();
    let sizes: Vec<(&str, i64)> = ran
        .sizes
        .iter()
        .map(|(name, value)| (&**name, *value))
        .collect();
    assert_eq!(sizes, [("S", 32), ("H", 128), ("heads", 4)]);
    // By choice.
    let mut setup = Setup::default();
    setup.sizes.insert("H".to_owned(), 64);
    let ran = interpret(&program, &analysis.partition, &setup).unwrap();
    assert_eq!(ran.sizes[1], ("H".to_owned(), 64));
    setup.sizes.insert("H".to_owned(), 63);
    setup.sizes.insert("heads".to_owned(), 4);
    let refused = interpret(&program, &analysis.partition, &setup).unwrap_err();
    assert_eq!(
        refused.message,
        "`H/heads` is 63 / 4, which leaves a remainder of 3"
    );
    setup.sizes.insert("H".to_owned(), 8192);
    setup.sizes.insert("S".to_owned(), 8192);
    let refused = interpret(&program, &analysis.partition, &setup).unwrap_err();
    assert!(
        refused
            .message
            .starts_with("a run would take 551 billion steps on 269 million elements, and the limits are 16 million and 2 million"),
        "{refused:?}"
    );
    assert_eq!(
        refused.hint,
        "make sizes smaller, starting with `y`, which writes [8192, 8192]"
    );
}

#[test]
fn what_cannot_be_run_says_what_to_do() {
    let program =
        parse("param L = 2 in 1..8\ninput x : f16[4]\nrepeat L with x = y {\n y = relu(x)\n}")
            .program;
    let analysis = analyze_program(&program, &Options::default())
        .analysis
        .unwrap();
    let mut setup = Setup::default();
    setup.sizes.insert("L".to_owned(), 3);
    let refused = interpret(&program, &analysis.partition, &setup).unwrap_err();
    assert_eq!(refused.hint, "keep the number of iterations of a block");
    let setup = Setup {
        given: [("x".to_owned(), vec![1.0])].into(),
        ..Setup::default()
    };
    let refused = interpret(&program, &analysis.partition, &setup).unwrap_err();
    assert_eq!(
        refused.message,
        "`x` has 4 elements, and 1 numbers are given"
    );
    let refused = interpret(&program, &Partition::default(), &Setup::default()).unwrap_err();
    assert_eq!(refused.message, "the kernels belong to another program");
    let empty = parse("").program;
    assert!(interpret(&empty, &Partition::default(), &Setup::default()).is_err());
}
