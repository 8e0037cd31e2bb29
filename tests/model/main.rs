//! Tests of the public interface of the core, the texts for people and the drawings.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod attention;
mod attention_prices;
mod attention_view;
mod baseline;
mod charts;
mod charts_properties;
mod charts_svg;
mod cli;
mod cli_fusion;
mod compare;
mod dag;
mod dag_check;
mod dag_svg;
mod decimal;
mod device;
mod device_model;
mod edit;
mod examples;
mod examples_by_policy;
mod functions;
mod gpt2;
mod import;
mod import_diagnostics;
mod import_statements;
mod inductor;
mod kernel_rows;
mod legality;
mod legality_rows;
mod limit_rows;
mod limits;
mod manual;
mod manual_view;
mod markup;
mod measured;
mod measured_view;
mod notation;
mod notation_diagnostics;
mod notation_properties;
mod optimal;
mod optimal_cases;
mod optimal_ladders;
mod optimal_long;
mod partitions;
mod peaks;
mod prediction;
mod properties;
mod random_graph;
mod record;
mod resolve;
mod resolve_errors;
mod share;
mod views;
mod views_steps;
mod views_why;
mod why;
mod why_attention;
mod why_inductor;
