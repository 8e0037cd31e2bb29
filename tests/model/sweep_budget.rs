//! A sweep ends soon, however long the search for the optimum takes at each value.

use fuseline_core::analysis::sweep::sweep;
use fuseline_core::model::options::PAGE_BUDGET_STATES;
use fuseline_core::notation::edit::set_param;
use fuseline_core::{Objective, Options, Policy, analyze_program, device, notation};

/// A Llama block under options that give its search 14,000 states at each value, where it visits
/// 183 by default.
const LLAMA: &str = include_str!("files/sweep_of_searches.fuse");

#[test]
fn the_searches_at_all_values_share_one_budget() {
    let mut options = Options::of_policy(Policy::Optimal);
    options.fusion.budget_states = PAGE_BUDGET_STATES;
    options.fusion.objective = Objective::Measured;
    options.fusion.horizontal = true;
    options.fusion.prologue = true;
    options.device = device("h200").unwrap().clone();
    let program = notation::parse(LLAMA).program;
    let visited = |param: usize, value: i64| {
        let text = set_param(LLAMA, &program, param, value);
        let analysis = analyze_program(&notation::parse(&text).program, &options).analysis;
        analysis.unwrap().certificate.unwrap().states
    };
    for name in ["S", "F"] {
        let mut params = program.params.iter();
        let param = params.position(|param| param.name.text == name).unwrap();
        let sweep = sweep(&program, param, &options).unwrap();
        assert!(sweep.points.len() >= 5, "{name}");
        let points = sweep.points.iter();
        let states: usize = points.map(|point| visited(param, point.value)).sum();
        assert!(states < 15 * PAGE_BUDGET_STATES, "{name}: {states} states");
    }
}
