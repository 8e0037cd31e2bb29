//! The page's components: they show an analysis and hold no arithmetic.

pub mod badge;
pub mod diagnostics;
pub mod editor;
pub mod headline;
pub mod kernel_details;
pub mod kernels;
pub mod ops;
pub mod scene_view;
pub mod sliders;
