//! Presenting to a class: which views fill the screen, keys, the plan, the QR code, messages
//! between the windows.

use fuseline_learn::lesson::library::LESSONS;
use fuseline_learn::lesson::read;
use fuseline_learn::presenter::command::{KEYS, PresenterCommand};
use fuseline_learn::presenter::messages::{AudienceView, FromNotes, FromPage, PresentedStep};
use fuseline_learn::presenter::plan::{Length, SlideKind, Workshop, class_minutes, plan, standing};
use fuseline_learn::presenter::qr::Code;
use fuseline_learn::puzzle::library::listed as puzzle;
use fuseline_learn::puzzle::read as read_puzzle;
use fuseline_learn::stage::{MAX_PICTURES, Stage};
use fuseline_view::page::links::{listed_lesson_fragment, listed_puzzle_in};
use fuseline_view::page::view::View;
use proptest::prelude::*;
use rqrr::PreparedImage;
use std::collections::HashSet;
use strum::{IntoEnumIterator, VariantArray};

proptest! {
    #[test]
    fn whatever_is_toggled_there_is_a_picture_and_no_more_than_fit(
        toggled in prop::collection::vec(0..=View::VARIANTS.len(), 0..40),
    ) {
        let mut stage = Stage::of_program();
        for at in toggled {
            let before = stage.clone();
            let Some(&view) = View::VARIANTS.get(at) else {
                stage.toggle_lesson();
                prop_assert_eq!(stage.has_lesson(), !before.has_lesson());
                continue;
            };
            stage.toggle(view);
            let is_last = before.shows(view) && !view.is_band() && before.picture_count() == 1;
            prop_assert_eq!(stage.shows(view), !before.shows(view) || is_last);
            let shown = stage.picture_count() + usize::from(stage.has_lesson());
            prop_assert!(stage.picture_count() >= 1 && shown <= MAX_PICTURES);
        }
    }

}

proptest! {
    // Reading takes a second without optimization.
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_phone_reads_the_link(link in "https://[a-z]{1,20}\\.org/#v1\\.[A-Za-z0-9_-]{0,900}") {
        prop_assert_eq!(scanned(&Code::of(&link).unwrap()), link);
    }
}

#[test]
fn the_third_picture_takes_the_place_of_the_first() {
    let mut stage = Stage::of_program();
    assert!(stage.shows(View::Graph) && stage.shows(View::Roofline));
    stage.toggle(View::Traffic);
    assert!(!stage.shows(View::Graph));
    assert!(stage.shows(View::Roofline) && stage.shows(View::Traffic));
    assert!(stage.shows(View::Headline));
}

#[test]
fn each_step_of_each_lesson_has_the_pictures_that_it_looks_at() {
    for listed in LESSONS {
        let (lesson, mut problems) = read(listed.text);
        for (step, states) in lesson.steps.iter().zip(lesson.states(&mut problems)) {
            for look in [&states.asked.look, &states.answered.look] {
                let (here, before_class) = (Stage::of_step(look), Stage::of_presented_step(look));
                assert!(here.has_lesson() && before_class.has_lesson());
                assert_eq!(before_class.picture_count(), 1, "{}", step.title);
                // A third picture would not be shown.
                let pictures = look.iter().filter(|view| !view.is_band()).count();
                assert_eq!(here.picture_count(), pictures.max(1), "{}", step.title);
                assert!(look.iter().all(|&view| here.shows(view)), "{}", step.title);
            }
        }
    }
}

#[test]
fn each_command_has_keys_of_its_own() {
    assert_eq!(PresenterCommand::views().count(), View::VARIANTS.len());
    let views = PresenterCommand::views().map(|(_, digit)| digit.to_owned());
    let others = KEYS
        .iter()
        .flat_map(|key| key.keys)
        .map(|&key| key.to_owned());
    let all: Vec<String> = views.chain(others).collect();
    let commands: Vec<PresenterCommand> = all
        .iter()
        .map(|key| PresenterCommand::of_key(key).unwrap())
        .collect();
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    for (key, command) in all.iter().zip(commands) {
        let of_table = KEYS.iter().find(|known| known.command == command);
        assert!(
            matches!(command, PresenterCommand::Toggle(_))
                || of_table.unwrap().keys.contains(&&**key),
            "{key}"
        );
    }
    // With the shift key or caps lock, too.
    assert_eq!(
        PresenterCommand::of_key("F"),
        Some(PresenterCommand::ToggleFused)
    );
    assert_eq!(
        PresenterCommand::of_key("0"),
        Some(PresenterCommand::Toggle(View::Model))
    );
    assert_eq!(PresenterCommand::of_key("x"), None);
}

