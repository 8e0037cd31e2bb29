//! A chart as elements of SVG.

use super::drawing::Drawing;
use super::element::SvgElement;
use crate::picture::charts::scene::{Mark, Scene, Shape};

/// The drawing of a chart; `is_fused` is false where each kernel is shown before fusion.
pub fn chart(scene: &Scene, is_fused: bool) -> Drawing {
    let line = SvgElement::of_class("rect", "hatch-line")
        .with("width", 2)
        .with("height", 5);
    let pattern = SvgElement::new("pattern")
        .with("id", "hatch")
        .with("width", 5)
        .with("height", 5)
        .with("patternUnits", "userSpaceOnUse")
        .with("patternTransform", "rotate(45)")
        .holding(line);
    let marks = scene.marks.iter().zip(scene.keys());
    let marks = marks.flat_map(|(mark, key)| elements(mark, &key.class()));
    Drawing {
        class: if is_fused {
            "chart"
        } else {
            "chart charts is-unfused"
        },
        size: (scene.width, scene.height),
        title: scene.title.clone(),
        description: scene.description.clone(),
        elements: [SvgElement::new("defs").holding(pattern)]
            .into_iter()
            .chain(marks)
            .collect(),
    }
}

/// A mark, and the hatching on it.
fn elements(mark: &Mark, class: &str) -> Vec<SvgElement> {
    let element = |name| {
        let element = SvgElement::of_class(name, class);
        match &mark.label {
            Some(label) => element.with("aria-label", &label.name),
            None => element,
        }
    };
    match &mark.shape {
        Shape::Path { .. } | Shape::Curve { .. } => {
            let data = mark.shape.path_data();
            let hatch = SvgElement::of_class("path", "hatch").with("fill", "url(#hatch)");
            let hatch = mark.role.is_hatched().then(|| hatch.with("d", &data));
            let path = element("path").with("d", data);
            [path].into_iter().chain(hatch).collect()
        }
        Shape::Circle { center, radius } => {
            vec![
                element("circle")
                    .with("cx", center.0)
                    .with("cy", center.1)
                    .with("r", radius),
            ]
        }
        Shape::Rect {
            corner,
            width,
            height,
        } => {
            let place = |element: SvgElement| {
                let element = element.with("x", corner.0).with("y", corner.1);
                element.with("width", width).with("height", height)
            };
            let hatch = SvgElement::of_class("rect", "hatch").with("fill", "url(#hatch)");
            let hatch = mark.role.is_hatched().then(|| place(hatch));
            [place(element("rect"))].into_iter().chain(hatch).collect()
        }
        Shape::Text {
            at: (x, y),
            anchor,
            turn_deg,
            text,
        } => {
            let element = element("text")
                .with("x", x)
                .with("y", y)
                .with("text-anchor", anchor.name());
            let element = if *turn_deg == 0.0 {
                element
            } else {
                element.with("transform", format!("rotate({turn_deg} {x} {y})"))
            };
            vec![SvgElement {
                text: text.clone(),
                ..element
            }]
        }
    }
}
