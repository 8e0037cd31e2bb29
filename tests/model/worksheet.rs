//! Worksheets: each question of a lesson on paper, with a key, and other numbers for each
//! neighbour.

use fuseline_learn::lesson::library::LESSONS;
use fuseline_learn::lesson::prose::{Inline, ProsePart, figures};
use fuseline_learn::lesson::state::AnalyzedProgram;
use fuseline_learn::lesson::task::{Task, TaskKind};
use fuseline_learn::lesson::{Lesson, read};
use fuseline_learn::teaching::teaching;
use fuseline_learn::worksheet::{Field, Listing, Question, Worksheet};
use proptest::prelude::{ProptestConfig, any, proptest};

fn lessons() -> impl Iterator<Item = (&'static str, Lesson)> {
    LESSONS
        .iter()
        .map(|listed| (listed.id, read(listed.text).0))
}

fn task_of<'a>(lesson: &'a Lesson, question: &Question) -> &'a Task {
    let task = lesson
        .steps
        .get(question.step)
        .and_then(|step| step.task.as_ref());
    task.unwrap_or_else(|| unreachable!("{}", question.title))
}

/// What a reader of paper sees of a question.
fn printed(question: &Question) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {:?}",
        question.before, question.listing, question.ask, question.field, question.key
    )
}

/// A lesson of the page by its id.
fn lesson(id: &str) -> Lesson {
    let found = lessons().find(|(known, _)| *known == id);
    found.unwrap_or_else(|| unreachable!("{id}")).1
}

#[test]
fn every_task_of_every_lesson_is_a_question_with_a_key() {
    for (id, lesson) in lessons() {
        let states = lesson.states(&mut Vec::new());
        let sheet = Worksheet::new(&lesson, 0);
        let tasks = lesson.steps.iter().filter(|step| step.task.is_some());
        assert_eq!(sheet.questions.len(), tasks.count(), "{id}");
        for question in &sheet.questions {
            let title = &question.title;
            let task = task_of(&lesson, question);
            // Without a seed the numbers are those of the lesson.
            assert!(!question.has_other_sizes, "{id}, {title}");
            let answer = states
                .get(question.step)
                .and_then(|states| task.right_answer(states));
            assert_eq!(answer.as_ref(), Some(&question.key), "{id}, {title}");
            assert!(!question.key.is_empty(), "{id}, {title}");
            let ask = [ProsePart::Paragraph(question.ask.clone())];
            assert!(figures(&ask).is_empty(), "{id}, {title}: figures are text");
            assert!(figures(&question.before).is_empty(), "{id}, {title}");
            let has_question_mark = |part: &ProsePart| format!("{part:?}").contains("Text(\"?\")");
            assert!(
                !question.before.iter().any(has_question_mark),
                "{id}, {title}"
            );
            match (&task.kind, &question.field) {
                (TaskKind::Number { .. }, Field::Number(_))
                | (TaskKind::First { .. }, Field::Param { .. })
                | (TaskKind::Do { .. }, Field::OnPage | Field::Param { .. }) => {}
                (TaskKind::Choose(_) | TaskKind::Each { .. }, Field::Options { labels, .. }) => {
                    assert!(labels.len() > 1, "{id}, {title}");
                }
                (kind, field) => unreachable!("{id}, {title}: {kind:?} has {field:?}"),
            }
        }
        let first = sheet.questions.first();
        let first = first.unwrap_or_else(|| unreachable!("{id} asks nothing"));
        assert!(
            first.setting.iter().any(|line| line.starts_with("GPU: ")),
            "{id}"
        );
        assert!(
            matches!(first.listing, Listing::Whole(_)),
            "{id} has no op list on paper"
        );
    }
}

#[test]
fn neighbours_have_other_numbers_or_options_in_another_order() {
    let mut without = Vec::new();
    for (id, lesson) in lessons() {
        let sheets: Vec<Worksheet> = (0..5).map(|seed| Worksheet::new(&lesson, seed)).collect();
        let has_numbers = |sheet: &Worksheet| sheet.questions.iter().any(|q| q.has_other_sizes);
        if !sheets.iter().any(has_numbers) {
            without.push(id);
        }
        for pair in sheets.windows(2) {
            let questions = pair[0].questions.iter().zip(&pair[1].questions);
            let others = questions.filter(|(one, other)| printed(one) != printed(other));
            assert!(
                others.count() >= 2,
                "{id}: sheets {} and {}",
                pair[0].seed,
                pair[1].seed
            );
        }
    }
    // Their questions are about logs, tokens, waves, registers and kernels of given sizes.
    assert_eq!(
        without,
        ["compile_log", "flash_attention", "tiling", "limits"]
    );
}

