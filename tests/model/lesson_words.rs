//! What lessons say: terms before they are used, goals, first wrong answers, and what is done.

use crate::repeats::of_text;
use fuseline_core::examples::example;
use fuseline_core::fusion::reason::Reason;
use fuseline_core::notation::parse;
use fuseline_core::{OpType, Policy};
use fuseline_learn::language::Language;
use fuseline_learn::lesson::answer::{Answer, Judged};
use fuseline_learn::lesson::arithmetic::number_in;
use fuseline_learn::lesson::library::{LESSONS, listed};
use fuseline_learn::lesson::solve::with_param;
use fuseline_learn::lesson::task::{SolveBy, Task, TaskKind};
use fuseline_learn::lesson::value::{AnswerUnit, FigureValue, Unit};
use fuseline_learn::lesson::{Lesson, StepStates, read};
use fuseline_view::present::reasons::reason_text;
use fuseline_view::present::sliders::slider_rows;

const UNITS: [Unit; 9] = [
    Unit::Count,
    Unit::Bytes,
    Unit::Seconds,
    Unit::Flops,
    Unit::Intensity,
    Unit::Percent,
    Unit::Ratio,
    Unit::FlopsPerSecond,
    Unit::BytesPerSecond,
];

/// All tasks of the page's lessons, with the lesson and the states of the step.
pub(crate) fn tasks() -> Vec<(&'static str, Task, StepStates)> {
    let lessons = LESSONS
        .iter()
        .map(|listed| (listed.id, read(listed.text).0));
    let tasks = lessons.flat_map(|(id, lesson)| {
        let states = lesson.states(&mut Vec::new());
        let steps = lesson.steps.into_iter().zip(states);
        steps.filter_map(move |(step, states)| Some((id, step.task?, states)))
    });
    tasks.collect()
}

/// What a reader sees of a step: without titles, states, programs and the speaker's notes.
fn read_words(step: &str) -> String {
    let mut block = None;
    let words = step.lines().skip(1).filter(|line| {
        if let Some(kind) = line.strip_prefix("```") {
            block = block.is_none().then_some(kind);
            return false;
        }
        let asks = ["ask:", "hint:", "- "];
        match block {
            None => true,
            Some("predict" | "choose" | "do") => asks.iter().any(|key| line.starts_with(key)),
            Some(_) => false,
        }
    });
    words.collect::<Vec<_>>().join("\n")
}

/// Whether a text has a term, as written or in the plural. Figures are not words of the lesson.
fn has_term(text: &str, term: &str) -> bool {
    let text = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '/');
    text.match_indices(term).any(|(at, _)| {
        let after = text[at + term.len()..].trim_start_matches('s');
        !is_letter(text[..at].chars().next_back()) && !is_letter(after.chars().next())
    })
}

#[test]
fn a_term_is_taught_where_it_is_first_read() {
    assert!(has_term("two FLOPs", "FLOP") && !has_term("FLOP/B", "FLOP"));
    for term in [
        "kernel",
        "register",
        "epilogue",
        "FLOP",
        "arithmetic intensity",
        "memory-bound",
        "compute-bound",
        "ridge point",
        "matrix unit",
        "launch",
        "lower bound",
        "elementwise",
        "reduction",
        "multiprocessor",
        "occupancy",
        "wave",
    ] {
        let first = LESSONS.iter().find_map(|listed| {
            let mut steps = listed.text.split("\n## ").skip(1).map(read_words);
            steps
                .find(|step| has_term(step, term))
                .map(|step| (listed.id, step))
        });
        let (id, step) = first.unwrap_or_else(|| unreachable!("no lesson says {term}"));
        let is_taught = step
            .split("**")
            .skip(1)
            .step_by(2)
            .any(|bold| has_term(bold, term));
        assert!(is_taught, "{id} uses {term} before it is taught: {step}");
    }
}

#[test]
fn a_rule_of_the_textbook_is_named_as_one() {
    let mut rules = 0;
    for listed in LESSONS {
        for step in listed.text.split("\n## ").skip(1).map(read_words) {
            for part in step.split("\n\n").filter(|part| {
                let words = part.split_whitespace().collect::<Vec<_>>().join(" ");
                words.contains("at most one matmul")
            }) {
                assert!(part.contains("rules"), "{}: {part}", listed.id);
                rules += 1;
            }
        }
    }
    assert!(rules >= 2, "{rules}");
}

