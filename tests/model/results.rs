//! Results without a server: a class of forty students of whom the generator knows what they did,
//! with broken and forged results among them. The engine has to find out the same, and nobody's
//! word counts.

use crate::puzzles::posed;
use fuseline_core::splitmix::SplitMix64;
use fuseline_learn::lesson::answer::Answer;
use fuseline_learn::lesson::library::{LESSONS, listed};
use fuseline_learn::lesson::open::OpenLesson;
use fuseline_learn::lesson::progress::StepOutcome;
use fuseline_learn::lesson::solve::first_value;
use fuseline_learn::lesson::task::{Task, TaskKind};
use fuseline_learn::lesson::value::FigureValue;
use fuseline_learn::own::digest;
use fuseline_learn::results::check::{Cell, Standing};
use fuseline_learn::results::class::{Added, Class, QuestionColumn, Solved};
use fuseline_learn::results::handed_in::{HandedIn, begins_results, handed_in};
use fuseline_learn::results::page_diff::PageDiff;
use fuseline_learn::results::table::{LessonColumns, table};
use fuseline_learn::results::{Act, Results, Solution, Try};
use fuseline_view::page::links::SharedState;
use std::sync::LazyLock;

const STUDENTS: usize = 40;

/// A question of a lesson of the page.
struct Asked {
    step: usize,
    right: Act,
    /// A wrong answer; asking for the answer where there is no wrong one.
    wrong: Act,
    has_wrong: bool,
}

struct Lesson {
    open: OpenLesson,
    questions: Vec<Asked>,
}

fn text(text: &str) -> Act {
    Act::Answer(Answer::Text(text.to_owned()))
}

fn chosen(chosen: &[usize]) -> Act {
    Act::Answer(Answer::Chosen(chosen.to_vec()))
}

fn asked(open: &OpenLesson, step: usize, task: &Task) -> Asked {
    let states = &open.states[step];
    let seen = open.analyzed(step).unwrap().answered;
    let (right, wrong) = match &task.kind {
        TaskKind::Number { quantity, .. } => {
            let FigureValue::Number(right, unit) = quantity.value(&seen).unwrap() else {
                panic!("{quantity} is a word");
            };
            let write = |number| text(&FigureValue::Number(number, unit).text());
            (write(right), Some(write(right * 1.7 + 1.0)))
        }
        TaskKind::First { param, when, .. } => {
            let right = first_value(&states.answered, param, when).unwrap();
            (text(&right.to_string()), Some(text("1")))
        }
        TaskKind::Choose(_) | TaskKind::Each { .. } => {
            let options = task.options(&seen).unwrap();
            let all: Vec<usize> = (0..options.len()).collect();
            let right: Vec<usize> = (all.iter().copied())
                .filter(|&at| options[at].is_right)
                .collect();
            (chosen(&right), Some(chosen(&all)))
        }
        TaskKind::Do { .. } => {
            let way = task.way(&states.asked).unwrap();
            let made = PageDiff::of(&states.asked.shared, &way.shared);
            (Act::Make(made), None)
        }
    };
    Asked {
        step,
        right,
        has_wrong: wrong.is_some(),
        wrong: wrong.unwrap_or(Act::ShowMe),
    }
}

static CLASSROOM: LazyLock<Vec<Lesson>> = LazyLock::new(|| {
    let lessons = LESSONS.iter().map(|listed| {
        let open = OpenLesson::listed(listed);
        let steps = open.lesson.steps.iter().enumerate();
        let questions = steps
            .filter_map(|(step, of)| Some(asked(&open, step, of.task.as_ref()?)))
            .collect();
        Lesson { open, questions }
    });
    lessons.collect()
});

/// What a student does at a question, and how they stand then.
fn tried(question: &Asked, way: u64) -> (Vec<Act>, Standing) {
    let (right, wrong) = (question.right.clone(), question.wrong.clone());
    let ended = Standing::Ended;
    match way {
        0..=3 => (vec![right], ended(StepOutcome::Right)),
        4 if question.has_wrong => (vec![wrong, right], ended(StepOutcome::Nudged)),
        4 => (vec![wrong, right], ended(StepOutcome::Shown)),
        5 => (vec![wrong.clone(), wrong, right], ended(StepOutcome::Shown)),
        // Whoever copies the answer that the page showed is no further.
        6 => (vec![Act::ShowMe, right], ended(StepOutcome::Shown)),
        // Whoever was right at once stays so, whatever they try afterwards.
        7 => (vec![right, wrong], ended(StepOutcome::Right)),
        // In a task to do it is no wrong answer, but asking for the answer.
        8 if question.has_wrong => (vec![wrong], Standing::Open),
        8 => (vec![wrong], ended(StepOutcome::Shown)),
        _ => (Vec::new(), Standing::Untouched),
    }
}

