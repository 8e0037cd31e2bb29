//! Pan, zoom and fit of a picture on its canvas.

use fuseline_view::picture::dag::viewport::{Size, Viewport};
use fuseline_view::picture::dag::{Point, Rect};

/// The largest scale of a picture that fits, of one that does not, and of zooming.
const FIT_SCALE: f64 = 1.5;
const PART_SCALE: f64 = 1.1;
const MAX_SCALE: f64 = 4.0;
/// The scale at which the smallest text has 11 pixels.
const LEGIBLE_SCALE: f64 = 1.0;
/// Least part of a picture that stays on the canvas, in pixels.
const KEPT: f64 = 48.0;

const PICTURE: Size = (300.0, 1200.0);
const CANVAS: Size = (600.0, 800.0);

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn the_whole_is_in_the_middle() {
    let view = Viewport::whole(PICTURE, CANVAS);
    assert!(near(view.scale, 800.0 / 1200.0));
    assert!(near(view.x, (600.0 - 200.0) / 2.0) && near(view.y, 0.0));
    assert!(near(Viewport::whole((10.0, 10.0), CANVAS).scale, FIT_SCALE));
}

#[test]
fn a_picture_that_fits_is_shown_whole_and_a_long_one_from_its_top() {
    let whole = Viewport::fit((500.0, 700.0), 250.0, CANVAS);
    assert_eq!(whole, Viewport::whole((500.0, 700.0), CANVAS));
    let long = Viewport::fit((300.0, 30_000.0), 150.0, CANVAS);
    assert!(near(long.scale, PART_SCALE) && near(long.y, 0.0));
    let wider = Viewport::fit((580.0, 30_000.0), 290.0, CANVAS);
    assert!(near(wider.scale, 600.0 / 580.0) && near(wider.x, 0.0));
}

#[test]
fn a_wide_picture_starts_at_its_first_kernel() {
    let wide = |start_x| Viewport::fit((3_000.0, 300.0), start_x, CANVAS);
    assert!(near(wide(1_000.0).scale, LEGIBLE_SCALE));
    assert!(near(wide(1_000.0).x, 300.0 - 1_000.0) && near(wide(1_000.0).y, 250.0));
    assert!(near(wide(10.0).x, 0.0) && near(wide(2_990.0).x, 600.0 - 3_000.0));
}

#[test]
fn zooming_keeps_the_point_under_the_pointer() {
    let view = Viewport::whole(PICTURE, CANVAS);
    let at = Point::new(250.0, 300.0);
    let before = ((at.x - view.x) / view.scale, (at.y - view.y) / view.scale);
    let zoomed = view.zoomed(1.7, at);
    let after = (
        (at.x - zoomed.x) / zoomed.scale,
        (at.y - zoomed.y) / zoomed.scale,
    );
    assert!(near(before.0, after.0) && near(before.1, after.1));
    assert!(near(view.zoomed(1e9, at).scale, MAX_SCALE));
}

#[test]
fn the_picture_cannot_be_lost() {
    let lost = Viewport::whole(PICTURE, CANVAS).panned(1e6, -1e6);
    let kept = lost.kept_in_sight(PICTURE, CANVAS);
    assert!(kept.x <= CANVAS.0 - KEPT && kept.y + PICTURE.1 * kept.scale >= KEPT);
}

#[test]
fn the_region_holds_what_is_in_sight_and_seldom_changes() {
    let mut view = Viewport::fit((300.0, 30_000.0), 150.0, CANVAS);
    let mut regions = vec![view.region(CANVAS)];
    for _ in 0..100 {
        view = view.panned(0.0, -8.0);
        let region = view.region(CANVAS);
        for corner in [Point::new(0.0, 0.0), Point::new(CANVAS.0, CANVAS.1)] {
            assert!(region.holds(view.in_picture(corner)), "{region:?} {view:?}");
        }
        assert!(region.width < 1.6 * CANVAS.0 && region.height < 1.6 * CANVAS.1);
        regions.push(region);
    }
    regions.dedup();
    assert!(
        regions.len() < 16,
        "{} regions in 100 frames",
        regions.len()
    );
}

#[test]
fn revealing_moves_only_what_is_needed() {
    let view = Viewport {
        x: 0.0,
        y: 0.0,
        scale: 1.0,
    };
    let seen = Rect {
        x: 50.0,
        y: 50.0,
        width: 100.0,
        height: 40.0,
    };
    assert_eq!(view.revealing(seen, CANVAS), view);
    let below = Rect { y: 900.0, ..seen };
    let moved = view.revealing(below, CANVAS);
    assert!(near(moved.y, 800.0 - 12.0 - 940.0) && near(moved.x, 0.0));
}
