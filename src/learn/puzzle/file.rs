//! The file of a puzzle: a program whose first comment says what is asked.

use crate::language::{Language, Tag};
use crate::lesson::Problem;
use crate::lesson::state::PageState;
use fuseline_core::model::options::Switch;
use fuseline_core::{FusionOptions, Policy, device};
use fuseline_view::page::links::SharedState;

/// A puzzle as its file states it.
#[derive(Clone, Debug, PartialEq)]
pub struct Puzzle {
    /// The language of its author.
    pub lang: Tag,
    pub title: String,
    /// The question, in a few sentences.
    pub about: String,
    /// Its program without kernels, and the choices under which it is analysed.
    pub page: PageState,
}

impl Puzzle {
    /// The language of the fixed strings around it.
    pub fn language(&self) -> Language {
        self.lang.language()
    }
}

/// Reads a puzzle, and says what in its file is wrong. `O(text)`.
///
/// The comment at its beginning has the lines `title: …`, `objective: bytes` or `time`, `device: …`
/// and, if more than usual is allowed, `allow: …` with names of switches; `lang: …` says its
/// language; the others are prose.
pub fn read(text: &str) -> (Puzzle, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut lang = Tag::default();
    let mut title = String::new();
    let mut about = Vec::new();
    let mut shared = SharedState {
        text: text.to_owned(),
        policy: Policy::Manual,
        // A kernel of a whole attention is not reached by merging two legal kernels at a time.
        fusion: FusionOptions {
            attention_search: false,
            ..FusionOptions::default()
        },
        ..SharedState::default()
    };
    let mut has_objective = false;
    let front = text.lines().map_while(|line| line.strip_prefix('#'));
    for (at, line) in front.map(str::trim).enumerate() {
        let mut is_unknown = |is_known: bool, what: String, mend: &str| {
            if !is_known {
                problems.push(Problem::new(at + 1, what, mend));
            }
        };
        match line.split_once(": ") {
            Some(("title", words)) => words.clone_into(&mut title),
            Some(("lang", tag)) => {
                let known = Tag::new(tag);
                let what = format!("`{tag}` is not a language");
                is_unknown(known.is_some(), what, Tag::MEND);
                lang = known.unwrap_or_default();
            }
            Some(("objective", name)) => {
                let objective = name.parse();
                has_objective = true;
                shared.fusion.objective = objective.unwrap_or_default();
                let what = format!("`{name}` is not an objective");
                is_unknown(objective.is_ok(), what, "write `bytes` or `time`");
            }
            Some(("device", id)) => {
                let known = device(id);
                shared.device = known.cloned().unwrap_or(shared.device);
                let what = format!("there is no device `{id}`");
                is_unknown(known.is_some(), what, "write an id such as `a100-80`");
            }
            Some(("allow", names)) => {
                for name in names.split(',').map(str::trim) {
                    let switch = name.parse::<Switch>();
                    if let Ok(switch) = switch {
                        *switch.flag(&mut shared.fusion) = true;
                    }
                    let what = format!("there is no option `{name}`");
                    let mend = "write a name such as `prologue` or `horizontal`";
                    is_unknown(switch.is_ok(), what, mend);
                }
            }
            _ => about.push(line),
        }
    }
    for (is_there, what, mend) in [
        (!title.is_empty(), "no title", "add a line `# title: …`"),
        (
            has_objective,
            "no objective",
            "add a line `# objective: bytes` or `# objective: time`",
        ),
        (
            !about.is_empty(),
            "no goal",
            "say in the first comment what to think about",
        ),
    ] {
        if !is_there {
            problems.push(Problem::new(1, format!("the puzzle has {what}"), mend));
        }
    }
    let puzzle = Puzzle {
        lang,
        title,
        about: about.join(" "),
        page: PageState {
            shared,
            ..PageState::default()
        },
    };
    (puzzle, problems)
}
