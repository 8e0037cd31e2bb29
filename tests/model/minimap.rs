//! The small picture of the whole graph, and the window in it.

use fuseline_view::picture::dag::Point;
use fuseline_view::picture::dag::minimap::Minimap;
use fuseline_view::picture::dag::viewport::{Size, Viewport};

const PICTURE: Size = (400.0, 4_000.0);
const CANVAS: Size = (500.0, 500.0);

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn it_is_there_where_something_is_out_of_sight() {
    let all = Viewport::whole(PICTURE, CANVAS);
    assert_eq!(Minimap::of(PICTURE, all, CANVAS), None);
    let start = Viewport::fit(PICTURE, 200.0, CANVAS);
    let map = Minimap::of(PICTURE, start, CANVAS).unwrap();
    assert!(near(map.size.1, 190.0) && near(map.size.0, 28.0));
    let moved = all.panned(300.0, 0.0);
    assert!(Minimap::of(PICTURE, moved, CANVAS).is_some());
}

#[test]
fn the_window_is_where_the_canvas_is_and_a_press_moves_it() {
    let start = Viewport::fit(PICTURE, 200.0, CANVAS);
    let map = Minimap::of(PICTURE, start, CANVAS).unwrap();
    let window = map.window(start, CANVAS);
    assert!(near(window.y, 0.0) && near(window.width, map.size.0));
    assert!(near(
        window.height,
        500.0 / start.scale / 4_000.0 * map.size.1
    ));
    let at = Point::new(14.0, map.size.1 / 2.0);
    let aimed = map.aimed(at, start, PICTURE, CANVAS);
    assert!(near(aimed.x, start.x), "it is no wider than the canvas");
    assert!(near(map.window(aimed, CANVAS).center().y, at.y));
    let end = map.aimed(Point::new(0.0, 1e9), start, PICTURE, CANVAS);
    let window = map.window(end, CANVAS);
    assert!(near(window.bottom(), map.size.1));
}

#[test]
fn the_window_of_a_very_tall_picture_can_be_seen() {
    let tall = (400.0, 400_000.0);
    let start = Viewport::fit(tall, 200.0, CANVAS);
    let map = Minimap::of(tall, start, CANVAS).unwrap();
    let last = map.aimed(Point::new(0.0, 1e9), start, tall, CANVAS);
    for view in [start, last] {
        let window = map.window(view, CANVAS);
        assert!(window.height >= 6.0 && window.bottom() <= map.size.1 + 1e-9);
    }
}
