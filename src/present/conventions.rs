//! The ways of counting, in words.

use crate::core::{Externals, ReshapeCost};

/// A choice in a few words, and in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceWords {
    /// What it is called.
    pub name: &'static str,
    /// What it means.
    pub sentence: &'static str,
}

/// How large an external tensor counts.
pub const fn externals_words(externals: Externals) -> ChoiceWords {
    match externals {
        Externals::Declared => ChoiceWords {
            name: "as declared",
            sentence: "Inputs and weights count as declared, else as the other shapes force them to be, else as large as their reader's output.",
        },
        Externals::KnownOnly => ChoiceWords {
            name: "0 bytes",
            sentence: "Only tensors that an op computes count. Some published answers do this.",
        },
        Externals::OutputShape => ChoiceWords {
            name: "as their reader's output",
            sentence: "Every input and weight counts as large as the output of the op that reads it, whatever is declared.",
        },
    }
}

/// What a reshape costs that stands alone.
pub const fn reshape_words(reshape: ReshapeCost) -> ChoiceWords {
    match reshape {
        ReshapeCost::Copy => ChoiceWords {
            name: "a copy",
            sentence: "A reshape that stands alone reads its input and writes its output like any op.",
        },
        ReshapeCost::View => ChoiceWords {
            name: "a view",
            sentence: "A reshape only indexes the same bytes in another way: it moves nothing and nobody launches it.",
        },
    }
}
