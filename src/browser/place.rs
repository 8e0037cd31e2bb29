//! Markup put into the page, and afterwards only what has changed in it.

use crate::markup::{ABSENT, Gap, Html, Markup, Part};
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
        let is_patched = patch(&self.gaps, &self.shown, &markup);
        if !is_patched {
            self.write(&markup);
        }
        self.shown = markup;
        !is_patched
    }

    fn write(&mut self, markup: &Markup) {
        let Some(root) = super::element(&self.id) else {
            return;
        };
        let focused = super::focus::focused_id_in(&root);
        let html = markup.html();
        root.set_inner_html(&html.text);
        self.gaps = (root.query_selector_all("*").ok())
            .map_or_else(Vec::new, |elements| found(None, &elements, &html));
        write_values(&self.gaps, markup);
        if let Some(id) = focused {
            super::focus(&id);
        }
    }
}

/// How many items that have come or gone are looked for before one takes the place of another.
const LOOK_AHEAD: usize = 6;

/// An element of the page that a view fills with items, such as the rows of a table.
///
/// Like [`Place`], but items that come and go leave the others alone. Each item's markup is one element.
pub struct List {
    id: String,
    items: Vec<Item>,
}

struct Item {
    element: Element,
    markup: Markup,
    gaps: Vec<(Element, Part)>,
}

impl List {
    /// The element of this id; it holds nothing but what is shown here.
    pub fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            items: Vec::new(),
        }
    }

    /// Shows these items. `O(items)`.
    pub fn show(&mut self, mut coming: Vec<Markup>) {
        let Some(root) = super::element(&self.id) else {
            return;
        };
        let focused = super::focus::focused_id_in(&root);
        let mut shown = Vec::with_capacity(coming.len());
        // Both as stacks, the next one on top.
        let mut there = std::mem::take(&mut self.items);
        there.reverse();
        coming.reverse();
        while let Some(markup) = coming.pop() {
            match way(&there, &markup, &coming) {
                Way::Keep(skipped) => {
                    for _ in 0..skipped {
                        remove(there.pop());
                    }
                    if let Some(mut item) = there.pop() {
                        if patch(&item.gaps, &item.markup, &markup) {
                            item.markup = markup;
                            shown.push(item);
                        } else {
                            shown.extend(insert(&root, Some(&item), markup));
                            remove(Some(item));
                        }
                    }
                }
                Way::Insert => shown.extend(insert(&root, there.last(), markup)),
                Way::Replace => {
                    shown.extend(insert(&root, there.last(), markup));
                    remove(there.pop());
                }
            }
        }
        for item in there {
            remove(Some(item));
        }
        self.items = shown;
        if let Some(id) = focused.filter(|id| !super::is_focused(id)) {
            super::focus(&id);
        }
    }
}

/// What to do for the next item.
enum Way {
    /// Take away this many of those that are there, and patch the one behind them.
    Keep(usize),
    /// Put it before the next one that is there.
    Insert,
    /// Put it in place of the next one that is there.
    Replace,
}

fn way(there: &[Item], markup: &Markup, coming: &[Markup]) -> Way {
    let Some(next) = there.last() else {
        return Way::Insert;
    };
    for (ahead, item) in there.iter().rev().take(LOOK_AHEAD).enumerate() {
        if item.markup.has_same_templates(markup) {
            return Way::Keep(ahead);
        }
        let waits = (coming.len().checked_sub(ahead + 1)).and_then(|at| coming.get(at));
        if waits.is_some_and(|waits| waits.has_same_templates(&next.markup)) {
            return Way::Insert;
        }
    }
    Way::Replace
}

fn insert(root: &Element, before: Option<&Item>, markup: Markup) -> Option<Item> {
    let html = markup.html();
    // The browser refuses unknown positions alone.
    let element = if let Some(before) = before {
        let _ = (before.element).insert_adjacent_html("beforebegin", &html.text);
        before.element.previous_element_sibling()
    } else {
        let _ = root.insert_adjacent_html("beforeend", &html.text);
        root.last_element_child()
    }?;
    let within = element.query_selector_all("*").ok()?;
    let gaps = found(Some(&element), &within, &html);
    write_values(&gaps, &markup);
    Some(Item {
        element,
        markup,
        gaps,
    })
}

fn remove(item: Option<Item>) {
    if let Some(item) = item {
        item.element.remove();
    }
}

/// Writes the values that differ. `false` when that takes new elements.
fn patch(gaps: &[(Element, Part)], before: &Markup, now: &Markup) -> bool {
    if !before.has_same_templates(now) || gaps.len() != now.values().len() {
        return false;
    }
    // A field takes its value only when its range or its options have theirs.
    for is_value in [false, true] {
        let values = before.values().iter().zip(now.values());
        for ((before, now), (element, part)) in values.zip(gaps) {
            if before == now || is_value != (*part == VALUE) {
                continue;
            }
            match part {
                Part::Content => element.set_text_content(Some(now)),
                Part::Attribute(name) => set_attribute(element, name, now),
                Part::Among => return false,
            }
        }
    }
    true
}

const VALUE: Part = Part::Attribute("value");

/// The elements of all gaps, among `first` and those in document order behind it; none when the parser saw
/// other elements than the markup opens.
fn found(first: Option<&Element>, behind: &NodeList, html: &Html) -> Vec<(Element, Part)> {
    let offset = usize::from(first.is_some());
    if behind.length() as usize + offset != html.element_count {
        return Vec::new();
    }
    let element = |gap: &Gap| {
        let element = match (gap.element.checked_sub(offset), first) {
            (None, Some(first)) => first.clone(),
            (place, _) => (behind.get(u32::try_from(place?).ok()?)?).unchecked_into(),
        };
        Some((element, gap.part))
    };
    html.gaps.iter().filter_map(element).collect()
}

/// What markup cannot say: which option a select has chosen.
fn write_values(gaps: &[(Element, Part)], markup: &Markup) {
    for ((element, part), value) in gaps.iter().zip(markup.values()) {
        if *part == VALUE {
            set_attribute(element, "value", value);
        }
    }
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
