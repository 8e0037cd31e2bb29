//! Texts for devices without a figure for a type, and for types that are computed in another one.

use fuseline_core::device;
use fuseline_core::model::device::Figure;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, Bound, Conventions, F32Matmul, KernelId, Options, Policy, analyze_program,
};
use fuseline_view::picture::charts::roofline;
use fuseline_view::picture::charts::scene::Shape;
use fuseline_view::present::report::Report;
use fuseline_view::present::times::{kernel_time, missing_text, time_lines, total_times};

fn analysis(text: &str, id: &str) -> Analysis {
    analysis_in(F32Matmul::F32, text, id)
}

fn analysis_in(f32_matmul: F32Matmul, text: &str, id: &str) -> Analysis {
    let options = Options {
        device: device(id).unwrap().clone(),
        conventions: Conventions {
            f32_matmul,
            ..Conventions::default()
        },
        ..Options::default()
    };
    let outcome = analyze_program(&parse(text).program, &options);
    outcome.analysis.unwrap()
}

fn product(dtype: &str, id: &str) -> Analysis {
    analysis(&product_text(dtype), id)
}

fn product_text(dtype: &str) -> String {
    format!(
        "input a : {dtype}[4096, 4096]\ninput b : {dtype}[4096, 4096]\ny = matmul(a, b) : {dtype}[4096, 4096]"
    )
}

fn roof_words(analysis: &Analysis) -> Vec<String> {
    let marks = roofline::scene(analysis, (900.0, 480.0), None).marks;
    let texts = marks.into_iter().filter_map(|mark| match mark.shape {
        Shape::Text { text, .. } => Some(text),
        _ => None,
    });
    texts.collect()
}

/// A kernel of a matmul and a GELU takes both times where the vector units compute both, and the
/// longer one where matrix units compute the matmul.
#[test]
fn matmuls_on_the_vector_units_add_to_their_other_work() {
    let text = |dtype: &str| {
        format!(
            "input x : {dtype}[65536, 64]\ninput w : {dtype}[64, 16384]\ny = matmul(x, w) @kernel 1\nz = gelu(y) @kernel 1"
        )
    };
    let elements = 65536.0 * 16384.0;
    let (product, gelu) = (2.0 * 64.0 * elements, 8.0 * elements);
    for (id, f32_matmul, dtype, is_shared) in [
        ("h100", F32Matmul::F32, "f32", true),
        ("h100", F32Matmul::Tf32, "f32", false),
        ("h100", F32Matmul::F32, "f64", false),
        ("p100", F32Matmul::F32, "f16", true),
        ("p100", F32Matmul::F32, "f64", true),
    ] {
        let mut options = Options {
            device: device(id).unwrap().clone(),
            ..Options::of_policy(Policy::Manual)
        };
        options.conventions.f32_matmul = f32_matmul;
        let outcome = analyze_program(&parse(&text(dtype)).program, &options);
        let analysis = outcome.analysis.unwrap();
        let [kernel] = analysis.fused.kernels.as_slice() else {
            panic!("one kernel");
        };
        assert_eq!(kernel.work.flops(), (128 + 8) * 65536 * 16384);
        let peak = |figure: Option<Figure>| figure.unwrap().value;
        let multiplied_s = product
            / peak(
                options
                    .device
                    .matrix_peak(kernel.work.matrix_dtype.unwrap(), f32_matmul),
            );
        let other = if dtype == "f64" {
            options.device.vector_f64_flops_per_s
        } else {
            options.device.vector_flops_per_s
        };
        let other_s = gelu / peak(other);
        let arithmetic_s = if is_shared {
            multiplied_s + other_s
        } else {
            multiplied_s.max(other_s)
        };
        let memory_s = kernel.bytes() as f64 / options.device.memory_bytes_per_s.value;
        let bound_s = arithmetic_s.max(memory_s) + options.device.launch_s.value;
        let ratio = kernel.placement.time_s / bound_s;
        assert!((ratio - 1.0).abs() < 1e-12, "{id} {dtype}: {ratio}");
        let lines = time_lines(&analysis, KernelId::new(0)).join("\n");
        let sum = lines
            .lines()
            .find(|line| line.contains(" + "))
            .unwrap_or("");
        assert_eq!(sum.starts_with("vector units"), is_shared, "{lines}");
    }
}

