//! Names as PyTorch has them: understood where the function is the same, else answered.

use fuseline_core::fixes::sound_fixes;
use fuseline_core::model::functions::Function;
use fuseline_core::model::functions::pytorch::{ALIASES, ANSWERS, alias, names_of};
use fuseline_core::notation::parse;
use fuseline_core::resolve::resolve;
use fuseline_core::{Code, Severity};
use std::collections::BTreeSet;
use strum::VariantArray;

const HEAD: &str = "\
input x : f16[8, 6]
input q : f16[2, 8, 6]
input k : f16[2, 8, 6]
input v : f16[2, 8, 6]
input i : f16[1, 4, 8, 8]
input j : i64[8, 6]
weight w : f16[6, 6]
";

/// The function and the shape of an op, without errors.
fn understood(call: &str) -> (Function, Vec<u64>) {
    let parsed = parse(&format!("{HEAD}y = {call}\n"));
    let resolved = resolve(&parsed.program);
    let all = [parsed.diagnostics, resolved.diagnostics].concat();
    assert!(
        all.iter().all(|d| d.severity == Severity::Note),
        "{call}: {all:?}"
    );
    let op = &resolved.ops[0];
    (op.function.unwrap(), op.shape.clone())
}

#[test]
fn the_same_function_under_another_name_is_understood() {
    for (theirs, ours) in [
        ("torch.relu(x)", "relu(x)"),
        ("F.relu(x)", "relu(x)"),
        ("nn.ReLU(x)", "relu(x)"),
        ("ReLU(x)", "relu(x)"),
        ("nn.Softsign(x)", "softsign(x)"),
        ("nn.functional.softmax(x, dim=0)", "softmax(x, axis=0)"),
        ("torch.nn.functional.softmax(x, dim=-1)", "softmax(x)"),
        ("softmax(x, dim=0)", "softmax(x, axis=0)"),
        ("F.gelu(x)", "gelu(x, approximate=none)"),
        ("F.gelu(x, approximate=tanh)", "gelu(x)"),
        ("torch.matmul(x, w)", "matmul(x, w)"),
        ("mm(x, w)", "matmul(x, w)"),
        ("torch.bmm(q, q)", "matmul(q, q)"),
        ("F.linear(x, w)", "linear(x, w)"),
        ("nn.LayerNorm(x)", "layer_norm(x)"),
        ("torch.sum(x, dim=1, keepdim=True)", "sum(x, axis=1)"),
        (
            "torch.amax(x, dim=1, keepdims=False)",
            "max(x, axis=1, keepdim=false)",
        ),
        (
            "sum(x, dim=0, keepdim=False)",
            "sum(x, axis=0, keepdim=false)",
        ),
        ("torch.cat(x, w, dim=0)", "concat(x, w, axis=0)"),
        (
            "torch.permute(q, dims=[0, 2, 1])",
            "transpose(q, perm=[0, 2, 1])",
        ),
        ("F.max_pool2d(i, kernel_size=2)", "max_pool2d(i, kernel=2)"),
        ("view(x, size=[48])", "reshape(x, shape=[48])"),
    ] {
        // A factor of a matrix product of unlike shapes would be another error.
        if theirs.contains("bmm") {
            let text = format!(
                "{HEAD}t = transpose(k)\ny = {}\n",
                theirs.replace("q, q", "q, t")
            );
            assert_eq!(
                resolve(&parse(&text).program).ops[1].function,
                Some(Function::Matmul)
            );
            continue;
        }
        assert_eq!(understood(theirs), understood(ours), "{theirs}");
    }
}

#[test]
fn what_the_visitor_has_written_stays() {
    let text = "input x : f16[8]\ny = F.softmax(x, dim=-1)\n";
    let op = &parse(text).program.ops[0];
    assert_eq!(
        (op.callee.text.as_str(), op.callee.span.slice(text)),
        ("softmax", "F.softmax")
    );
    let dim = &op.attributes[0].name;
    assert_eq!((dim.text.as_str(), dim.span.slice(text)), ("axis", "dim"));
}

