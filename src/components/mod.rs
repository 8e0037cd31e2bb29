//! The page's components: they show an analysis and hold no arithmetic.

pub mod scene_view;
