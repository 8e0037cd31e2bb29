//! Presenting to a class: what the speaker puts on the stage, and the window with the notes.

use crate::app::learning::{Learning, is_in_lesson};
use crate::app::storage_keys::WORKSHOP;
use crate::app::stored;
use fuseline_browser::{self as browser, Channel};
use fuseline_learn::presenter::command::PresenterCommand;
use fuseline_learn::presenter::messages::{
    AudienceView, FromNotes, FromPage, NOTES, PresentedStep, channel_name,
};
use fuseline_learn::presenter::plan::{Length, Slide, Workshop, WorkshopPart};
use fuseline_learn::stage::Stage;
use fuseline_view::present::headline::headline;
use leptos::ev::{self, KeyboardEvent};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

/// The smallest type of a graph has 11 units, and before a class the height of the page's small
/// type, which is 12 pixels at scale 1.
const GRAPH_UNIT_PX: f64 = 12.0 / 11.0;

/// Where a workshop was left: by a key, a reload, or a browser that closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftWorkshop {
    /// The workshop and its part.
    pub workshop: Workshop,
    /// The step of its lesson, from 0.
    step: usize,
    began_ms: u64,
    /// As [`Presenting::id`]: the window with the notes may still be open.
    id: String,
}

/// The state of presenting. Made once at the root and given to all components as context.
#[derive(Clone, Copy)]
pub struct Presenting {
    learning: Learning,
    /// Whether the page is presented.
    pub is_on: RwSignal<bool>,
    /// The parts of the page on the screen.
    pub stage: RwSignal<Stage>,
    /// Whether a large pointer follows the mouse.
    pub is_pointing: RwSignal<bool>,
    /// Whether the screen is blank.
    pub is_blank: RwSignal<bool>,
    /// Whether the QR code is shown.
    pub is_qr_shown: RwSignal<bool>,
    /// The workshop and its part, where more than a lesson or a program is presented.
    pub workshop: RwSignal<Option<Workshop>>,
    /// Where a workshop was left, until its last part.
    pub left: RwSignal<Option<LeftWorkshop>>,
    /// Whether the open lesson is presented, and not only the program.
    pub has_lesson: Memo<bool>,
    began_ms: RwSignal<u64>,
    id: StoredValue<String>,
    /// The way to the window with the notes, once that was opened.
    channel: StoredValue<Option<Channel>, LocalStorage>,
    has_notes: RwSignal<bool>,
}

impl Presenting {
    /// The state, with nothing presented.
    pub fn new(learning: Learning) -> Self {
        let is_on = RwSignal::new(false);
        let is_in_lesson = is_in_lesson(learning.page().screen);
        let left = browser::load(WORKSHOP).and_then(|left| serde_json::from_str(&left).ok());
        let presenting = Self {
            learning,
            is_on,
            stage: RwSignal::new(Stage::of_program()),
            is_pointing: RwSignal::new(false),
            is_blank: RwSignal::new(false),
            is_qr_shown: RwSignal::new(false),
            workshop: RwSignal::new(None),
            left: RwSignal::new(left),
            has_lesson: Memo::new(move |_| is_on.get() && is_in_lesson()),
            began_ms: RwSignal::new(0),
            id: StoredValue::new(browser::new_id()),
            channel: StoredValue::new_local(None),
            has_notes: RwSignal::new(false),
        };
        presenting.follow();
        presenting
    }

    /// The state in the context; `None` for a component that is shown alone.
    pub fn of_context() -> Option<Self> {
        use_context()
    }

    fn follow(self) {
        // Each step brings the views that it looks at, and its answer may look at others.
        Effect::new(move || {
            if self.has_lesson.get() {
                let look = self.learning.look();
                self.stage.set(Stage::of_presented_step(&look));
            }
        });
        // The browser's own way out of full-screen ends presenting, too.
        let fills_screen = browser::fills_screen();
        Effect::new(move |did_fill: Option<bool>| {
            let fills = fills_screen.get();
            if did_fill == Some(true) && !fills && self.is_on.get_untracked() {
                self.end();
            }
            fills
        });
        Effect::new(move || {
            let is_on = self.is_on.get();
            browser::set_root_attribute("data-presenting", is_on.then_some(""));
        });
        Effect::new(move || {
            if let Some(workshop) = self.workshop.get() {
                let left = LeftWorkshop {
                    workshop,
                    step: self.learning.step.get(),
                    began_ms: self.began_ms.get(),
                    id: self.id.get_value(),
                };
                self.left.set(workshop.moved(1).map(|_| left));
            }
        });
        stored::follow(WORKSHOP, self.left, |left| {
            serde_json::to_string(left).unwrap_or_default()
        });
        browser::on_window(ev::pagehide, move |_| self.send(&FromPage::Ended));
        Effect::new(move || {
            if !self.has_notes.get() {
                return;
            }
            let message = if self.is_on.get() {
                FromPage::Shows(Box::new(self.shown()))
            } else {
                FromPage::Ended
            };
            self.send(&message);
        });
    }