/// A newcomer does not know attention: the exception is named where the program has it.
#[test]
fn the_reason_for_two_matmuls_names_its_exception_where_it_may_hold() {
    let (task, states) = first_lesson_step(2);
    let answer = task.right_answer(&states).unwrap_or_default();
    let reason = "a kernel runs at most one matmul, and fused they would run";
    assert!(answer.contains(reason), "{answer}");
    let graph = of_text(example("attention").unwrap().text, Policy::Rules).graph;
    let matmuls: Vec<_> = (graph.ops.iter_enumerated())
        .filter(|(_, op)| op.op_type == OpType::Matmul)
        .map(|(op, _)| op)
        .collect();
    let [.., first, second] = matmuls[..] else {
        unreachable!("attention has two matmuls");
    };
    let reason = reason_text(&graph, &Reason::TwoMatmuls { first, second });
    assert!(reason.contains("unless it is attention"), "{reason}");
}

#[test]
fn a_lesson_ends_with_what_to_say_and_what_to_try() {
    for listed in LESSONS {
        let lesson = read(listed.text).0;
        assert_eq!(lesson.says.len(), 3, "{}", lesson.title);
        assert!(!lesson.try_next.is_empty(), "{}", lesson.title);
        for sentence in lesson.says.iter().chain([&lesson.try_next]) {
            assert!(sentence.ends_with('.'), "{sentence}");
            assert!(sentence.split_whitespace().count() <= 28, "{sentence}");
        }
    }
}

/// A nudge leads away from its mistake, and says no number that is right.
#[test]
fn each_number_that_is_asked_for_has_a_common_mistake_with_a_nudge() {
    let mut nudges = 0;
    for (id, task, states) in tasks() {
        let TaskKind::Number { quantity, .. } = &task.kind else {
            continue;
        };
        let seen = states.answered.analyzed().unwrap_or_else(|| unreachable!());
        let right = quantity.value(&seen).map(|value| value.text());
        let right = right.unwrap_or_else(|why| unreachable!("{id}: {why}"));
        let ask = &task.ask;
        assert!(!task.mistakes.is_empty(), "{id}: {ask:?}");
        for mistake in &task.mistakes {
            let nudge = &mistake.nudge;
            assert!(nudge.ends_with(['.', '?']), "{id}: {nudge}");
            assert!(nudge.split_whitespace().count() <= 25, "{id}: {nudge}");
            let says = nudge.split(|c: char| c.is_whitespace() || c == '.');
            assert!(says.clone().all(|word| word != right), "{id}: {nudge}");
            nudges += 1;
        }
    }
    assert!(nudges > 50, "{nudges}");
}

#[test]
fn a_common_mistake_gets_its_own_nudge_and_no_other_does() {
    let (task, states) = first_lesson_step(1);
    let seen = states.answered.analyzed().unwrap_or_else(|| unreachable!());
    let nudge = |text: &str| {
        let answer = Answer::Text(text.to_owned());
        let judged = task.judge(&answer, &states.answered, &seen);
        judged.map_or_else(|why| why.to_string(), |judged| judged.nudge)
    };
    let half = "That is one crossing. The matmul writes it, and the add reads it.";
    assert_eq!(nudge("8.39 MB"), half);
    assert_eq!(nudge("8 MiB"), half);
    assert_eq!(nudge("5 MB"), "The answer is larger.");
    // Without its unit a number is right where one fits, and wrong where none does.
    assert_eq!(nudge("16.8"), "");
    assert_eq!(nudge("16,777,216"), "");
    assert_eq!(nudge("5"), "write the unit, too, such as 1.2 GB");
}

#[test]
fn no_form_of_an_answer_gives_the_answer_away() {
    for unit in UNITS {
        assert!(
            !unit.form_in(Language::English).contains(char::is_numeric),
            "{}",
            unit.form_in(Language::English)
        );
    }
    for (id, task, states) in tasks() {
        let TaskKind::Number { quantity, .. } = &task.kind else {
            continue;
        };
        let seen = states.answered.analyzed().unwrap_or_else(|| unreachable!());
        let Ok(FigureValue::Number(right, unit)) = quantity.value(&seen) else {
            unreachable!("{id}: {quantity}");
        };
        let sample = number_in(unit.sample(), unit).unwrap_or_else(|why| unreachable!("{why}"));
        let ratio = sample / right;
        assert!(
            !(0.8..1.25).contains(&ratio),
            "{id}: {} beside {right}",
            unit.sample()
        );
    }
}