type Expected = Vec<Vec<Standing>>;

/// A student, with how they stand at each question of each lesson.
fn student(at: usize) -> (Results, Expected) {
    let mut random = SplitMix64(at as u64);
    let mut results = Results::new(format!("{at:013x}"));
    // Some stay without a name, and some have the same one.
    results.rename(["Ann", "Ben", "", "Çağla", "Dee"][at % 5]);
    let lessons = CLASSROOM.iter().map(|lesson| {
        let mut standings = Vec::new();
        for question in &lesson.questions {
            let (acts, standing) = tried(question, random.draw() % 10);
            for act in acts {
                let after_s = u32::try_from(random.draw() % 300).unwrap();
                let tried = Try { act, after_s };
                let open = &lesson.open;
                results.take(&open.results_id(), &open.text, question.step, tried);
            }
            standings.push(standing);
        }
        // What lies before something that was tried was skipped.
        let last = standings.iter().rposition(|s| *s != Standing::Untouched);
        for standing in standings.iter_mut().take(last.unwrap_or_default()) {
            if *standing == Standing::Untouched {
                *standing = Standing::Ended(StepOutcome::Skipped);
            }
        }
        standings
    });
    let expected = lessons.collect();
    (results, expected)
}

/// What a page hands in, read as another page reads it.
fn sent(results: &Results) -> Results {
    let file = results.write();
    assert!(begins_results(&file));
    match handed_in(&file).unwrap().remove(0) {
        HandedIn::Results(results) => *results,
        other => panic!("{other:?}"),
    }
}

fn columns(class: &Class) -> Vec<LessonColumns> {
    let lessons = class.lessons().into_iter().map(|(id, open)| LessonColumns {
        columns: (0..open.lesson.steps.len())
            .filter_map(|step| class.column(&id, &open, step))
            .collect(),
        title: open.lesson.title.clone(),
        id,
    });
    lessons.collect()
}

#[test]
fn the_engine_finds_what_forty_students_did() {
    let mut class = Class::default();
    let mut expected = Vec::new();
    for at in 0..STUDENTS {
        let (results, standings) = student(at);
        assert_eq!(class.add(sent(&results)), Added::New);
        expected.push(standings);
    }
    let found = columns(&class);
    assert_eq!(found.len(), LESSONS.len());
    for (lesson, of) in found.iter().enumerate() {
        for (question, column) in of.columns.iter().enumerate() {
            let at = format!("{} {}", of.id, column.step + 1);
            let stand = column.cells.iter().map(|cell| &cell.standing);
            let expected = expected.iter().map(|student| &student[lesson][question]);
            assert!(stand.eq(expected), "{at}");
            let tried = column.cells.iter().filter(|cell| cell.tries > 0).count();
            let guessed: usize = column.guesses.iter().map(|guess| guess.count).sum();
            assert_eq!(guessed, tried, "{at}");
            // All spellings of one answer are one guess, and one of them is right.
            let right = column.guesses.iter().filter(|guess| guess.is_right);
            assert_eq!(right.count(), 1, "{at}: {:?}", column.guesses);
            assert!(!column.ask.is_empty());
        }
    }
    let names = class.names();
    assert_eq!(names[0], "Ann");
    assert_eq!(names[5], "Ann (2)");
    // Who has no name is called by the browser's chance name, of which this class has digits in
    // order.
    assert_eq!(
        [&*names[2], &*names[7]],
        ["Student 0000", "Student 0000 (2)"]
    );
    assert!(class.copies().iter().all(Option::is_none));
    assert_eq!(class.missing_exercises(), 0);
    let table = table(&class, &found, &[]);
    let touched = |cell: &&Cell| cell.standing != Standing::Untouched;
    let cells = found.iter().flat_map(|lesson| &lesson.columns);
    let cells: usize = cells
        .map(|column| column.cells.iter().filter(touched).count())
        .sum();
    assert_eq!(table.rows.len(), cells);
    assert!(table.rows.iter().all(|row| row.len() == table.head.len()));
    assert!(table.csv().contains("Çağla"));
    assert!(!table.csv().contains('`'));
}

fn exercise() -> OpenLesson {
    OpenLesson::listed(listed("exercise").unwrap())
}

/// The column of a question of the exercise, as a class of one answers it.
fn column_of(step: usize, acts: &[Act]) -> QuestionColumn {
    let open = exercise();
    let mut results = Results::default();
    for act in acts {
        let tried = Try {
            act: act.clone(),
            after_s: 10,
        };
        results.take("exercise", &open.text, step, tried);
    }
    let mut class = Class::default();
    class.add(sent(&results));
    class.column("exercise", &open, step).unwrap()
}

