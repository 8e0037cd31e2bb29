//! A Chrome trace, event by event: of each event only what a kernel needs is kept, and of the file only its kernels.

use super::latest::Latest;
use super::place::Lines;
use super::{Kind, MAX_KERNELS, MeasuredKernel, MeasuredRun, Names, Profile, VARIANTS};
use actson::feeder::PushJsonFeeder;
use actson::parser::ParserError;
use actson::{JsonEvent, JsonParser};
use fuseline_core::json::number_of_python_at;

/// How the profiler names a step of its schedule.
const STEP: &str = "ProfilerStep#";
/// Most ranges with the name of a variant that are kept.
const MAX_RANGES: usize = 10_000;
/// Most bytes in which nothing of the file ends: no text of a profiler is so long.
const MAX_VALUE_BYTES: usize = 16 << 20;

/// Reads a trace in slices.
pub(super) struct TraceReader {
    parser: JsonParser<PushJsonFeeder>,
    lines: Lines,
    /// Where in the file something has ended last, in bytes.
    ended_at: usize,
    /// Lists and objects around the next value.
    depth: usize,
    /// Names of fields at the first depths.
    fields: [Field; MAX_FIELDS],
    /// The depth of the list of events: 1 where the file is that list.
    events_depth: Option<usize>,
    event: TraceEvent,
    found: Found,
}

/// The names of fields that count.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Field {
    #[default]
    Other,
    Events,
    Devices,
    Name,
    Category,
    Phase,
    Start,
    Duration,
    Arguments,
    Grid,
    Block,
}

/// Depth up to which names of fields are kept: list of events, event, arguments, grid.
const MAX_FIELDS: usize = 6;

impl Field {
    fn of(name: &str) -> Self {
        match name {
            "traceEvents" => Self::Events,
            "deviceProperties" => Self::Devices,
            "name" => Self::Name,
            "cat" => Self::Category,
            "ph" => Self::Phase,
            "ts" => Self::Start,
            "dur" => Self::Duration,
            "args" => Self::Arguments,
            "grid" => Self::Grid,
            "block" => Self::Block,
            _ => Self::Other,
        }
    }
}

/// What an event has said so far. Times are in microseconds.
#[derive(Default)]
struct TraceEvent {
    name: String,
    category: String,
    phase: String,
    start_us: Option<f64>,
    duration_us: Option<f64>,
    grid: Vec<u32>,
    block: Vec<u32>,
}

/// What the events have said. Times are in seconds.
struct Found {
    events: usize,
    device: Option<String>,
    kernels: Latest<MeasuredKernel>,
    /// The variants that ran on the GPU: the name and the end of each.
    variants: Latest<(&'static str, f64)>,
    /// The start and the end of the last step of the schedule on the GPU.
    last_step: Option<(f64, f64)>,
    names: Names,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            events: 0,
            device: None,
            kernels: Latest::new(MAX_KERNELS),
            variants: Latest::new(MAX_RANGES),
            last_step: None,
            names: Names::default(),
        }
    }
}

impl Default for TraceReader {
    fn default() -> Self {
        Self {
            parser: JsonParser::new(PushJsonFeeder::new()),
            lines: Lines::default(),
            ended_at: 0,
            depth: 0,
            fields: [Field::Other; MAX_FIELDS],
            events_depth: None,
            event: TraceEvent::default(),
            found: Found::default(),
        }
    }
}

