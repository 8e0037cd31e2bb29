//! What a visitor takes away: pictures, tables and data as files.

use crate::STYLE_SHEETS;
use crate::app::queries;
use crate::app::state::page::Page;
use fuseline_browser as browser;
use fuseline_core::examples::example;
use fuseline_view::picture::export::{Drawing, Format, PictureKind, Pictured, SCREEN};
use fuseline_view::present::caption::Caption;
use fuseline_view::present::headline::headline;
use fuseline_view::present::names::own_title;
use fuseline_view::present::pytorch::{SCRIPT_NAME, refusal, script};
use fuseline_view::present::tables::{Table, TableKind};
use leptos::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureForm {
    /// Shapes and texts, which stay sharp.
    Svg,
    /// Pixels.
    Png,
}

impl PictureForm {
    pub const fn label(self) -> &'static str {
        match self {
            Self::Svg => "SVG",
            Self::Png => "PNG",
        }
    }
}

impl Page {
    /// The name of the program: that of the example, else its first line. Tracked.
    pub fn program_name(self) -> String {
        let example = self.origin.example.get().and_then(example);
        example.map_or_else(
            || (self.text).with(|text| own_title(text).unwrap_or("Your program").to_owned()),
            |example| example.title.to_owned(),
        )
    }

    /// Offers the program as a PyTorch script.
    pub fn save_script(self) {
        let shown = self.shown.get_untracked();
        let name = untrack(|| self.program_name());
        match script(
            &name,
            shown.program(),
            shown.analysis(),
            shown.statement_of_op(),
        ) {
            Ok(script) => browser::download(SCRIPT_NAME, "text/x-python", &script),
            Err(unwritable) => self.tell_failure(refusal(&unwritable)),
        }
    }

    /// A picture of what is shown, without a caption. Tracked.
    pub fn picture(self, kind: PictureKind, format: Format) -> Drawing {
        let is_fused = self.chosen.is_fused.get();
        let analysis = self.analysis.get();
        self.pictures.drawing.with(|drawn| {
            let pictured = Pictured {
                analysis: &analysis,
                layout: &drawn.layout,
                is_fused,
            };
            pictured.drawing(kind, format)
        })
    }

    /// Bytes, kernels and time, before and after, in sentences. Tracked.
    pub fn headline_sentence(self) -> String {
        self.analysis.with(|analysis| headline(analysis).sentence())
    }

    fn caption(self, key: &str) -> Caption {
        let name = self.program_name();
        self.shown
            .with(|shown| Caption::new(&name, shown.analysis(), shown.program(), key))
    }

    /// Offers a picture of what is shown as a file.
    pub fn save_picture(self, kind: PictureKind, form: PictureForm) {
        let svg = untrack(|| {
            let caption = self.caption(kind.key(self.chosen.is_fused.get()));
            self.picture(kind, SCREEN).svg(&caption, STYLE_SHEETS)
        });
        self.save_svg(&format!("fuseline-{}", kind.name()), svg, form);
    }

    /// Offers any drawing of the shown program as a file.
    pub fn save_drawing(self, file_stem: &str, drawing: &Drawing, form: PictureForm) {
        let kind = file_stem.parse::<PictureKind>();
        let key = kind.map_or("", |kind| kind.key(self.chosen.is_fused.get_untracked()));
        let caption = untrack(|| self.caption(key));
        self.save_svg(
            &format!("fuseline-{file_stem}"),
            drawing.svg(&caption, STYLE_SHEETS),
            form,
        );
    }

    fn save_svg(self, file_stem: &str, svg: String, form: PictureForm) {
        match form {
            PictureForm::Svg => {
                browser::download(&format!("{file_stem}.svg"), "image/svg+xml", &svg);
            }
            PictureForm::Png => {
                let file_name = format!("{file_stem}.png");
                browser::spawn(async move {
                    if !browser::download_png(&file_name, &svg).await {
                        self.tell_failure("The browser could not draw this picture as PNG. Save it as SVG instead.");
                    }
                });
            }
        }
    }

    /// Offers a table as CSV, once it is computed.
    pub fn save_table(self, kind: TableKind) {
        let shown = self.shown.get_untracked();
        let save = move |csv: Option<&String>| {
            if let Some(csv) = csv {
                browser::download(&format!("fuseline-{}.csv", kind.name()), "text/csv", csv);
            }
        };
        (self.worker).when_answered(&shown, queries::Table(kind), save);
    }

    /// Offers the pinned state and the present one side by side as CSV.
    pub fn save_pinned(self) {
        let Some(pinned) = self.against.pinned.get_untracked() else {
            return;
        };
        let csv = (self.analysis)
            .with_untracked(|now| Table::against_pinned(&pinned.analysis, now).csv());
        browser::download("fuseline-pinned.csv", "text/csv", &csv);
    }

    /// Gives the analysis by names as JSON to `act`, once it is computed; `None` if that was
    /// stopped.
    pub fn report(self, act: impl FnOnce(Option<&str>) + 'static) {
        let shown = self.shown.get_untracked();
        (self.worker).when_answered(&shown, queries::Report, |json| {
            act(json.map(String::as_str));
        });
    }
}