#[test]
fn a_forged_answer_is_not_counted_and_says_why() {
    let lesson = &CLASSROOM[0];
    for question in &lesson.questions {
        let asked = &lesson.open.states[question.step].asked.shared;
        let broken = SharedState {
            text: "x = what(y".to_owned(),
            ..asked.clone()
        };
        for forged in [
            text("as you like"),
            chosen(&[0, 99]),
            Act::Make(PageDiff::default()),
            Act::Make(PageDiff::of(asked, &broken)),
        ] {
            let column = column_of(question.step, std::slice::from_ref(&forged));
            match &column.cells[0].standing {
                Standing::Refused(why) => assert!(!why.is_empty()),
                other => panic!("step {}: {forged:?} is {other:?}", question.step + 1),
            }
            assert!(column.guesses.is_empty());
            // Beside an answer it changes nothing.
            let with_right = [forged, question.right.clone()];
            let column = column_of(question.step, &with_right);
            assert_eq!(
                column.cells[0].standing,
                Standing::Ended(StepOutcome::Right)
            );
            assert_eq!(column.cells[0].tries, 1);
        }
    }
}

#[test]
fn answers_to_another_text_of_a_lesson_are_not_counted() {
    let open = exercise();
    let mut results = Results::default();
    let act = CLASSROOM[0].questions[0].right.clone();
    let step = CLASSROOM[0].questions[0].step;
    results.take("exercise", "an older text", step, Try { act, after_s: 1 });
    let mut class = Class::default();
    class.add(results.clone());
    let column = class.column("exercise", &open, step).unwrap();
    assert!(matches!(&column.cells[0].standing, Standing::Refused(why) if why.contains("version")));
    // A new text begins anew.
    let act = CLASSROOM[0].questions[0].right.clone();
    results.take("exercise", &open.text, step, Try { act, after_s: 1 });
    assert_eq!(results.lessons["exercise"].digest, digest(&open.text));
    assert_eq!(results.lessons["exercise"].steps[&step].len(), 1);
}

#[test]
fn a_copy_is_named_and_later_results_take_the_place_of_earlier_ones() {
    let mut class = Class::default();
    let (first, _) = student(0);
    let mut copy = first.clone();
    copy.id = "another".to_owned();
    copy.rename("Zoe");
    for results in [&first, &student(1).0, &copy] {
        assert_eq!(class.add(sent(results)), Added::New);
    }
    assert_eq!(class.copies(), [None, None, Some(0)]);
    assert_eq!(class.add(sent(&first)), Added::Known);
    let mut later = first.clone();
    let tried = Try {
        act: Act::ShowMe,
        after_s: 3,
    };
    later.take("exercise", &exercise().text, 0, tried);
    assert_eq!(class.add(sent(&later)), Added::Newer);
    assert_eq!(class.add(sent(&first)), Added::Known);
    assert_eq!(class.students.len(), 3);
    assert_eq!(Class::read(&class.write()), class);
}

