//! The puzzles that come with the page, in the order in which they build on each other.

/// A puzzle of the page: a file below `public/puzzles`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedPuzzle {
    /// Name of its file without extension; stable, for links and stored progress.
    pub id: &'static str,
    pub text: &'static str,
}

macro_rules! puzzle {
    ($id:literal) => {
        ListedPuzzle {
            id: $id,
            text: include_str!(concat!("../../../public/puzzles/", $id, ".fuse")),
        }
    };
}

pub static PUZZLES: &[ListedPuzzle] = &[
    puzzle!("two_ops"),
    puzzle!("chain"),
    puzzle!("epilogue"),
    puzzle!("two_readers"),
    puzzle!("diamond"),
    puzzle!("l2_norm"),
    puzzle!("softmax"),
    puzzle!("layer_norm"),
    puzzle!("swiglu"),
    puzzle!("scores"),
    puzzle!("options"),
    puzzle!("llama"),
];

pub fn listed(id: &str) -> Option<&'static ListedPuzzle> {
    PUZZLES.iter().find(|puzzle| puzzle.id == id)
}

/// The puzzle after this one; `None` after the last, and after one that is not of the page.
pub fn next(id: &str) -> Option<&'static ListedPuzzle> {
    let mut rest = PUZZLES.iter().skip_while(|puzzle| puzzle.id != id);
    rest.nth(1)
}