#[test]
fn the_key_of_other_sizes_is_what_the_engine_finds_for_the_printed_program() {
    for (id, lesson) in lessons() {
        for seed in 1..4 {
            for question in Worksheet::new(&lesson, seed).questions {
                let task = task_of(&lesson, &question);
                let TaskKind::Number { quantity, .. } = &task.kind else {
                    assert!(!question.has_other_sizes, "{id}, {}", question.title);
                    continue;
                };
                let state = &question.states.answered;
                let seen = AnalyzedProgram::of(&state.shared.text, &state.options());
                let seen = seen.unwrap_or_else(|| unreachable!("{id}, {}", question.title));
                assert!(!seen.has_error, "{id}, {}", question.title);
                let value = quantity.value(&seen).map(|value| value.text());
                let value = value.unwrap_or_default();
                assert!(
                    question.key.starts_with(&format!("{value}. ")),
                    "{id}, {}: {value}, but {}",
                    question.title,
                    question.key
                );
            }
        }
    }
}

#[test]
fn a_number_in_the_words_keeps_the_sizes() {
    let text = |ask: &str| {
        format!(
            "---\ntitle: Two sizes\n---\n\n## One\n\n```fuse\nparam N = 1024 in 128..8192 step 128\n\ninput x : f16[N, N]\n\ny = relu(x)\n```\n\n```predict\nask: {ask}\nnumber: bytes\n```\n"
        )
    };
    let other = |ask: &str| {
        let (lesson, problems) = read(&text(ask));
        assert_eq!(problems, [], "{ask}");
        let sheet = Worksheet::new(&lesson, 3);
        let question = sheet.questions.into_iter().next();
        question.unwrap_or_else(|| unreachable!("{ask}"))
    };
    for ask in [
        "What is the traffic at N = 1024?",
        "`x[0:64]` and the rest: how many bytes?",
        "It runs 2 ops: how many bytes?",
    ] {
        assert!(!other(ask).has_other_sizes, "{ask}");
    }
    let question = other("With `=value of param N` rows in f16 on an A100, how many bytes?");
    assert!(question.has_other_sizes);
    assert!(
        !question.ask.contains(&Inline::Text("1,024".to_owned())),
        "the text says the other size: {:?}",
        question.ask
    );
}

#[test]
fn a_program_is_listed_once_and_without_its_sliders() {
    let sheet = Worksheet::new(&lesson("layernorm_gelu"), 0);
    let listings: Vec<&Listing> = sheet.questions.iter().map(|q| &q.listing).collect();
    let Some(Listing::Whole(first)) = listings.first() else {
        unreachable!("{listings:?}")
    };
    assert!(first.contains("param S = 8192"), "{first}");
    assert!(!first.contains("step"), "ranges are for the page: {first}");
    assert!(!first.contains("\n\n"), "{first}");
    assert_eq!(listings.get(1), Some(&&Listing::Same));
}

#[test]
fn one_text_tells_teachers_all_that_they_can_do() {
    let (page, problems) = teaching();
    assert_eq!(problems, [], "the page shows all of docs/teaching.md");
    assert_eq!(page.title, "Teach with Fuseline");
    assert!(!page.about.is_empty() && page.steps.len() > 5);
    let words = page
        .steps
        .iter()
        .map(|step| format!("{} {:?}", step.title, step.before));
    let words = words.collect::<String>();
    for topic in [
        "Present",
        "notes",
        "45, 90 and 180",
        "Worksheet",
        "Puzzles",
        "Make a puzzle of this program",
        "own lessons",
        "embed",
    ] {
        assert!(words.contains(topic), "{topic}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_seed_gives_the_same_sheet_twice(seed in any::<u32>(), at in 0..LESSONS.len()) {
        let lesson = read(LESSONS[at].text).0;
        let print = || {
            let questions = Worksheet::new(&lesson, seed).questions;
            questions.iter().map(printed).collect::<String>()
        };
        assert_eq!(print(), print());
    }
}

/// On paper nobody checks another answer, so the key says which ones are right, too.
#[test]
fn the_key_says_up_to_where_a_slider_is_right() {
    let others = |id: &str, step: usize| {
        let questions = Worksheet::new(&lesson(id), 0).questions;
        let question = questions
            .into_iter()
            .find(|question| question.step + 1 == step);
        question
            .and_then(|question| question.others)
            .unwrap_or_default()
    };
    assert_eq!(
        others("exercise", 5),
        " `B` = 176 is right, too, and `B` = 192 no longer."
    );
    assert_eq!(
        others("roofline", 4),
        " `N` = 8,192, the largest, is right, too."
    );
    // Waves are full again and again.
    assert!(others("tiling", 7).contains("one way of several"));
    assert_eq!(others("tiling", 2), "");
}
