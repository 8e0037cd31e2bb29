//! Sizes of the parts of a layout, and an estimate of the width of text, because no browser is
//! there to measure it.

/// Height of an op's box.
pub(super) const OP_HEIGHT: f64 = 36.0;
/// Least and greatest width of an op's box.
pub(super) const OP_WIDTHS: (f64, f64) = (120.0, 176.0);
/// Width of bold text over that of regular text.
pub(in crate::picture) const BOLD: f64 = 1.1;
/// Space left and right of the text in an op's box.
pub(super) const OP_PADDING: f64 = 10.0;
/// From a panel's border to the ops in it, on every side.
pub const PANEL_PADDING: f64 = 7.0;
/// Height of the label with the name and the size of a tensor. It is at most as wide as the op
/// above it.
pub(super) const SIZE_LABEL_HEIGHT: f64 = 17.0;
/// Space above and below a size label.
pub(super) const SIZE_LABEL_MARGIN: f64 = 3.5;
pub(super) const PILL_HEIGHT: f64 = 30.0;
/// Least and greatest width of a pill.
pub(super) const PILL_WIDTHS: (f64, f64) = (62.0, 116.0);
/// Font size of an op's function.
pub(super) const FUNCTION_FONT_PX: f64 = 13.0;
/// Font size of all other texts, the smallest in the picture.
pub const SMALL_FONT_PX: f64 = 11.0;

/// Between the function and the name in an op's box.
pub(super) const LABEL_GAP: f64 = 6.0;
/// From a pill to the panel or op that it feeds.
pub(super) const PILL_GAP: f64 = 18.0;
/// Between two pills of one op.
pub(super) const PILL_STACK_GAP: f64 = 6.0;
/// Between two lanes, or between a lane and a box.
pub(super) const LANE_GAP: f64 = 16.0;
/// Between two panels side by side.
pub(super) const PANEL_GAP: f64 = 28.0;
/// Between two ops side by side in one panel.
pub(super) const OP_GAP: f64 = 16.0;
/// Between two horizontal runs in the space between layers.
pub(super) const TRACK_GAP: f64 = 12.0;
/// From the last horizontal run to the box below it.
pub(super) const APPROACH: f64 = 8.0;
/// Vertical distance of two lanes that turn into one op.
pub(super) const LANE_PITCH: f64 = 14.0;
/// Empty border of the whole picture; a kernel's badge reaches into it.
pub(super) const MARGIN: f64 = 16.0;
/// From the frame of a repeat to what is in it, left and right.
pub(super) const FRAME_PADDING: f64 = 12.0;
/// From above the frame of a repeat to what is in it: half a mark, and the tag.
pub(super) const FRAME_HEAD: f64 = 50.0;
/// From what is in the frame to what is below it.
pub(super) const FRAME_FOOT: f64 = 28.0;
/// Half the height of a mark on a frame.
pub const MARK_HALF: f64 = 9.0;
/// Width and height of the tag of a frame.
pub(super) const TAG_PX: (f64, f64) = (148.0, 26.0);
/// Digits of a dimension for which every box is wide enough, so that a slider cannot widen it.
const RESERVED_DIGITS: usize = 5;

/// Estimated width of `text` in a system font of this size.
pub fn text_width(text: &str, font_px: f64) -> f64 {
    text.chars().map(|c| char_em(c) * font_px).sum()
}

/// `text`, cut to `width` with an ellipsis. Reads no further than `width`, however long the text
/// is.
pub fn fit_text(text: &str, width: f64, font_px: f64) -> String {
    cut_to(text, width, font_px, |room| room)
}

/// A name, cut to `width` in its middle. Names of one model begin alike and differ at their ends:
/// `layers_0_attn_q`, `layers_0_attn_k`.
pub fn fit_name(name: &str, width: f64, font_px: f64) -> String {
    cut_to(name, width, font_px, |room| room / 3.0)
}

/// `text`, or as much of its start as fits into `head` of the room beside an ellipsis, and of its
/// end as fits into the rest.
fn cut_to(text: &str, width: f64, font_px: f64, head: impl Fn(f64) -> f64) -> String {
    let em = width / font_px;
    if fitting(text.chars(), em).0 == text.len() {
        return text.to_owned();
    }
    let room = (em - char_em('…')).max(0.0);
    let most = head(room);
    let (start, used) = fitting(text.chars(), most);
    let rest = if most < room { room - used } else { 0.0 };
    let (end, _) = fitting(text.chars().rev(), rest);
    let start = text.get(..start).unwrap_or_default().trim_end();
    let end = text.get(text.len() - end..).unwrap_or_default();
    format!("{start}…{end}")
}

/// Bytes of the first characters that fit into `em`, and their width.
fn fitting(chars: impl Iterator<Item = char>, em: f64) -> (usize, f64) {
    let (mut bytes, mut used) = (0, 0.0);
    for c in chars {
        if used + char_em(c) > em {
            break;
        }
        used += char_em(c);
        bytes += c.len_utf8();
    }
    (bytes, used)
}

/// Width of the text of a shape with this rank and large dimensions.
pub fn reserved_shape_width(rank: usize) -> f64 {
    let digits = rank.saturating_mul(RESERVED_DIGITS) as f64 * char_em('0');
    let separators = rank.saturating_sub(1) as f64 * (char_em(',') + char_em(' '));
    (digits + separators + 2.0 * char_em('[')) * SMALL_FONT_PX
}

/// Width of a character in em, rounded up over the usual system fonts.
fn char_em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.31,
        'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '{' | '}' | '/' | '-' => 0.38,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.92,
        'A'..='Z' | '…' | '~' => 0.72,
        '\0'..='\x7f' => 0.6,
        '\u{80}'..='\u{2fff}' => 0.66,
        _ => 1.1,
    }
}
