//! `--limits`: what each kernel asks of a multiprocessor, and when fusing it hurts.

use crate::core::Analysis;
use crate::core::format::{format_bytes, format_percent};
use crate::core::limits::limits;
use std::fmt::Write as _;

/// One line for each kernel, and one for each warning.
pub(super) fn limits_table(analysis: &Analysis) -> String {
    let Some(all) = limits(analysis) else {
        return "\nno limits: the multiprocessors of this device are not known\n".to_owned();
    };
    let mut text = format!(
        "\n{:>3}  {:>20}  {:>9}  {:>8}  {:>9}  {:>5}\n",
        "#", "on chip, available", "registers", "blocks", "occupancy", "waves"
    );
    for (index, kernel) in all.iter().enumerate() {
        let on_chip = format!(
            "{}, {}",
            format_bytes(kernel.on_chip_bytes),
            format_bytes(kernel.on_chip_available_bytes)
        );
        let _ = writeln!(
            text,
            "{:>3}  {on_chip:>20}  {:>9}  {:>8}  {:>9}  {:>5}",
            index + 1,
            kernel.registers_per_thread,
            kernel.blocks,
            format_percent(kernel.occupancy * 100.0),
            kernel.waves
        );
        for warning in &kernel.warnings {
            let _ = writeln!(text, "     {}", warning.text());
        }
    }
    text
}
