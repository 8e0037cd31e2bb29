//! The tab on the model against measurement. Its files are fetched when it is opened for the first time.

use crate::app::state::Page;
use crate::browser;
use crate::browser::{Event, Place, fetch_text, listen, set_flag};
use crate::components::chart::{Chart, show_chart};
use crate::core::Program;
use crate::core::analysis::measured::{Measurements, Row};
use crate::core::json::read_json;
use crate::core::notation::parse;
use crate::markup::{ABSENT, Markup};
use crate::picture::charts::measured_scatter;
use crate::views::measured::{Compared, Line, lines, pairs, patterns, summary, table};
use leptos::prelude::*;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The device of the measured files.
const DEVICE: &str = "h200";

/// Each measured file and what is in it.
const FILES: [(&str, &str); 3] = [
    ("h200", "one size of each"),
    ("h200_sizes", "further sizes, seen by the model"),
    ("h200_fresh", "further sizes, not seen by it"),
];

/// What the view shows. It outlives the view, so that nothing is fetched twice.
pub struct View {
    /// Place in [`FILES`].
    file: Cell<usize>,
    compared: Cell<Compared>,
    content: RefCell<Content>,
    changed: Trigger,
}

enum Content {
    Nothing,
    /// The file at this place is on its way.
    Coming(usize),
    Failed(String),
    /// A file and its predictions.
    Here(Measurements, Vec<Line>),
}

/// What has come of a file so far.
struct Arriving {
    file: usize,
    measurements: Measurements,
    programs: Vec<(String, Program)>,
    missing: usize,
}

/// Predicted against measured, as a chart and as a table.
#[component]
pub fn MeasuredView(
    /// The page, whose charts select kernels.
    page: Page,
    /// What is shown.
    view: StoredValue<Rc<View>, LocalStorage>,
) -> impl IntoView {
    let view = view.get_value();
    let drawn = view.clone();
    let chart = Chart::new(page, "measured", move |_, width| {
        let content = drawn.content.borrow();
        let lines = match &*content {
            Content::Here(_, lines) => &lines[..],
            _ => &[],
        };
        let compared = drawn.compared.get();
        let height = (width * 0.8).clamp(260.0, 520.0);
        measured_scatter::scene(
            &pairs(lines, compared),
            compared.quantity(),
            (width, height),
        )
    });
    let chart = show_chart(chart.hidden());
    let (mut choices, mut status) = (
        Place::new("measured-choices"),
        Place::new("measured-status"),
    );
    let mut rows = Place::new("measured-rows");
    let shown = view.clone();
    Effect::new(move || {
        shown.changed.track();
        shown.fetch();
        choices.show(shown.choices());
        let content = shown.content.borrow();
        let compared = shown.compared.get();
        let (said, listed) = match &*content {
            Content::Here(measured, lines) => {
                (summary(measured, lines, compared), table(lines, compared))
            }
            Content::Failed(problem) => (failure(problem), Markup::new()),
            Content::Nothing | Content::Coming(_) => (waiting(), Markup::new()),
        };
        let is_here = matches!(&*content, Content::Here(..));
        drop(content);
        set_flag("measured-result", "hidden", !is_here);
        // The run that others are held against has no point.
        set_flag("measured-eager", "hidden", compared == Compared::Speedup);
        status.show(said);
        rows.show(listed);
        chart.set_seen(is_here);
        chart.renew();
    });
    listen("measured", &["change", "click"], move |event| {
        view.hear(event);
    });
    view! {
        <div class="measured" id="measured">
            <div class="measured-choices" id="measured-choices"></div>
            <div class="measured-status" id="measured-status" role="status" aria-live="polite"></div>
            <div class="measured-result" id="measured-result" hidden>
                <div class="chart-slot" id="measured-slot">
                    <ul class="legend">
                        <li id="measured-eager"><span class="point-key key-eager" aria-hidden="true"></span>"eager"</li>
                        <li><span class="point-key key-compiled" aria-hidden="true"></span>"compiled"</li>
                        <li><span class="point-key key-tuned" aria-hidden="true"></span>"compiled, own matmuls"</li>
                    </ul>
                    <div class="chart-box">
                        <div id="measured-picture"></div>
                        <div class="chart-tip" id="measured-tip" aria-hidden="true" hidden></div>
                    </div>
                </div>
                <div class="table-scroll measured-table" role="group" aria-label="Measured rows" tabindex="0">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">"pattern"</th>
                                <th scope="col" class="number" title="predicted / measured − 1">"error"</th>
                                <th scope="col">"run"</th>
                                <th scope="col" class="number">"predicted"</th>
                                <th scope="col" class="number">"measured"</th>
                                <th scope="col" class="number">"size"</th>
                                <th scope="col" class="number" title="number of kernels">"kernels: "<br />"predicted / "<br />"measured"</th>
                            </tr>
                        </thead>
                        <tbody id="measured-rows"></tbody>
                    </table>
                </div>
            </div>
        </div>
    }
}

