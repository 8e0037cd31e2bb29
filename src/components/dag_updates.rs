//! What has changed in the graph's picture, written into the parts that show it and nowhere else.

use crate::app::state::Selection;
use crate::browser::{set_attribute, set_class, set_text};
use crate::components::dag_parts::{op_at, stop_id};
use crate::core::{OpId, Partition};
use crate::picture::dag::looks::Looks;
use crate::picture::dag::steps::FocusTarget as Stop;
use crate::picture::dag::{DagLayout, Edge};

/// Writes the numbers that differ.
pub(super) fn write_looks(layout: &DagLayout, before: &Looks, now: &Looks) {
    for (op, (before, now)) in before.ops.iter().zip(&now.ops).enumerate() {
        if before != now {
            let id = stop_id(Stop::Op(op));
            set_text(&format!("{id}-shape"), &now.shape);
            set_text(&format!("{id}-name"), &now.name);
            set_attribute(&id, "aria-label", &now.name);
        }
    }
    for (kernel, (before, now)) in before.panels.iter().zip(&now.panels).enumerate() {
        if before != now {
            let id = stop_id(Stop::Kernel(kernel));
            set_text(&format!("{id}-name"), &now.name);
            set_attribute(&id, "aria-label", &now.name);
        }
    }
    for (edge, (before, now)) in before.edges.iter().zip(&now.edges).enumerate() {
        if before != now {
            set_class(&format!("dag-edge-{edge}"), "is-dram", now.is_dram);
            let width = now.width_px.to_string();
            set_attribute(&format!("dag-edge-{edge}-line"), "stroke-width", &width);
        }
    }
    let labels = before
        .size_labels
        .iter()
        .zip(&now.size_labels)
        .zip(&layout.size_labels);
    for (op, ((before, now), place)) in labels.enumerate() {
        let Some(place) = place else { continue };
        if before != now {
            let id = format!("dag-size-label-{op}");
            let x = place.center().x - now.width_px / 2.0;
            set_class(&id, "is-shown", now.is_shown);
            set_attribute(&format!("{id}-box"), "x", &x.to_string());
            set_attribute(&format!("{id}-box"), "width", &now.width_px.to_string());
            set_text(&format!("{id}-text"), &now.text);
            set_text(&format!("{id}-title"), &now.title);
        }
    }
    for (pill, (before, now)) in before.pills.iter().zip(&now.pills).enumerate() {
        if before != now {
            set_text(&format!("dag-pill-{pill}-text"), &now.text);
            set_text(&format!("dag-pill-{pill}-title"), &now.title);
            set_attribute(&format!("dag-pill-{pill}"), "aria-label", &now.title);
        }
    }
}

/// Marks what is selected and the edges at it.
pub(super) fn write_selection(
    layout: &DagLayout,
    partition: &Partition,
    before: Selection,
    now: Selection,
) {
    for (selection, is_selected) in [(before, false), (now, true)] {
        for id in stops_of(selection).into_iter().flatten().map(stop_id) {
            set_class(&id, "is-selected", is_selected);
            set_attribute(
                &id,
                "aria-pressed",
                if is_selected { "true" } else { "false" },
            );
        }
    }
    for (index, edge) in layout.edges.iter().enumerate() {
        let is_touched = touches(edge, partition, now);
        if is_touched || touches(edge, partition, before) {
            set_class(&format!("dag-edge-{index}"), "is-touched", is_touched);
        }
    }
}

/// Marks the ops that the last shown decision is about.
pub(super) fn write_decided(before: &[OpId], now: &[OpId]) {
    if before != now {
        for (ops, is_decided) in [(before, false), (now, true)] {
            for &op in ops {
                set_class(&stop_id(Stop::Op(op)), "is-decided", is_decided);
            }
        }
    }
}

/// Moves the one place that the tab key reaches.
pub(super) fn write_stop(before: Stop, now: Stop) {
    set_attribute(&stop_id(before), "tabindex", "-1");
    set_attribute(&stop_id(now), "tabindex", "0");
}

const fn stops_of(selection: Selection) -> [Option<Stop>; 2] {
    match selection {
        Selection::Nothing => [None, None],
        Selection::Op(op) => [Some(Stop::Op(op)), None],
        Selection::Kernel(kernel) => [Some(Stop::Kernel(kernel)), None],
        Selection::Edge { producer, consumer } => {
            [Some(Stop::Op(producer)), Some(Stop::Op(consumer))]
        }
    }
}

fn touches(edge: &Edge, partition: &Partition, selection: Selection) -> bool {
    let mut ends = [edge.from, edge.to].into_iter().filter_map(op_at);
    match selection {
        Selection::Nothing => false,
        Selection::Op(op) => ends.any(|end| end == op),
        Selection::Edge { producer, consumer } => {
            op_at(edge.from) == Some(producer) && op_at(edge.to) == Some(consumer)
        }
        Selection::Kernel(kernel) => ends.any(|end| partition.group_of.get(end) == Some(&kernel)),
    }
}
