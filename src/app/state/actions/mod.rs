//! What a visitor does, as methods of [`Page`](super::Page): the state below does not know them.

mod by_hand;
mod explain;
mod measured_devices;
mod pin;
mod profile;
mod questions;
mod selecting;
mod sent;
mod taking;
mod undo;

pub use measured_devices::today;
pub use taking::PictureForm;
