//! Attention with sizes of its own: what a field's value comes to, its rows, its notes, and the
//! chart.

use fuseline_core::fusion::attention::{AttentionShape, LoopOrder, Tiles, TypedAttention};
use fuseline_core::{DType, default_device, device};
use fuseline_view::picture::charts::attention_growth::scene;
use fuseline_view::picture::charts::scene::{Role, Shape};
use fuseline_view::present::attention::AttentionSize::{HeadSize, Heads, Length, OnChip, Queries};
use fuseline_view::present::attention::{
    AttentionChoice, AttentionCount, AttentionSize, AttentionSizes, ByteRow, byte_rows, notes,
    tile_rows,
};
use fuseline_view::present::format::format_bytes;

fn typed(values: &[(AttentionSize, &str)]) -> AttentionSizes {
    values
        .iter()
        .fold(AttentionSizes::default(), |sizes, (size, value)| {
            sizes.with_typed(*size, value).unwrap()
        })
}

fn typed_f16(shape: AttentionShape) -> TypedAttention {
    let dtype = Some(DType::F16);
    TypedAttention { shape, dtype }
}

fn byte_row(sizes: &AttentionSizes, count: AttentionCount) -> ByteRow {
    let rows = byte_rows(sizes, default_device());
    rows.into_iter().find(|row| row.count == count).unwrap()
}

#[test]
fn sliders_go_over_powers_of_two_and_boxes_are_exact() {
    let sizes = AttentionSizes::default();
    let slid = sizes.with_slider(Length, "12").unwrap();
    assert_eq!((slid.shape.queries, slid.shape.keys), (4096, 4096));
    assert_eq!(slid.slider_place(Length, default_device()), 12);
    let typed = typed(&[(Length, "1000")])
        .with_slider(OnChip, "192")
        .unwrap();
    assert_eq!(typed.shape.keys, 1000);
    assert_eq!(typed.own_on_chip_bytes, Some(196_608));
    assert_eq!(typed.value(OnChip, default_device()), 192);
}

#[test]
fn what_is_no_size_changes_nothing() {
    let sizes = AttentionSizes::default();
    for place in ["64", "200"] {
        assert_eq!(sizes.with_slider(Length, place), None, "{place}");
    }
    for (size, value) in [
        (Length, "0"),
        (Length, "1048577"),
        (HeadSize, ""),
        (HeadSize, "-16"),
        (Heads, "1e3"),
        (Heads, "65537"),
    ] {
        assert_eq!(sizes.with_typed(size, value), None, "{size:?} {value}");
    }
}

#[test]
fn one_query_over_many_keys_has_one_row_of_scores() {
    // Q of 1 row, K and V of 8,192: they are nearly all of the bytes.
    let shape = AttentionShape {
        heads: 16,
        group: 1,
        queries: 1,
        keys: 8192,
        head_size: 64,
        bytes_per_element: 2,
        key_bytes_per_element: 2,
    };
    let sizes = AttentionSizes::default().of_program(typed_f16(shape));
    assert_eq!((sizes.is_self, sizes.shape), (false, shape));
    let standard = byte_row(&sizes, AttentionCount::ScoresInMemory);
    assert_eq!(standard.bytes.formula, "2N_q d + 2Nd + 4N_q N");
    assert_eq!(standard.bytes.value, "34.6 MB");
    let once = byte_row(&sizes, AttentionCount::TensorsOnce);
    assert_eq!(once.bytes.value, "33.6 MB");
    // A slider of K and V leaves Q alone.
    let longer = sizes.with_slider(Length, "14").unwrap();
    assert_eq!((longer.shape.queries, longer.shape.keys), (1, 16_384));
    // Until Q follows them again.
    let square = longer.with_self_attention(true);
    assert_eq!(square.shape.queries, 16_384);
    let typed = square.with_typed(Queries, "4").unwrap();
    assert_eq!((typed.is_self, typed.shape.queries), (false, 4));
}

#[test]
fn all_rows_count_two_lengths() {
    for (queries, keys) in [(1, 8192), (512, 4096), (4096, 512), (1000, 1000)] {
        for group in [1, 4] {
            for order in [LoopOrder::Queries, LoopOrder::Keys] {
                let shape = AttentionShape {
                    heads: 8,
                    group,
                    queries,
                    keys,
                    head_size: 128,
                    bytes_per_element: 2,
                    key_bytes_per_element: 2,
                };
                let mut sizes = AttentionSizes::default().of_program(typed_f16(shape));
                sizes.order = order;
                let cut: Tiles = Tiles::new(&shape, sizes.on_chip_bytes(default_device()));
                for (count, bytes) in [
                    (AttentionCount::ScoresInMemory, shape.standard_bytes()),
                    (
                        AttentionCount::TilesFetchedAnew,
                        shape.forward_bytes(&cut, order),
                    ),
                    (AttentionCount::TensorsOnce, shape.compulsory_bytes()),
                ] {
                    let row = byte_row(&sizes, count);
                    assert_eq!(row.bytes.value, format_bytes(bytes), "{count:?} {shape:?}");
                    // The terms give the same sum.
                    let terms = row
                        .bytes
                        .term
                        .unwrap()
                        .terms()
                        .iter()
                        .map(|term| term.number.value())
                        .sum::<f64>();
                    assert!((terms - bytes as f64).abs() < 1.0, "{count:?} {shape:?}");
                }
            }
        }
    }
}