impl TraceReader {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut pushed = 0;
        while pushed < bytes.len() {
            pushed += self.parser.feeder.push_bytes(&bytes[pushed..]);
            loop {
                match self.parser.next_event() {
                    Ok(Some(JsonEvent::NeedMoreInput)) => break,
                    Ok(Some(event)) => {
                        self.ended_at = self.parser.parsed_bytes();
                        self.take(event)?;
                    }
                    // Not before `finish` says that no more comes.
                    Ok(None) => return Ok(()),
                    Err(problem) => return Err(self.failure(problem, bytes)),
                }
            }
        }
        let offset = self.parser.parsed_bytes();
        if offset.saturating_sub(self.ended_at) > MAX_VALUE_BYTES {
            return Err(format!(
                "This trace has more than {} MB without an end of a value before {}, and no profiler writes so long a text.",
                MAX_VALUE_BYTES >> 20,
                self.lines.told(bytes, offset)
            ));
        }
        self.lines.pass(bytes);
        Ok(())
    }

    fn failure(&self, problem: ParserError, slice: &[u8]) -> String {
        let offset = self.parser.parsed_bytes();
        let place = self.lines.told(slice, offset);
        let rest = self.lines.from(slice, offset);
        let found = number_of_python_at(rest).map_or_else(
            || problem.to_string(),
            |word| format!("{word} is no number of JSON"),
        );
        format!(
            "This trace is no JSON from {place} on, behind {} events: {found}.",
            self.found.events
        )
    }

    fn take(&mut self, event: JsonEvent) -> Result<(), String> {
        match event {
            JsonEvent::StartObject | JsonEvent::StartArray => {
                self.open(event == JsonEvent::StartArray);
            }
            JsonEvent::EndObject | JsonEvent::EndArray => return self.close(),
            JsonEvent::FieldName => {
                if let Some(field) = self.fields.get_mut(self.depth) {
                    *field = self.parser.current_str().map_or(Field::Other, Field::of);
                }
            }
            JsonEvent::ValueString | JsonEvent::ValueInt | JsonEvent::ValueFloat => self.value(),
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, is_list: bool) {
        if is_list && self.events_depth.is_none() {
            let is_root = self.depth == 0;
            let is_named = self.depth == 1 && self.field(1) == Field::Events;
            self.events_depth = (is_root || is_named).then_some(self.depth + 1);
        }
        self.depth += 1;
        if let Some(field) = self.fields.get_mut(self.depth) {
            *field = Field::Other;
        }
        if self
            .events_depth
            .is_some_and(|events| self.depth == events + 1)
        {
            self.event = TraceEvent::default();
        }
    }

    fn close(&mut self) -> Result<(), String> {
        let is_event = self
            .events_depth
            .is_some_and(|events| self.depth == events + 1);
        if is_event {
            self.found.keep(&self.event)?;
        }
        if self.events_depth == Some(self.depth) {
            // Later lists of this name add to it.
            self.events_depth = None;
        }
        self.depth -= 1;
        Ok(())
    }

    /// The name of the field at a depth.
    fn field(&self, depth: usize) -> Field {
        self.fields.get(depth).copied().unwrap_or_default()
    }

    fn value(&mut self) {
        let Ok(text) = self.parser.current_str() else {
            return;
        };
        let Some(events) = self.events_depth else {
            // { "deviceProperties": [ { "name": ...
            if self.depth == 3 && self.field(1) == Field::Devices && self.field(3) == Field::Name {
                self.found.device.get_or_insert_with(|| text.to_owned());
            }
            return;
        };
        let event = &mut self.event;
        let inside = self.depth.saturating_sub(events);
        let [own, argument] = [events + 1, events + 2]
            .map(|depth| self.fields.get(depth).copied().unwrap_or_default());
        match (inside, own) {
            (1, Field::Name) => text.clone_into(&mut event.name),
            (1, Field::Category) => text.clone_into(&mut event.category),
            (1, Field::Phase) => text.clone_into(&mut event.phase),
            (1, Field::Start) => event.start_us = text.parse().ok(),
            (1, Field::Duration) => event.duration_us = text.parse().ok(),
            (3, Field::Arguments) => {
                let sizes = match argument {
                    Field::Grid => &mut event.grid,
                    Field::Block => &mut event.block,
                    _ => return,
                };
                if sizes.len() < 3 {
                    sizes.extend(text.parse::<u32>());
                }
            }
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> Result<Profile, String> {
        self.parser.feeder.done();
        loop {
            match self.parser.next_event() {
                Ok(Some(JsonEvent::NeedMoreInput)) | Err(_) => {
                    return Err(format!(
                        "This trace ends in the middle, behind {} events and {} bytes. It may still have been written when it was copied.",
                        self.found.events,
                        self.parser.parsed_bytes()
                    ));
                }
                Ok(Some(event)) => self.take(event)?,
                Ok(None) => break,
            }
        }
        self.found.profile()
    }
}

impl Found {
    fn keep(&mut self, event: &TraceEvent) -> Result<(), String> {
        self.events += 1;
        let span = event.start_us.zip(event.duration_us);
        let Some((from_us, duration_us)) = span.filter(|(start, duration)| {
            start.is_finite() && duration.is_finite() && *duration >= 0.0
        }) else {
            return Ok(());
        };
        let [start_s, end_s] = [from_us, from_us + duration_us].map(|us| us * 1e-6);
        if event.category.eq_ignore_ascii_case("kernel") {
            let name = self.names.intern(&event.name);
            let name = name.map_err(|problem| format!("{problem}."))?;
            let kernel = MeasuredKernel {
                start_s: Some(start_s),
                grid: event.grid.as_slice().try_into().ok(),
                block: event.block.as_slice().try_into().ok(),
                ..MeasuredKernel::new(name, duration_us * 1e-6)
            };
            self.kernels.push(start_s, kernel);
        } else if event.category == "gpu_user_annotation" {
            if event.name.starts_with(STEP) {
                if self.last_step.is_none_or(|(last_s, _)| start_s >= last_s) {
                    self.last_step = Some((start_s, end_s));
                }
            } else if let Some(variant) = VARIANTS.into_iter().find(|name| *name == event.name) {
                self.variants.push(start_s, (variant, end_s));
            }
        }
        Ok(())
    }

    fn profile(self) -> Result<Profile, String> {
        let (kernels, passed_over) = self.kernels.finish();
        let kernels: Vec<MeasuredKernel> = kernels.into_iter().map(|(_, kernel)| kernel).collect();
        if kernels.is_empty() {
            return Err(format!(
                "This trace has {} events, and none is a kernel (\"cat\": \"kernel\"). Record with activities=[ProfilerActivity.CUDA].",
                self.events
            ));
        }
        let mut named: Vec<Named> = match self.last_step {
            Some((start_s, end_s)) => vec![(None, start_s, end_s)],
            None => apart(self.variants),
        };
        // A range that has lost kernels is no run.
        named.retain(|&(_, start_s, _)| start_s > passed_over.until_s);
        let start = |kernel: &MeasuredKernel| kernel.start_s.unwrap_or(0.0);
        let before = |time_s: f64| kernels.partition_point(|kernel| start(kernel) < time_s);
        let run_of = |(variant, start_s, end_s): Named| MeasuredRun {
            variant: variant.map(str::to_owned),
            kernels: kernels[before(start_s)..before(end_s)].to_vec(),
            ..MeasuredRun::default()
        };
        let mut runs: Vec<MeasuredRun> = named.into_iter().map(run_of).collect();
        runs.retain(|run| !run.kernels.is_empty());
        if runs.is_empty() {
            runs.push(MeasuredRun {
                kernels,
                is_cut: passed_over.count > 0,
                ..MeasuredRun::default()
            });
        }
        for run in &mut runs {
            run.start_at_zero();
        }
        Ok(Profile {
            kind: Kind::Trace,
            program: None,
            digest: None,
            text: None,
            device: self.device,
            probe: None,
            torch: None,
            runs,
            passed_over: passed_over.count,
        })
    }
}

/// A range of the program: the variant that ran, its start and its end.
type Named = (Option<&'static str>, f64, f64);

/// Ranges that do not overlap: each kernel is of one run at most, and nested ranges, and those of several streams, overlap.
fn apart(variants: Latest<(&'static str, f64)>) -> Vec<Named> {
    let (variants, _) = variants.finish();
    let named = variants.into_iter();
    let named = named.map(|(start_s, (name, end_s))| (Some(name), start_s, end_s));
    let mut named: Vec<Named> = named.collect();
    named.sort_by(|a, b| a.1.total_cmp(&b.1).then(b.2.total_cmp(&a.2)));
    let mut free_from_s = f64::NEG_INFINITY;
    named.retain(|&(_, start_s, end_s)| {
        let is_free = start_s >= free_from_s;
        if is_free {
            free_from_s = end_s;
        }
        is_free
    });
    named
}
