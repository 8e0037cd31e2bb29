//! The lessons that come with the page, in the order in which they build on each other.

/// A lesson of the page: a file below `public/lessons`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedLesson {
    /// Name of its file without extension; stable, for links and stored progress.
    pub id: &'static str,
    pub text: &'static str,
}

macro_rules! lesson {
    ($id:literal) => {
        ListedLesson {
            id: $id,
            text: include_str!(concat!("../../../public/lessons/", $id, ".md")),
        }
    };
}

pub static LESSONS: &[ListedLesson] = &[
    lesson!("exercise"),
    lesson!("roofline"),
    lesson!("bound"),
    lesson!("layernorm_gelu"),
    lesson!("torch_compile"),
    lesson!("compile_log"),
    lesson!("flash_attention"),
    lesson!("tiling"),
    lesson!("limits"),
    lesson!("precision"),
    lesson!("rounding"),
    lesson!("profiling"),
    lesson!("workflow"),
    lesson!("another_gpu"),
    lesson!("training"),
];

pub fn listed(id: &str) -> Option<&'static ListedLesson> {
    LESSONS.iter().find(|lesson| lesson.id == id)
}

/// The lesson after the one of this id; `None` after the last.
pub fn listed_after(id: &str) -> Option<&'static ListedLesson> {
    let place = LESSONS.iter().position(|lesson| lesson.id == id)?;
    LESSONS.get(place + 1)
}