#[test]
fn a_first_wrong_answer_gets_no_right_one() {
    for (id, task, states) in tasks() {
        let seen = states.answered.analyzed().unwrap_or_else(|| unreachable!());
        let judge = |answer: &Answer| {
            let judged = task.judge(answer, &states.answered, &seen);
            judged.unwrap_or_else(|why| unreachable!("{id}: {why}"))
        };
        match &task.kind {
            TaskKind::Do { .. } => {}
            TaskKind::Number { .. } | TaskKind::First { .. } => {
                let unit = task.kind.unit().map_or("", Unit::symbol);
                for (given, nudge) in [
                    ("0", "The answer is larger."),
                    ("1e", "The answer is smaller."),
                ] {
                    let given = given.replace("1e", "999999999999999999");
                    let judged = judge(&Answer::Text(format!("{given} {unit}")));
                    assert_eq!(judged.nudge, nudge, "{id}");
                }
            }
            TaskKind::Choose(_) | TaskKind::Each { .. } => {
                let options = task.options(&seen).unwrap_or_default();
                let places = |is_right: bool| -> Vec<usize> {
                    let places = options.iter().enumerate();
                    let places = places.filter(|(_, option)| option.is_right == is_right);
                    places.map(|(at, _)| at).collect()
                };
                let all = judge(&Answer::Chosen((0..options.len()).collect()));
                let begins = "Something is wrong. ";
                assert!(all.nudge.starts_with(begins), "{id}: {all:?}");
                let wrong = judge(&Answer::Chosen(places(false)[..1].to_vec()));
                // The reason is that of the first, so others are left to find.
                let all_wrong = judge(&Answer::Chosen(places(false)));
                assert_eq!(hint_in(&all_wrong.nudge), hint_in(&wrong.nudge), "{id}");
                for right in places(true) {
                    let label = format!("\"{}\"", options[right].label);
                    assert!(!wrong.nudge.contains(&label), "{id}: {wrong:?}");
                }
                let Judged {
                    is_right, nudge, ..
                } = judge(&Answer::Chosen(places(true)));
                assert!(is_right && nudge.is_empty(), "{id}: {nudge}");
            }
        }
    }
}

/// What a first wrong answer is told beside that it is wrong.
fn hint_in(nudge: &str) -> &str {
    let verdicts = [
        "Something is wrong, and something is missing. ",
        "Something is wrong. ",
    ];
    let mut hint = nudge;
    for verdict in verdicts {
        hint = hint.strip_prefix(verdict).unwrap_or(hint);
    }
    hint
}

#[test]
fn every_wrong_choice_gets_a_hint_of_its_own() {
    let mut hints = 0;
    for (id, task, states) in tasks() {
        let seen = states.answered.analyzed().unwrap_or_else(|| unreachable!());
        let ask = &task.ask;
        let options = task.options(&seen).unwrap_or_default();
        let wrong = (options.iter().enumerate()).filter(|(_, option)| !option.is_right);
        let mut told = Vec::new();
        for (at, option) in wrong {
            let judged = task.judge(&Answer::Chosen(vec![at]), &states.answered, &seen);
            let nudge = judged
                .unwrap_or_else(|why| unreachable!("{id}: {why}"))
                .nudge;
            let hint = hint_in(&nudge);
            assert!(
                hint.len() > 30 && !hint.starts_with("Choose"),
                "{id}: {} {nudge}",
                option.label
            );
            assert!(!told.contains(&nudge), "{id}: {ask:?} says twice: {nudge}");
            told.push(nudge);
            hints += 1;
        }
        // What is missing has no option that was chosen to speak of.
        let has_own_hints = matches!(&task.kind, TaskKind::Choose(_));
        assert!(has_own_hints || !task.hint.is_empty(), "{id}: {ask:?}");
    }
    assert!(hints > 40, "{hints}");
}

#[test]
fn a_wrongly_chosen_tensor_gets_the_reason_why_it_is_wrong() {
    let (task, states) = first_lesson_step(3);
    let seen = states.answered.analyzed().unwrap_or_else(|| unreachable!());
    let nudge = |chosen: &[usize]| {
        let judged = task.judge(&Answer::Chosen(chosen.to_vec()), &states.answered, &seen);
        judged.map_or_else(|why| why.to_string(), |judged| judged.nudge)
    };
    assert_eq!(
        nudge(&[0, 1, 2]),
        "Something is wrong. `relu` writes `y3` (8.39 MB), and `matmul2` reads it in another kernel."
    );
    assert_eq!(nudge(&[0]), "Something is missing.");
}

/// A step of the page's first lesson, from 1.
fn first_lesson_step(number: usize) -> (Task, StepStates) {
    let (lesson, _): (Lesson, _) =
        listed("exercise").map_or_else(Default::default, |listed| read(listed.text));
    let states = lesson.states(&mut Vec::new());
    let task = lesson.steps[number - 1].task.clone();
    (
        task.unwrap_or_else(|| unreachable!()),
        states[number - 1].clone(),
    )
}

#[test]
fn a_goal_says_what_shall_be_and_what_is() {
    let (task, states) = first_lesson_step(5);
    let seen = states.asked.analyzed().unwrap_or_else(|| unreachable!());
    assert_eq!(
        task.wanted(&seen, &seen)[0].words,
        "Goal: kernel 1 is memory-bound. Now: compute-bound."
    );
    for (id, task, states) in tasks() {
        let seen = states.asked.analyzed().unwrap_or_else(|| unreachable!());
        for wanted in task.wanted(&seen, &seen) {
            let is_goal = wanted.words.starts_with("Goal: ");
            assert_eq!(is_goal, !wanted.holds, "{id}: {}", wanted.words);
            assert!(!wanted.words.contains(['○', '(']), "{id}: {}", wanted.words);
        }
    }
}

