//! A matmul in tiles, to scale: A on the left, B above, the output in the corner between them,
//! coloured by wave.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "colours and characters are few"
)]

use crate::picture::charts::marks::{line, rect, text, text_width};
use crate::picture::charts::scene::{Anchor, Label, Mark, Point, Role, Scene, Shape};
use crate::picture::charts::tiling_places::{Span, TilingGeometry};
use crate::present::format::{format_bytes, format_exact, format_percent};
use crate::present::names::{op_name, short_name};
use crate::present::tiling::{TilingReport, first_refused, needs_text, sizes_text, tile_text};
use fuseline_core::Analysis;
use fuseline_core::analysis::tiling::{Needs, TileBlock, TileProgress, Tiled, merged};
use fuseline_core::model::element_size::ElementSize;
use std::ops::Range;

/// Lines between tiles are drawn where they are at least this far apart.
const LEAST_LINE_SPACING: f64 = 4.0;
/// Characters of an op's name, at most.
const NAME_CHARS: usize = 24;

/// Draws a matmul in its tiles, computed as far as the position `at` of [`Tiled::positions`], into
/// a frame of `size` units. At most a few hundred marks, however many tiles there are.
pub fn scene(analysis: &Analysis, report: &TilingReport, at: u64, size: (f64, f64)) -> Scene {
    let places = TilingGeometry::new(&report.tiled, size);
    let mut picture = Picture {
        tiled: &report.tiled,
        progress: report.tiled.progress(at),
        places,
        marks: Vec::new(),
        focus_order: Vec::new(),
    };
    picture.operands();
    picture.waves();
    picture.lines();
    picture.waste();
    picture.tile(analysis, report);
    picture.slots();
    let name = op_name(&analysis.graph, report.tiled.matmul.op);
    let mut scene = Scene::new(
        (size.0, places.height()),
        format!("{name} in tiles of {}", tile_text(report.tiled.tile)),
        description(&report.tiled),
        picture.marks,
    );
    scene.focus_order = picture.focus_order;
    scene
}

pub(super) struct Picture<'a> {
    pub(super) tiled: &'a Tiled,
    pub(super) progress: TileProgress,
    pub(super) places: TilingGeometry,
    pub(super) marks: Vec<Mark>,
    focus_order: Vec<usize>,
}

