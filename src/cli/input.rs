//! Reads the program to analyse, in any of its forms. A file's content decides what it is.

use crate::choices::one_of;
use crate::failure::{AnyError, Failed};
use crate::output::tell;
use fuseline_core::DType;
use fuseline_core::json::JsonError;
use fuseline_core::notation::edit::set_dtype;
use fuseline_core::notation::import::Form;
use fuseline_core::notation::{self, Parsed, import, out_of_range, parse};
use fuseline_view::opened::model_file::{FileKind, START_BYTES, kind_of, read_model_at};
use fuseline_view::opened::{Converted, printed_graph};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};

/// A file that was read as a program.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) name: String,
    /// The text that spans point into: that of the file, or the notation of an imported model.
    pub(super) text: String,
    pub(super) parsed: Parsed,
}

impl Source {
    /// The program as notation. A file in notation stays as it was written.
    pub(super) fn notation(&self) -> String {
        match import::form_of(&self.text) {
            Form::Notation => self.text.clone(),
            Form::OpLines | Form::Json => notation::print(&self.parsed.program),
        }
    }

    /// The program with another element type where it has the one that most declarations name.
    pub(super) fn with_main_dtype(self, dtype: DType) -> Self {
        // The edits are those of the notation, whatever the file's own form is.
        let notation = self.notation();
        let text = set_dtype(&notation, &parse(&notation).program, dtype);
        Self {
            parsed: parse(&text),
            name: self.name,
            text,
        }
    }

    /// The failure with the diagnostics of the text.
    pub(super) fn failed(self) -> Failed {
        Failed::Text {
            file: self.name,
            text: self.text,
            diagnostics: self.parsed.diagnostics,
        }
    }
}

/// Reads a file, or standard input for `-`. If a model's file is seekable, only the graph is read.
pub(super) fn read_source(file: &str) -> Result<Source, Failed> {
    read_source_at(file, &[])
}

/// The same, a model at these values of its params.
pub(super) fn read_source_at(file: &str, values: &[(String, i64)]) -> Result<Source, Failed> {
    let name = if file == "-" { "<stdin>" } else { file };
    let read = || {
        let text = if file == "-" {
            read_text(name, Cursor::new(bytes_of(io::stdin())?), values)
        } else {
            let mut opened = File::open(file)?;
            match opened.stream_position() {
                Ok(_) => read_text(name, opened, values),
                Err(_) => read_text(name, Cursor::new(bytes_of(opened)?), values),
            }
        }?;
        Ok((read_program(&text)?, text))
    };
    let (parsed, text) =
        read().map_err(|problem: AnyError| Failed::command(format!("{name}: {problem}")))?;
    Ok(Source {
        name: name.to_owned(),
        text,
        parsed,
    })
}

fn bytes_of(mut source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a file, or a model as notation. Prints the notes of the import.
fn read_text(
    name: &str,
    mut source: impl Read + Seek,
    values: &[(String, i64)],
) -> Result<String, AnyError> {
    let start = bytes_of(source.by_ref().take(START_BYTES))?;
    match kind_of(name, &start) {
        FileKind::Text => {
            let rest = bytes_of(source)?;
            // An invalid byte becomes a visible character, so that the parser can point at it.
            let text = String::from_utf8_lossy(&[start, rest].concat()).into_owned();
            match printed_graph(&text) {
                Some(converted) => Ok(noted(converted?)),
                None => Ok(text),
            }
        }
        FileKind::Model(format) => Ok(noted(read_model_at(format, source, values)?)),
        FileKind::Profile(_) => {
            Err("it is a measurement: `fuseline measured PROGRAM FILE` shows it".into())
        }
        FileKind::Measurements => Err(
            "it contains measured patterns: `fuseline calibrate FILE` makes records of them".into(),
        ),
        FileKind::Calibrations => Err(
            "it contains records of fused patterns: give it to `--calibrations` with a program"
                .into(),
        ),
        FileKind::Device => {
            Err("it contains the rates of a GPU: give it to `--device` with a program".into())
        }
        FileKind::Other(what) => Err(what.into()),
    }
}

/// The notation of an imported program. Prints the notes of the import.
fn noted(converted: Converted) -> String {
    tell(&format!("note: {}\n", converted.summary));
    converted.text
}

fn read_program(text: &str) -> Result<Parsed, JsonError> {
    Ok(match import::form_of(text) {
        Form::Notation => parse(text),
        Form::OpLines => import::read_op_lines(text),
        Form::Json => import::read_op_list(text)?,
    })
}

/// Gives a param another value. Drops diagnostics about the old value, and may add one about the
/// new value.
pub(super) fn set_param(parsed: &mut Parsed, name: &str, value: i64) -> Result<(), Failed> {
    let params = &mut parsed.program.params;
    if let Some(param) = params.iter_mut().find(|p| p.name.text == name) {
        param.value = value;
        let old = Some(param.value_span);
        parsed.diagnostics.retain(|d| d.span != old);
        parsed.diagnostics.extend(out_of_range(param));
        return Ok(());
    }
    let help = if params.is_empty() {
        "the program declares no params".to_owned()
    } else {
        one_of(params.iter().map(|p| p.name.text.as_str()))
    };
    let problem = format!("no param is called `{name}`");
    Err(Failed::usage(problem, help))
}