#[test]
fn a_done_task_says_at_which_value_and_why() {
    let (task, states) = first_lesson_step(5);
    let at = with_param(&states.asked, "B", 160).and_then(|state| state.analyzed());
    let words = task.done_words(&at.unwrap_or_else(|| unreachable!()));
    assert_eq!(
        words,
        "You reached the goal at `B` = 160: there, `matmul1 + bias1 + relu` is memory-bound. Its 10.0 MB of traffic take 4.92 µs, its 1.34 GFLOP 4.30 µs, \
         and its launch 2.00 µs."
    );
    for (id, task, states) in tasks() {
        let Some(way) = task.way(&states.asked).and_then(|way| way.analyzed()) else {
            continue;
        };
        let words = task.done_words(&way);
        assert!(
            words.starts_with("You reached the goal") && words.len() > 40,
            "{id}: {words}"
        );
    }
}

/// A slider of which hardly a stop is the answer hides it.
#[test]
fn the_answer_takes_a_good_part_of_the_slider() {
    let (task, states) = first_lesson_step(5);
    let TaskKind::Do {
        by: SolveBy::Param(name),
        ..
    } = &task.kind
    else {
        unreachable!();
    };
    let text = &states.asked.shared.text;
    let rows = slider_rows(text, &parse(text).program, usize::MAX);
    let row = rows.iter().find(|row| row.name == *name);
    let row = row.unwrap_or_else(|| unreachable!());
    let track = row.track().unwrap_or_else(|| unreachable!());
    let is_done = |at: &i64| {
        let state = with_param(&states.asked, name, row.value_at(*at));
        let seen = state.and_then(|state| state.analyzed());
        seen.is_some_and(|seen| task.is_done(&seen))
    };
    let stops: Vec<i64> = (track.min..=track.max)
        .step_by(usize::try_from(track.step).unwrap_or(1))
        .collect();
    let done = stops.iter().filter(|&at| is_done(at)).count();
    assert!(done * 5 >= stops.len(), "{done} of {}", stops.len());
    assert!(example("exercise").is_some_and(|example| example.text == text));
}

#[test]
fn a_lesson_gives_the_reason_of_what_was_measured_and_the_engine_decides() {
    let text = |lang: &str, why: &str| {
        format!(
            "---\ntitle: Measured\nlang: {lang}\n---\n\n## One\n\n```fuse\ninput x : f16[1024, 1024]\n\ny = relu(x)\nz = abs(y)\n```\n\n```choose\nask: Which took longer?\n{why}- Two kernels :: unfused kernels > kernels\n- One :: unfused kernels < kernels :: It has half the bytes.\n```\n\n```then\npolicy: rules\n```\n"
        )
    };
    let judged = |text: &str, chosen: usize| {
        let (lesson, problems) = read(text);
        assert_eq!(problems, []);
        let states = lesson.states(&mut Vec::new()).remove(0);
        let seen = states.answered.analyzed().unwrap_or_else(|| unreachable!());
        let task = lesson.steps[0]
            .task
            .as_ref()
            .unwrap_or_else(|| unreachable!());
        let judged = task.judge(&Answer::Chosen(vec![chosen]), &states.answered, &seen);
        let given_up = task.given_up(&states).unwrap_or_default();
        (judged.unwrap_or_default(), given_up.words)
    };
    let why = "why: Measured, `y` and `z` took 7 µs instead of 4 µs, with `=unfused bytes`.\n";
    let reason = "Measured, `y` and `z` took 7 µs instead of 4 µs, with 8.39 MB.";
    let (right, given_up) = judged(&text("en", why), 0);
    assert!(right.is_right);
    assert!(right.words.ends_with(reason), "{right:?}");
    assert_eq!(given_up, format!("\"Two kernels\". {reason}"));
    assert!(!judged(&text("en", why), 1).0.is_right);
    // In German, only the reason of the engine is marked as English.
    assert_eq!(judged(&text("de", why), 0).0.reason, "");
    let (engine, _) = judged(&text("de", ""), 0);
    assert!(
        engine.words.ends_with(&engine.reason) && !engine.reason.is_empty(),
        "{engine:?}"
    );
    // Its figures are checked like those of the prose.
    let (lesson, _) = read(&text("en", "why: `=size of tensor q`\n"));
    let problems = fuseline_learn::lesson::check::check(&lesson);
    assert!(!problems.is_empty());
}
