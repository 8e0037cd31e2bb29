//! Tables of profilers as CSV, record by record.

use super::nsight::{Header, Table};
use super::{Kind, MeasuredRun, Profile, ProfileError};
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// Most bytes of a record: a kernel of `ncu --set full` has a few thousand.
const MAX_RECORD_BYTES: usize = 1 << 20;
/// Most fields of a record.
const MAX_FIELDS: usize = 1 << 14;
/// Most columns of an unknown table that an error names.
const NAMED_COLUMNS: usize = 6;

/// What a spreadsheet separates fields by where numbers have decimal commas, and what it copies
/// between cells.
const OTHER_DELIMITERS: &[u8] = b";\t";

/// Reads a table whose header may follow other lines, as in the output of `ncu`.
pub(super) struct CsvReader {
    reader: Reader,
    record: Record,
    /// `None` before the header.
    table: Option<Table>,
    /// The first line with several columns, if no header was found.
    first_columns: Option<String>,
    /// The failure that the profiler reports.
    failure: Option<String>,
    /// Whether a quotation is open. The reader of records ends it silently where the file ends.
    in_quotes: bool,
}

/// A record that is not complete yet.
struct Record {
    output: Vec<u8>,
    ends: Vec<usize>,
    /// Bytes and fields that are written.
    written: (usize, usize),
}

impl CsvReader {
    pub(super) fn new() -> Self {
        Self {
            reader: Reader::new(),
            record: Record {
                output: vec![0; 4096],
                ends: vec![0; 64],
                written: (0, 0),
            },
            table: None,
            first_columns: None,
            failure: None,
            in_quotes: false,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), ProfileError> {
        self.in_quotes = bytes
            .iter()
            .fold(self.in_quotes, |is_open, &byte| is_open ^ (byte == b'"'));
        let mut rest = bytes;
        // An empty input would end the file.
        while !rest.is_empty() {
            rest = self.step(rest)?.1;
        }
        Ok(())
    }

    /// Reads on until the input or a record ends. Returns whether the file has ended, and what is
    /// left of `input`.
    fn step<'a>(&mut self, input: &'a [u8]) -> Result<(bool, &'a [u8]), ProfileError> {
        let Record {
            output,
            ends,
            written,
        } = &mut self.record;
        let (result, read, out, ended) =
            self.reader
                .read_record(input, &mut output[written.0..], &mut ends[written.1..]);
        written.0 += out;
        written.1 += ended;
        let rest = &input[read..];
        match result {
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                if output.len() >= MAX_RECORD_BYTES || ends.len() >= MAX_FIELDS {
                    return Err(ProfileError::LongLine(self.reader.line()));
                }
                output.resize(output.len() * 2, 0);
                ends.resize(ends.len() * 2, 0);
            }
            ReadRecordResult::Record => {
                let mut start = 0;
                let fields = ends[..written.1].iter().map(|&end| {
                    let field = String::from_utf8_lossy(&output[start..end]).into_owned();
                    start = end;
                    field
                });
                let fields: Vec<String> = fields.collect();
                *written = (0, 0);
                // Where the file ends, no line break ends the record.
                let line = self.reader.line() - u64::from(read > 0);
                self.take(&fields, line)?;
            }
            ReadRecordResult::End => return Ok((true, rest)),
        }
        Ok((false, rest))
    }

    fn take(&mut self, fields: &[String], line: u64) -> Result<(), ProfileError> {
        if let Some(table) = &mut self.table {
            return table
                .take(fields)
                .map_err(|problem| ProfileError::Line { line, problem });
        }
        if let Some(header) = Header::find(fields) {
            self.table = Some(Table::new(header?, fields));
            return Ok(());
        }
        for &delimiter in OTHER_DELIMITERS {
            if let Some(columns) = separated_by(delimiter, fields)
                && let Some(header) = Header::find(&columns)
            {
                self.table = Some(Table::new(header?, &columns));
                let line = self.reader.line();
                self.reader = ReaderBuilder::new().delimiter(delimiter).build();
                self.reader.set_line(line);
                return Ok(());
            }
        }
        self.keep_for_error(fields);
        Ok(())
    }

    fn keep_for_error(&mut self, fields: &[String]) {
        let [first, rest @ ..] = fields else { return };
        if let Some(failure) = first.strip_prefix("==ERROR==") {
            let failure = [&[failure.to_owned()], rest].concat().join(",");
            self.failure.get_or_insert(failure.trim().to_owned());
        } else if !rest.is_empty() && !first.starts_with("==") && self.first_columns.is_none() {
            let named: Vec<&str> = fields
                .iter()
                .take(NAMED_COLUMNS)
                .map(String::as_str)
                .collect();
            let more = if fields.len() > NAMED_COLUMNS {
                " and more"
            } else {
                ""
            };
            self.first_columns = Some(format!("{}{more}", named.join(", ")));
        }
    }

    pub(super) fn finish(mut self) -> Result<Profile, ProfileError> {
        while !self.step(&[])?.0 {}
        let Some(table) = self.table else {
            let found = match (self.failure, self.first_columns) {
                (Some(failure), _) => format!("The profiler says: {failure}."),
                (None, Some(columns)) => format!("This table starts with {columns}."),
                (None, None) => "This file has no table.".to_owned(),
            };
            return Err(ProfileError::NoHeader(found));
        };
        if self.in_quotes {
            return Err(ProfileError::OpenQuotation(self.reader.line()));
        }
        let (device, runs): (_, Vec<MeasuredRun>) = table.finish()?;
        Ok(Profile {
            kind: Kind::Table,
            program: None,
            digest: None,
            text: None,
            device,
            probe: None,
            torch: None,
            runs,
            passed_over: 0,
        })
    }
}

/// The fields of a line between these delimiters, of which the reader made other fields.
fn separated_by(delimiter: u8, fields: &[String]) -> Option<Vec<String>> {
    let line = fields.join(",");
    let mut reader = csv::ReaderBuilder::new();
    reader.delimiter(delimiter).has_headers(false);
    let record = reader.from_reader(line.as_bytes()).into_records().next()?;
    Some(record.ok()?.iter().map(str::to_owned).collect())
}
