//! Tests of the public interface of the core, the texts for people and the drawings.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod attention;
mod attention_prices;
mod attention_rows;
mod baseline;
mod charts;
mod charts_cases;
mod charts_properties;
mod charts_svg;
mod cli;
mod cli_fusion;
mod cli_output;
mod compare;
mod dag;
mod dag_check;
mod dag_svg;
mod device;
mod device_figures;
mod device_model;
mod documents;
mod edit;
mod examples;
mod examples_by_policy;
mod families;
mod findings;
mod fixes;
mod functions;
mod gpt2;
mod growth;
mod headline;
mod ids;
mod import;
mod import_diagnostics;
mod import_statements;
mod inductor;
mod inductor_measured;
mod inductor_programs;
mod input;
mod job_queue;
mod jobs;
mod kernel_details;
mod kernel_rows;
mod legality;
mod legality_rows;
mod limit_rows;
mod limits;
mod manual;
mod measured;
mod measured_rows;
mod notation;
mod notation_diagnostics;
mod notation_properties;
mod op_rows;
mod opened;
mod optimal;
mod optimal_budget;
mod optimal_cases;
mod optimal_ladders;
mod optimal_long;
mod outputs;
mod partitions;
mod peaks;
mod prediction;
mod properties;
mod proposals;
mod random_graph;
mod record;
mod resolve;
mod resolve_errors;
mod round_trip;
mod share;

mod sliders;
mod spans;
mod step_lines;
mod views;
mod why;
mod why_attention;
mod why_inductor;
mod why_prices;
mod why_rows;
