//! Lessons: those of the page hold against the engine, and a broken file says its line and how to
//! mend it.

use fuseline_learn::lesson::answer::Answer;
use fuseline_learn::lesson::check::check;
use fuseline_learn::lesson::library::LESSONS;
use fuseline_learn::lesson::prose::{word_count, written_text};
use fuseline_learn::lesson::task::TaskKind;
use fuseline_learn::lesson::{Lesson, Problem, read};

fn all() -> impl Iterator<Item = (&'static str, Lesson)> {
    LESSONS
        .iter()
        .map(|listed| (listed.id, read(listed.text).0))
}

#[test]
fn the_engine_agrees_with_every_lesson() {
    for listed in LESSONS {
        let (lesson, mut problems) = read(listed.text);
        problems.extend(check(&lesson));
        assert_eq!(problems, [], "{}", listed.id);
    }
}

#[test]
fn a_lesson_takes_five_to_fifteen_minutes_in_five_to_ten_steps() {
    for (id, lesson) in all() {
        assert!((5..=15).contains(&lesson.minutes), "{id}");
        assert!((5..=10).contains(&lesson.steps.len()), "{id}");
        assert!(!lesson.about.is_empty(), "{id}");
        let tasks = lesson.steps.iter().filter(|step| step.task.is_some());
        assert!(
            tasks.count() * 2 >= lesson.steps.len(),
            "{id}: most steps ask something"
        );
    }
}

#[test]
fn the_speaker_has_notes_at_each_step() {
    for (id, lesson) in all() {
        for step in &lesson.steps {
            let words = word_count(&step.notes);
            assert!(
                (8..=60).contains(&words),
                "{id}, {}: {words} words",
                step.title
            );
        }
    }
}

#[test]
fn what_is_told_is_english() {
    for (id, lesson) in all() {
        for (step, states) in lesson.steps.iter().zip(&lesson.states(&mut Vec::new())) {
            let Some(task) = &step.task else { continue };
            let seen = states.asked.analyzed().unwrap_or_else(|| unreachable!());
            let wanted = task
                .wanted(&seen, &seen)
                .into_iter()
                .map(|wanted| wanted.words);
            for words in wanted.chain(task.right_answer(states)) {
                for machine in [
                    " of kernel matmul",
                    " >= ",
                    " <= ",
                    " < ",
                    " > ",
                    "wave-efficiency",
                    ". lower bound",
                    "  ",
                ] {
                    assert!(!words.contains(machine), "{id}, {}: {words}", step.title);
                }
                let begins = words
                    .split(". ")
                    .all(|s| !s.starts_with(char::is_lowercase));
                assert!(begins, "{id}, {}: {words}", step.title);
            }
        }
    }
}

/// Words that make a number in front of them a figure of the engine.
const UNITS: [&str; 18] = [
    "B", "kB", "MB", "GB", "TB", "%", "s", "ms", "µs", "us", "FLOP", "GFLOP", "TFLOP", "TFLOP/s",
    "GB/s", "TB/s", "FLOP/B", "kernels",
];

/// Numbers with a unit that stand in the prose as written, and not as a figure of the engine.
fn written_figures(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| ".,;:()".contains(c)).to_owned();
    let pairs = words.windows(2).map(|two| (bare(two[0]), bare(two[1])));
    pairs
        .filter(|(number, unit)| {
            number.starts_with(|c: char| c.is_ascii_digit()) && UNITS.contains(&unit.as_str())
        })
        .map(|(number, unit)| format!("{number} {unit}"))
        .collect()
}

#[test]
fn numbers_in_the_prose_are_those_of_the_engine() {
    assert_eq!(
        written_figures("It moves 12 MB, (all)."),
        ["12 MB"],
        "the check can fail"
    );
    for (id, lesson) in all() {
        for step in &lesson.steps {
            for parts in [&step.before, &step.after] {
                let written = written_figures(&written_text(parts));
                assert_eq!(
                    written,
                    [] as [String; 0],
                    "{id}, {}: write `=bytes`",
                    step.title
                );
            }
        }
    }
}