#[test]
fn without_a_peak_the_bound_is_unknown_and_the_time_a_lower_bound() {
    let analysis = product("f64", "gaudi-3");
    let kernel = &analysis.fused.kernels[KernelId::new(0)];
    assert_eq!(kernel.placement.bound, Bound::Unknown);
    let time = kernel_time(&analysis, KernelId::new(0)).unwrap();
    assert!(time.time.starts_with("≥ "), "{time:?}");
    assert!(
        total_times(&analysis)
            .iter()
            .all(|time| time.time.starts_with("≥ "))
    );
    let words = missing_text(kernel, &analysis.options).unwrap();
    assert!(words.contains("no peak is known for f64"), "{words}");
    assert_eq!(time_lines(&analysis, KernelId::new(0)).last(), Some(&words));
    let report = Report::new(&analysis, &[], "");
    assert_eq!(report.kernels[0].bottleneck, Bound::Unknown);
    assert_eq!(report.times.lower_bounds_leave_out, Some(words));
    let scene = roofline::scene(&analysis, (900.0, 480.0), None);
    let facts = scene.marks.iter().filter_map(|mark| mark.label.as_ref());
    let facts: Vec<String> = facts.map(|label| format!("{label:?}")).collect();
    assert!(facts.iter().any(|f| f.contains("attainable at most")));
}

#[test]
fn a_known_peak_leaves_nothing_open() {
    let analysis = product("bf16", "a100-80");
    let kernel = &analysis.fused.kernels[KernelId::new(0)];
    assert_eq!(kernel.placement.bound, Bound::Matrix);
    assert_eq!(missing_text(kernel, &analysis.options), None);
    assert!(
        total_times(&analysis)
            .iter()
            .all(|time| !time.time.contains('≥'))
    );
    assert_eq!(
        Report::new(&analysis, &[], "").times.lower_bounds_leave_out,
        None
    );
}

#[test]
fn vector_work_in_f64_has_the_rate_of_f64() {
    let text = "y = gelu(x) : f64[4096, 4096]";
    let unknown = analysis(text, "gaudi-3");
    let kernel = &unknown.fused.kernels[KernelId::new(0)];
    assert_eq!(kernel.placement.bound, Bound::Unknown);
    let lines = time_lines(&unknown, KernelId::new(0));
    assert!(
        lines.contains(&"vector units, f64: no peak is known".to_owned()),
        "{lines:?}"
    );
    let l4 = analysis(text, "l4");
    let kernel = &l4.fused.kernels[KernelId::new(0)];
    let lines = time_lines(&l4, KernelId::new(0));
    assert!(
        lines.contains(&"vector units, f64: 134 MFLOP / 470 GFLOP/s = 286 µs".to_owned()),
        "{lines:?}"
    );
    assert!(missing_text(kernel, &l4.options).is_none());
}

/// f64 has units of its own: a kernel that computes in both types takes as long as the longer part.
#[test]
fn a_kernel_in_two_types_takes_the_longer_time() {
    let text =
        "input x : f32[4096, 4096]\na = gelu(x) : f32[4096, 4096]\ny = cast(a) : f64[4096, 4096]";
    for (id, peak) in [("l4", 470e9), ("h200", 33.5e12)] {
        let fused = analysis(text, id);
        assert_eq!(fused.fused.kernels.len(), 1);
        let kernel = &fused.fused.kernels[KernelId::new(0)];
        let elements = 4096.0 * 4096.0;
        assert_eq!(kernel.work.vector_f64_flops, 4096 * 4096);
        let device = &fused.options.device;
        let alone_s = [
            12.0 * elements / device.memory_bytes_per_s.value,
            8.0 * elements / device.vector_flops_per_s.unwrap().value,
            elements / peak,
        ];
        let longest_s = alone_s.into_iter().fold(0.0, f64::max);
        let time_s = kernel.placement.time_s - device.launch_s.value;
        assert!((time_s / longest_s - 1.0).abs() < 1e-9, "{id}: {time_s}");
    }
}

