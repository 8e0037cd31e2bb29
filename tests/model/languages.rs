//! Lessons and puzzles in other languages than English: German has all fixed strings, and other
//! languages have English ones.

use fuseline_learn::language::{Language, Tag};
use fuseline_learn::lesson::answer::{Answer, Judged};
use fuseline_learn::lesson::check::check;
use fuseline_learn::lesson::progress::StepOutcome;
use fuseline_learn::lesson::state::AnalyzedProgram;
use fuseline_learn::lesson::task::Task;
use fuseline_learn::lesson::{Lesson, StepStates, read};
use fuseline_learn::puzzle::standing::{Maker, Standing};
use fuseline_learn::puzzle::{self, Posed, make, proposed_goal};
use fuseline_learn::worksheet::{Field, Worksheet};
use std::collections::BTreeSet;

const LESSON: &str = include_str!("languages/lesson.de.md");
const PUZZLE: &str = include_str!("languages/puzzle.de.fuse");
const TABLE: &str = include_str!("../../src/learn/language/table.rs");

/// The lesson in German, or the same file in another language.
fn lesson(lang: &str) -> Lesson {
    let (lesson, problems) = read(&LESSON.replace("lang: de", &format!("lang: {lang}")));
    assert_eq!(problems, [], "{lang}");
    lesson
}

fn step(lesson: &Lesson, number: usize) -> (Task, StepStates) {
    let states = lesson.states(&mut Vec::new());
    let step = &lesson.steps[number - 1];
    (step.task.clone().unwrap(), states[number - 1].clone())
}

fn judge(lesson: &Lesson, number: usize, answer: &Answer) -> Result<Judged, String> {
    let (task, states) = step(lesson, number);
    let seen = states.answered.analyzed().unwrap();
    let judged = task.judge(answer, &states.answered, &seen);
    judged.map_err(|problem| problem.to_string())
}

fn judge_number(lesson: &Lesson, text: &str) -> Result<Judged, String> {
    judge(lesson, 1, &Answer::Text(text.to_owned()))
}

fn posed(text: &str) -> Posed {
    let (puzzle, problems) = puzzle::read(text);
    assert_eq!(problems, []);
    Posed::of(puzzle).unwrap()
}

#[test]
fn the_engine_agrees_with_the_german_lesson() {
    let lesson = lesson("de");
    assert_eq!(check(&lesson), []);
    assert_eq!(lesson.lang.as_str(), "de");
    assert_eq!(read("").0.lang.as_str(), "en");
}

#[test]
fn a_language_is_known_by_its_form() {
    for tag in ["de", "DE-ch", "fil", "zh-Hant-TW", "sl-rozaj", "de-x-class"] {
        assert_eq!(Tag::new(tag).unwrap().as_str(), tag);
    }
    for text in [
        "",
        "d",
        "German",
        "deutsch",
        "de_CH",
        "de-",
        "de--CH",
        "d3",
        "de-toolongapart",
        "中文",
    ] {
        assert_eq!(Tag::new(text), None, "{text}");
    }
    for (tag, language) in [
        ("de", Language::German),
        ("DE-at", Language::German),
        ("en-GB", Language::English),
        ("fr", Language::English),
        ("den", Language::English),
    ] {
        assert_eq!(Tag::new(tag).unwrap().language(), language, "{tag}");
    }
    let german = |text: &str| text.replace("lang: de", "lang: German");
    let (lesson, of_lesson) = read(&german(LESSON));
    let (puzzle, of_puzzle) = puzzle::read(&german(PUZZLE));
    for (line, lang, problems) in [(3, lesson.lang, of_lesson), (2, puzzle.lang, of_puzzle)] {
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(
            (problems[0].line, problems[0].what.as_str()),
            (line, "`German` is not a language")
        );
        assert!(problems[0].mend.contains("`de`"), "{}", problems[0].mend);
        assert_eq!(lang, Tag::default());
    }
}