#[test]
fn the_right_answer_of_each_task_is_judged_right_and_others_are_not() {
    for (id, lesson) in all() {
        let states = lesson.states(&mut Vec::new());
        for (step, states) in lesson.steps.iter().zip(&states) {
            let Some(task) = &step.task else { continue };
            let seen = states
                .answered
                .analyzed()
                .unwrap_or_else(|| unreachable!("{id} shows no program"));
            let right = task
                .right_answer(states)
                .unwrap_or_else(|| unreachable!("{id}: no answer"));
            let judge = |answer: &Answer| task.judge(answer, &states.answered, &seen);
            match &task.kind {
                TaskKind::Number { .. } => {
                    let figure = right.split(". ").next().unwrap_or_default();
                    let judged = judge(&Answer::Text(figure.trim_end_matches('.').to_owned()));
                    assert!(judged.is_ok_and(|judged| judged.is_right), "{id}: {figure}");
                    let wrong = judge(&Answer::Text(format!(
                        "12345678{}",
                        task.kind.unit().map_or("", |u| u.symbol())
                    )));
                    assert!(wrong.is_ok_and(|judged| !judged.is_right), "{id}: {figure}");
                }
                TaskKind::Choose(_) | TaskKind::Each { .. } => {
                    let options = task.options(&seen).unwrap_or_default();
                    let of = |is_right: bool| {
                        let places = options.iter().enumerate();
                        let places = places.filter(|(_, option)| option.is_right == is_right);
                        Answer::Chosen(places.map(|(at, _)| at).collect())
                    };
                    assert!(judge(&of(true)).is_ok_and(|judged| judged.is_right), "{id}");
                    let wrong = judge(&of(false)).unwrap_or_else(|why| unreachable!("{id}: {why}"));
                    assert!(!wrong.is_right, "{id}");
                    assert!(
                        wrong.words.starts_with("Not quite. The answer is ")
                            && wrong.words.len()
                                > right.split(". ").next().map_or(0, str::len) + 50,
                        "{id}: {wrong:?}"
                    );
                }
                TaskKind::Do { .. } => {
                    let way = task.way(&states.asked).and_then(|way| way.analyzed());
                    assert!(way.is_some_and(|seen| task.is_done(&seen)), "{id}");
                }
                TaskKind::First { .. } => {
                    let value = right.split(['=', '.']).nth(1).unwrap_or_default();
                    let judged = judge(&Answer::Text(value.trim().to_owned()));
                    assert!(judged.is_ok_and(|judged| judged.is_right), "{id}: {right}");
                }
            }
        }
    }
}

const HEAD: &str = "---\ntitle: T\n---\n\n## Step\n";

/// What a file tells, as `line: what`.
fn told(text: &str) -> Vec<String> {
    let (lesson, mut problems) = read(text);
    problems.extend(check(&lesson));
    let line = |Problem { line, what, mend }: Problem| {
        assert!(!mend.is_empty(), "{what}");
        format!("{line}: {what}")
    };
    problems.into_iter().map(line).collect()
}

#[test]
fn a_broken_file_says_the_line_and_what_is_wrong() {
    let page = "```page\nexample: exercise\n```\n";
    let cases = [
        (String::new(), "1: the lesson has no title"),
        (
            "---\ntitel: T\n---\n".to_owned(),
            "2: there is no key `titel`",
        ),
        (
            "---\ntitle: T\nminutes: few\n---\n".to_owned(),
            "3: `few` is not a number of minutes",
        ),
        (
            format!("{HEAD}```page\nexample: exercice\n```"),
            "7: there is no example `exercice`",
        ),
        (
            format!("{HEAD}```page\nset: B\n```"),
            "7: `B` sets no params",
        ),
        (
            format!("{HEAD}```page\nexample: exercise\nset: Q = 2\n```"),
            "8: the program has no param `Q`",
        ),
        (
            format!("{HEAD}```page\npolicy rules\n```"),
            "7: `policy rules` is not of the form `key: value`",
        ),
        (
            format!("{HEAD}```pages\n```"),
            "6: there is no block `pages`",
        ),
        (format!("{HEAD}Words only."), "5: the step shows no program"),
        (
            format!("{HEAD}{page}It moves `=byte`."),
            "9: `=byte` is not a figure",
        ),
        (
            format!("{HEAD}{page}It moves `=bytes of op nobody`."),
            "9: there is no op `nobody`",
        ),
        (
            format!("{HEAD}{page}<b>bold</b>"),
            "9: HTML appears as text",
        ),
        (
            format!("{HEAD}{page}![x](y.png)"),
            "9: pictures are not shown",
        ),
        (
            format!("{HEAD}{page}[x](javascript:alert(1))"),
            "9: this link does not work",
        ),
        (
            format!("{HEAD}{page}```predict\nnumber: kernels\n```"),
            "9: this block needs `ask:`",
        ),
        (
            format!("{HEAD}{page}```predict\nask: A?\nnumber: bound of kernel relu\n```"),
            "11: `bound of kernel relu` is a word, not a number",
        ),
        (
            format!("{HEAD}{page}```choose\nask: A?\n- Yes\n- No :: kernels = 1\n```"),
            "11: the option `Yes` has no condition",
        ),
        (
            format!(
                "{HEAD}{page}```choose\nask: A?\n- Three :: kernels = 3\n- Four :: kernels = 4\n```"
            ),
            "9: no option is right",
        ),
        (
            format!(
                "{HEAD}{page}```choose\nask: A?\n- Two :: kernels = 2\n- Few :: kernels < 4\n```"
            ),
            "9: all options are right",
        ),
        (
            format!("{HEAD}{page}```do\nask: A?\nuntil: kernels = 2\nby: merge\n```"),
            "9: the task is done before the visitor does anything",
        ),
        (
            format!("{HEAD}{page}```do\nask: A?\nuntil: bytes < 1 B\nby: param B\n```"),
            "9: the engine finds no way to do the task",
        ),
        (
            format!("{HEAD}{page}```do\nask: A?\nuntil: bytes below 1 B\nby: param B\n```"),
            "11: `bytes below 1 B` cannot be read",
        ),
        (
            format!("{HEAD}{page}```do\nask: A?\nuntil: kernels = 1\nby: magic\n```"),
            "12: there is no way `magic`",
        ),
        (
            format!("{HEAD}{page}{}", "word ".repeat(81)),
            "5: the step has 81 words of prose",
        ),
        (
            format!("{HEAD}{page}```predict\nask: A?\nfirst: B\nwhen: kernels = 2\n```"),
            "9: `kernels = 2` holds at every B",
        ),
    ];
    for (text, expected) in cases {
        let told = told(&text);
        assert!(
            told.iter().any(|line| line == expected),
            "{text}\n{told:#?}"
        );
    }
}

