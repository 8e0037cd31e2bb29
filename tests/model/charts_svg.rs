//! A scene as SVG text, one mark on each line: the page's chart without a browser.

use fuseline::picture::charts::scene::{Mark, Scene, Shape};
use std::fmt::Write as _;

pub(crate) fn svg(scene: &Scene) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {} {}\">\n<title>{}</title>\n<desc>{}</desc>\n",
        scene.width,
        scene.height,
        escaped(&scene.title),
        escaped(&scene.description)
    );
    out.push_str(
        "<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect class=\"hatch-line\" width=\"2\" height=\"5\"/></pattern></defs>\n",
    );
    for (mark, key) in scene.marks.iter().zip(scene.keys()) {
        write_mark(&mut out, mark, &key.class());
    }
    out.push_str("</svg>\n");
    out
}

fn write_mark(out: &mut String, mark: &Mark, class: &str) {
    let mut attributes = format!("class=\"{class}\"");
    if let Some(label) = &mark.label {
        let _ = write!(attributes, " aria-label=\"{}\"", escaped(&label.name));
    }
    let _ = match &mark.shape {
        Shape::Path { .. } | Shape::Curve { .. } => {
            writeln!(out, "<path {attributes} d=\"{}\"/>", mark.shape.path_data())
        }
        Shape::Circle { center, radius } => writeln!(
            out,
            "<circle {attributes} cx=\"{}\" cy=\"{}\" r=\"{radius}\"/>",
            center.0, center.1
        ),
        Shape::Rect {
            corner,
            width,
            height,
        } => {
            let place = format!(
                "x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{height}\"",
                corner.0, corner.1
            );
            let _ = writeln!(out, "<rect {attributes} {place}/>");
            if mark.role.is_hatched() {
                writeln!(out, "<rect class=\"hatch\" fill=\"url(#hatch)\" {place}/>")
            } else {
                Ok(())
            }
        }
        Shape::Text {
            at,
            anchor,
            turn_deg,
            text,
        } => {
            let mut place = format!(
                "x=\"{}\" y=\"{}\" text-anchor=\"{}\"",
                at.0,
                at.1,
                anchor.name()
            );
            if *turn_deg != 0.0 {
                let _ = write!(place, " transform=\"rotate({turn_deg} {} {})\"", at.0, at.1);
            }
            writeln!(out, "<text {attributes} {place}>{}</text>", escaped(text))
        }
    };
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