fn waiting() -> Markup {
    let mut markup = Markup::new();
    markup.raw(r#"<p class="quiet">Fetching the measurements.</p>"#);
    markup
}

fn failure(problem: &str) -> Markup {
    let mut markup = Markup::new();
    markup.fill(
        r#"<p class="is-failure"><span>{}</span> <button type="button" id="measured-retry">Try again</button></p>"#,
        &[problem],
    );
    markup
}

impl View {
    /// Nothing is fetched before the view is mounted.
    pub(super) fn new() -> Self {
        Self {
            file: Cell::new(0),
            compared: Cell::new(Compared::Time),
            content: RefCell::new(Content::Nothing),
            changed: Trigger::new(),
        }
    }

    fn choices(&self) -> Markup {
        let mut markup = Markup::new();
        markup.fill(
            r#"<label class="picker"><span>Measured</span><select id="measured-file" value="{}">"#,
            &[&self.file.get().to_string()],
        );
        for (place, (_, name)) in FILES.iter().enumerate() {
            markup.fill(
                r#"<option value="{}">{}</option>"#,
                &[&place.to_string(), name],
            );
        }
        markup.raw(
            r#"</select></label><fieldset class="switch"><legend class="sr-only">Compare</legend>"#,
        );
        for (place, compared) in Compared::ALL.into_iter().enumerate() {
            let checked = if compared == self.compared.get() {
                ""
            } else {
                ABSENT
            };
            markup.fill(
                r#"<label><input type="radio" name="measured-compared" id="{}" data-compared="{}" checked="{}"><span>{}</span></label>"#,
                &[
                    &["measured-compared-", &place.to_string()].concat(),
                    &place.to_string(),
                    checked,
                    compared.name(),
                ],
            );
        }
        markup.raw("</fieldset>");
        markup
    }

    fn hear(self: &Rc<Self>, event: &Event) {
        if event.type_() == "click" {
            if browser::closest_id(event, "button").as_deref() == Some("measured-retry") {
                *self.content.borrow_mut() = Content::Nothing;
                self.changed.notify();
            }
            return;
        }
        let compared = browser::closest_number(event, "data-compared");
        if let Some(compared) = compared.and_then(|place| Compared::ALL.get(place)) {
            self.compared.set(*compared);
        } else if let Ok(file) = browser::input_value(event).parse() {
            self.file.set(file);
            *self.content.borrow_mut() = Content::Nothing;
        }
        self.changed.notify();
    }

    /// Fetches the chosen file, unless it is here, on its way or has failed.
    fn fetch(self: &Rc<Self>) {
        let file = self.file.get();
        if !matches!(&*self.content.borrow(), Content::Nothing) {
            return;
        }
        let Some((name, _)) = FILES.get(file) else {
            return;
        };
        *self.content.borrow_mut() = Content::Coming(file);
        let view = self.clone();
        fetch_text(&["measured/", name, ".json"].concat(), move |text| {
            let read = text.ok_or("they did not come".to_owned());
            let read = read.and_then(|text| read_json::<Measurements>(&text));
            match read {
                Ok(measurements) => view.fetch_programs(file, measurements),
                Err(problem) => view.fail(
                    file,
                    &format!("The measurements cannot be shown: {problem}."),
                ),
            }
        });
    }

    fn fetch_programs(self: &Rc<Self>, file: usize, measurements: Measurements) {
        let names = patterns(&measurements.rows);
        let arriving = Rc::new(RefCell::new(Arriving {
            file,
            measurements,
            programs: Vec::new(),
            missing: names.len(),
        }));
        for name in names {
            let (view, arriving, path) = (
                self.clone(),
                arriving.clone(),
                ["measured/", &name, ".fuse"].concat(),
            );
            fetch_text(&path, move |text| match text {
                Some(text) => {
                    let mut arriving = arriving.borrow_mut();
                    arriving.programs.push((name.clone(), parse(&text).program));
                    arriving.missing -= 1;
                    if arriving.missing == 0 {
                        view.arrive(&arriving);
                    }
                }
                None => view.fail(file, &["The pattern ", &name, " did not come."].concat()),
            });
        }
    }

    fn arrive(&self, arriving: &Arriving) {
        let rows: Vec<Row> = arriving.measurements.rows.clone();
        let lines = lines(rows, &arriving.programs, DEVICE);
        let measurements = arriving.measurements.clone();
        self.put(arriving.file, Content::Here(measurements, lines));
    }

    fn fail(&self, file: usize, problem: &str) {
        self.put(file, Content::Failed(problem.to_owned()));
    }

    /// Shows what came of a file, if that file is still the one that is waited for.
    fn put(&self, file: usize, content: Content) {
        let is_awaited =
            matches!(&*self.content.borrow(), Content::Coming(coming) if *coming == file);
        if is_awaited {
            *self.content.borrow_mut() = content;
            self.changed.notify();
        }
    }
}