/// The hint of the only error of a call, and the statement after its first fix.
fn answered(call: &str) -> (String, Option<String>) {
    let text = format!("{HEAD}y = {call}\n");
    let parsed = parse(&text);
    let all = [
        parsed.diagnostics.clone(),
        resolve(&parsed.program).diagnostics,
    ]
    .concat();
    let mut errors = all
        .iter()
        .zip(sound_fixes(&text, &all))
        .filter(|(d, _)| d.severity == Severity::Error);
    let (error, fixes) = errors.next().unwrap();
    assert_eq!(errors.next(), None, "{call}");
    let corrected = fixes.first().map(|fix| fix.applied(&text).unwrap());
    let added = corrected.map(|text| text.trim_start_matches(HEAD).trim_end().to_owned());
    (error.hint.clone().unwrap(), added)
}

#[test]
fn another_meaning_is_answered_with_what_to_write() {
    #[rustfmt::skip]
    let cases: &[(&str, &str, Option<&str>)] = &[
        ("torch.sum(x, dim=1)", "PyTorch drops the reduced dimension: write `sum` with `axis=` and `keepdim=false`",
            Some("y = sum(x, axis=1, keepdim=false)")),
        ("torch.mean(x)", "PyTorch drops the reduced dimension: write `mean` with `axis=` and `keepdim=false`",
            Some("y = mean(x, axis=[0, 1], keepdim=false)")),
        ("torch.sum(x, 1)", "PyTorch drops the reduced dimension: write `sum` with `axis=` and `keepdim=false`",
            Some("y = sum(x, axis=1, keepdim=false)")),
        ("torch.cat(x, w)", "write `concat` with `axis=`", Some("y = concat(x, w, axis=0)")),
        ("torch.transpose(q, 1, 2)", "write `transpose(q, perm=[0, 2, 1])`", Some("y = transpose(q, perm=[0, 2, 1])")),
        ("transpose(q, -1, 0)", "write `transpose(q, perm=[2, 1, 0])`", Some("y = transpose(q, perm=[2, 1, 0])")),
        ("transpose(q, dim0=0, dim1=1)", "write `transpose(q, perm=[1, 0, 2])`", Some("y = transpose(q, perm=[1, 0, 2])")),
        ("permute(q, 2, 0, 1)", "write `transpose(q, perm=[2, 0, 1])`", Some("y = transpose(q, perm=[2, 0, 1])")),
        ("torch.addmm(x, x, w)", "write `matmul` and then `add`", Some("y_product = matmul(x, w)\ny = add(y_product, x)")),
        ("x.softmax(dim=0)", "write the tensor as the first input: `softmax(x)`", Some("y = softmax(x, dim=0)")),
        ("x.relu()", "write the tensor as the first input: `relu(x)`", Some("y = relu(x)")),
        ("half(x)", "write `cast` with the element type", Some("y = cast(x, dtype=f16)")),
        ("torch.einsum(\"ij,jk->ik\", x, w)", "write it as `transpose`, `matmul` and `sum`", Some("y = matmul(x, w)")),
        ("torch._scaled_mm(x, w)", "write the product with its scales and its type: `y = scaled_matmul(a, b, scale_a, scale_b) : bf16[64, 128]`", None),
        ("F.scaled_mm(x, w)", "write the product with its scales and its type: `y = scaled_matmul(a, b, scale_a, scale_b) : bf16[64, 128]`", None),
        ("einsum(x, w)", "write it as `transpose`, `matmul` and `sum`", None),
        ("torch.flatten(x)", "write `reshape` with the new shape after a colon", None),
        ("F.geluu(x)", "did you mean `gelu`?", Some("y = gelu(x)")),
        ("torch.relu(x, inplace=True)", "remove it", Some("y = torch.relu(x)")),
        ("x.view(6, 8)", "write the tensor as the first input: `reshape(x, shape=[6, 8])`", Some("y = reshape(x, shape=[6, 8])")),
        ("x.view(-1)", "write the tensor as the first input: `reshape(x, shape=[-1])`", Some("y = reshape(x, shape=[-1])")),
        ("x.reshape([6, 8])", "give the list as an attribute: `shape=`", Some("y = reshape(x, shape=[6, 8])")),
        ("torch.reshape(x, (6, 8))", "give the list as an attribute: `shape=`", Some("y = torch.reshape(x, shape=[6, 8])")),
        ("reshape(x, 6, -1)", "give it as an attribute: `shape=[6, -1]`", Some("y = reshape(x, shape=[6, -1])")),
        ("torch.sum(q, [0, 1])", "give the list as an attribute: `axis=`", Some("y = torch.sum(q, axis=[0, 1], keepdim=false)")),
        ("x.softmax(1)", "write the tensor as the first input: `softmax(x, axis=1)`", Some("y = softmax(x, axis=1)")),
        ("x.clamp(0, 1)", "write the tensor as the first input: `clamp(x, min=0, max=1)`", Some("y = clamp(x, min=0, max=1)")),
        ("x.sum(1)", "write the tensor as the first input: `sum(x)`", Some("y = sum(x, axis=1, keepdim=false)")),
        ("x.mean()", "write the tensor as the first input: `mean(x)`", Some("y = mean(x, axis=[0, 1], keepdim=false)")),
        ("q.transpose(1, 2)", "write `transpose(q, perm=[0, 2, 1])`", Some("y = transpose(q, perm=[0, 2, 1])")),
        ("q.permute(2, 0, 1)", "write `transpose(q, perm=[2, 0, 1])`", Some("y = transpose(q, perm=[2, 0, 1])")),
        ("x.half()", "write `cast` with the element type", Some("y = cast(x, dtype=f16)")),
        ("x.masked_fill(x, -inf)", "write `where(mask, value, x)`", Some("y = where(x, -inf, x)")),
        ("torch.clamp(x, 0, 1)", "give it as an attribute: `min=0, max=1`", Some("y = torch.clamp(x, min=0, max=1)")),
        ("F.dropout(x, 0.1)", "give it as an attribute: `p=0.1`", Some("y = F.dropout(x, p=0.1)")),
        ("F.layer_norm(x, 6)", "remove it: the last axis is normalized, whatever its size", None),
        ("torch.gather(x, 1, j)", "write `gather` with `axis=`", Some("y = gather(x, j, axis=1)")),
        ("gather(x, 1, j)", "give the axis as an attribute: `axis=1`", Some("y = gather(x, j, axis=1)")),
        ("nn.Linear(x, 1024)", "its second input is a weight [N, K]: `weight y_weight : f16[1024, 6]`",
            Some("weight y_weight : f16[1024, 6]\ny = nn.Linear(x, y_weight)")),
        ("matmul(x, 16)", "its second input is a weight [K, N]: `weight y_weight : f16[6, 16]`",
            Some("weight y_weight : f16[6, 16]\ny = matmul(x, y_weight)")),
        ("torch.cat([x, x])", "name the tensors one by one, and the axis: `concat(a, b, axis=0)`", Some("y = torch.cat(x, x, axis=0)")),
        ("torch.cat([x, x], dim=1)", "name the tensors one by one, and the axis: `concat(a, b, axis=0)`", Some("y = torch.cat(x, x, dim=1)")),
        ("torch.cat((x, x), -1)", "name the tensors one by one, and the axis: `concat(a, b, axis=0)`", Some("y = torch.cat(x, x, axis=-1)")),
    ];
    for &(call, hint, fixed) in cases {
        let (told, after) = answered(call);
        assert_eq!((told.as_str(), after.as_deref()), (hint, fixed), "{call}");
    }
}

