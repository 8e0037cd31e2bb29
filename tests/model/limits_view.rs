//! The view on limits: what its rows say.

use fuseline::core::analysis::transformer::transformer_block;
use fuseline::core::device;
use fuseline::core::{Analysis, Device, Options, analyze};
use fuseline::views::limits::{table, warnings};

fn transformer(device: Device) -> Analysis {
    transformer_of(2048, device)
}

fn transformer_of(seq_len: u64, device: Device) -> Analysis {
    let (ops, externals) = transformer_block(seq_len, 4096, 32, 2).unwrap();
    let options = Options {
        device,
        ..Options::default()
    };
    analyze(&ops, &externals, &options).unwrap()
}

#[test]
fn a_row_for_each_kernel_and_the_selected_one_marked() {
    let analysis = transformer(device("h200").unwrap().clone());
    let text = table(&analysis, Some(KernelId::new(2))).html().text;
    assert_eq!(
        text.matches("<tr class=").count(),
        analysis.fused.kernels.len()
    );
    assert_eq!(text.matches("is-selected").count(), 1);
    // What a block may have on this device.
    assert!(text.contains("/ 232 kB"), "{text}");
}

#[test]
fn what_gains_little_is_worth_knowing_and_hurts_nobody() {
    let analysis = transformer(device("a100-80").unwrap().clone());
    let text = table(&analysis, None).html().text;
    assert!(text.contains("bound by arithmetic"), "{text}");
    assert!(warnings(&analysis).iter().all(String::is_empty));
}

#[test]
fn what_hurts_stands_in_the_row_of_its_kernel() {
    // So short a sequence has fewer tiles than the device multiprocessors.
    let analysis = transformer_of(128, device("a100-80").unwrap().clone());
    let hurts = warnings(&analysis);
    assert_eq!(hurts.len(), analysis.fused.kernels.len());
    let text = table(&analysis, None).html().text;
    let (worst, what) = hurts
        .iter()
        .enumerate()
        .find(|(_, text)| !text.is_empty())
        .unwrap();
    let row = text.split("<tr class=").nth(worst + 1).unwrap();
    assert!(
        row.contains(&what.replace('\'', "&#39;")),
        "{what} in {row}"
    );
    // Figures, not adjectives.
    assert!(
        hurts
            .iter()
            .filter(|t| !t.is_empty())
            .all(|t| t.chars().any(|c| c.is_ascii_digit()))
    );
}

#[test]
fn a_device_without_figures_says_so() {
    let analysis = transformer(Device::custom(1e12, 1e13, 1e14, 2e-6));
    assert!(warnings(&analysis).is_empty());
    let text = table(&analysis, None).html().text;
    assert!(text.contains("are not known"), "{text}");
}
