//! The waves of a matmul: its tiles coloured by wave, as far as they are computed, and below them
//! the slots of all waves.
#![allow(clippy::cast_possible_truncation, reason = "colours are few")]

use crate::picture::charts::marks::{text, text_width};
use crate::picture::charts::scene::{Anchor, Label, Role};
use crate::picture::charts::tiling::{Picture, exact};
use crate::picture::charts::tiling_places::Span;
use crate::present::format::{format_bytes, format_percent};
use crate::present::names::counted;
use fuseline_core::analysis::tiling::{TileBlock, Tiled};
use std::ops::Range;

/// Waves, or groups of waves, that are drawn one by one.
const MOST_BANDS: u64 = 48;
/// Colours that waves take in turn.
const WAVE_COLORS: u64 = 6;

impl Picture<'_> {
    /// The tiles of the first product, coloured by wave.
    pub(super) fn waves(&mut self) {
        let tiled = self.tiled;
        let one = tiled.grid.tiles_of_one();
        self.span(Role::Outline, self.places.output());
        let share = self.progress.steps as f64 / tiled.steps().max(1) as f64;
        for block in self.computed_blocks() {
            // The sums of all tiles of the wave grow with each step, each tile by itself.
            for row in block.rows.clone() {
                let rows = row..row + 1;
                let columns = block.columns.clone();
                let span = self.places.tiles(&TileBlock { rows, columns });
                let top = span.bottom - span.height() * share;
                self.span(Role::WaveStrip, Span { top, ..span });
            }
        }
        let waves = one.div_ceil(tiled.wave_tiles).min(self.progress.waves);
        for band in bands(tiled, waves) {
            let (start, end) = (
                tiled.tiles_of_wave(band.start).start,
                tiled.tiles_of_wave(band.end - 1).end,
            );
            let label = wave_label(tiled, &band);
            let mut blocks = tiled.grid.blocks(start..end.min(one));
            let area = |block: &TileBlock| {
                (block.rows.end - block.rows.start)
                    .saturating_mul(block.columns.end - block.columns.start)
            };
            blocks.sort_by_key(|block| std::cmp::Reverse(area(block)));
            for (place, block) in blocks.iter().enumerate() {
                let mark = self.places.tiles(block).mark(wave_role(&band));
                if place == 0 {
                    self.named(mark, label.clone());
                } else {
                    self.marks.push(mark.named(label.clone()));
                }
            }
        }
    }

    /// The tiles of the wave that has taken some of its steps.
    fn computed_blocks(&self) -> Vec<TileBlock> {
        match self.progress.steps {
            0 => Vec::new(),
            _ => self.blocks_of(self.progress.waves),
        }
    }

    /// The slots of all waves in order, the idle ones of the last hatched.
    pub(super) fn slots(&mut self) {
        let tiled = self.tiled;
        let waves = tiled.waves();
        let strip = self.places.slots();
        let x_of = |wave: f64| strip.left + (strip.right - strip.left) * wave / waves as f64;
        let caption = format!(
            "{} on {} multiprocessors",
            counted(usize::try_from(waves).unwrap_or(usize::MAX), "wave"),
            exact(tiled.wave_tiles)
        );
        self.marks.push(text(
            Role::AxisTitle,
            (strip.left, strip.top - 6.0),
            Anchor::Start,
            caption.clone(),
        ));
        let efficiency = format!(
            "wave efficiency {}",
            format_percent(tiled.tiling.wave_efficiency * 100.0)
        );
        let room = strip.right - strip.left - text_width(&caption);
        if room > text_width(&efficiency) + 12.0 {
            let at = (strip.right, strip.top - 6.0);
            self.marks
                .push(text(Role::WaveEfficiency, at, Anchor::End, efficiency));
        }
        for band in bands(tiled, waves) {
            let cell = Span {
                left: x_of(band.start as f64),
                right: x_of(band.end as f64),
                ..strip
            };
            let is_done = band.end <= self.progress.waves;
            let role = if is_done {
                wave_role(&band)
            } else {
                Role::Operand
            };
            self.named(cell.mark(role), wave_label(tiled, &band));
        }
        let busy = tiled.grid.tiles() as f64 / tiled.wave_tiles as f64;
        if busy < waves as f64 {
            let idle = Span {
                left: x_of(busy),
                ..strip
            };
            let slots = waves.saturating_mul(tiled.wave_tiles) - tiled.grid.tiles();
            let label = Label::new("idle slots of the last wave", vec![("slots", exact(slots))]);
            self.named(idle.mark(Role::TileWaste), label);
        }
    }
}

/// The waves one by one, or as many at a time as keep them few.
fn bands(tiled: &Tiled, waves: u64) -> impl Iterator<Item = Range<u64>> + use<> {
    let at_a_time = tiled.waves().div_ceil(MOST_BANDS).max(1);
    let count = waves.div_ceil(at_a_time);
    (0..count).map(move |band| {
        let start = band * at_a_time;
        start..(start + at_a_time).min(waves)
    })
}

fn wave_role(band: &Range<u64>) -> Role {
    let place = band.start / (band.end - band.start).max(1);
    Role::Wave((place % WAVE_COLORS) as u8)
}

fn wave_label(tiled: &Tiled, band: &Range<u64>) -> Label {
    let first = tiled.tiles_of_wave(band.start);
    if band.end - band.start > 1 {
        let last = tiled.tiles_of_wave(band.end - 1);
        return Label::new(
            format!("waves {} to {}", exact(band.start + 1), exact(band.end)),
            vec![("tiles", exact(last.end - first.start))],
        );
    }
    let busy = first.end - first.start;
    let read = format_bytes(tiled.bytes_of(tiled.shared_strips(first)));
    Label::new(
        format!("wave {}", exact(band.start + 1)),
        vec![
            (
                "tiles",
                format!("{} of {} slots", exact(busy), exact(tiled.wave_tiles)),
            ),
            ("reads, strips shared", read),
        ],
    )
}
