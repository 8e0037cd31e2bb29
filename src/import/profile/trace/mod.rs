//! A Chrome trace, event by event: of each event only what a kernel needs is kept, and of the file
//! only its kernels.

mod recording;

use super::lines::Lines;
use super::{Profile, ProfileError};
use actson::feeder::PushJsonFeeder;
use actson::parser::ParserError;
use actson::{JsonEvent, JsonParser};
use fuseline_core::json::number_of_python_at;
use recording::Recording;

/// Most bytes without the end of a value: no text of a profiler is so long.
const MAX_VALUE_BYTES: usize = 16 << 20;

/// Reads a trace in slices.
pub(super) struct TraceReader {
    parser: JsonParser<PushJsonFeeder>,
    lines: Lines,
    /// The byte of the file at which the last value ended.
    ended_at: usize,
    /// Lists and objects around the next value.
    depth: usize,
    /// The current field at each of the first depths.
    fields: [Field; MAX_FIELDS],
    /// The depth of the list of events: 1 where the file is that list.
    events_depth: Option<usize>,
    event: TraceEvent,
    recording: Recording,
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
    Correlation,
    KernelDetails,
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
            "correlation" => Self::Correlation,
            "kernel_details" => Self::KernelDetails,
            _ => Self::Other,
        }
    }
}

/// The fields of an event as far as they are read, times in microseconds.
#[derive(Default)]
struct TraceEvent {
    name: String,
    category: String,
    phase: String,
    start_us: Option<f64>,
    duration_us: Option<f64>,
    grid: Vec<u32>,
    block: Vec<u32>,
    /// The id that a launch shares with the kernels that it starts.
    correlation: Option<u64>,
    /// What JAX says of a kernel: `regs:32 static_shared:0 grid:128,1,1 block:256,1,1`.
    kernel_details: String,
    /// What an event about a process or a thread names.
    named: String,
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
            recording: Recording::default(),
        }
    }
}

impl TraceReader {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), ProfileError> {
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
                    // This happens only after `finish` has ended the input.
                    Ok(None) => return Ok(()),
                    Err(problem) => return Err(self.failure(problem, bytes)),
                }
            }
        }
        let offset = self.parser.parsed_bytes();
        if offset.saturating_sub(self.ended_at) > MAX_VALUE_BYTES {
            return Err(ProfileError::LongValue {
                position: self.lines.position(bytes, offset),
                most_mb: MAX_VALUE_BYTES >> 20,
            });
        }
        self.lines.pass(bytes);
        Ok(())
    }

    fn failure(&self, problem: ParserError, slice: &[u8]) -> ProfileError {
        let offset = self.parser.parsed_bytes();
        let position = self.lines.position(slice, offset);
        let rest = self.lines.from(slice, offset);
        let found = number_of_python_at(rest).map_or_else(
            || problem.to_string(),
            |word| format!("{word} is not a JSON number"),
        );
        ProfileError::NotJson {
            position,
            events: self.recording.events,
            found,
        }
    }

    fn take(&mut self, event: JsonEvent) -> Result<(), ProfileError> {
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

    fn close(&mut self) -> Result<(), ProfileError> {
        let is_event = self
            .events_depth
            .is_some_and(|events| self.depth == events + 1);
        if is_event {
            self.recording.keep(&self.event)?;
        }
        if self.events_depth == Some(self.depth) {
            // A later list of this name adds its events.
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
                self.recording.device.get_or_insert_with(|| text.to_owned());
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
            (2, Field::Arguments) if argument == Field::Correlation => {
                event.correlation = text.parse().ok();
            }
            (2, Field::Arguments) if argument == Field::KernelDetails => {
                text.clone_into(&mut event.kernel_details);
            }
            (2, Field::Arguments) if argument == Field::Name => text.clone_into(&mut event.named),
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

    pub(super) fn finish(mut self) -> Result<Profile, ProfileError> {
        self.parser.feeder.done();
        loop {
            match self.parser.next_event() {
                Ok(Some(JsonEvent::NeedMoreInput)) | Err(_) => {
                    return Err(ProfileError::CutTrace {
                        events: self.recording.events,
                        bytes: self.parser.parsed_bytes(),
                    });
                }
                Ok(Some(event)) => self.take(event)?,
                Ok(None) => break,
            }
        }
        self.recording.profile()
    }
}
