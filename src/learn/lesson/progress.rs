//! How far a visitor is. It stays in their browser.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What is kept of all lessons.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// The lesson that is open, and the step.
    pub open: Option<Place>,
    /// The document that was open before the lesson.
    pub before: Option<String>,
    /// For each lesson of the page the steps that are done.
    pub done: BTreeMap<String, BTreeSet<usize>>,
}

/// A step of a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The lesson of the page; `None` for one of somebody's own.
    pub id: Option<String>,
    /// The step, from 0.
    pub step: usize,
}

impl Progress {
    /// What was stored; nothing where that cannot be read.
    pub fn read(stored: &str) -> Self {
        serde_json::from_str(stored).unwrap_or_default()
    }

    /// As it is stored.
    pub fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// A step is done.
    pub fn finish(&mut self, id: &str, step: usize) {
        self.done.entry(id.to_owned()).or_default().insert(step);
    }

    /// Whether a step is done.
    pub fn is_done(&self, id: &str, step: usize) -> bool {
        self.done.get(id).is_some_and(|steps| steps.contains(&step))
    }

    /// Number of steps of a lesson that are done.
    pub fn done_count(&self, id: &str) -> usize {
        self.done.get(id).map_or(0, BTreeSet::len)
    }
}
