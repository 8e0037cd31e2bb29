//! A scene as SVG markup.

use crate::core::KernelId;
use crate::markup::{ABSENT, Markup};
use crate::picture::charts::scene::{Mark, Role, Scene, Shape};

/// What of a chart's look is not in its scene.
pub(super) struct Look {
    /// The chart's id, with which the ids in it begin.
    pub(super) id: &'static str,
    /// The selected fused kernel.
    pub(super) selected: Option<KernelId>,
    /// The mark in the focus order that the tab key reaches.
    pub(super) stop: usize,
}

/// What makes a mark the same one in the next scene: its role, its kernel, and its place among those with the
/// same role and kernel.
pub(super) type Key = (Role, Option<KernelId>, usize);

/// The key of a mark by its place in the scene.
pub(super) fn key_of(scene: &Scene, mark: usize) -> Option<Key> {
    let of = scene.marks.get(mark)?;
    let before = scene.marks.get(..mark)?.iter();
    Some((
        of.role,
        of.kernel,
        before.filter(|m| is_like(m, of)).count(),
    ))
}

/// The place of the mark with this key.
pub(super) fn index_of(scene: &Scene, (role, kernel, place): Key) -> Option<usize> {
    let marks = scene.marks.iter().enumerate();
    let mut like = marks.filter(|(_, m)| m.role == role && m.kernel == kernel);
    like.nth(place).map(|(index, _)| index)
}

fn is_like(a: &Mark, b: &Mark) -> bool {
    a.role == b.role && a.kernel == b.kernel
}

/// The picture without its marks, which go into the element of its id with `-marks`, and those that are raised
/// into that with `-raised`.
pub(super) fn frame(scene: &Scene, look: &Look) -> Markup {
    let class = if look.selected.is_some() {
        "chart has-selection"
    } else {
        "chart"
    };
    let (width, height) = (scene.width.to_string(), scene.height.to_string());
    let id = |part| [look.id, part].concat();
    let mut markup = Markup::new();
    markup.fill(
        r#"<svg class="{}" viewBox="{}" role="group" aria-label="{}" aria-describedby="{}"><defs><pattern id="{}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-line" width="2" height="5"></rect></pattern></defs><g id="{}"></g><g class="chart-raised" id="{}" aria-hidden="true"></g></svg><p class="sr-only" id="{}">{}</p>"#,
        &[
            class,
            &["0 0 ", &width, " ", &height].concat(),
            &scene.title,
            &id("-description"),
            &id("-hatch"),
            &id("-marks"),
            &id("-raised"),
            &id("-description"),
            &scene.description,
        ],
    );
    markup
}

/// The marks of a picture.
pub(super) fn marks(scene: &Scene, look: &Look) -> Vec<Markup> {
    let mut stop_of_mark = vec![None; scene.marks.len()];
    for (stop, &mark) in scene.focus_order.iter().enumerate() {
        if let Some(place) = stop_of_mark.get_mut(mark) {
            *place = Some(stop);
        }
    }
    let mut all = Vec::with_capacity(scene.marks.len());
    for (index, (mark, stop)) in scene.marks.iter().zip(stop_of_mark).enumerate() {
        let mut markup = Markup::new();
        open(&mut markup, look, index, mark, stop);
        shape(&mut markup, look.id, mark);
        markup.raw("</g>");
        all.push(markup);
    }
    all
}

/// The marks that are drawn once more on top: those of the selected kernel, then of the one pointed at. Moving
/// a mark itself to the front would take its focus away.
pub(super) fn raised(scene: &Scene, look: &Look, pointed: Option<KernelId>) -> Vec<Markup> {
    let mut all = Vec::new();
    let below = look.selected.filter(|_| look.selected != pointed);
    for kernel in [below, pointed].into_iter().flatten() {
        for mark in &scene.marks {
            if mark.kernel == Some(kernel) && mark.role.is_raised() {
                let mut markup = Markup::new();
                markup.fill(r#"<g class="{}">"#, &[&class(mark, look, false)]);
                shape(&mut markup, look.id, mark);
                markup.raw("</g>");
                all.push(markup);
            }
        }
    }
    all
}

/// The opening tag of a mark: a named button when it can be focused.
fn open(markup: &mut Markup, look: &Look, index: usize, mark: &Mark, stop: Option<usize>) {
    let (index, class) = (index.to_string(), class(mark, look, mark.label.is_some()));
    let Some(label) = &mark.label else {
        return markup.fill(r#"<g class="{}" aria-hidden="true">"#, &[&class]);
    };
    let Some(stop) = stop else {
        // A second place to point at what the keyboard reaches elsewhere.
        return markup.fill(
            r#"<g class="{}" data-mark="{}" aria-hidden="true">"#,
            &[&class, &index],
        );
    };
    let tab_index = if stop == look.stop { "0" } else { "-1" };
    let is_selected = is_selected(mark, look);
    let stop = stop.to_string();
    markup.fill(
        r#"<g class="{}" data-mark="{}" data-stop="{}" id="{}" role="button" tabindex="{}" aria-label="{}" aria-pressed="{}">"#,
        &[
            &class,
            &index,
            &stop,
            &[look.id, "-stop-", &stop].concat(),
            tab_index,
            &label.name,
            if is_selected { "true" } else { "false" },
        ],
    );
}

fn is_selected(mark: &Mark, look: &Look) -> bool {
    mark.kernel.is_some() && mark.kernel == look.selected
}

fn class(mark: &Mark, look: &Look, is_stop: bool) -> String {
    let mut class = mark.class();
    if is_stop {
        class.push_str(" chart-stop");
    }
    if is_selected(mark, look) {
        class.push_str(" is-selected");
    }
    class
}

fn shape(markup: &mut Markup, id: &str, mark: &Mark) {
    match &mark.shape {
        Shape::Path { .. } | Shape::Curve { .. } => {
            markup.fill(r#"<path d="{}"></path>"#, &[&mark.shape.path_data()]);
        }
        &Shape::Circle {
            center: (x, y),
            radius,
        } => {
            if mark.label.is_some() {
                let hit = (radius + 4.0).max(9.0);
                markup.numbers(
                    r#"<circle class="chart-hit" cx="{}" cy="{}" r="{}"></circle>"#,
                    &[x, y, hit],
                );
            }
            markup.numbers(
                r#"<circle cx="{}" cy="{}" r="{}"></circle>"#,
                &[x, y, radius],
            );
        }
        &Shape::Rect {
            corner: (x, y),
            width,
            height,
        } => {
            let place = [x, y, width, height];
            markup.numbers(
                r#"<rect x="{}" y="{}" width="{}" height="{}"></rect>"#,
                &place,
            );
            if mark.role.is_hatched() {
                markup.fill(
                    r#"<rect class="hatch" fill="{}""#,
                    &[&["url(#", id, "-hatch)"].concat()],
                );
                markup.numbers(r#" x="{}" y="{}" width="{}" height="{}"></rect>"#, &place);
            }
        }
        Shape::Text {
            at: (x, y),
            anchor,
            turn_deg,
            text,
        } => {
            let (x, y) = (x.to_string(), y.to_string());
            let turn = if *turn_deg == 0.0 {
                ABSENT.to_owned()
            } else {
                ["rotate(", &turn_deg.to_string(), " ", &x, " ", &y, ")"].concat()
            };
            markup.fill(
                r#"<text x="{}" y="{}" text-anchor="{}" transform="{}">{}</text>"#,
                &[&x, &y, anchor.name(), &turn, text],
            );
        }
    }
}
