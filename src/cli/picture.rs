//! `svg`: a picture of a program as a file.

use crate::analysed::Analysed;
use fuseline_core::notation::import::{Form, form_of};
use fuseline_view::picture::dag::{Folding, layout_of};
use fuseline_view::picture::export::{PictureKind, Pictured, SCREEN, StyleSheets};
use fuseline_view::present::caption::Caption;
use fuseline_view::present::names::title;

/// The picture, as large as its content.
pub(super) fn svg(
    analysed: &Analysed,
    kind: PictureKind,
    is_fused: bool,
    sheets: StyleSheets,
) -> String {
    let Analysed {
        file,
        text,
        parsed,
        analysis,
        ..
    } = analysed;
    let layout = layout_of(&analysis.graph, &analysis.partition, Folding::Iterations);
    // The first line of JSON is no title.
    let name = match form_of(text) {
        Form::Notation => title(text),
        Form::OpLines | Form::Json => file,
    };
    let caption = Caption::new(name, analysis, &parsed.program, kind.key(is_fused));
    let pictured = Pictured {
        analysis,
        layout: &layout,
        is_fused,
    };
    pictured.drawing(kind, SCREEN).svg(&caption, sheets)
}
