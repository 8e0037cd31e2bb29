//! The *Precision* tab.

use crate::components::over;
use crate::mounted::settled;
use fuseline::app::history::Origin;
use fuseline::components::results::precision::PrecisionView;
use fuseline_codegen::interpret::Setup;
use fuseline_core::Policy;
use leptos::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

const TEXT: &str = "param S = 64 in 16..128 step 16\ninput x : f16[S, 32]\nweight w : f16[32, 32]\n\
                    weight b : f16[32]\ny = matmul(x, w)\nbiased = add(y, b)\nout = relu(biased)";

#[wasm_bindgen_test]
async fn each_tensor_is_stored_or_kept_and_its_numbers_are_shown() {
    let setup = RwSignal::new(Setup::default());
    let (root, page) = over(TEXT, move |_| view! { <PrecisionView setup /> }).await;
    let column = |n: usize| root.texts(&format!(".precision-table tbody td:nth-of-type({n})"));
    assert_eq!(
        root.texts(".precision-table tbody th button"),
        ["y", "biased", "out"]
    );
    assert_eq!(column(2), ["stored in f16"; 3]);
    assert_eq!(column(3), ["kept in f32", "kept in f32", "stored in f16"]);
    assert!(root.texts(".precision-head")[0].contains("× smaller when fused"));
    // The result, until another tensor is chosen.
    assert_eq!(
        root.texts(".precision-numbers caption"),
        ["First numbers of out"]
    );
    assert_eq!(root.texts(".precision-numbers tbody tr").len(), 8);
    root.click(".precision-table tbody th button").await;
    assert_eq!(
        root.texts(".precision-numbers caption"),
        ["First numbers of y"]
    );
    let numbers = root.texts(".precision-numbers tbody tr");
    setup.update(|setup| setup.seed = 1);
    settled().await;
    assert_ne!(root.texts(".precision-numbers tbody tr"), numbers);
    // It follows the policy and the type.
    page.chosen.policy.set(Policy::None);
    settled().await;
    assert_eq!(column(3), ["stored in f16"; 3]);
    assert!(root.texts(".precision-head")[0].contains("the same when fused"));
    page.edit(TEXT.replace("f16", "f64"), Origin::Single);
    settled().await;
    assert_eq!(
        root.texts(".precision-head"),
        ["The result out is exact, unfused and fused."]
    );
}

#[wasm_bindgen_test]
async fn sizes_that_do_not_fit_are_told_in_words() {
    let setup = RwSignal::new(Setup::default());
    let text = "param N = 64\ninput x : f16[N]\ny = reshape(x, shape=[N/4, 4])";
    let (root, _) = over(text, move |_| view! { <PrecisionView setup /> }).await;
    setup.update(|setup| {
        setup.sizes.insert("N".to_owned(), 63);
    });
    settled().await;
    assert!(root.texts(".precision-head")[0].starts_with("Not computed: N/4 is 63 / 4"));
    assert!(root.all(".precision-table").is_empty());
    root.click(".precision-controls button:last-of-type").await;
    assert_eq!(root.texts(".precision-table tbody th button"), ["y"]);
}
