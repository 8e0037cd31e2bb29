//! The languages of lessons and puzzles: the tag of an author's text, and the fixed strings around
//! it.

mod table;

use fuseline_view::present::format::format_count;

/// A language of the table of fixed strings, whose methods are its rows: `language.next()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// The first one, and the one of all authors whose own the table does not have.
    #[default]
    English,
    German,
}

impl Language {
    /// The languages of the table.
    pub const ALL: [Self; 2] = [Self::English, Self::German];

    /// Its tag, for the `lang` attribute of fixed strings.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    /// Whether its numbers have a comma before the decimals, and points between thousands:
    /// `1.234,5`.
    pub(crate) const fn has_decimal_comma(self) -> bool {
        match self {
            Self::English => false,
            Self::German => true,
        }
    }

    /// So many moves, as they stand after *in*: `3 moves`.
    pub fn move_count(self, count: usize) -> String {
        match count {
            1 => self.one_move().to_owned(),
            _ => self.several_moves(&format_count(count)),
        }
    }

    /// A list in a sentence: `a, b and c`.
    pub(crate) fn listed(self, mut things: Vec<String>) -> String {
        match things.pop() {
            Some(last) if !things.is_empty() => self.and(&things.join(", "), &last),
            only => only.unwrap_or_default(),
        }
    }
}

/// The language in which somebody wrote a lesson or a puzzle: a tag of BCP 47, such as `en`,
/// `de-CH` or `zh-Hant`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag(String);

impl Tag {
    /// How to mend what is no tag.
    pub(crate) const MEND: &str = "write a tag of BCP 47, such as `en`, `de` or `pt-BR`";

    /// A tag by its form: a language of two or three letters, then parts of up to eight letters and
    /// digits. Whether there is such a language is not looked up. `None` for another text.
    pub fn new(text: &str) -> Option<Self> {
        let (language, parts) = text
            .split_once('-')
            .map_or((text, None), |(language, parts)| {
                (language, Some(parts.split('-')))
            });
        let is_language =
            (2..=3).contains(&language.len()) && language.bytes().all(|b| b.is_ascii_alphabetic());
        let is_part = |part: &str| {
            (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        (is_language && parts.into_iter().flatten().all(is_part)).then(|| Self(text.to_owned()))
    }

    /// The tag, for a `lang` attribute.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The language of the fixed strings around such a text: its own, in whatever country, else
    /// English.
    pub fn language(&self) -> Language {
        let own = self.0.split('-').next().unwrap_or_default();
        let mut all = Language::ALL.into_iter();
        all.find(|language| language.tag().eq_ignore_ascii_case(own))
            .unwrap_or_default()
    }
}

impl Default for Tag {
    fn default() -> Self {
        Self(Language::default().tag().to_owned())
    }
}
