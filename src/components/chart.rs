//! A chart whose marks can be pointed at, focused, named and selected.
//!
//! It is one tab stop: the arrow keys move from mark to mark. Its state lies in cells; two triggers wake the
//! two effects that draw (`chart_markup`) and that show what is pointed at (`chart_tip`).

use super::chart_markup::{Look, frame, index_of, key_of, marks, raised};
use super::chart_tip::Tip;
use crate::app::state::{Page, Selection};
use crate::browser::{self, Event, Later, List, Place, listen};
use crate::core::{Analysis, KernelId};
use crate::picture::charts::scene::{Mark, Scene};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// How long the pointer rests on a mark before its tooltip takes the place of another one.
const TIP_RESTS: Duration = Duration::from_millis(120);
/// How long a tooltip stays once the pointer has left its mark.
const TIP_STAYS: Duration = Duration::from_millis(500);

/// Draws an analysis for a frame of this width.
type Draw = Box<dyn Fn(&Arc<Analysis>, f64) -> Scene>;

/// What a click on a mark does.
type Press = fn(Page, &Mark);

/// A chart of the page. Its elements have ids that begin with its own: `-slot` around it, `-picture` for its
/// marks, `-tip` for its tooltip.
pub struct Chart {
    id: &'static str,
    page: Page,
    draw: Draw,
    press: Press,
    width: Cell<f64>,
    is_seen: Cell<bool>,
    /// What is drawn, of which analysis and how wide.
    drawn: RefCell<Drawn>,
    /// The mark in the focus order that the tab key reaches.
    stop: Cell<usize>,
    /// The mark whose tooltip shows.
    pointed: Cell<Option<usize>>,
    redraw: Trigger,
    point: Trigger,
    /// Hides the tooltip a moment after the pointer has left, which leaves time to move onto it.
    hide: Later,
    /// Shows another mark's tooltip instead.
    switch: Later,
}

#[derive(Clone, Default)]
struct Drawn {
    scene: Rc<Scene>,
    of: Option<Arc<Analysis>>,
    width: f64,
}

impl Chart {
    /// A chart that is seen.
    pub fn new(
        page: Page,
        id: &'static str,
        draw: impl Fn(&Arc<Analysis>, f64) -> Scene + 'static,
    ) -> Self {
        Self {
            id,
            page,
            draw: Box::new(draw),
            press: |page, mark| {
                page.toggle(mark.kernel.map_or(Selection::Nothing, Selection::Kernel));
            },
            width: Cell::new(400.0),
            is_seen: Cell::new(true),
            drawn: RefCell::default(),
            stop: Cell::new(0),
            pointed: Cell::new(None),
            redraw: Trigger::new(),
            point: Trigger::new(),
            hide: Later::after(TIP_STAYS),
            switch: Later::after(TIP_RESTS),
        }
    }

    /// The same chart, empty until [`Chart::set_seen`], so that no slider event is spent on it.
    #[must_use]
    pub fn hidden(self) -> Self {
        self.is_seen.set(false);
        self
    }

    /// The same chart, whose marks do this when they are pressed; by default they select their kernel.
    #[must_use]
    pub fn pressed(mut self, press: Press) -> Self {
        self.press = press;
        self
    }

    /// Draws the chart from now on, or empties it.
    pub fn set_seen(&self, is_seen: bool) {
        self.is_seen.set(is_seen);
        self.redraw.notify();
    }

    /// Draws it anew, because of something beside the analysis and the width.
    pub fn renew(&self) {
        self.drawn.borrow_mut().of = None;
        self.redraw.notify();
    }

    fn part(&self, part: &str) -> String {
        [self.id, part].concat()
    }

    fn scene(&self) -> Rc<Scene> {
        self.drawn.borrow().scene.clone()
    }

    fn selected(&self) -> Option<KernelId> {
        let selection = self.page.selection.get();
        self.page.analysis.with(|a| selection.kernel(a))
    }

    /// Follows what the scene depends on, and draws it anew where that has changed.
    fn follow(&self) {
        self.redraw.track();
        let width = self.width.get();
        if !self.is_seen.get() {
            *self.drawn.borrow_mut() = Drawn::default();
            self.pointed.set(None);
            return;
        }
        let analysis = self.page.analysis.get();
        let before = self.drawn.borrow().clone();
        let is_same = before
            .of
            .as_ref()
            .is_some_and(|of| Arc::ptr_eq(of, &analysis));
        if is_same && before.width.to_bits() == width.to_bits() {
            return;
        }
        let scene = Rc::new((self.draw)(&analysis, width));
        // A tooltip stays with what it names.
        let key = self
            .pointed
            .get()
            .and_then(|mark| key_of(&before.scene, mark));
        self.pointed.set(key.and_then(|key| index_of(&scene, key)));
        if self.stop.get() >= scene.focus_order.len() {
            self.stop.set(0);
        }
        *self.drawn.borrow_mut() = Drawn {
            scene,
            of: Some(analysis),
            width,
        };
    }

    /// Selects the mark's kernel, or nothing when it is selected already.
    fn select(&self, mark: usize) {
        if let Some(mark) = self.scene().marks.get(mark) {
            (self.press)(self.page, mark);
        }
    }