/// The compiler refuses a row without German, but not a hole that German forgets.
#[test]
fn a_string_has_the_same_holes_in_each_language() {
    let table = TABLE
        .split("\ntable! {")
        .nth(1)
        .unwrap()
        .replace("\\\"", "");
    let strings: Vec<&str> = table.split('"').skip(1).step_by(2).collect();
    assert!(strings.len() > 250, "{}", strings.len());
    let holes = |text: &str| -> BTreeSet<String> {
        let holes = text.split('{').skip(1);
        holes
            .filter_map(|hole| Some(hole.split_once('}')?.0.to_owned()))
            .collect()
    };
    for row in strings.chunks(2) {
        assert_eq!(holes(row[0]), holes(row[1]), "{row:?}");
    }
}

#[test]
fn a_german_lesson_judges_in_german_and_gives_the_engine_s_reason_in_english() {
    let lesson = lesson("de");
    let right = judge_number(&lesson, "4.19 MB").unwrap();
    assert!(right.is_right);
    assert_eq!(right.reason, "It reads `y` 2.10 MB and writes `z` 2.10 MB.");
    assert_eq!(
        right.words.strip_suffix(&right.reason),
        Some("Richtig: 4.19 MB (Abweichungen bis 5.00 % zählen als richtig). ")
    );
    let nudge = |text: &str| judge_number(&lesson, text).unwrap().nudge;
    assert_eq!(nudge("1 MB"), "Die Antwort ist größer.");
    assert_eq!(nudge("9 MB"), "Die Antwort ist kleiner.");
    assert!(nudge("2,1 MB").starts_with("Das ist `y` oder `z` allein."));
    let wrong = judge_number(&lesson, "9 MB").unwrap().words;
    assert!(
        wrong.starts_with("Nicht ganz. Die Antwort ist 4.19 MB. "),
        "{wrong}"
    );
    let problem = |text: &str| judge_number(&lesson, text).unwrap_err();
    assert_eq!(problem("viele"), "schreibe eine Zahl, zum Beispiel 1.2 GB");
    assert_eq!(
        problem("5"),
        "schreibe auch die Einheit, zum Beispiel 1.2 GB"
    );
    assert_eq!(
        problem("5 ms"),
        "die Einheit `ms` passt hier nicht: schreibe zum Beispiel 1.2 GB"
    );

    let choose = |chosen: &[usize]| judge(&lesson, 2, &Answer::Chosen(chosen.to_vec()));
    assert_eq!(choose(&[]), Err("wähle zuerst eine Antwort".to_owned()));
    let wrong = choose(&[0]).unwrap();
    assert_eq!(wrong.nudge, "Woher soll der Kernel `x` sonst bekommen?");
    let right = choose(&[1]).unwrap().words;
    assert!(
        right.starts_with("Richtig: „Das Zwischenergebnis y“. "),
        "{right}"
    );

    let (task, states) = step(&lesson, 3);
    let asked = states.asked.analyzed().unwrap();
    let goal = &task.wanted(&asked, &asked)[0].words;
    assert!(
        goal.starts_with("Ziel: ") && goal.contains(". Jetzt: "),
        "{goal}"
    );
    let done = task.way(&states.asked).unwrap().analyzed().unwrap();
    let done = task.done(&done).unwrap();
    assert_eq!(
        done.words.strip_suffix(&done.reason),
        Some("Du hast das Ziel bei `N` = 512 erreicht. Dort gilt: ")
    );
    assert_eq!(
        StepOutcome::Right.words_in(Language::German),
        "sofort richtig"
    );
}

