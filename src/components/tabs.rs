//! Buttons of which one shows its panel: `tab-NAME` belongs to `panel-NAME`.

use crate::platform::{self, Event, set_attribute, set_flag};
use crate::state::Page;
use leptos::ev::KeyboardEvent;

/// A row of tabs.
pub(super) struct Tabs {
    /// Id of the element around the buttons.
    pub list: &'static str,
    /// Names, in order.
    pub names: &'static [&'static str],
    /// The place of the open one, followed.
    pub open: fn(Page) -> usize,
    /// Opens the one at this place.
    pub choose: fn(Page, usize),
}

/// Shows the panel of the open tab alone, and opens tabs by pointer and keys.
pub(super) fn tabs(page: Page, tabs: &Tabs) {
    let &Tabs {
        list,
        names,
        open,
        choose,
    } = tabs;
    platform::effect(move || {
        let open = open(page);
        for (place, name) in names.iter().enumerate() {
            let is_open = place == open;
            let tab = ["tab-", name].concat();
            set_attribute(
                &tab,
                "aria-selected",
                if is_open { "true" } else { "false" },
            );
            set_attribute(&tab, "tabindex", if is_open { "0" } else { "-1" });
            set_flag(&["panel-", name].concat(), "hidden", !is_open);
        }
    });
    platform::listen(list, &["click", "keydown"], move |event| {
        if let Some(place) = chosen(names, event) {
            choose(page, place);
            platform::focus(&["tab-", names.get(place).unwrap_or(&"")].concat());
        }
    });
}

/// The place of the tab that an event asks for.
fn chosen(names: &[&str], event: &Event) -> Option<usize> {
    let tab = platform::closest_id(event, "[role=tab]")?;
    let at = (names.iter()).position(|name| tab.strip_prefix("tab-") == Some(name))?;
    let Some(key) = platform::event_as::<KeyboardEvent>(event) else {
        return Some(at);
    };
    let last = names.len() - 1;
    let place = match key.key().as_str() {
        "ArrowRight" => (at + 1) % names.len(),
        "ArrowLeft" => at.checked_sub(1).unwrap_or(last),
        "Home" => 0,
        "End" => last,
        _ => return None,
    };
    // The arrows would scroll the page.
    event.prevent_default();
    Some(place)
}
