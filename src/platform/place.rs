//! Markup put into the page, and afterwards only what has changed in it.

use crate::markup::{ABSENT, Gap, Markup, Part};
use js_sys::Reflect;
use wasm_bindgen::JsCast;
use web_sys::{Element, NodeList};

/// An element of the page that a view fills.
///
/// The first [`Place::show`] writes everything. A later one with the same templates writes the values that
/// differ into the elements that are there; with other templates it writes everything anew and gives the focus
/// back to the element of the same id.
pub struct Place {
    id: String,
    shown: Markup,
    gaps: Vec<(Element, Part)>,
}

impl Place {
    /// The element of this id; it holds nothing but what is shown here. Another place may lie in an element that
    /// the markup leaves empty; it starts anew when [`Place::show`] says that this one was written anew.
    pub fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            shown: Markup::new(),
            gaps: Vec::new(),
        }
    }

    /// Shows `markup` and says whether it was written anew.
    pub fn show(&mut self, markup: Markup) -> bool {
        let is_patched = self.shown.has_same_templates(&markup) && self.patch(&markup);
        if !is_patched {
            self.write(&markup);
        }
        self.shown = markup;
        !is_patched
    }

    /// Writes the values that differ. `false` when that takes new elements.
    fn patch(&self, markup: &Markup) -> bool {
        let values = self.shown.values().iter().zip(markup.values());
        // From behind: a select takes its value only when its options have theirs.
        for ((before, now), (element, part)) in values.zip(&self.gaps).rev() {
            match part {
                _ if before == now => {}
                Part::Content => element.set_text_content(Some(now)),
                Part::Attribute(name) => set_attribute(element, name, now),
                Part::Among => return false,
            }
        }
        self.gaps.len() == markup.values().len()
    }

    fn write(&mut self, markup: &Markup) {
        let Some(root) = super::element(&self.id) else {
            return;
        };
        let focused = super::focus::focused_id_in(&root);
        let html = markup.html();
        root.set_inner_html(&html.text);
        self.gaps = root
            .query_selector_all("*")
            .ok()
            // A parser that sees other elements than the markup opens has no places for values.
            .filter(|elements| elements.length() as usize == html.element_count)
            .map_or_else(Vec::new, |elements| found(&elements, &html.gaps));
        for ((element, part), value) in self.gaps.iter().zip(markup.values()) {
            // A select takes its value only when its options are there.
            if *part == Part::Attribute("value") {
                set_attribute(element, "value", value);
            }
        }
        if let Some(id) = focused {
            super::focus(&id);
        }
    }
}

fn found(elements: &NodeList, gaps: &[Gap]) -> Vec<(Element, Part)> {
    let element = |gap: &Gap| {
        let node = elements.get(u32::try_from(gap.element).ok()?)?;
        Some((node.unchecked_into(), gap.part))
    };
    gaps.iter().filter_map(element).collect()
}

/// What a field holds is a property once a visitor has used it.
fn set_attribute(element: &Element, name: &str, value: &str) {
    let is_absent = value == ABSENT;
    // The browser refuses malformed names alone, and these are ours.
    if name == "value" {
        let _ = Reflect::set(element, &name.into(), &value.into());
    } else if name == "checked" {
        let _ = Reflect::set(element, &name.into(), &(!is_absent).into());
    } else if is_absent {
        let _ = element.remove_attribute(name);
    } else {
        let _ = element.set_attribute(name, value);
    }
}

/// Fills the element of this id, if there is one.
pub fn write_markup(id: &str, markup: &Markup) {
    if let Some(element) = super::element(id) {
        element.set_inner_html(&markup.html().text);
    }
}

/// Replaces `removed` elements in the element of this id, from place `at` on, by `markup`.
pub fn splice_markup(id: &str, at: usize, removed: usize, markup: &Markup) {
    let Some(root) = super::element(id) else {
        return;
    };
    let children = root.children();
    let child = || children.item(u32::try_from(at).ok()?);
    for _ in 0..removed {
        if let Some(child) = child() {
            child.remove();
        }
    }
    let html = markup.html().text;
    // The browser refuses unknown positions alone.
    let _ = match child() {
        Some(next) => next.insert_adjacent_html("beforebegin", &html),
        None => root.insert_adjacent_html("beforeend", &html),
    };
}