#[test]
fn numbers_are_read_as_the_language_writes_them_and_as_the_page_does() {
    let judged =
        |lang: &str, text: &str| judge_number(&lesson(lang), text).is_ok_and(|j| j.is_right);
    for text in ["4,19 MB", "4.19 MB", "4 194 304", "2 * 2,1 MB"] {
        assert!(judged("en", text) && judged("de", text), "{text}");
    }
    // The page writes 4,194 kB and 4,194,304 B in every language.
    for text in ["4,194 kB", "4,194,304"] {
        assert!(judged("en", text) && judged("de", text), "{text}");
    }
    for text in [
        "4.194,304 kB",
        "4.194.304",
        "4.194 kB",
        "4,194 MB",
        "(2,097 + 2,097) MB",
    ] {
        assert!(judged("de", text) && !judged("en", text), "{text}");
    }
    for text in ["41,9 MB", "4,5 MB", "4.194 GB", "4,194 B"] {
        assert!(!judged("de", text) && !judged("en", text), "{text}");
    }
}

#[test]
fn a_language_without_fixed_strings_has_english_ones_and_keeps_its_tag() {
    let lesson = lesson("fr-CA");
    assert_eq!(lesson.lang.as_str(), "fr-CA");
    let wrong = judge_number(&lesson, "1 MB").unwrap();
    assert_eq!(wrong.nudge, "The answer is larger.");
}

#[test]
fn a_worksheet_has_the_words_of_its_lesson() {
    let sheet = Worksheet::new(&lesson("de"), 0);
    assert_eq!(sheet.lang.as_str(), "de");
    let setting = sheet.questions[0].setting.join(" ");
    assert!(
        setting.contains("Fusionsstrategie: ") && setting.contains(" pro Kernelstart."),
        "{setting}"
    );
    let Field::Param { range, .. } = &sheet.questions[2].field else {
        panic!("{:?}", sheet.questions[2].field);
    };
    assert_eq!(range, "128 bis 4096 in Schritten von 128");
}

#[test]
fn a_german_puzzle_is_graded_in_german() {
    let posed = posed(PUZZLE);
    assert_eq!(posed.puzzle.lang.as_str(), "de");
    assert!(
        posed.puzzle.about.starts_with("Die Summe"),
        "{}",
        posed.puzzle.about
    );
    let names: Vec<_> = posed
        .ranks()
        .into_iter()
        .map(|row| (row.name, row.costs))
        .collect();
    assert_eq!(
        names,
        [
            ("Zulässig", "unter 336 MB".to_owned()),
            (
                "Bewiesenes Optimum, so gut wie torch.compile",
                "201 MB".to_owned()
            ),
        ]
    );
    let start = posed.analyzed().unwrap();
    let told = |seen: &AnalyzedProgram, maker| match posed.standing(&seen.analysis, seen.has_error)
    {
        Standing::Graded(graded) => graded.words_in(Language::German, posed.start, maker),
        Standing::Ungraded(words) => words,
    };
    assert_eq!(told(&start, Maker::Visitor(0)), "134 MB über Par, 66.7 %");
    let way = posed.way(&start).unwrap();
    let solved = AnalyzedProgram::of(&way.last().unwrap().text, &posed.puzzle.page.options());
    let solved = solved.unwrap();
    assert_eq!(
        told(&solved, Maker::Visitor(1)),
        "Gelöst in 1 Zug: 201 MB statt 336 MB, 1.67× weniger. Keine zulässigen Kernel kosten weniger."
    );
    assert!(told(&solved, Maker::Visitor(2)).starts_with("Gelöst in 2 Zügen: "));
    let broken = Standing::Ungraded(Language::German.illegal_kernels().to_owned());
    assert_eq!(posed.standing(&start.analysis, true), broken);
    let none = puzzle::read("# title: T\n# lang: de\n# objective: bytes\n# Z.\n").0;
    assert_eq!(
        Posed::of(none).unwrap_err(),
        "Das Programm hat einen Fehler oder keine Ops."
    );
    // What is made of it is German, too.
    let state = &posed.puzzle.page.shared;
    let made = make(state, "Noch eins", &proposed_goal(&state.text)).unwrap();
    assert_eq!(made.puzzle.lang, posed.puzzle.lang);
    assert_eq!(made.puzzle.about, posed.puzzle.about);
}
