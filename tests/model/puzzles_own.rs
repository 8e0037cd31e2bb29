//! Puzzles of somebody's own: a link or a file carries the program, and the page makes one of a
//! program.

use crate::puzzles::{POSED, posed};
use fuseline_core::examples::example;
use fuseline_core::fusion::certificate::Amount;
use fuseline_core::{Device, Objective};
use fuseline_learn::puzzle::source::PuzzleSource;
use fuseline_learn::puzzle::{MakeError, Posed, make, proposed_goal, read};
use fuseline_view::page::links::SharedState;

#[test]
fn a_puzzle_of_a_link_is_its_program_without_the_sender_s_kernels() {
    for (id, posed) in POSED.iter() {
        let file = &posed.puzzle.page.shared.text;
        let solved = posed.way(&posed.analyzed().unwrap()).unwrap();
        let solved = &solved.last().unwrap().text;
        assert!(solved.contains("@kernel"), "{id}");
        let sent = PuzzleSource::of_link("own", solved).unwrap();
        assert_eq!(sent.text(), file, "{id}");
        assert_eq!(sent, PuzzleSource::own(file), "{id}");
        assert_eq!(
            sent.progress_id(),
            PuzzleSource::own(file).progress_id(),
            "{id}"
        );
    }
    let listed = PuzzleSource::of_link("diamond", "").unwrap();
    assert_eq!(
        (listed.link_name(), listed.progress_id().as_str()),
        ("diamond", "diamond")
    );
    assert_eq!(PuzzleSource::of_link("a_later_puzzle", ""), None);
    assert_ne!(
        PuzzleSource::own("a").progress_id(),
        PuzzleSource::own("b").progress_id()
    );
}

/// What a page shows of an example.
fn shown(id: &str) -> SharedState {
    SharedState {
        text: example(id).unwrap().text.to_owned(),
        ..SharedState::default()
    }
}

#[test]
fn a_puzzle_of_a_program_reads_back_with_the_same_par() {
    let mut state = shown("layernorm_gelu");
    state.fusion.objective = Objective::Time;
    state.fusion.horizontal = true;
    state.device = fuseline_core::device("h100").unwrap().clone();
    let made = make(&state, " My  puzzle ", "device or not:\nthink of the rows.").unwrap();
    let (puzzle, problems) = read(&made.puzzle.page.shared.text);
    assert_eq!(problems, []);
    assert_eq!(puzzle, made.puzzle);
    assert_eq!(puzzle.title, "My puzzle");
    assert_eq!(puzzle.about, "device or not: think of the rows.");
    assert_eq!(puzzle.page.shared.device.id, "h100");
    assert!(puzzle.page.shared.fusion.horizontal);
    assert_eq!(Posed::of(puzzle).unwrap().par, made.par);
    assert!(matches!(made.par, Amount::Seconds(_)));
    assert!(made.summary().starts_with("Par is "), "{}", made.summary());
    // A puzzle of a puzzle, with kernels: these are left out.
    let posed = posed("chain");
    let solved = posed
        .way(&posed.analyzed().unwrap())
        .unwrap()
        .pop()
        .unwrap();
    let again = SharedState {
        text: solved.text,
        ..posed.puzzle.page.shared.clone()
    };
    let made = make(&again, &posed.puzzle.title, &proposed_goal(&again.text)).unwrap();
    assert_eq!((made.start, made.par), (posed.start, posed.par));
    assert_eq!(made.puzzle.title, posed.puzzle.title);
    assert_eq!(made.puzzle.about, posed.puzzle.about);
}

#[test]
fn what_is_no_puzzle_is_refused_with_a_reason() {
    let refused = |text: &str, device: Option<Device>| {
        let state = SharedState {
            text: text.to_owned(),
            device: device.unwrap_or_else(|| SharedState::default().device),
            ..SharedState::default()
        };
        make(&state, "t", "g").unwrap_err().to_string()
    };
    assert!(refused("input x : f16[8, 8]\ny = relu(x)\n", None).contains("saves nothing"));
    assert!(refused("y = relu(\n", None).contains("error"));
    assert!(refused("", None).contains("no ops"));
    let long = "input x : f16[8, 8]\nrepeat 500 with h = x {\n  h = relu(h)\n}\n";
    assert!(
        refused(long, None).contains("too large"),
        "{}",
        refused(long, None)
    );
    let custom = Device::custom(1e12, 1e14, 1e13, 1e-6);
    assert!(refused("y = relu(x)\n", Some(custom)).contains("device"));
    let state = shown("layernorm_gelu");
    assert_eq!(make(&state, "", "goal"), Err(MakeError::NoTitleOrGoal));
    // A line of the goal that would be read as something else.
    let hidden = (make(&state, "t", "objective: beauty").unwrap_err()).to_string();
    assert!(hidden.contains("beauty"), "{hidden}");
}

#[test]
fn the_first_comment_proposes_the_goal() {
    let text = "# Softmax of rows.\n# Each row is read twice.\n\ny = softmax(x)\n";
    assert_eq!(proposed_goal(text), "Each row is read twice.");
    // A sentence that goes on in the next line is no title.
    let text = "# Softmax of rows,\n# each of which is read twice.\n\ny = softmax(x)\n";
    assert_eq!(
        proposed_goal(text),
        "Softmax of rows, each of which is read twice."
    );
    assert_eq!(proposed_goal("# Softmax of rows\ny = softmax(x)\n"), "");
    assert_eq!(proposed_goal("y = relu(x)\n"), "");
    let diamond = &posed("diamond").puzzle;
    assert_eq!(proposed_goal(&diamond.page.shared.text), diamond.about);
}

/// What the document for teachers shows.
#[test]
fn the_puzzle_of_the_document_is_one() {
    let document = include_str!("../../docs/puzzles.md");
    let file = document.split("```\n").nth(1).unwrap();
    let (puzzle, problems) = read(file);
    assert_eq!(problems, []);
    assert!(puzzle.page.shared.fusion.prologue && puzzle.page.shared.fusion.horizontal);
    assert_eq!(Posed::of(puzzle).unwrap().par, posed("two_ops").par);
}