#[test]
fn each_plan_adds_up() {
    for length in Length::iter() {
        let planned = plan(length);
        assert_eq!(planned.first().unwrap().minutes.start, 0);
        assert!(
            planned
                .windows(2)
                .all(|pair| pair[0].minutes.end == pair[1].minutes.start)
        );
        // A little is left for questions.
        let end = planned.last().unwrap().minutes.end;
        let most = length.minutes();
        assert!((most - most / 8..=most).contains(&end), "{end} of {most}");

        let slides = planned.iter().filter_map(|planned| planned.part.slide());
        let kinds: Vec<_> = slides.map(|slide| slide.kind).collect();
        assert_eq!(kinds.first(), Some(&SlideKind::Welcome));
        assert_eq!(kinds.last(), Some(&SlideKind::Close));
        assert!(kinds.contains(&SlideKind::Exercise));
        for slide in planned.iter().filter_map(|planned| planned.part.slide()) {
            let puzzle = listed_puzzle_in(slide.opens).and_then(puzzle);
            assert_eq!(puzzle.is_some(), !slide.opens.is_empty(), "{}", slide.title);
            if let Some(puzzle) = puzzle {
                let title = read_puzzle(puzzle.text).0.title;
                assert!(
                    slide.lines.iter().any(|line| line.contains(&title)),
                    "{title}"
                );
            }
        }
        let order: Vec<usize> = planned
            .iter()
            .filter_map(|planned| {
                let id = planned.part.lesson()?.id;
                LESSONS.iter().position(|listed| listed.id == id)
            })
            .collect();
        assert!(order.is_sorted(), "lessons build on each other: {order:?}");
    }
    let lessons = |length: Length| {
        let parts = length.parts().iter();
        parts.filter(|part| part.lesson().is_some()).count()
    };
    assert_eq!(Length::iter().map(lessons).collect::<Vec<_>>(), [2, 4, 8]);
    let exercises = Length::Min90.parts().iter().filter(|part| {
        part.slide()
            .is_some_and(|slide| slide.kind == SlideKind::Exercise)
    });
    assert_eq!(exercises.count(), 2);
}

/// Two minutes for each step: reading, thinking, a show of hands, a discussion.
#[test]
fn a_lesson_takes_its_time_before_a_class() {
    for listed in LESSONS {
        let lesson = read(listed.text).0;
        let per_step = f64::from(class_minutes(&lesson)) / lesson.steps.len() as f64;
        assert!((1.5..2.3).contains(&per_step), "{}: {per_step}", listed.id);
    }
}

#[test]
fn a_workshop_leads_from_part_to_part() {
    let begin = Workshop::new(Length::Min90);
    assert!(begin.present().unwrap().slide().is_some());
    assert_eq!(begin.moved(-1), None);
    let second = begin.moved(1).unwrap();
    assert_eq!(second.present().unwrap().lesson().unwrap().id, "exercise");
    let roofline = begin.at_lesson("roofline").unwrap();
    assert_eq!(roofline.part, 2);
    assert_eq!(begin.at_lesson("precision"), None);
    let parts = std::iter::successors(Some(begin), |workshop| workshop.moved(1));
    assert_eq!(parts.count(), Length::Min90.parts().len());
}

#[test]
fn a_speaker_is_told_how_far_from_the_plan() {
    let workshop = Workshop::new(Length::Min180).at_lesson("tiling").unwrap();
    let minutes = plan(workshop.length)[workshop.part].minutes.clone();
    let steps = read(workshop.present().unwrap().lesson().unwrap().text)
        .0
        .steps
        .len();
    // The steps fill the minutes of their lesson, one after another.
    let of_steps: Vec<_> = (0..steps)
        .map(|step| workshop.minutes(step).unwrap())
        .collect();
    assert_eq!(of_steps[0].start, minutes.start);
    assert_eq!(of_steps[steps - 1].end, minutes.end);
    assert!(
        of_steps
            .windows(2)
            .all(|pair| pair[0].start < pair[1].start)
    );
    assert_eq!(
        workshop.moved(1).unwrap().present().unwrap().title(),
        "Your turn: fuse by hand"
    );
    let at = |minute: u32| standing(&minutes, u64::from(minute) * 60);
    assert_eq!(at(minutes.start - 1), "1 min ahead of schedule");
    for minute in [minutes.start, minutes.end - 1] {
        assert_eq!(
            at(minute),
            format!("on schedule: until minute {}", minutes.end)
        );
    }
    assert_eq!(at(minutes.end + 4), "4 min behind schedule");
    let beyond = Workshop {
        part: 99,
        ..workshop
    };
    assert_eq!(beyond.minutes(0), None);
}

