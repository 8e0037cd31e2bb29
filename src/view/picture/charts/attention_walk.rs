//! Attention tile by tile: Q on the left, K above, V below and the result on the right of the
//! scores, of which only one tile exists at a time; beside them what is on chip.

use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::marks::{line, rect, text};
use crate::picture::charts::scene::{Anchor, FONT_PX, Label, Mark, Role, Scene};
use crate::present::attention::{AttentionWalk, RowUpdate, bytes_so_far, on_chip_rows, walk_words};
use crate::present::format::{format_bytes, format_exact};
use fuseline_core::fusion::attention::AttentionShape;
use std::ops::Range;

/// Width of Q and of the result, height of K and V. True proportions would make them too thin to
/// see.
const STRIP: f64 = 24.0;
const GAP: f64 = 8.0;
/// Around everything.
const MARGIN: f64 = 4.0;
/// Above the strips, for their letters.
const LETTERS: f64 = 16.0;
/// A side is at least this long, so that it can be seen.
const LEAST_SIDE: f64 = 14.0;
/// A tile is drawn at least this long.
const LEAST_TILE: f64 = 1.5;
/// Lines between tiles are drawn where they are at least this far apart.
const LEAST_LINE_SPACING: f64 = 4.0;
/// Of the panel that says what is on chip, beside the matrices where both fit.
const PANEL_WIDTH: f64 = 270.0;
const PANEL_HEIGHT: f64 = 272.0;
const LINE_HEIGHT: f64 = 18.0;
const BAR_HEIGHT: f64 = 12.0;
/// The width of the matrices from which the panel stands beside them.
const LEAST_BESIDE: f64 = 150.0;

/// Draws a position of the kernel into a frame of `size` units; a narrow one grows downwards.
pub fn scene(
    walk: &AttentionWalk,
    update: Option<&RowUpdate>,
    (width, height): (f64, f64),
) -> Scene {
    let is_beside = width - PANEL_WIDTH - 2.0 * GAP >= LEAST_BESIDE;
    let matrices = if is_beside {
        (width - PANEL_WIDTH - 2.0 * GAP, height)
    } else {
        (width, width.min(height))
    };
    let places = Places::new(walk, matrices);
    let panel = if is_beside {
        (places.result.right + 3.0 * GAP, MARGIN)
    } else {
        (MARGIN, places.bottom() + GAP)
    };
    let mut marks = Vec::new();
    push_matrices(walk, &places, &mut marks);
    push_panel(walk, update, panel, width - panel.0 - MARGIN, &mut marks);
    let bottom = (panel.1 + PANEL_HEIGHT).max(places.bottom()) + MARGIN;
    let description = format!(
        "{}. Q is on the left, K above, V below, the result on the right. The scores between them are never in memory: only the framed tile exists.",
        walk_words(walk)
    );
    Scene::new(
        (width, bottom),
        "Attention tile by tile",
        description,
        marks,
    )
}

/// Where the matrices are. One scale for rows of Q and rows of K.
struct Places {
    scores: Bounds,
    queries: Bounds,
    keys: Bounds,
    values: Bounds,
    result: Bounds,
    /// Pixels of one row of Q, and of one row of K.
    per_query: f64,
    per_key: f64,
}

impl Places {
    fn new(walk: &AttentionWalk, (width, height): (f64, f64)) -> Self {
        let shape = &walk.sizes.shape;
        let room = |length: f64| (length - 2.0 * (STRIP + GAP + MARGIN)).max(40.0);
        let (room_x, room_y) = (room(width), room(height - LETTERS));
        let (rows, columns) = (shape.queries.max(1) as f64, shape.keys.max(1) as f64);
        let scale = (room_x / columns).min(room_y / rows);
        let (across, down) = (
            (columns * scale).max(LEAST_SIDE),
            (rows * scale).max(LEAST_SIDE),
        );
        let left = MARGIN + STRIP + GAP;
        let top = MARGIN + LETTERS + STRIP + GAP;
        let scores = Bounds {
            left,
            top,
            right: left + across,
            bottom: top + down,
        };
        Self {
            queries: Bounds {
                left: MARGIN,
                right: MARGIN + STRIP,
                ..scores
            },
            keys: Bounds {
                top: top - GAP - STRIP,
                bottom: top - GAP,
                ..scores
            },
            values: Bounds {
                top: scores.bottom + GAP,
                bottom: scores.bottom + GAP + STRIP,
                ..scores
            },
            result: Bounds {
                left: scores.right + GAP,
                right: scores.right + GAP + STRIP,
                ..scores
            },
            per_query: down / rows,
            per_key: across / columns,
            scores,
        }
    }

