//! The latest items of a stream, up to a limit, so that a long trace fits into memory.

/// Items with their starts, of which the latest are kept.
pub(super) struct Latest<T> {
    /// The start of each item, and the item.
    items: Vec<(f64, T)>,
    /// How many are kept at the end.
    most: usize,
    passed_over: PassedOver,
}

/// The items that were too early to be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassedOver {
    /// How many items.
    pub(super) count: usize,
    /// When the last of them started.
    pub(super) until_s: f64,
}

impl<T> Latest<T> {
    /// `most` is at least 1.
    pub(super) fn new(most: usize) -> Self {
        Self {
            items: Vec::new(),
            most,
            passed_over: PassedOver {
                count: 0,
                until_s: f64::NEG_INFINITY,
            },
        }
    }

    /// Takes one more item, in any order. `O(1)` on average: twice as many items as are kept
    /// collect before the early ones are dropped.
    pub(super) fn push(&mut self, start_s: f64, item: T) {
        self.items.push((start_s, item));
        if self.items.len() >= self.most * 2 {
            self.pass_over();
        }
    }

    fn pass_over(&mut self) {
        let excess = self.items.len().saturating_sub(self.most);
        if excess == 0 {
            return;
        }
        self.items
            .select_nth_unstable_by(excess, |(a, _), (b, _)| a.total_cmp(b));
        for (start_s, _) in self.items.drain(..excess) {
            self.passed_over.until_s = self.passed_over.until_s.max(start_s);
        }
        self.passed_over.count += excess;
    }

    /// The kept items by their starts, and what was passed over.
    pub(super) fn finish(mut self) -> (Vec<(f64, T)>, PassedOver) {
        self.pass_over();
        self.items.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        (self.items, self.passed_over)
    }
}