    /// Shows this tooltip now, or none, whatever was about to happen.
    fn show(&self, mark: Option<usize>) {
        self.stay();
        self.pointed.set(mark);
        self.point.notify();
    }

    /// Keeps the tooltip that shows.
    fn stay(&self) {
        self.hide.cancel();
        self.switch.cancel();
    }

    /// Moves the focus as a key says; whether the key was one of ours.
    fn press(&self, event: &Event) -> bool {
        let scene = self.scene();
        let Some((stop, key)) = stop_at(event).zip(browser::event_as::<KeyboardEvent>(event))
        else {
            return false;
        };
        let count = scene.focus_order.len().max(1);
        let target = match key.key().as_str() {
            "ArrowRight" | "ArrowDown" => (stop + 1) % count,
            "ArrowLeft" | "ArrowUp" => (stop + count - 1) % count,
            "Home" => 0,
            "End" => count - 1,
            "Enter" | " " => {
                if let Some(&mark) = scene.focus_order.get(stop) {
                    self.select(mark);
                }
                return true;
            }
            "Escape" if self.pointed.get().is_some() => {
                self.show(None);
                return true;
            }
            _ => return false,
        };
        browser::focus(&[self.id, "-stop-", &target.to_string()].concat());
        true
    }
}

/// Shows a chart in the elements that have its ids.
pub fn show_chart(chart: Chart) -> Rc<Chart> {
    let chart = Rc::new(chart);
    let resized = chart.clone();
    browser::observe_size(&chart.part("-slot"), move |width, _| {
        // Charts lay out for type of 12 px; on a projector a unit is more than a pixel.
        // Steps of a few pixels spare a drawing for each pixel of a dragged window.
        let width = (width / browser::type_scale() / 8.0).floor() * 8.0;
        if width > 0.0 && width.to_bits() != resized.width.replace(width).to_bits() {
            resized.redraw.notify();
        }
    });
    let drawing = chart.clone();
    let mut around = Place::new(&chart.part("-picture"));
    let mut all = List::new(&chart.part("-marks"));
    Effect::new(move || {
        drawing.follow();
        let look = Look {
            id: drawing.id,
            selected: drawing.selected(),
            stop: drawing.stop.get(),
        };
        let scene = drawing.scene();
        around.show(frame(&scene, &look));
        all.show(marks(&scene, &look));
        drawing.point.notify();
    });
    let pointing = chart.clone();
    let mut tip = Tip::new(&chart.part("-tip"));
    let mut front = List::new(&chart.part("-raised"));
    Effect::new(move || {
        pointing.point.track();
        let scene = pointing.scene();
        let pointed = pointing
            .pointed
            .get()
            .and_then(|mark| scene.marks.get(mark));
        let look = Look {
            id: pointing.id,
            selected: pointing
                .page
                .analysis
                .with_untracked(|a| pointing.page.selection.get_untracked().kernel(a)),
            stop: 0,
        };
        front.show(raised(&scene, &look, pointed.and_then(|mark| mark.kernel)));
        tip.show(&scene, pointed);
    });
    let heard = chart.clone();
    listen(
        &chart.part("-slot"),
        &[
            "click",
            "pointerover",
            "pointerout",
            "focusin",
            "focusout",
            "keydown",
        ],
        move |event| hear(&heard, event),
    );
    let heard = chart.clone();
    // A tooltip is dismissed from wherever the focus is.
    browser::listen_to_window(&["keydown"], move |event| {
        let is_escape =
            browser::event_as::<KeyboardEvent>(event).is_some_and(|e| e.key() == "Escape");
        if is_escape && heard.pointed.get().is_some() {
            heard.show(None);
        }
    });
    chart
}

fn hear(chart: &Rc<Chart>, event: &Event) {
    let mark = browser::closest_number(event, "data-mark");
    match (event.type_().as_str(), mark) {
        ("click", Some(mark)) => chart.select(mark),
        ("pointerover", None) if browser::closest_id(event, ".chart-tip").is_some() => {
            chart.stay();
        }
        ("pointerover", Some(mark)) => {
            chart.hide.cancel();
            if chart.pointed.get().is_none() {
                chart.show(Some(mark));
            } else {
                // The pointer can cross marks on its way to the tooltip.
                let chart = chart.clone();
                let switch = chart.switch;
                switch.call(move || chart.show(Some(mark)));
            }
        }
        ("pointerout", _) => {
            chart.switch.cancel();
            let chart = chart.clone();
            let hide = chart.hide;
            hide.call(move || chart.show(None));
        }
        ("focusin", Some(mark)) => {
            if let Some(stop) = stop_at(event) {
                chart.stop.set(stop);
                chart.redraw.notify();
            }
            chart.show(Some(mark));
        }
        ("focusout", _) => chart.show(None),
        ("keydown", _) if chart.press(event) => {
            event.prevent_default();
            event.stop_propagation();
        }
        _ => {}
    }
}

/// The place in the focus order where an event happened.
fn stop_at(event: &Event) -> Option<usize> {
    browser::closest_number(event, "data-stop")
}
