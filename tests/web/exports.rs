//! What a script gets from the four functions: plain objects, exact counts, errors that say what to
//! mend.

use fuseline::exports::{analyze_transformer_block, estimate_memory_traffic, find_fusion_groups};
use js_sys::{Array, BigInt, JSON, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;

/// Follows `path` (keys separated by dots) from `value`.
fn at(value: &JsValue, path: &str) -> JsValue {
    path.split('.').fold(value.clone(), |inner, key| {
        Reflect::get(&inner, &key.into()).unwrap()
    })
}

#[wasm_bindgen_test]
fn transformer_block_is_a_plain_object() {
    let block =
        analyze_transformer_block(&2048.into(), &4096.into(), &32.into(), &JsValue::UNDEFINED)
            .unwrap_or_else(|_| panic!("the block is valid"));
    assert_eq!(at(&block, "unfused_traffic.total"), 2_298_478_592_f64);
    assert_eq!(at(&block, "fused_traffic.total"), 1_962_934_272_f64);
    assert_eq!(
        at(&block, "fusion_groups")
            .unchecked_into::<Array>()
            .length(),
        9
    );
    let text = String::from(JSON::stringify(&at(&block, "fusion_groups")).unwrap());
    assert!(
        text.starts_with(r#"[["qkv_proj","split_heads"],"#),
        "{text}"
    );
}

#[wasm_bindgen_test]
fn counts_past_2_to_the_53_are_exact_big_integers() {
    let ops = JSON::parse(
        r#"[{"name": "copy", "op_type": "elementwise", "inputs": ["x"], "output": "y",
             "shape": [9007199254740993], "bytes_per_element": 1}]"#,
    )
    .unwrap();
    // JSON rounds the shape to 2^53; a BigInt carries it.
    let shape = Array::of1(&BigInt::from(9_007_199_254_740_993_u64));
    Reflect::set(&at(&ops, "0"), &"shape".into(), &shape).unwrap();
    let traffic = estimate_memory_traffic(&ops, Some(false), &JsValue::UNDEFINED)
        .unwrap_or_else(|_| panic!("the list is valid"));
    let written = at(&traffic, "bytes_written");
    assert!(written.is_bigint());
    assert_eq!(
        written.unchecked_into::<BigInt>(),
        BigInt::from(9_007_199_254_740_993_u64)
    );
}

#[wasm_bindgen_test]
fn a_list_of_too_many_holes_throws_with_its_length() {
    let list = JsValue::from(Array::new_with_length(20_000_000));
    let Err(error) = find_fusion_groups(&list) else {
        panic!("no list has so many ops");
    };
    let message = at(&JsValue::from(error), "message").as_string().unwrap();
    let said = "ops: a list of 20000000 entries exceeds the limit of 8 MB as JSON: split the list";
    assert_eq!(message, said);
}

#[wasm_bindgen_test]
fn a_failure_throws_with_the_reason() {
    let failure = analyze_transformer_block(&8.into(), &10.into(), &3.into(), &2.into());
    let Err(error) = failure else {
        panic!("3 heads do not divide 10");
    };
    let message = at(&JsValue::from(error), "message").as_string().unwrap();
    assert!(message.contains("10") && message.contains('3'), "{message}");
}