    /// Presents the page: the open lesson, else the program.
    pub fn begin(self) {
        if self.began_ms.get_untracked() == 0 {
            self.began_ms.set(browser::clock_ms());
        }
        self.stage.set(Stage::of_program());
        self.is_on.set(true);
        browser::fill_screen();
    }

    /// Presents a workshop from its first slide.
    pub fn begin_workshop(self, length: Length) {
        self.began_ms.set(browser::clock_ms());
        self.go_to(Workshop::new(length), 0);
        self.begin();
    }

    /// Goes on with a workshop where it was left, and with the window of its notes.
    pub fn go_on_with_workshop(self) {
        let Some(left) = self.left.get_untracked() else {
            return;
        };
        self.began_ms.set(left.began_ms);
        self.id.set_value(left.id);
        self.channel.set_value(None);
        self.connect();
        self.go_to(left.workshop, left.step);
        self.begin();
    }

    /// The slide that stands over the page, if the present part of a workshop is one. Tracked.
    pub fn slide(self) -> Option<Slide> {
        let workshop = self.workshop.get().filter(|_| self.is_on.get())?;
        workshop.present()?.slide().copied()
    }

    /// Goes to a part of a workshop; in a lesson, to a step from 0.
    fn go_to(self, workshop: Workshop, step: usize) {
        self.workshop.set(Some(workshop));
        if let Some(WorkshopPart::Lesson(id)) = workshop.present() {
            self.learning.open_listed(id, step);
        }
    }

    /// Goes to the part after the present one, or before it. Returns whether there is one.
    fn go_by_parts(self, by: isize) -> bool {
        let workshop = self.workshop.get_untracked();
        let other = workshop.and_then(|workshop| workshop.moved(by));
        if let Some(other) = other {
            self.go_to(other, 0);
        }
        other.is_some()
    }

    fn end(self) {
        self.is_on.set(false);
        self.workshop.set(None);
        for flag in [self.is_pointing, self.is_blank, self.is_qr_shown] {
            flag.set(false);
        }
        browser::leave_full_screen();
    }

    /// Does what the speaker commands.
    pub fn run(self, command: PresenterCommand) {
        let toggle = |flag: RwSignal<bool>| flag.update(|is_on| *is_on = !*is_on);
        match command {
            // The step does not change while the screen is blank.
            PresenterCommand::Next | PresenterCommand::Previous
                if self.is_blank.get_untracked() =>
            {
                self.is_blank.set(false);
            }
            PresenterCommand::Next | PresenterCommand::Previous
                if untrack(|| self.slide()).is_some() =>
            {
                self.go_by_parts(if command == PresenterCommand::Next {
                    1
                } else {
                    -1
                });
            }
            PresenterCommand::Next if self.has_lesson.get_untracked() => self.next(),
            PresenterCommand::Previous if self.has_lesson.get_untracked() => self.previous(),
            PresenterCommand::Next => self.learning.page().show_fused(),
            PresenterCommand::Previous => self.learning.page().show_unfused(),
            PresenterCommand::Toggle(view) => self.stage.update(|stage| stage.toggle(view)),
            PresenterCommand::ToggleFused => toggle(self.learning.page().chosen.is_fused),
            PresenterCommand::ToggleLesson if self.has_lesson.get_untracked() => {
                self.stage.update(Stage::toggle_lesson);
            }
            PresenterCommand::ToggleLesson => {}
            PresenterCommand::TogglePointer => toggle(self.is_pointing),
            PresenterCommand::ToggleBlank => toggle(self.is_blank),
            PresenterCommand::OpenNotes => self.open_notes(),
            PresenterCommand::ToggleQrCode => toggle(self.is_qr_shown),
            PresenterCommand::End => self.end(),
        }
    }

    /// The answer to the task, else the next step, the end of the lesson, the next part of the
    /// workshop or the next lesson.
    fn next(self) {
        if untrack(|| self.learning.has_open_task()) {
            self.learning.give_up();
        } else if !(self.learning.is_closing.get_untracked() && self.go_by_parts(1)) {
            self.learning.go_on();
        }
    }