#[test]
fn a_broken_file_still_shows_what_can_be_read() {
    let text = format!(
        "{HEAD}```page\nexample: exercise\npolicy: best\nview: unfused\n```\nProse.\n\n## Next\nMore."
    );
    let (lesson, problems) = read(&text);
    assert_eq!(problems.len(), 1);
    assert_eq!(lesson.steps.len(), 2);
    let states = lesson.states(&mut Vec::new());
    assert!(states[0].asked.shared.is_unfused_view);
    assert!(
        states[1].asked.analyzed().is_some(),
        "a step goes on with the program of the one before"
    );
}

#[test]
fn no_cut_of_a_lesson_stops_the_reader() {
    for listed in LESSONS {
        let ends = listed.text.char_indices().map(|(at, _)| at).step_by(97);
        for end in ends {
            let (lesson, _) = read(&listed.text[..end]);
            lesson.states(&mut Vec::new());
        }
    }
}

#[test]
fn a_condition_needs_a_relation_and_a_unit() {
    use fuseline_learn::lesson::condition::Condition;
    assert!(Condition::parse("bound of kernel softmax = compute").is_ok());
    assert!(Condition::parse("bytes below 3").is_err());
}

#[test]
fn an_unknown_key_is_told_beside_a_question_that_cannot_be_read() {
    let (_, problems) = read("## One\n\n```predict\nask: How many?\nnumbre: kernels\n```\n");
    let whats: Vec<_> = problems
        .iter()
        .map(|problem| problem.what.as_str())
        .collect();
    assert!(
        whats.iter().any(|what| what.contains("needs `number:`")),
        "{whats:?}"
    );
    assert!(
        whats.iter().any(|what| what.contains("`numbre`")),
        "{whats:?}"
    );
}

#[test]
fn progress_comes_back_from_its_text() {
    use fuseline_learn::lesson::progress::{LessonProgress, StepOutcome};
    let mut progress = LessonProgress::default();
    progress.end("exercise", 2, StepOutcome::Nudged);
    assert_eq!(LessonProgress::read(&progress.write()), progress);
    assert_eq!(LessonProgress::read("{"), LessonProgress::default());
    // As earlier versions kept it.
    let old = LessonProgress::read(r#"{ "done": { "exercise": [0, 4] } }"#);
    assert_eq!(old.outcome("exercise", 4), Some(StepOutcome::Right));
    assert_eq!(old.done_count("exercise"), 2);
}

#[test]
fn the_best_end_of_a_step_counts_and_right_at_once_only_at_once() {
    use fuseline_learn::lesson::progress::LessonProgress;
    use fuseline_learn::lesson::progress::StepOutcome::{self, Nudged, Right, Shown, Skipped};
    let after = |ends: &[StepOutcome]| {
        let mut progress = LessonProgress::default();
        for &end in ends {
            progress.end("exercise", 0, end);
        }
        assert_eq!(progress.is_done("exercise", 0), ends != [Skipped]);
        progress.outcome("exercise", 0)
    };
    assert_eq!(after(&[Skipped]), Some(Skipped));
    assert_eq!(after(&[Skipped, Right]), Some(Right));
    assert_eq!(after(&[Right, Skipped]), Some(Right));
    assert_eq!(after(&[Shown, Right]), Some(Nudged));
    assert_eq!(after(&[Nudged, Shown]), Some(Nudged));
    assert_eq!(after(&[Nudged, Right]), Some(Nudged));
}

#[test]
fn a_quantity_names_its_kernels_and_its_tensor() {
    use fuseline_learn::lesson::named_figure::{NamedFigure, NamedSubject};
    use fuseline_view::present::quantity::Quantity;
    let quantity = NamedFigure::parse("unfused bytes of tensor scores").unwrap();
    assert_eq!(quantity.quantity, Quantity::Bytes);
    assert_eq!(quantity.subject, NamedSubject::Tensor("scores".into()));
}
