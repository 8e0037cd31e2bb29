//! Edits of the text by the table, the sliders and the pickers: text in, text out, comments kept.