impl Picture<'_> {
    /// Adds a mark that the arrow keys reach.
    pub(super) fn named(&mut self, mark: Mark, label: Label) {
        self.focus_order.push(self.marks.len());
        self.marks.push(mark.named(label));
    }

    pub(super) fn span(&mut self, role: Role, span: Span) {
        self.marks.push(span.mark(role));
    }

    /// A and B with their sizes, and the strips of the first wave in them.
    fn operands(&mut self) {
        let matmul = self.tiled.matmul;
        let [left, right] = matmul.element_sizes;
        let bytes = |rows: u64, columns: u64, size: ElementSize| {
            format_bytes(
                size.bytes_of(rows.saturating_mul(columns))
                    .unwrap_or(u64::MAX),
            )
        };
        let shape = |rows: u64, columns: u64| format!("{} × {}", exact(rows), exact(columns));
        for (span, heading, rows, columns, size) in [
            (
                self.places.left(),
                "A, left operand",
                matmul.rows,
                matmul.inner,
                left,
            ),
            (
                self.places.right(),
                "B, right operand",
                matmul.inner,
                matmul.columns,
                right,
            ),
        ] {
            let label = Label::new(
                heading,
                vec![
                    ("shape", shape(rows, columns)),
                    ("bytes", bytes(rows, columns, size)),
                ],
            );
            self.named(span.mark(Role::Operand), label);
        }
        let blocks = self.blocks_of(self.shown_wave());
        let strips = |side: fn(&TileBlock) -> &Range<u64>| {
            merged(blocks.iter().map(|block| side(block).clone()).collect())
        };
        for rows in strips(|block| &block.rows) {
            self.span(Role::WaveStrip, self.places.rows_of_left(&rows));
        }
        for columns in strips(|block| &block.columns) {
            self.span(Role::WaveStrip, self.places.columns_of_right(&columns));
        }
        let TilingGeometry { margin, .. } = self.places;
        let (left, right) = (self.places.left(), self.places.right());
        let dimension = |letter: &str, size: u64| format!("{letter} = {}", exact(size));
        let [k, n] =
            [("K", matmul.inner), ("N", matmul.columns)].map(|(l, size)| dimension(l, size));
        let middle = |span: Span| {
            (
                f64::midpoint(span.left, span.right),
                f64::midpoint(span.top, span.bottom),
            )
        };
        let (above, centre) = (right.top - 8.0, middle(right).0);
        let title = |x: f64, anchor, words| text(Role::AxisTitle, (x, above), anchor, words);
        if left.left + text_width(&k) + 6.0 < centre - text_width(&n) / 2.0 {
            self.marks.push(title(left.left, Anchor::Start, k));
            self.marks.push(title(centre, Anchor::Middle, n));
        } else {
            let both = format!("{k}, {n}");
            self.marks.push(title(left.left, Anchor::Start, both));
        }
        self.marks.push(turned(
            (left.left - margin / 2.0 + 4.0, middle(left).1),
            dimension("M", matmul.rows),
        ));
        for (span, letter) in [(left, "A"), (right, "B")] {
            // Away from the strips of the tile.
            let (x, y) = (middle(span).0, (span.bottom - 10.0).max(middle(span).1));
            let is_wide = span.right - span.left > 24.0 && span.bottom - span.top > 18.0;
            if is_wide {
                self.marks
                    .push(text(Role::TileText, (x, y + 4.0), Anchor::Middle, letter));
            }
        }
    }

    /// The wave that is computed; the first one where all are done.
    pub(super) fn shown_wave(&self) -> u64 {
        let waves = self.progress.waves;
        if waves < self.tiled.waves() { waves } else { 0 }
    }

    /// The tiles of a wave, as far as they are of the first product.
    pub(super) fn blocks_of(&self, wave: u64) -> Vec<TileBlock> {
        self.tiled.grid.blocks(self.tiled.tiles_of_wave(wave))
    }

    /// Lines between tiles, where there is room.
    fn lines(&mut self) {
        let grid = self.tiled.grid;
        let all = self.places.output();
        let (width, height) = self.places.tile_size();
        if width >= LEAST_LINE_SPACING {
            for column in 1..grid.columns {
                let x = self.places.column(column);
                self.marks
                    .push(line(Role::TileLine, &[(x, all.top), (x, all.bottom)]));
            }
        }
        if height >= LEAST_LINE_SPACING {
            for row in 1..grid.rows {
                let y = self.places.row(row);
                self.marks
                    .push(line(Role::TileLine, &[(all.left, y), (all.right, y)]));
            }
        }
    }

    /// The waste of tiles at the edges, which compute beyond the output.
    fn waste(&mut self) {
        let Tiled {
            matmul, grid, tile, ..
        } = *self.tiled;
        let label = Label::new(
            "beyond the output",
            vec![
                (
                    "rows computed for nothing",
                    exact(grid.rows * tile.rows - matmul.rows),
                ),
                (
                    "columns",
                    exact(grid.columns * tile.columns - matmul.columns),
                ),
                (
                    "tile efficiency",
                    format_percent(self.tiled.tiling.tile_efficiency * 100.0),
                ),
            ],
        );
        let spans = self.places.waste();
        for (place, span) in spans.into_iter().enumerate() {
            let mark = span.mark(Role::TileWaste);
            if place == 0 {
                self.named(mark, label.clone());
            } else {
                self.marks.push(mark.named(label.clone()));
            }
        }
    }

    /// One tile, the strips that it reads, its step along K, and what it lacks for an op that
    /// follows.
    fn tile(&mut self, analysis: &Analysis, report: &TilingReport) {
        let tiled = self.tiled;
        let (row, column) = self.shown_tile();
        let strips = [
            self.places.rows_of_left(&(row..row + 1)),
            self.places.columns_of_right(&(column..column + 1)),
        ];
        for span in strips {
            self.span(Role::TileStrip, span);
        }
        let step = self.progress.steps.saturating_sub(1);
        for span in self.places.step(strips, tiled.tile.depth, step) {
            self.span(Role::TileStep, span);
        }
        let needed = first_refused(report).and_then(|follower| {
            let Needs::Block { rows, columns } = follower.needs else {
                return None;
            };
            let name = short_name(op_name(&analysis.graph, follower.op), NAME_CHARS);
            let heading = format!("{name} does not fit");
            let why = needs_text(analysis, tiled, follower).replace('`', "");
            let span = self.places.needed((row, column), (rows, columns));
            Some((span, Label::new(heading, vec![("", why)])))
        });
        if let Some((span, label)) = needed {
            self.named(span.mark(Role::TileNeeds), label);
        }
        let joined: Vec<&str> = report
            .followers
            .iter()
            .filter(|follower| follower.joins())
            .map(|follower| op_name(&analysis.graph, follower.op))
            .collect();
        let mut facts = vec![
            ("reads", format_bytes(tiled.bytes_of(tiled.tile_strips()))),
            ("in steps along K", exact(tiled.steps())),
        ];
        if !joined.is_empty() {
            facts.push((
                "then, on the same elements",
                short_name(&joined.join(", "), 60),
            ));
        }
        let block = TileBlock {
            rows: row..row + 1,
            columns: column..column + 1,
        };
        let mark = self.places.tiles(&block).mark(Role::TileFrame);
        let heading = format!("a tile of {} × {}", tiled.tile.rows, tiled.tile.columns);
        self.named(mark, Label::new(heading, facts));
        let (left, bottom) = (self.places.output().left, self.places.slots().top);
        let then = if joined.is_empty() {
            "no op follows on this tile".to_owned()
        } else {
            format!("then, on the same tile: {}", joined.join(", "))
        };
        let room = self.places.slots().right - left;
        let most = (room / 8.0).max(8.0);
        let shown = short_name(&then, most as usize);
        self.marks.push(text(
            Role::AxisTitle,
            (left, bottom - 26.0),
            Anchor::Start,
            shown,
        ));
    }

    /// A tile in the middle of the wave that is shown, as far as that is of the first product.
    fn shown_tile(&self) -> (u64, u64) {
        let grid = &self.tiled.grid;
        let tiles = self.tiled.tiles_of_wave(self.shown_wave());
        let last = grid.tiles_of_one().saturating_sub(1);
        grid.place(u64::midpoint(tiles.start, tiles.end).min(last))
    }
}

fn description(tiled: &Tiled) -> String {
    let batch = match tiled.matmul.batch {
        1 => String::new(),
        batch => format!(" The picture shows the first of {} products.", exact(batch)),
    };
    format!(
        "{}. Tiles of the output: {}. Waves: {}. The output is drawn to scale, with A on its left and B above it. Sides too thin to see are drawn wider. A frame marks one tile and the strips that it reads.{batch}",
        sizes_text(&tiled.matmul),
        exact(tiled.grid.tiles()),
        exact(tiled.waves()),
    )
}

fn turned(at: Point, words: String) -> Mark {
    let mut mark = text(Role::AxisTitle, at, Anchor::Middle, words);
    if let Shape::Text { turn_deg, .. } = &mut mark.shape {
        *turn_deg = -90.0;
    }
    mark
}

pub(super) fn exact(count: u64) -> String {
    format_exact(count.into())
}

impl Span {
    pub(super) fn mark(self, role: Role) -> Mark {
        rect(role, (self.left, self.top), (self.right, self.bottom))
    }
}
