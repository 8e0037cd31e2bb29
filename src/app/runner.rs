//! How the worker computes the answers.

use super::analysed::{AnalysedText, AnalysisInput};
use super::jobs::Job;
use super::queries::{Answer, Picture, Query, Stage, Task};
use fuseline_core::notation;
use fuseline_core::{Graph, Partition};
use fuseline_view::picture::dag::{DagLayout, Folding, has_same_picture};
use std::sync::Arc;

/// Runs jobs one after another.
#[derive(Default)]
pub struct Runner {
    /// What the last picture shows.
    pictured: Option<LastPicture>,
    /// What the last job was about. Steps and questions come in a row, and the first of them takes
    /// the longest.
    whole: Option<Arc<AnalysedText>>,
    /// The same text after fewer decisions, if the last question was about these.
    earlier: Option<AnalysedText>,
}

impl Runner {
    /// The answer to a job. Reports to `at` how far it is.
    pub fn run(&mut self, job: &Job, at: &mut dyn FnMut(Stage)) -> Answer {
        at(Stage::Reading);
        if job.is_of_another_text() {
            // It is not kept, because the next job is about the last text again.
            let other = parsed(&job.input);
            at(Stage::Fusing);
            return job.task.run(&other, at);
        }
        let pictured = self.pictured.take();
        let subject = self.subject(&job.input);
        at(Stage::Fusing);
        let Task::Picture(picture) = job.task else {
            let answer = job.task.run(subject, at);
            self.pictured = pictured;
            return answer;
        };
        let (answer, pictured) = draw(picture, subject, pictured, at);
        self.pictured = Some(pictured);
        answer
    }

    /// The text that the job is about: that of the last job if the two are equal.
    fn subject(&mut self, input: &AnalysisInput) -> &AnalysedText {
        let is_same =
            |whole: &AnalysedText| whole.text == input.text && whole.options == input.options;
        // Freed before the next one takes as much memory.
        self.whole.take_if(|whole| !is_same(whole));
        if self.whole.is_none() {
            self.earlier = None;
        }
        let whole = self.whole.get_or_insert_with(|| Arc::new(parsed(input)));
        let Some(step) = input.step else {
            return whole;
        };
        self.earlier.take_if(|earlier| earlier.step() != Some(step));
        let after = || AnalysedText::after(whole, step);
        self.earlier.get_or_insert_with(after)
    }
}

fn parsed(input: &AnalysisInput) -> AnalysedText {
    let parsed = Arc::new(notation::parse(&input.text));
    AnalysedText::new(input.text.clone(), parsed, input.options.clone())
}

/// Draws kernels, unless they look like those of the last picture, which the page has.
fn draw(
    picture: Picture,
    subject: &AnalysedText,
    last: Option<LastPicture>,
    at: &mut dyn FnMut(Stage),
) -> (Answer, LastPicture) {
    let folding = picture.folding;
    let (graph, partition) = (subject.graph(), subject.partition());
    let same = last.filter(|last| last.is_of(graph, partition, folding));
    if let Some(last) = &same {
        subject.keep_layout(folding, &last.layout);
    }
    let mut answer = picture.run(subject, at);
    if same.is_some() {
        answer.layout = None;
    }
    let pictured = same.unwrap_or_else(|| LastPicture {
        graph: graph.clone(),
        partition: partition.clone(),
        folding,
        layout: subject.layout_under(folding).clone(),
    });
    (Answer::Picture(Arc::new(answer)), pictured)
}

/// A picture and what it shows.
struct LastPicture {
    graph: Graph,
    partition: Partition,
    folding: Folding,
    layout: Arc<DagLayout>,
}

impl LastPicture {
    /// Whether these kernels look the same.
    fn is_of(&self, graph: &Graph, partition: &Partition, folding: Folding) -> bool {
        self.folding == folding
            && has_same_picture((&self.graph, &self.partition), (graph, partition))
            && self.layout.repeats.still_hold(graph)
    }
}