/// The values of each fix are those of the einsum: PyTorch 2.11 computed both on random numbers.
#[test]
fn an_einsum_is_written_in_words_where_it_is_a_matrix_product_or_a_sum() {
    for (call, fixed) in [
        (
            "torch.einsum('bqd,bkd->bqk', q, k)",
            Some("y = matmul(q, k, transpose_b=true)"),
        ),
        (
            "torch.einsum('bqd, dk -> bqk', q, w)",
            Some("y = matmul(q, w)"),
        ),
        (
            "torch.einsum('bqd,kd->bkq', q, w)",
            Some(
                "y_product = matmul(q, w, transpose_b=true)\ny = transpose(y_product, perm=[0, 2, 1])",
            ),
        ),
        (
            "torch.einsum('bqd,bqe->bde', q, k)",
            Some("y = matmul(q, k, transpose_a=true)"),
        ),
        (
            "torch.einsum('qbd,kbd->bqk', q, k)",
            Some(
                "y_left = transpose(q, perm=[1, 0, 2])\ny_right = transpose(k, perm=[1, 2, 0])\ny = matmul(y_left, y_right)",
            ),
        ),
        ("einsum('ij->ji', x)", Some("y = transpose(x, perm=[1, 0])")),
        (
            "torch.einsum('bqd->d', q)",
            Some("y = sum(q, axis=[0, 1], keepdim=false)"),
        ),
        (
            "torch.einsum('bqd->dq', q)",
            Some("y_sum = sum(q, axis=[0], keepdim=false)\ny = transpose(y_sum, perm=[1, 0])"),
        ),
        (
            "torch.einsum('ij,jk->ik', x, w) : f16[8, 6]",
            Some("y = matmul(x, w) : f16[8, 6]"),
        ),
        // The size of a reshape is for the visitor to say.
        ("torch.einsum('i,j->ij', x, w)", None),
        ("torch.einsum('bqd,bqd->b', q, k)", None),
        ("torch.einsum('ii->i', w)", None),
        ("torch.einsum('...d,de->...e', q, w)", None),
    ] {
        let (hint, after) = answered(call);
        assert_eq!(
            hint, "write it as `transpose`, `matmul` and `sum`",
            "{call}"
        );
        assert_eq!(after.as_deref(), fixed, "{call}");
    }
}

