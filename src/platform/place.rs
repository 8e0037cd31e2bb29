//! Markup put into the page, and afterwards only what has changed in it.

use crate::markup::{Gap, Markup, Part};
use js_sys::Reflect;
use wasm_bindgen::JsCast;
use web_sys::{Element, NodeList};

/// An element of the page that a view fills.
///
/// The first [`Place::show`] writes everything. A later one with the same templates writes the values that
/// differ into the elements that are there; with other templates it writes everything anew and gives the focus
/// back to the element of the same id.
pub struct Place {
    id: &'static str,
    shown: Markup,
    gaps: Vec<(Element, Part)>,
}

impl Place {
    /// The element of this id; it holds nothing but what is shown here.
    pub const fn new(id: &'static str) -> Self {
        Self {
            id,
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
        for ((before, now), (element, part)) in values.zip(&self.gaps) {
            if before == now {
                continue;
            }
            match part {
                Part::Content => element.set_text_content(Some(now)),
                Part::Attribute(name) => set_attribute(element, name, now),
                Part::Among => return false,
            }
        }
        self.gaps.len() == markup.values().len()
    }

    fn write(&mut self, markup: &Markup) {
        let Some(root) = super::element(self.id) else {
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

/// The value of a field is a property once a visitor has typed.
fn set_attribute(element: &Element, name: &str, value: &str) {
    // The browser refuses malformed names alone, and these are ours.
    if value == crate::markup::ABSENT {
        let _ = element.remove_attribute(name);
    } else if name == "value" {
        let _ = Reflect::set(element, &name.into(), &value.into());
    } else {
        let _ = element.set_attribute(name, value);
    }
}