#[test]
fn broken_files_are_named_and_codes_are_found_in_messages() {
    let (results, _) = student(3);
    let file = results.write();
    let half = &file[..file.len() / 2];
    for (broken, why) in [
        (half, "they end in the middle"),
        (&*file.replacen(":1,", ":2,", 1), "another version"),
        (&*file.replacen(":1,", ":1,,", 1), "damaged"),
        (r#"{"fuseline-results":1,"lessons":3}"#, "were changed"),
        (r#"{"fuseline-class":[{"id":"a"}]}"#, "were changed"),
        ("{}", "no results"),
        ("", "no results"),
        ("Hello, here they are: r2.AAAA", "no results"),
    ] {
        let problem = handed_in(broken).unwrap_err().to_string();
        assert!(problem.contains(why), "{broken:.60}: {problem}");
    }
    let message = "Ann: r1.eN-_A\nhttps://example.org/fuseline/#r1.BBB, (r1.CC) xr1.no r1.";
    let codes = ["r1.eN-_A", "r1.BBB", "r1.CC"].map(|code| HandedIn::Code(vec![code.to_owned()]));
    assert_eq!(handed_in(message).unwrap(), codes);
    // A mail program breaks lines, and an answer quotes them. Which lines belong to the code, its
    // checksum tells.
    let message = "Hi\n> r1.AAA\n> BBB\r\n> CC\n>\n> Ann\n";
    let readings = ["r1.AAA", "r1.AAABBB", "r1.AAABBBCC"].map(str::to_owned);
    assert_eq!(
        handed_in(message).unwrap(),
        [HandedIn::Code(readings.to_vec())]
    );
    let message = "r1.AAA is mine\nBBB";
    assert_eq!(
        handed_in(message).unwrap(),
        [HandedIn::Code(vec!["r1.AAA".to_owned()])]
    );
}

#[test]
fn a_file_cannot_be_larger_than_a_page_makes_it() {
    let long = "9".repeat(100_000);
    let mut results = Results::default();
    results.rename(&long);
    for _ in 0..100 {
        let act = text(&long);
        results.take("exercise", "text", 0, Try { act, after_s: 0 });
    }
    let forged = Results::default()
        .write()
        .replace(r#""name":"""#, &format!(r#""name":"{long}""#));
    for results in [results, Results::read(&forged).unwrap()] {
        assert!(results.write().len() < 5_000, "{}", results.write().len());
    }
}

#[test]
fn own_lessons_and_puzzles_are_checked_once_their_files_are_there() {
    let own = include_str!("../../public/lessons/exercise.md").replace("title: ", "title: My ");
    let open = OpenLesson::own(&own);
    let mut results = Results::default();
    let question = &CLASSROOM[0].questions[0];
    let act = question.right.clone();
    let tried = Try { act, after_s: 5 };
    results.take(&open.results_id(), &open.text, question.step, tried);
    let mut class = Class::default();
    class.add(sent(&results));
    assert!(class.lessons().is_empty());
    assert_eq!(class.missing_exercises(), 1);
    let file = handed_in(&own).unwrap();
    assert_eq!(file, [HandedIn::Exercise(own.clone())]);
    class.teach(own.clone());
    class.teach(own);
    assert_eq!(class.missing_exercises(), 0);
    let found = columns(&class);
    let right = Standing::Ended(StepOutcome::Right);
    assert_eq!(found[0].columns[0].cells[0].standing, right);
    assert!(found[0].title.starts_with("My "));
}

#[test]
fn kernels_of_puzzles_are_graded_anew() {
    let mut class = Class::default();
    for id in ["chain", "epilogue", "softmax"] {
        let posed = posed(id);
        let asked = &posed.puzzle.page.shared;
        let way = posed.way(&posed.analyzed().unwrap()).unwrap();
        let state = |text: &str| SharedState {
            text: text.to_owned(),
            ..asked.clone()
        };
        let solved = PageDiff::of(asked, &state(&way.last().unwrap().text));
        assert!(
            solved.text.is_none(),
            "{id}: the kernels alone are handed in"
        );
        let moves = way.len();
        let (at_par, start) = (solved.clone(), PageDiff::default());
        let other = PageDiff::of(asked, &state("x = relu(y) : f16[4]"));
        let illegal = PageDiff::of(asked, &{
            let program = fuseline_core::notation::parse(&asked.text).program;
            let all = (0..program.ops.len()).rev();
            let mark = fuseline_core::notation::edit::set_kernel;
            let all = all.fold(asked.text.clone(), |text, at| {
                mark(&text, &program, at, Some(1))
            });
            state(&(all + "\nunknown = what(x)\n"))
        });
        let longer = {
            // Kernels of a longer program, whose first ops would do.
            let written = serde_json::to_value(&solved).unwrap();
            let mut kernels = written["kernels"].as_array().unwrap().clone();
            kernels.push(1.into());
            serde_json::from_value(serde_json::json!({ "kernels": kernels })).unwrap()
        };
        for (name, made, moves) in [
            ("par", at_par, moves),
            ("start", start, 0),
            ("other", other, moves),
            ("no", illegal, moves),
            ("longer", longer, moves),
            ("too few moves", solved, moves - 1),
        ] {
            let mut results = Results::new(name.to_owned());
            results
                .puzzles
                .insert(id.to_owned(), Solution { made, moves });
            class.add(sent(&results));
        }
        let column = class.puzzle_column(id, posed);
        let graded = |at: usize| match &column.cells[at] {
            Some(Solved::Graded { graded, .. }) => Some(graded.above_pct),
            Some(Solved::Refused(why)) => {
                assert!(!why.is_empty());
                None
            }
            None => panic!("{id} {at}"),
        };
        assert_eq!(graded(0), Some(0.0));
        assert!(graded(1).unwrap() > 0.0);
        for forged in 2..column.cells.len() {
            assert_eq!(graded(forged), None, "{id} {forged}");
        }
        class = Class::default();
    }
}

#[test]
fn what_was_made_of_a_page_is_its_difference() {
    for lesson in CLASSROOM.iter() {
        for states in lesson.open.states.iter() {
            let [asked, answered] = [&states.asked.shared, &states.answered.shared];
            for [from, to] in [[asked, answered], [answered, asked]] {
                let made = PageDiff::of(from, to);
                let applied = made.applied(from).unwrap();
                assert_eq!(applied.text, to.text);
                assert_eq!(applied.policy, to.policy);
                assert_eq!(applied.fusion, to.fusion);
                assert_eq!(applied.conventions, to.conventions);
                assert_eq!(applied.device, to.device);
            }
        }
    }
}
