//! Pairs two lists in order so that the sum of scores is largest.

/// Most pairs to score; for longer lists, only a band around the diagonal is scored.
const MAX_PAIRS: usize = 4_000_000;
/// Least half-width of the band.
const LEAST_BAND: usize = 64;

/// Pairs of indexes, ascending in both, with the largest sum of scores; `None` is no pair. Among
/// equal sums earlier partners count. Lists with more than 4 million pairs are paired in a band
/// around the diagonal: `O(rows * columns)`, and at most `O(4 million + 64 (rows + columns))`.
pub(super) fn align(
    rows: usize,
    columns: usize,
    score: impl Fn(usize, usize) -> Option<f64>,
) -> Vec<(usize, usize)> {
    if rows == 0 || columns == 0 {
        return Vec::new();
    }
    let half = (MAX_PAIRS / rows / 2).max(LEAST_BAND) + columns.div_ceil(rows);
    // The columns of a row that lie in the band.
    let band = |row: usize| {
        // Their product may have more bits than a `usize` of wasm32.
        let centre = row as u64 * columns as u64 / rows as u64;
        let centre = usize::try_from(centre).unwrap_or(columns);
        (centre.saturating_sub(half), (centre + half).min(columns))
    };
    // For each row, the step to the best sum up to each column of its band.
    let mut steps: Vec<Vec<Step>> = Vec::with_capacity(rows);
    let mut above = Sums {
        start: 0,
        sums: vec![0.0; band(0).1 + 1],
    };
    for row in 0..rows {
        let (start, end) = band(row);
        let mut own = Sums {
            start,
            sums: Vec::with_capacity(end - start + 1),
        };
        let mut of_row = Vec::with_capacity(end - start);
        own.sums.push(above.at(start));
        for column in start..end {
            let (skip_row, skip_column) = (above.at(column + 1), own.at(column));
            let mut best = if skip_column > skip_row {
                (skip_column, Step::SkipColumn)
            } else {
                (skip_row, Step::SkipRow)
            };
            if let Some(score) = score(row, column) {
                let paired = above.at(column) + score;
                if paired > best.0 {
                    best = (paired, Step::Pair);
                }
            }
            own.sums.push(best.0);
            of_row.push(best.1);
        }
        steps.push(of_row);
        above = own;
    }
    let mut pairs = Vec::new();
    let (mut row, mut column) = (rows, columns);
    while row > 0 && column > 0 {
        let (start, end) = band(row - 1);
        if column > end {
            column -= 1;
            continue;
        }
        let step = (column.checked_sub(start + 1)).and_then(|at| steps[row - 1].get(at));
        match step {
            Some(Step::Pair) => {
                (row, column) = (row - 1, column - 1);
                pairs.push((row, column));
            }
            Some(Step::SkipColumn) => column -= 1,
            // Left of the band nothing is paired.
            Some(Step::SkipRow) | None => row -= 1,
        }
    }
    pairs.reverse();
    pairs
}

#[derive(Clone, Copy)]
enum Step {
    Pair,
    SkipRow,
    SkipColumn,
}

/// The best sums of a row, from column `start` on.
struct Sums {
    start: usize,
    sums: Vec<f64>,
}

impl Sums {
    /// The best sum of the columns before this one; outside the band, the sum at its nearer end.
    fn at(&self, column: usize) -> f64 {
        let at = column.saturating_sub(self.start).min(self.sums.len() - 1);
        self.sums[at]
    }
}
