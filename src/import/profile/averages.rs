//! The table that `key_averages().table()` of `torch.profiler` prints.

use super::sums::{Sum, launches_of_one_call};
use super::{Kind, Names, Profile, ProfileError};

/// Most bytes of such a table.
const MAX_BYTES: usize = 8_000_000;

/// Reads a printed table in slices.
#[derive(Default)]
pub(super) struct AveragesReader {
    text: Vec<u8>,
}

/// The columns that count, by their characters in a line.
struct Columns<'a> {
    ends: Vec<(usize, usize)>,
    head: &'a str,
}

impl AveragesReader {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), ProfileError> {
        self.text.extend_from_slice(bytes);
        if self.text.len() > MAX_BYTES {
            return Err(ProfileError::TooLarge {
                most_mb: MAX_BYTES / 1_000_000,
            });
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Profile, ProfileError> {
        let text = String::from_utf8_lossy(&self.text);
        let mut lines = text.lines();
        let columns = Columns::find(&mut lines).ok_or(ProfileError::NoAverages)?;
        let gpu = ["Self CUDA", "Self XPU", "Self HIP", "Self PrivateUse1"];
        let gpu = gpu.iter().find_map(|name| columns.named(name));
        let (Some(name), Some(cpu), Some(gpu), Some(calls)) = (
            columns.named("Name"),
            columns.named("Self CPU"),
            gpu,
            columns.named("# of Calls"),
        ) else {
            return Err(ProfileError::NoGpuInAverages);
        };
        let mut names = Names::default();
        let mut sums = Vec::new();
        for line in lines {
            let [name, cpu, gpu, calls] =
                [name, cpu, gpu, calls].map(|column| columns.field(line, column));
            let (Some(cpu_s), Some(total_s), Ok(launches)) =
                (seconds(cpu), seconds(gpu), calls.parse())
            else {
                continue;
            };
            // An operator takes time of the CPU, a kernel none. Ranges stand among the kernels.
            if cpu_s > 0.0 || total_s <= 0.0 || is_range(name) {
                continue;
            }
            sums.push(Sum {
                name: names.intern(name)?,
                launches,
                total_s,
            });
        }
        if sums.is_empty() {
            return Err(ProfileError::NoGpuInAverages);
        }
        Ok(Profile {
            kind: Kind::Averages,
            program: None,
            digest: None,
            text: None,
            device: None,
            probe: None,
            torch: None,
            runs: vec![launches_of_one_call(&sums)?],
            passed_over: 0,
        })
    }
}

/// Whether a row without time of the CPU is no kernel: a range, a copy, or an operator.
fn is_range(name: &str) -> bool {
    [
        "ProfilerStep",
        "Torch-Compiled Region",
        "CompiledFunction",
        "##",
        "aten::",
        "Memcpy ",
        "Memset ",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}

impl<'a> Columns<'a> {
    /// The columns under the first rule of dashes, after which `lines` go on.
    fn find(lines: &mut std::str::Lines<'a>) -> Option<Self> {
        let is_rule =
            |line: &str| line.starts_with("---") && line.trim_matches(['-', ' ']).is_empty();
        let rule = lines.find(|line| is_rule(line))?;
        let head = lines.next()?;
        lines.next().filter(|line| is_rule(line))?;
        let mut ends = Vec::new();
        let mut start = None;
        for (at, c) in rule.chars().chain(std::iter::once(' ')).enumerate() {
            match (c, start) {
                ('-', None) => start = Some(at),
                (' ', Some(from)) => {
                    ends.push((from, at));
                    start = None;
                }
                _ => {}
            }
        }
        Some(Self { ends, head })
    }

    fn named(&self, name: &str) -> Option<usize> {
        (0..self.ends.len()).find(|&column| self.field(self.head, column) == name)
    }

    /// The text of a line in a column, without blanks.
    fn field<'b>(&self, line: &'b str, column: usize) -> &'b str {
        let Some(&(from, to)) = self.ends.get(column) else {
            return "";
        };
        let byte = |at: usize| {
            line.char_indices()
                .nth(at)
                .map_or(line.len(), |(byte, _)| byte)
        };
        line.get(byte(from)..byte(to)).unwrap_or_default().trim()
    }
}

/// Seconds of `12.345us`.
fn seconds(text: &str) -> Option<f64> {
    let units = [("us", 1e-6), ("ms", 1e-3), ("ns", 1e-9), ("s", 1.0)];
    let (number, to_s) = units
        .iter()
        .find_map(|(unit, to_s)| Some((text.strip_suffix(unit)?, to_s)))?;
    let number: f64 = number.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * to_s)
}
