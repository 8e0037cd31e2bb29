//! Files with models.

use fuseline::app::text_limits::is_quick;
use fuseline_core::notation::{parse, print};
use fuseline_core::{Options, analyze_program};
use fuseline_import::pt2::{import, is_archive};
use fuseline_view::opened::model_file::{ModelFormat, kind_of, read_model};
use std::io::Cursor;

pub(super) fn onnx(input: &[u8]) {
    let _ = kind_of("a file", input);
    let Ok(converted) = read_model(ModelFormat::Onnx, Cursor::new(input)) else {
        return;
    };
    // What an import writes can be read.
    let parsed = parse(&converted.text);
    assert_eq!(parsed.diagnostics, [], "{}", converted.text);
    analyze_program(&parsed.program, &Options::default());
}

/// An archive, or the graph in one.
pub(super) fn pt2(input: &[u8]) {
    let program = if is_archive(input) {
        let read = read_model(ModelFormat::Pt2, Cursor::new(input));
        read.ok().map(|converted| parse(&converted.text))
    } else {
        let imported = import(&String::from_utf8_lossy(input), &[]);
        (imported.ok()).map(|imported| parse(&print(&imported.program)))
    };
    // What an import writes can be read.
    if let Some(parsed) = program {
        assert_eq!(parsed.diagnostics, []);
        if is_quick(&parsed.program) {
            analyze_program(&parsed.program, &Options::default());
        }
    }
}