    fn bottom(&self) -> f64 {
        self.values.bottom
    }

    /// These rows of Q in a matrix that stands.
    fn rows(&self, of: Bounds, rows: &Range<u64>) -> Bounds {
        let top = self.scores.top + self.per_query * rows.start as f64;
        let bottom = self.scores.top + self.per_query * rows.end as f64;
        Bounds {
            top,
            bottom: bottom.max(top + LEAST_TILE),
            ..of
        }
    }

    /// These rows of K in a matrix that lies.
    fn columns(&self, of: Bounds, rows: &Range<u64>) -> Bounds {
        let left = self.scores.left + self.per_key * rows.start as f64;
        let right = self.scores.left + self.per_key * rows.end as f64;
        Bounds {
            left,
            right: right.max(left + LEAST_TILE),
            ..of
        }
    }
}

fn filled(role: Role, bounds: Bounds) -> Mark {
    rect(
        role,
        (bounds.left, bounds.top),
        (bounds.right, bounds.bottom),
    )
}

fn push_matrices(walk: &AttentionWalk, places: &Places, marks: &mut Vec<Mark>) {
    let shape = &walk.sizes.shape;
    let queries = walk.tiles.rows_of_queries(shape, walk.step.query_tile);
    let keys = walk.tiles.rows_of_keys(shape, walk.step.key_tile);
    let sides = |rows: u64, width: u32| {
        let size = rows.saturating_mul(shape.head_size);
        let bytes = format_bytes(size.saturating_mul(width.into()));
        vec![
            ("rows of one head", format_exact(rows.into())),
            ("columns", format_exact(shape.head_size.into())),
            ("bytes", bytes),
        ]
    };
    let (of_queries, of_keys) = (shape.bytes_per_element, shape.key_bytes_per_element);
    for (bounds, letter, name, rows, width) in [
        (places.queries, "Q", "Q", shape.queries, of_queries),
        (places.keys, "K", "K, transposed", shape.keys, of_keys),
        (places.values, "V", "V, transposed", shape.keys, of_keys),
        (
            places.result,
            "O",
            "O, the result",
            shape.queries,
            of_queries,
        ),
    ] {
        marks.push(filled(Role::Operand, bounds).named(Label::new(name, sides(rows, width))));
        let (at, anchor) = match letter {
            "K" | "V" => (
                (
                    bounds.left - 6.0,
                    f64::midpoint(bounds.top, bounds.bottom) + FONT_PX / 3.0,
                ),
                Anchor::End,
            ),
            _ => (
                (f64::midpoint(bounds.left, bounds.right), bounds.top - 5.0),
                Anchor::Middle,
            ),
        };
        marks.push(text(Role::TileText, at, anchor, letter));
    }

    let score_bytes = shape
        .queries
        .saturating_mul(shape.keys)
        .saturating_mul(shape.bytes_per_element.into());
    let facts = vec![
        ("in memory", "never".to_owned()),
        ("three kernels would write", format_bytes(score_bytes)),
    ];
    let ghost = filled(Role::Outline, places.scores);
    marks.push(ghost.named(Label::new("the scores of one head", facts)));
    push_walked(walk, places, &queries, &keys, marks);
    push_lines(walk, places, marks);

    for (bounds, role) in [
        (places.rows(places.queries, &queries), Role::TileStep),
        (places.columns(places.keys, &keys), Role::TileStep),
        (places.columns(places.values, &keys), Role::TileStep),
        (places.rows(places.result, &queries), Role::TileFrame),
    ] {
        marks.push(filled(role, bounds));
    }
    let tile = places.rows(places.columns(places.scores, &keys), &queries);
    let label = Label::new(
        "a tile of the scores, on chip",
        vec![
            ("rows", format_exact((queries.end - queries.start).into())),
            ("columns", format_exact((keys.end - keys.start).into())),
        ],
    );
    marks.push(filled(Role::TileFrame, tile).named(label));
}