#[test]
fn an_answer_in_a_block_knows_the_tensors_of_the_round() {
    let text = "\
input x : f16[4, 4]
repeat 3 with x = y {
  h = relu(x)
  y = transpose(h, 0, 1)
}
";
    let all = resolve(&parse(text).program).diagnostics;
    assert_eq!(all.len(), 1, "{all:?}");
    let fixes = sound_fixes(text, &all).concat();
    let wanted = text.replace("h, 0, 1", "h, perm=[1, 0]");
    assert_eq!(
        fixes.first().and_then(|fix| fix.applied(text)),
        Some(wanted)
    );
}

#[test]
fn every_answered_name_is_answered() {
    for answer in ANSWERS {
        let text = format!("input x : f16[8, 6]\ny = torch.{}(x)\n", answer.name);
        let resolved = resolve(&parse(&text).program);
        let found = &resolved.diagnostics[0];
        assert_eq!(
            (found.code, found.severity),
            (Code::UnknownFunction, Severity::Error),
            "{text}"
        );
        assert!(
            found.hint.as_deref().is_some_and(|hint| hint.contains('`')),
            "{text}"
        );
    }
}

#[test]
fn operators_are_answered_with_calls() {
    let cases = [
        ("x @ w", "y = matmul(x, w)"),
        ("x + x", "y = add(x, x)"),
        ("x - 1", "y = sub(x, 1)"),
        ("2 * x", "y = mul(2, x)"),
        ("x / 2", "y = div(x, 2)"),
        ("-x", "y = neg(x)"),
        ("x ** 2", "y = pow(x, 2)"),
        ("x + x : f16[8, 6]", "y = add(x, x) : f16[8, 6]"),
        ("x @ w @kernel 1", "y = matmul(x, w) @kernel 1"),
        ("x @ w + x", "y_matmul = matmul(x, w)\ny = add(y_matmul, x)"),
        ("x + x * x", "y_mul = mul(x, x)\ny = add(x, y_mul)"),
        ("(x + x) * x", "y_add = add(x, x)\ny = mul(y_add, x)"),
        ("x - x - x", "y_sub = sub(x, x)\ny = sub(y_sub, x)"),
        (
            "x - x - (x - x)",
            "y_sub = sub(x, x)\ny_sub_2 = sub(x, x)\ny = sub(y_sub, y_sub_2)",
        ),
        ("relu(x) + x", "y_relu = relu(x)\ny = add(y_relu, x)"),
        (
            "relu(x @ w + x)",
            "y_matmul = matmul(x, w)\ny_add = add(y_matmul, x)\ny = relu(y_add)",
        ),
        ("relu(add(x, x))", "y_add = add(x, x)\ny = relu(y_add)"),
        (
            "softmax(x @ w, axis=-1)",
            "y_matmul = matmul(x, w)\ny = softmax(y_matmul, axis=-1)",
        ),
    ];
    for (written, calls) in cases {
        let (hint, after) = answered(written);
        assert_eq!(after.as_deref(), Some(calls), "{written}");
        assert!(hint.starts_with("write "), "{written}: {hint}");
    }
}