#[test]
fn figures_are_those_of_the_papers() {
    // FlashAttention: N = 1024, d = 64, 192 KiB on chip.
    let mut sizes = typed(&[(Length, "1024"), (Heads, "1024"), (OnChip, "192")]);
    let [of_keys, of_queries] = tile_rows(&sizes, default_device());
    assert_eq!((&*of_keys.rows.value, &*of_keys.count.value), ("384", "3"));
    assert_eq!(
        (&*of_queries.rows.value, &*of_queries.count.value),
        ("64", "16")
    );
    let tiled = byte_row(&sizes, AttentionCount::TilesFetchedAnew);
    assert_eq!(tiled.bytes.formula, "2Nd + T_r · 2Nd + N");
    sizes.order = LoopOrder::Keys;
    let tiled = byte_row(&sizes, AttentionCount::TilesFetchedAnew);
    let cut: Tiles = Tiles::new(&sizes.shape, 192 * 1024);
    let forward = sizes.shape.forward_bytes(&cut, LoopOrder::Keys);
    assert!(tiled.bytes.formula.ends_with("T_c (3Nd + 4N)"), "{tiled:?}");
    assert_eq!(tiled.bytes.value, format_bytes(forward));
    let standard = byte_row(&sizes, AttentionCount::ScoresInMemory);
    assert_eq!(standard.factor.value, "1.00×");
}

#[test]
fn the_cache_is_named_where_it_serves_the_tiles() {
    let h200 = device("h200").unwrap();
    let fits = notes(&AttentionSizes::default(), h200);
    assert!(
        fits[0].contains("fit in the last-level cache of"),
        "{fits:?}"
    );
    let long = notes(&typed(&[(Length, "1048576"), (HeadSize, "256")]), h200);
    assert!(
        long[0].contains("more than the last-level cache of"),
        "{long:?}"
    );
}

#[test]
fn heads_that_share_keys_are_counted_and_said() {
    let mut sizes = typed(&[(Length, "2048"), (Heads, "16")]);
    sizes.shape.group = 4;
    let once = byte_row(&sizes, AttentionCount::TensorsOnce);
    assert_eq!(once.bytes.formula, "2Nd + 2Nd / g");
    // Q and the result of 16 heads, K and V of 4: 2048 x 64 elements of two bytes each.
    assert_eq!(once.bytes.exact().unwrap(), "10,485,760 B");
    let notes = notes(&sizes, default_device());
    assert!(notes[0].contains("g = 4 query heads"), "{notes:?}");
}

#[test]
fn the_memory_on_chip_is_the_device_s_until_it_is_chosen() {
    let h200 = device("h200").unwrap();
    assert_eq!(AttentionSizes::default().value(OnChip, h200), 227);
    assert_eq!(typed(&[(OnChip, "64")]).value(OnChip, h200), 64);
}

#[test]
fn both_lengths_are_those_of_the_programs_attention() {
    let of_program = AttentionShape {
        heads: 3,
        group: 1,
        queries: 5,
        keys: 7,
        head_size: 11,
        bytes_per_element: 4,
        key_bytes_per_element: 4,
    };
    let taken = AttentionSizes::default().of_program(typed_f16(of_program));
    assert_eq!(
        (taken.shape.queries, taken.shape.keys, taken.shape.heads),
        (5, 7, 3)
    );
}

#[test]
fn the_tab_follows_type_and_sizes_of_the_program_until_a_size_is_chosen() {
    let in_program = |dtype: DType| TypedAttention {
        shape: AttentionShape {
            bytes_per_element: dtype.size().addressed_bytes(),
            key_bytes_per_element: dtype.size().addressed_bytes(),
            ..AttentionSizes::default().shape
        },
        dtype: Some(dtype),
    };
    let [f32, f16] = [DType::F32, DType::F16].map(in_program).map(Some);
    let mut choice = AttentionChoice::default();
    assert_eq!(choice.sizes(f32).shape.bytes_per_element, 4);
    assert_eq!(
        choice.sizes(f32).type_words(f32),
        "f32, 4 bytes per element"
    );
    assert_eq!(choice.sizes(f16).shape.bytes_per_element, 2);
    // Neither is in the program.
    let other = choice.sizes(f32).with_typed(OnChip, "64").unwrap();
    choice = choice.with(other, f32);
    assert_eq!(
        choice.sizes(f16).type_words(f16),
        "f16, 2 bytes per element"
    );
    assert_eq!(choice.sizes(f16).own_on_chip_bytes, Some(64 * 1024));

    let longer = choice.sizes(f32).with_typed(Length, "4096").unwrap();
    choice = choice.with(longer, f32);
    assert_eq!(choice.sizes(f16), longer);
    assert_eq!(
        longer.type_words(f16),
        "f32, 4 bytes per element. The program has f16, 2 bytes per element."
    );
    // As the button does it.
    choice = choice.with(longer.of_program(f16.unwrap()), f16);
    assert_eq!(choice.sizes(f32).shape, f32.unwrap().shape);
}

/// Centres of the points in this role.
fn points(role: Role, sizes: &AttentionSizes) -> Vec<(f64, f64)> {
    let marks = scene(sizes, device("h200").unwrap(), (600.0, 360.0)).marks;
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
    let sizes = AttentionSizes::default();
    let rise = |role| {
        let points = points(role, &sizes);
        // The last two lengths, where the square leads.
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
    let sizes = typed(&[(Length, "3000")]);
    let drawn = scene(&sizes, device("h200").unwrap(), (320.0, 240.0));
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
    let sizes = AttentionSizes::default();
    let marks = scene(&sizes, device("h200").unwrap(), (600.0, 360.0)).marks;
    let titles: Vec<String> = (marks.into_iter().filter(|m| m.role == Role::AxisTitle))
        .filter_map(|mark| match mark.shape {
            Shape::Text { text, .. } => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(titles, ["sequence length N", "memory traffic"]);
}
