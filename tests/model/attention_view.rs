//! The attention panel: values of its fields, figures, chart.

use fuseline::core::device;
use fuseline::core::fusion::attention::{AttentionShape, LoopOrder, Tiles};
use fuseline::picture::charts::attention_growth::scene;
use fuseline::picture::charts::scene::{Role, Shape};
use fuseline::views::attention::{Sizes, controls, figures};

fn chosen(fields: &[(&str, &str)]) -> Sizes {
    fields
        .iter()
        .fold(Sizes::default(), |sizes, (field, value)| {
            sizes.with(field, value).unwrap()
        })
}

#[test]
fn sliders_go_over_powers_of_two_and_boxes_are_exact() {
    let slid = chosen(&[("attention-n", "12")]);
    assert_eq!((slid.shape.queries, slid.shape.keys), (4096, 4096));
    let typed = chosen(&[("attention-n-box", "1000"), ("attention-m", "192")]);
    assert_eq!(typed.shape.keys, 1000);
    assert_eq!(typed.own_on_chip_bytes, Some(196_608));
}

#[test]
fn what_is_no_size_changes_nothing() {
    let sizes = Sizes::default();
    for (field, value) in [
        ("attention-n", "64"),
        ("attention-n", "200"),
        ("attention-n-box", "0"),
        ("attention-n-box", "1048577"),
        ("attention-d", ""),
        ("attention-d", "-16"),
        ("attention-heads-box", "1e3"),
        ("attention-x", "1"),
        ("n", "1"),
    ] {
        assert_eq!(sizes.with(field, value), None, "{field} {value}");
    }
}

#[test]
fn figures_are_those_of_the_papers() {
    let a100 = fuseline::core::default_device();
    // FlashAttention: N = 1024, d = 64, 192 KiB on chip.
    let mut sizes = chosen(&[
        ("attention-n", "10"),
        ("attention-heads-box", "1024"),
        ("attention-m-box", "192"),
    ]);
    let text = figures(&sizes, a100).html().text;
    let tiles = Tiles::new(&sizes.shape, 192 * 1024);
    assert_eq!(
        (tiles.key_rows, tiles.key_tiles, tiles.query_rows),
        (384, 3, 64)
    );
    assert!(
        text.contains(">384</td>") && text.contains(">3</td>"),
        "{text}"
    );
    assert!(text.contains("2Nd + T_r · 2Nd + N"));
    sizes.order = LoopOrder::Keys;
    let text = figures(&sizes, a100).html().text;
    let forward = sizes.shape.forward_bytes(tiles, LoopOrder::Keys);
    assert!(text.contains("T_c (3Nd + 4N)"));
    assert!(
        text.contains(&fuseline::present::format::format_bytes(forward)),
        "{forward} in {text}"
    );
}

#[test]
fn the_cache_is_named_where_it_serves_the_tiles() {
    let h200 = device("h200").unwrap();
    let fits = figures(&Sizes::default(), h200).html().text;
    assert!(fits.contains("fit the last cache of"), "{fits}");
    let long = chosen(&[("attention-n-box", "1048576"), ("attention-d", "256")]);
    let text = figures(&long, h200).html().text;
    assert!(text.contains("more than the last cache of"), "{text}");
}

#[test]
fn heads_that_share_keys_are_counted_and_said() {
    let mut sizes = chosen(&[("attention-n", "11"), ("attention-heads-box", "32")]);
    sizes.shape.group = 4;
    let sizes = sizes.with("attention-heads-box", "16").unwrap();
    let text = figures(&sizes, device("h200").unwrap()).html().text;
    assert!(
        text.contains("2Nd + 2Nd / g") && text.contains("g = 4 heads"),
        "{text}"
    );
    // Q and the result of 16 heads, K and V of 4: 2048 x 64 elements of two bytes each.
    assert!(text.contains("10,485,760 B"), "{text}");
}

#[test]
fn fields_keep_their_elements_while_sizes_move() {
    let h200 = device("h200").unwrap();
    let (before, after) = (
        controls(&Sizes::default(), h200, None),
        controls(&chosen(&[("attention-n", "15")]), h200, None),
    );
    assert!(before.has_same_templates(&after));
    assert!(after.html().text.contains(r#"aria-valuetext="32,768""#));
    // M is that of the device until it is chosen.
    assert!(before.html().text.contains(r#"value="227""#));
    let of_program = AttentionShape {
        heads: 3,
        group: 1,
        queries: 5,
        keys: 7,
        head_size: 11,
        bytes_per_element: 4,
    };
    let offered = controls(&Sizes::default(), h200, Some(of_program));
    assert!(
        offered
            .html()
            .text
            .contains(r#"id="attention-program" aria-disabled="false""#)
    );
    let taken = Sizes::default().of_program(of_program);
    assert_eq!(
        (taken.shape.queries, taken.shape.keys, taken.shape.heads),
        (7, 7, 3)
    );
}

/// Centres of the points in this role.
fn points(role: Role, sizes: &Sizes) -> Vec<(f64, f64)> {
    let view = sizes.view(device("h200").unwrap());
    let marks = scene(&view, (600.0, 360.0)).marks;
    let of_role = marks.into_iter().filter(|mark| mark.role == role);
    of_role
        .filter_map(|mark| match mark.shape {
            Shape::Circle { center, .. } => Some(center),
            _ => None,
        })
        .collect()
}

#[test]
fn the_square_rises_twice_as_steeply_as_the_line() {
    let sizes = Sizes::default();
    let rise = |role| {
        let points = points(role, &sizes);
        // The last two lengths, where the quadratic term dominates.
        (points[9].1 - points[10].1) / (points[10].0 - points[9].0)
    };
    let (square, line) = (rise(Role::SquarePoint), rise(Role::LinePoint));
    assert!(
        (square / line - 2.0).abs() < 0.02,
        "{square} against {line}"
    );
}

#[test]
fn each_length_has_a_named_point_on_each_curve_and_the_chosen_one_is_marked() {
    let sizes = chosen(&[("attention-n-box", "3000")]);
    let drawn = scene(&sizes.view(device("h200").unwrap()), (320.0, 240.0));
    assert_eq!(drawn.focus_order.len(), 3 * 11 + 3);
    for &mark in &drawn.focus_order {
        assert!(drawn.marks[mark].label.is_some());
    }
    assert!(
        drawn.description.contains("At N = 3,000"),
        "{}",
        drawn.description
    );
    assert!(drawn.marks.iter().any(|mark| mark.role == Role::Ridge));
}

#[test]
fn both_axes_of_the_chart_have_a_title() {
    let view = Sizes::default().view(device("h200").unwrap());
    let marks = scene(&view, (600.0, 360.0)).marks;
    let titles: Vec<String> = (marks.into_iter().filter(|m| m.role == Role::AxisTitle))
        .filter_map(|mark| match mark.shape {
            Shape::Text { text, .. } => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(titles, ["length of the sequence N", "bytes moved"]);
}