/// The tiles that were computed and dropped, and the rows of the result that are done.
fn push_walked(
    walk: &AttentionWalk,
    places: &Places,
    queries: &Range<u64>,
    keys: &Range<u64>,
    marks: &mut Vec<Mark>,
) {
    let scores = places.scores;
    let mut walked = Vec::new();
    if walk.bytes.is_some() {
        let above = 0..queries.start;
        walked.push(places.rows(scores, &above));
        walked.push(places.rows(places.columns(scores, &(0..keys.start)), queries));
        if !above.is_empty() {
            let done = places.rows(places.result, &above);
            marks.push(filled(Role::TileStrip, done));
        }
    } else {
        walked.push(places.columns(scores, &(0..keys.start)));
        walked.push(places.columns(places.rows(scores, &(0..queries.start)), keys));
    }
    let is_seen = |bounds: &Bounds| bounds.width() > LEAST_TILE && bounds.height() > LEAST_TILE;
    marks
        .extend((walked.into_iter().filter(is_seen)).map(|bounds| filled(Role::WaveStrip, bounds)));
}

/// Lines between tiles, where there is room.
fn push_lines(walk: &AttentionWalk, places: &Places, marks: &mut Vec<Mark>) {
    let scores = places.scores;
    let tiles = &walk.tiles;
    if places.per_key * tiles.key_rows as f64 >= LEAST_LINE_SPACING {
        for tile in 1..tiles.key_tiles {
            let x = scores.left + places.per_key * tile.saturating_mul(tiles.key_rows) as f64;
            marks.push(line(Role::Mesh, &[(x, scores.top), (x, scores.bottom)]));
        }
    }
    if places.per_query * tiles.query_rows as f64 >= LEAST_LINE_SPACING {
        for tile in 1..tiles.query_tiles {
            let y = scores.top + places.per_query * tile.saturating_mul(tiles.query_rows) as f64;
            marks.push(line(Role::Mesh, &[(scores.left, y), (scores.right, y)]));
        }
    }
}

/// What is on chip, one row of the tile, and the bytes so far.
fn push_panel(
    walk: &AttentionWalk,
    update: Option<&RowUpdate>,
    (left, top): (f64, f64),
    width: f64,
    marks: &mut Vec<Mark>,
) {
    let mut baseline = top + FONT_PX;
    let mut next = |marks: &mut Vec<Mark>, cells: &[(f64, &str)], role: Role| {
        for &(x, words) in cells {
            marks.push(text(role, (left + x, baseline), Anchor::Start, words));
        }
        baseline += LINE_HEIGHT;
        baseline
    };
    next(marks, &[(0.0, "On chip")], Role::TileText);
    for [what, sides, becomes] in &on_chip_rows(walk, update) {
        let cells = [(0.0, what.as_str()), (56.0, sides), (136.0, becomes)];
        next(marks, &cells, Role::BarText);
    }
    if let Some(update) = update {
        next(
            marks,
            &[(0.0, "First row of the tile, made-up scores")],
            Role::TileText,
        );
        next(marks, &[(0.0, &update.maximum_text())], Role::BarText);
        next(marks, &[(0.0, &update.sum_text())], Role::BarText);
    }
    let Some(bars) = bytes_so_far(walk) else {
        return;
    };
    let mut line_top = next(
        marks,
        &[(0.0, "Memory traffic of one head so far")],
        Role::TileText,
    );
    let one = AttentionShape {
        heads: 1,
        group: 1,
        ..walk.sizes.shape
    };
    let most = one.standard_bytes::<u64>().max(1) as f64;
    for ((name, bytes, words), role) in bars.into_iter().zip([Role::TileStep, Role::TileStrip]) {
        let bar_top = line_top - FONT_PX;
        let length = (bytes as f64 / most * (width - 8.0)).max(1.0);
        let label = Label::new(name, vec![("so far", words.clone())]);
        let corners = [(left, bar_top), (left + length, bar_top + BAR_HEIGHT)];
        marks.push(rect(role, corners[0], corners[1]).named(label));
        let at = (left, bar_top + BAR_HEIGHT + FONT_PX + 2.0);
        marks.push(text(
            Role::BarText,
            at,
            Anchor::Start,
            format!("{name}: {words}"),
        ));
        line_top = bar_top + BAR_HEIGHT + 2.0 * FONT_PX + 10.0;
    }
}
