//! How often a launch is repeated, so that clocks that are quantised to 0.1 ms measure it.

/// The target time of all repetitions in seconds, if the GPU has a clock.
pub const WANTED_S: f64 = 0.005;
/// The target time of all repetitions in seconds, if only the page has a clock. Its times include
/// the round trip to the GPU.
pub const WANTED_WITHOUT_CLOCK_S: f64 = 0.05;
/// The longest wait for the GPU, in seconds.
pub const LONGEST_WAIT_S: f64 = 2.0;
/// The longest wait for a compiler or an upload, in seconds. The GPU is free for others meanwhile.
pub const LONGEST_COMPILATION_S: f64 = 20.0;
/// The idle time in seconds after which a GPU may have lowered its clock.
pub const COLD_AFTER_S: f64 = 0.5;
/// The time in seconds that a cold GPU works before times count. An H100 at a sixth of its clock
/// raises it after 0.27 s.
pub const WARM_UP_S: f64 = 0.4;
/// Rounds of repetitions, of which the median counts.
pub const ROUNDS: usize = 5;
/// All rounds of a launch end after this long, in seconds.
const LONGEST_ROUNDS_S: f64 = 0.5;
/// Most launches in one submission.
const MAX_LAUNCHES: u32 = 4096;
/// Most growth from one try to the next: a time below the clock's resolution says nothing about how
/// much longer the next try has to be.
const GROWTH: f64 = 16.0;

/// The search for the number of repetitions of `launches` launches.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeats {
    /// How often the launches are repeated in the next submission.
    pub count: u32,
    launches: u32,
    wanted_s: f64,
    rounds_s: Vec<f64>,
}

impl Repeats {
    /// Starts with one repetition.
    pub const fn new(launches: u32, wanted_s: f64) -> Self {
        Self {
            count: 1,
            launches,
            wanted_s,
            rounds_s: Vec::new(),
        }
    }

    /// Takes the time of a submission. Returns the time of one repetition in seconds once enough of
    /// them are measured, else `None`; [`Repeats::count`] is then that of the next submission.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small count, finite and positive"
    )]
    pub fn measured(&mut self, time_s: f64) -> Option<f64> {
        let most = (MAX_LAUNCHES / self.launches.max(1)).max(1);
        if time_s < self.wanted_s && self.count < most {
            // A margin of 20 %, so that noise in this time seldom costs a further try.
            let growth = (1.2 * self.wanted_s / time_s.max(1e-9)).clamp(2.0, GROWTH);
            self.count = ((f64::from(self.count) * growth).ceil() as u32).min(most);
            return None;
        }
        self.rounds_s.push(time_s);
        let all_s: f64 = self.rounds_s.iter().sum();
        let is_done = self.rounds_s.len() >= ROUNDS || all_s + time_s > LONGEST_ROUNDS_S;
        is_done.then(|| median(&mut self.rounds_s) / f64::from(self.count))
    }
}

/// The median; 0 if there are no values.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match (values.get(middle.wrapping_sub(1)), values.get(middle)) {
        (Some(below), Some(above)) if values.len().is_multiple_of(2) => {
            f64::midpoint(*below, *above)
        }
        (_, Some(middle)) => *middle,
        _ => 0.0,
    }
}