#[test]
fn the_lines_of_an_operator_are_indented_as_its_own() {
    let text = "input x : f16[4]\nrepeat 2 with x = y {\n  y = relu(x) + x\n}\n";
    let all = parse(text).diagnostics;
    let fixes = sound_fixes(text, &all).concat();
    assert_eq!(
        fixes[0].applied(text).as_deref(),
        Some(
            "input x : f16[4]\nrepeat 2 with x = y {\n  y_relu = relu(x)\n  y = add(y_relu, x)\n}\n"
        )
    );
}

#[test]
fn what_has_no_certain_meaning_gets_no_calls() {
    // An input that is not declared, a list, and more operations than anybody wants rewritten.
    let many = format!("x{}", " + x".repeat(40));
    for written in ["a + b", "x + [1]", "x + ", "x x", &many] {
        let text = format!("{HEAD}y = {written}\n");
        let all = parse(&text).diagnostics;
        let fixes = sound_fixes(&text, &all).concat();
        assert!(
            fixes.iter().all(|fix| !fix.label.contains("add")),
            "{written}: {fixes:?}"
        );
    }
    let deep = format!("y = {}x{}", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(parse(&deep).diagnostics.len(), 1);
}

#[test]
fn what_an_invalid_line_may_read_is_not_called_unread() {
    let notes = |text: &str| {
        let parsed = parse(text);
        let all = [parsed.diagnostics, resolve(&parsed.program).diagnostics].concat();
        let fixes = sound_fixes(text, &all);
        let notes = all.iter().zip(fixes);
        let notes = notes.filter(|(d, _)| d.code == Code::UnusedTensor);
        notes
            .map(|(d, fixes)| (d.message.clone(), fixes.len()))
            .collect::<Vec<_>>()
    };
    assert_eq!(notes("input x : f16[4]\ny = x + + x\n"), []);
    assert_eq!(notes("input x : f16[4]\ny = x.foo()\n"), []);
    assert_eq!(notes("input x : f16[4]\ny = x.relu().sum()\n"), []);
    let unread = [("no op reads `z`".to_owned(), 1)];
    assert_eq!(
        notes("input x : f16[4]\ninput z : f16[4]\ny = x + + x\n"),
        unread
    );
}

#[test]
fn every_name_of_pytorch_leads_to_a_row() {
    for alias in ALIASES {
        let attributes = alias.function.row().attributes;
        for attribute in alias.needs {
            assert!(attributes.contains(attribute), "{}", alias.name);
        }
    }
    let mut names = BTreeSet::new();
    for &function in Function::VARIANTS {
        for name in names_of(function) {
            assert!(names.insert(name), "{name} twice");
            assert_eq!(alias(name).map(|alias| alias.function), Some(function));
        }
    }
    let mut names = BTreeSet::new();
    for answer in ANSWERS {
        assert!(names.insert(answer.name), "{} twice", answer.name);
        assert_eq!(answer.inputs > 0, !answer.lines.is_empty());
    }
}