    /// The step before, or the part of the workshop before its first step.
    fn previous(self) {
        let is_first = self.learning.step.get_untracked() == 0;
        if !(is_first && self.go_by_parts(-1)) {
            self.learning.go_previous();
        }
    }

    /// Runs the command of a key that is pressed anywhere on the page. Returns whether there is
    /// one.
    pub fn press(self, event: &KeyboardEvent) -> bool {
        let has_modifier = event.ctrl_key() || event.meta_key() || event.alt_key();
        let is_taken =
            event.default_prevented() || has_modifier || browser::has_focus_in_text_field();
        if is_taken || !self.is_on.get_untracked() {
            return false;
        }
        let command = PresenterCommand::of_key(&event.key()).filter(|command| {
            // Keys that a control under the focus has a use for are its own.
            let steps = matches!(command, PresenterCommand::Next | PresenterCommand::Previous);
            !(steps && browser::is_on(event, "input, select, [role=tab], [role=separator]"))
        });
        if let Some(command) = command {
            event.prevent_default();
            self.run(command);
        }
        command.is_some()
    }

    /// Takes the keys of a remote control from whatever has the focus.
    pub fn press_first(self, event: &KeyboardEvent) {
        if matches!(event.key().as_str(), "PageDown" | "PageUp") && self.press(event) {
            event.stop_propagation();
        }
    }

    /// Opens the way to the window with the notes.
    fn connect(self) {
        if self.channel.with_value(Option::is_none) {
            let name = channel_name(&self.id.get_value());
            let channel = Channel::open(&name, move |message| self.hear(message));
            self.channel.set_value(channel);
            self.has_notes.set(true);
        }
    }

    fn open_notes(self) {
        self.connect();
        let id = self.id.get_value();
        if !browser::open_window(&format!("{NOTES}={id}"), &channel_name(&id)) {
            self.learning.page().tell_failure(
                "The browser did not open the window with the notes. Allow this page to open windows, and press N again.",
            );
        }
    }

    fn hear(self, message: FromNotes) {
        match message {
            FromNotes::Opened => {
                let is_on = self.is_on.get_untracked();
                self.send(&if is_on {
                    FromPage::Shows(Box::new(untrack(|| self.shown())))
                } else {
                    FromPage::Ended
                });
            }
            FromNotes::Does(command) if self.is_on.get_untracked() => self.run(command),
            FromNotes::GoTo(lesson, step) if self.is_on.get_untracked() => {
                let workshop = self.workshop.get_untracked();
                if let Some(there) = workshop.and_then(|workshop| workshop.at_lesson(&lesson)) {
                    self.workshop.set(Some(there));
                }
                self.learning.open_listed(&lesson, step);
            }
            FromNotes::RestartsClock => self.began_ms.set(browser::clock_ms()),
            FromNotes::Does(_) | FromNotes::GoTo(..) => {}
        }
    }

    fn send(self, message: &FromPage) {
        self.channel.with_value(|channel| {
            if let Some(channel) = channel {
                channel.send(message);
            }
        });
    }

    /// What the class sees. Tracked.
    fn shown(self) -> AudienceView {
        let page = self.learning.page();
        let (step, is_answered) = (
            self.learning.step.get(),
            self.learning.judged.with(Option::is_some),
        );
        let place = self.learning.open.with(|open| {
            let is_seen = self.has_lesson.get() && self.slide().is_none();
            let open = open.as_ref().filter(|_| is_seen)?;
            Some(PresentedStep {
                id: open.id.map(str::to_owned),
                text: open.text.to_string(),
                step,
                is_answered,
                is_closing: self.learning.is_closing.get(),
            })
        });
        AudienceView {
            workshop: self.workshop.get(),
            place,
            program: page.program_name(),
            result: (page.analysis).with(|analysis| headline(analysis).sentence()),
            stage: self.stage.get(),
            is_fused: page.chosen.is_fused.get(),
            is_blank: self.is_blank.get(),
            began_ms: self.began_ms.get(),
        }
    }
}

/// Screen pixels for each unit in which the graph is drawn.
pub fn graph_unit_px() -> Signal<f64> {
    let presenting = Presenting::of_context();
    Signal::derive(move || {
        let is_presented = presenting.is_some_and(|presenting| presenting.is_on.get());
        if is_presented {
            GRAPH_UNIT_PX * browser::type_scale()
        } else {
            1.0
        }
    })
}