/// `torch.backends.cuda.matmul.allow_tf32` is off by default.
#[test]
fn f32_matmuls_run_at_the_rate_of_f32_unless_tf32_is_allowed() {
    for (f32_matmul, id, words, line) in [
        (
            F32Matmul::F32,
            "a100-80",
            "f32 vector units 19.5 TFLOP/s",
            "vector units, f32: 137 GFLOP / 19.5 TFLOP/s",
        ),
        (
            F32Matmul::Tf32,
            "a100-80",
            "f32 as TF32 matrix units 156 TFLOP/s",
            "matrix units, f32 as TF32: 137 GFLOP / 156 TFLOP/s",
        ),
        (
            F32Matmul::Tf32,
            "v100",
            "f32 vector units 15.7 TFLOP/s",
            "vector units, f32: 137 GFLOP / 15.7 TFLOP/s",
        ),
    ] {
        let analysis = analysis_in(f32_matmul, &product_text("f32"), id);
        let texts = roof_words(&analysis);
        assert!(texts.iter().any(|text| text == words), "{texts:?}");
        let units = texts.iter().filter(|text| text.contains("units"));
        assert_eq!(
            units.count(),
            if words.contains("TF32") { 2 } else { 1 },
            "one roof, one name: {texts:?}"
        );
        let kernel = &analysis.fused.kernels[KernelId::new(0)];
        let lines = time_lines(&analysis, KernelId::new(0));
        assert!(lines.iter().any(|l| l.starts_with(line)), "{lines:?}");
        let is_vector = kernel.placement.bound == Bound::Vector;
        assert_eq!(is_vector, line.starts_with("vector"));
    }
}

/// `torch.backends.cudnn.allow_tf32` is on by default.
#[test]
fn f32_convolutions_run_in_tf32_unless_f32_is_asked_for() {
    const OPERANDS: &str = "input x : f32[32, 256, 56, 56]\nweight w : f32[256, 256, 3, 3]\n";
    let of_an_image = format!("{OPERANDS}y = conv2d(x, w, padding=1)");
    let of_stated_length =
        format!("{OPERANDS}y = convolution(x, w, k=2304) : f32[32, 256, 56, 56]");
    let usual = Conventions::default();
    let f32 = Conventions {
        f32_conv: F32Matmul::F32,
        ..usual
    };
    for (conventions, id, line, roof) in [
        (
            usual,
            "h200",
            "matrix units, f32 as TF32: 118 GFLOP",
            "f32 as TF32 matrix",
        ),
        (
            usual,
            "v100",
            "vector units, f32: 118 GFLOP",
            "f32 vector units",
        ),
        (
            f32,
            "h200",
            "vector units, f32: 118 GFLOP",
            "f32 vector units",
        ),
    ] {
        let options = Options {
            device: device(id).unwrap().clone(),
            conventions,
            ..Options::default()
        };
        for text in [&of_an_image, &of_stated_length] {
            let outcome = analyze_program(&parse(text).program, &options);
            let analysis = outcome.analysis.unwrap();
            let lines = time_lines(&analysis, KernelId::new(0));
            assert!(lines.iter().any(|own| own.starts_with(line)), "{lines:?}");
            let roofs = roof_words(&analysis);
            assert!(roofs.iter().any(|own| own.starts_with(roof)), "{roofs:?}");
        }
    }
}

#[test]
fn devices_without_a_vector_figure_and_matmuls_without_k_leave_the_time_open() {
    let tpu = analysis("y = relu(x) : bf16[4096, 4096]", "tpu-v5e");
    let words = missing_text(&tpu.fused.kernels[KernelId::new(0)], &tpu.options).unwrap();
    assert!(
        words.starts_with("no peak is known for vector units"),
        "{words}"
    );
    let no_k = analysis("y = matmul(a, b) : bf16[64, 32]", "a100-80");
    let words = missing_text(&no_k.fused.kernels[KernelId::new(0)], &no_k.options).unwrap();
    assert!(words.contains("length K"), "{words}");
}

