//! What a student changed on the page, as a difference: short enough for a QR code or a link.

use crate::lesson::solve::text_with_param;
use crate::lesson::state::{AnalyzedProgram, PageState};
use crate::puzzle::is_small;
use fuseline_core::notation::edit::{main_dtype, set_dtype, set_kernel};
use fuseline_core::notation::parse;
use fuseline_core::{DType, Program};
use fuseline_view::page::links::{ShareError, SharedState, read_state, write_state};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Sizes, kernels and choices that differ from a state of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct PageDiff {
    /// Params with another value.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sizes: BTreeMap<String, i64>,
    /// The element type of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    element_type: Option<String>,
    /// The kernel mark of each statement.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kernels: Vec<Option<u32>>,
    /// Policy, options, conventions and device, as a link writes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<String>,
    /// The text, where it differs in more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl PageDiff {
    /// The difference between two states of the page. `O(text)` for each size and mark.
    pub fn of(asked: &SharedState, now: &SharedState) -> Self {
        let choices = choices(now);
        let choices = (choices != self::choices(asked)).then_some(choices);
        let [before, after] = [asked, now].map(|state| parse(&state.text).program);
        let is_changed = |name: &str, value: i64| {
            let mut params = before.params.iter();
            params.any(|param| param.name.text == name && param.value != value)
        };
        let sizes = after.params.iter().map(|p| (p.name.text.clone(), p.value));
        let element_type = main_dtype(&after).filter(|&dtype| main_dtype(&before) != Some(dtype));
        let kernels = marks(&after);
        let made = Self {
            sizes: (sizes.filter(|(name, value)| is_changed(name, *value))).collect(),
            element_type: element_type.map(|dtype| dtype.name().to_owned()),
            kernels: if kernels == marks(&before) {
                Vec::new()
            } else {
                kernels
            },
            choices: choices.clone(),
            text: None,
        };
        if made.text_from(&asked.text) == now.text {
            return made;
        }
        Self {
            choices,
            text: Some(now.text.clone()),
            ..Self::default()
        }
    }

    /// The state of the page with this difference. A size that the page lacks is left out.
    ///
    /// # Errors
    /// The choices cannot be read, or the kernels are those of another program.
    pub fn applied(&self, asked: &SharedState) -> Result<SharedState, ShareError> {
        let op_count = parse(&asked.text).program.ops.len();
        if !self.kernels.is_empty() && self.kernels.len() != op_count {
            return Err(ShareError::Damaged);
        }
        let text = self.text_from(&asked.text);
        let Some(choices) = &self.choices else {
            return Ok(SharedState {
                text,
                ..asked.clone()
            });
        };
        let state = read_state(choices.clone().into())?;
        Ok(SharedState { text, ..state })
    }

    /// The analysed program of the page with this difference.
    ///
    /// # Errors
    /// Why it cannot be analysed.
    pub fn analyzed(&self, asked: &PageState) -> Result<AnalyzedProgram, &'static str> {
        let shared = self.applied(&asked.shared);
        let shared = shared.map_err(|_| "it does not fit this page")?;
        // A program of the page may be large, somebody's own may not be larger than that of a
        // puzzle.
        if self.text.is_some() && !is_small(&shared.text) {
            return Err("its program is too large to check");
        }
        let state = PageState {
            shared,
            ..asked.clone()
        };
        state.analyzed().ok_or("its program has an error")
    }

    fn text_from(&self, asked: &str) -> String {
        if let Some(text) = &self.text {
            return text.clone();
        }
        let sizes = self.sizes.iter();
        let text = sizes.fold(asked.to_owned(), |text, (name, &value)| {
            text_with_param(&text, name, value).unwrap_or(text)
        });
        let text = match (self.element_type.as_deref()).and_then(DType::named) {
            Some(dtype) => set_dtype(&text, &parse(&text).program, dtype),
            None => text,
        };
        let program = parse(&text).program;
        // From the end, so that what is before keeps its place.
        let kernels = self.kernels.iter().enumerate();
        kernels.rev().fold(text, |text, (at, &kernel)| {
            set_kernel(&text, &program, at, kernel)
        })
    }
}

/// All choices of a state, without what a reader looks at.
fn choices(state: &SharedState) -> String {
    let choices = SharedState {
        text: String::new(),
        is_unfused_view: false,
        selected_op: None,
        open_tab: None,
        puzzle: None,
        moves: None,
        note: None,
        ..state.clone()
    };
    write_state(&choices).unwrap_or_default()
}

fn marks(program: &Program) -> Vec<Option<u32>> {
    let marks = program.ops.iter().map(|op| op.kernel);
    marks.map(|mark| mark.map(|mark| mark.number)).collect()
}
