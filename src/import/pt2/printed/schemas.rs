//! The names of the arguments of `ATen` operators, which a printed graph gives by position.

use std::collections::HashMap;
use std::sync::LazyLock;

/// `add self other alpha` is for all overloads without a line of their own, such as
/// `add.Scalar self other`. `tests/measure/schemas.py` writes the list from PyTorch's own.
static NAMES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let lines = include_str!("schemas.txt").lines();
    lines
        .map(|line| line.split_once(' ').unwrap_or((line, "")))
        .collect()
});

/// The names of the arguments of `aten.add_.Tensor`, in their order; none for an operator of
/// another library.
pub(super) fn arguments_of(target: &str) -> impl Iterator<Item = &'static str> {
    let operator = target.strip_prefix("aten.").unwrap_or_default();
    let (packet, overload) = operator.split_once('.').unwrap_or((operator, "default"));
    let name = match packet.strip_suffix('_') {
        Some(name) if !packet.ends_with("__") => name,
        _ => packet,
    };
    let of_overload = NAMES.get(format!("{name}.{overload}").as_str());
    let names = of_overload.or_else(|| NAMES.get(name)).copied();
    names.unwrap_or_default().split_ascii_whitespace()
}
