//! Pictures on paper, which nobody can enlarge: the handout shows them as images of the browser.

use crate::families::{Reads, chain, reads_all, text_of};
use fuseline::STYLE_SHEETS;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::{Analysis, Options, analyze_program, notation};
use fuseline_view::picture::dag::{Folding, layout_of};
use fuseline_view::picture::export::{Format, PAPER, PictureKind, Pictured, SCREEN};
use roxmltree::{Document, Node};
use std::sync::Arc;
use strum::VariantArray;

fn analysis(text: &str) -> Arc<Analysis> {
    let program = notation::parse(text).program;
    Arc::new(
        analyze_program(&program, &Options::default())
            .analysis
            .unwrap(),
    )
}

fn bare(analysis: &Arc<Analysis>, kind: PictureKind, format: Format, is_fused: bool) -> String {
    let layout = layout_of(&analysis.graph, &analysis.partition, Folding::Nothing);
    let pictured = Pictured {
        analysis,
        layout: &layout,
        is_fused,
    };
    pictured.drawing(kind, format).bare_svg(STYLE_SHEETS)
}

fn graph(reads: &Reads, format: Format) -> String {
    bare(&analysis(&text_of(reads)), PictureKind::Graph, format, true)
}

fn count(svg: &str, is_counted: fn(&Node<'_, '_>) -> bool) -> usize {
    let document = Document::parse(svg).unwrap();
    document.descendants().filter(is_counted).count()
}

/// Chromium looks for the title of a document at each title that it reads, among all that stands at
/// the root so far: without one at the beginning, 2,000 ops take 20 s instead of one.
#[test]
fn the_first_element_of_a_picture_is_its_title() {
    let analysis = analysis(EXAMPLES[0].text);
    for &kind in PictureKind::VARIANTS {
        let svg = bare(&analysis, kind, PAPER, true);
        let document = Document::parse(&svg).unwrap();
        let first = document.root_element().first_element_child().unwrap();
        assert!(first.has_tag_name("title"), "{kind:?}");
    }
}

#[test]
fn a_graph_that_cannot_be_read_on_paper_is_a_few_paths_however_large_it_is() {
    let is_path = |node: &Node<'_, '_>| node.is_element() && !node.has_tag_name("g");
    let elements = |reads: &Reads| count(&graph(reads, PAPER), is_path);
    for family in [chain, reads_all] {
        let (some, more) = (elements(&family(150)), elements(&family(300)));
        assert!(some < 60, "{some}");
        assert!(more < 60, "{more}");
    }
}

#[test]
fn the_paths_have_all_boxes_and_all_edges() {
    let reads = reads_all(150);
    let svg = graph(&reads, PAPER);
    let document = Document::parse(&svg).unwrap();
    let paths = document.descendants().filter(|n| n.has_tag_name("path"));
    // A box is closed, an edge is not.
    let data: Vec<&str> = paths.filter_map(|path| path.attribute("d")).collect();
    let parts = |sign: char| -> usize { data.iter().map(|d| d.matches(sign).count()).sum() };
    let analysis = analysis(&text_of(&reads));
    let layout = layout_of(&analysis.graph, &analysis.partition, Folding::Nothing);
    let boxes = layout.ops.len() + layout.panels.len() + layout.pills.len();
    assert_eq!(parts('Z'), boxes);
    assert_eq!(parts('M'), boxes + layout.edges.len());
}

#[test]
fn words_stay_where_they_can_be_read_or_enlarged() {
    let is_text = |node: &Node<'_, '_>| node.has_tag_name("text");
    assert!(count(&graph(&reads_all(150), SCREEN), is_text) >= 150);
    let largest = ["gpt2_layers", "llama", "resnet_bottleneck"];
    for example in EXAMPLES.iter().filter(|e| largest.contains(&e.id)) {
        let analysis = analysis(example.text);
        let layout = layout_of(&analysis.graph, &analysis.partition, Folding::Iterations);
        let pictured = Pictured {
            analysis: &analysis,
            layout: &layout,
            is_fused: true,
        };
        let svg = pictured
            .drawing(PictureKind::Graph, PAPER)
            .bare_svg(STYLE_SHEETS);
        let shown = layout.ops.ids().filter(|&op| layout.repeats.shows_op(op));
        assert!(count(&svg, is_text) >= shown.count(), "{}", example.id);
    }
}