/// V100's matrix units support only f16, P100 has none, A100 has no f8; the table of figures says
/// so.
#[test]
fn a_type_that_the_device_lacks_is_named_with_the_one_that_it_computes_in() {
    for (dtype, id, words, tflops) in [
        (
            "bf16",
            "v100",
            "bf16 as f32 vector units 15.7 TFLOP/s",
            15.7,
        ),
        ("f16", "v100", "f16 matrix units 125 TFLOP/s", 125.0),
        (
            "f8",
            "a100-80",
            "f8e4m3 as f16 matrix units 312 TFLOP/s",
            311.9,
        ),
        ("f32", "a100-80", "f32 vector units 19.5 TFLOP/s", 19.5),
        ("f64", "h200", "f64 matrix units 66.9 TFLOP/s", 66.9),
        ("f64", "l4", "f64 vector units 470 GFLOP/s ?", 0.47),
        ("f16", "p100", "f16 vector units 21.2 TFLOP/s ?", 21.2),
        (
            "bf16",
            "p100",
            "bf16 as f32 vector units 10.6 TFLOP/s ?",
            10.6,
        ),
        ("f8", "gaudi-2", "f8e4m3 matrix units 865 TFLOP/s", 865.0),
    ] {
        let analysis = product(dtype, id);
        let texts = roof_words(&analysis);
        assert!(
            texts.iter().any(|t| t == words),
            "{dtype} on {id}: {texts:?}"
        );
        let seconds =
            2.0 * 4096_f64.powi(3) / (tflops * 1e12) + analysis.options.device.launch_s.value;
        let time_s = analysis.fused.time_s;
        assert!(
            (time_s / seconds - 1.0).abs() < 1e-9,
            "{dtype} on {id}: {time_s}"
        );
        let is_vector = words.contains("vector");
        let bound = if is_vector {
            Bound::Vector
        } else {
            Bound::Matrix
        };
        assert_eq!(
            analysis.fused.kernels[KernelId::new(0)].placement.bound,
            bound
        );
    }
}

#[test]
fn a_program_without_matmuls_has_no_roof_of_matrix_units() {
    for dtype in ["bf16", "f32"] {
        let analysis = analysis(&format!("y = relu(x) : {dtype}[4096, 4096]"), "a100-80");
        let texts = roof_words(&analysis);
        assert!(texts.iter().all(|t| !t.contains("matrix")), "{texts:?}");
        assert!(texts.iter().any(|t| t == "vector units 19.5 TFLOP/s"));
    }
}

#[test]
fn a_program_in_f64_has_no_roof_of_f32() {
    let gelu = |id| analysis("y = gelu(x) : f64[4096, 4096]", id);
    for analysis in [product("f64", "gaudi-3"), gelu("gaudi-3")] {
        let texts = roof_words(&analysis);
        assert!(
            texts
                .iter()
                .all(|t| !t.contains("TFLOP/s") || !t.contains("units")),
            "{texts:?}"
        );
        assert!(texts.iter().all(|t| !t.contains("ridge")), "{texts:?}");
        assert!(texts.iter().any(|t| t == "memory 3.67 TB/s"), "{texts:?}");
    }
    for (analysis, words) in [
        (
            product("f64", "h200"),
            [
                "f64 matrix units 66.9 TFLOP/s",
                "f64 vector units 33.5 TFLOP/s",
            ]
            .as_slice(),
        ),
        (gelu("h200"), &["f64 vector units 33.5 TFLOP/s"]),
    ] {
        let texts = roof_words(&analysis);
        let units = texts.iter().filter(|t| t.contains("units"));
        assert_eq!(units.collect::<Vec<_>>(), words);
    }
}

#[test]
fn the_ridge_is_rate_over_bandwidth() {
    use fuseline_core::{DType, Device, F32Matmul, ridge_point};
    let device = Device::custom(2e12, 312e12, 19.5e12, 0.0);
    assert_eq!(
        ridge_point(&device, DType::F16, F32Matmul::F32),
        Some(156.0)
    );
}

#[test]
fn a_rate_of_integers_is_known_where_it_is_given() {
    use fuseline_core::model::device::Rate;
    use fuseline_core::{DType, Device, F32Matmul};
    let device = Device::custom(2e12, 312e12, 19.5e12, 2e-6);
    assert_eq!(device.matrix_peak(DType::I8, F32Matmul::F32), None);
    let device = device.with_rate(Rate::MatrixI8, 624e12);
    assert_eq!(
        device
            .matrix_peak(DType::I8, F32Matmul::F32)
            .map(|peak| peak.value),
        Some(624e12)
    );
}