#[test]
fn a_code_holds_each_lesson_and_refuses_what_is_too_long() {
    for listed in LESSONS {
        let link = format!(
            "https://fuseline.example/{}",
            listed_lesson_fragment(listed.id, 3)
        );
        let code = Code::of(&link).unwrap();
        assert_eq!(scanned(&code), link);
    }
    assert_eq!(Code::of(&"a".repeat(2953)).unwrap().side, 177 + 8);
    let refused = Code::of(&"a".repeat(2954)).unwrap_err().to_string();
    assert!(
        refused.contains("2,954") && refused.contains("Share the link"),
        "{refused}"
    );
}

#[test]
fn messages_come_back_as_they_were_sent() {
    let shown = FromPage::Shows(Box::new(AudienceView {
        workshop: Workshop::new(Length::Min180).moved(2),
        place: Some(PresentedStep {
            id: Some("tiling".to_owned()),
            text: "## Step".to_owned(),
            step: 3,
            is_closing: false,
            is_answered: true,
        }),
        program: "transformer".to_owned(),
        result: "9 kernels".to_owned(),
        stage: Stage::of_step(&[View::Sizes]),
        is_fused: true,
        is_blank: true,
        began_ms: 1_795_000_000_000,
    }));
    for message in [shown, FromPage::Ended] {
        let written = serde_json::to_value(&message).unwrap();
        assert_eq!(
            serde_json::from_value::<FromPage>(written).unwrap(),
            message
        );
    }
    let message = FromNotes::Does(PresenterCommand::Toggle(View::Traffic));
    let written = serde_json::to_value(&message).unwrap();
    assert_eq!(
        serde_json::from_value::<FromNotes>(written).unwrap(),
        message
    );
}

/// What a phone reads: the path drawn as it is on the screen, four pixels a module.
fn scanned(code: &Code) -> String {
    const SCALE: usize = 4;
    let is_dark: HashSet<(usize, usize)> = code
        .path
        .split('M')
        .skip(1)
        .map(|square| {
            let (x, rest) = square.split_once(' ').unwrap();
            let (y, shape) = rest.split_once('h').unwrap();
            assert_eq!(shape, "1v1h-1z");
            (x.parse().unwrap(), y.parse().unwrap())
        })
        .collect();
    let side = code.side * SCALE;
    let mut image = PreparedImage::prepare_from_greyscale(side, side, |x, y| {
        if is_dark.contains(&(x / SCALE, y / SCALE)) {
            0
        } else {
            255
        }
    });
    // The reader can take other squares for a second code, which it then cannot decode.
    let grids = image.detect_grids();
    let mut read = grids.iter().filter_map(|grid| grid.decode().ok());
    let (_, link) = read.next().unwrap();
    assert!(read.next().is_none());
    link
}

#[test]
fn keys_are_commands() {
    use fuseline_learn::presenter::command::PresenterCommand;
    use fuseline_view::page::view::View;
    assert_eq!(
        PresenterCommand::of_key("PageDown"),
        Some(PresenterCommand::Next)
    );
    assert_eq!(
        PresenterCommand::of_key("4"),
        Some(PresenterCommand::Toggle(View::Graph))
    );
    assert_eq!(PresenterCommand::of_key("10"), None);
}

#[test]
fn the_clock_counts_hours_and_minutes() {
    assert_eq!(fuseline_learn::presenter::plan::clock(3_900), "1:05");
}

#[test]
fn an_address_of_this_machine_is_told_from_others() {
    use fuseline_learn::presenter::qr::is_of_this_machine;
    assert!(is_of_this_machine("http://127.0.0.1:8080/#v1.abc"));
    assert!(is_of_this_machine("http://localhost/fuseline/"));
    assert!(!is_of_this_machine("https://example.org/localhost"));
}

#[test]
fn before_a_class_a_step_has_its_bands_and_its_first_picture() {
    let stage = Stage::of_presented_step(&[View::Sizes, View::Roofline, View::Graph]);
    assert!(stage.has_lesson() && stage.shows(View::Sizes) && stage.shows(View::Roofline));
    assert!(!stage.shows(View::Graph));
    assert!(Stage::of_presented_step(&[]).shows(View::Graph));
}
