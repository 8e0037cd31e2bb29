//! The bar at the top of the page, with its pickers, menus and buttons.

pub mod device_choice;
pub mod device_figures;
pub mod export_menu;
pub mod fusion_menu;
pub mod history_buttons;
pub mod learn_button;
pub mod menu;
pub mod model_menu;
pub mod more_menu;
pub mod pickers;
pub mod present_button;
pub mod share_button;
pub mod theme_button;
pub mod top_bar;
