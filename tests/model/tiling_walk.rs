//! A matmul wave by wave: what is computed at each position.

use fuseline_core::analysis::tiling::TileProgress;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, analyze_program, device};
use fuseline_view::picture::charts::scene::{Role, Scene};
use fuseline_view::picture::charts::tiling::scene;
use fuseline_view::present::tiling::{TilingChoice, TilingReport, progress_words};

fn matmul(rows: u64) -> Analysis {
    let text =
        format!("input x : bf16[{rows}, 4096]\nweight w : bf16[4096, 2048]\ny = matmul(x, w)\n");
    let options = Options {
        device: device("h200").unwrap().clone(),
        ..Options::of_policy(Policy::Rules)
    };
    analyze_program(&parse(&text).program, &options)
        .analysis
        .unwrap()
}

fn waves(scene: &Scene) -> usize {
    let is_wave = |role| matches!(role, Role::Wave(_));
    scene.marks.iter().filter(|mark| is_wave(mark.role)).count()
}

#[test]
fn waves_appear_one_after_the_other() {
    let analysis = matmul(2176);
    let report = TilingReport::new(&analysis, &TilingChoice::default(), None).unwrap();
    let tiled = &report.tiled;
    let (steps, end) = (tiled.steps(), tiled.positions());
    assert!(tiled.waves() > 1);
    assert_eq!(tiled.progress(0), TileProgress { waves: 0, steps: 0 });
    assert_eq!(
        tiled.progress(steps + 1),
        TileProgress { waves: 1, steps: 1 }
    );
    assert_eq!(tiled.progress(u64::MAX).waves, tiled.waves());
    let at = |position| waves(&scene(&analysis, &report, position, (600.0, 480.0)));
    assert_eq!(at(0), 0);
    assert_eq!(at(steps - 1), 0);
    assert!(at(steps) > 0 && at(end) > at(steps));
    assert_eq!(at(end), at(u64::MAX));
    let words = |position| progress_words(tiled, position);
    assert_eq!(
        words(1),
        format!("Wave 1 of {}, step 1 of {steps} along K", tiled.waves())
    );
    assert_eq!(words(end), format!("{} waves done", tiled.waves()));
}
