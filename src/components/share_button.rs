//! A link to everything that the page shows.

use crate::app::session;
use crate::app::state::Page;
use crate::browser;

/// Id of what shows the link.
pub(super) const SLOT_ID: &str = "share-slot";
/// Id of the field with the link.
pub(super) const FIELD_ID: &str = "share-link";

/// Copies the link, or shows it where the clipboard refuses.
pub(super) fn share(page: Page) {
    browser::spawn(async move {
        match session::link(page).await {
            Err(problem) => page.tell_failure(problem),
            Ok(link) => hand_out(page, &link),
        }
    });
}

fn hand_out(page: Page, link: &str) {
    let copied = link.to_owned();
    browser::copy(link, move |is_taken| {
        browser::set_flag(SLOT_ID, "hidden", is_taken);
        if is_taken {
            page.tell("Link copied. It carries the whole page and sends nothing anywhere.");
        } else {
            browser::set_value_of(FIELD_ID, &copied);
            browser::select_all(FIELD_ID);
        }
    });
}
