//! Pictures as files: well-formed, with all colours inside, and with every name as text.

use crate::cli::{run, stderr, stdout};
use fuseline::STYLE_SHEETS;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::{Parsed, parse};
use fuseline_core::{Analysis, Options, analyze_program};
use fuseline_view::picture::dag::{Folding, layout_of};
use fuseline_view::picture::export::{PictureKind, Pictured, SCREEN};
use fuseline_view::present::caption::Caption;
use roxmltree::{Document, Node};
use std::sync::Arc;
use strum::VariantArray;

fn of_text(text: &str) -> (Parsed, Arc<Analysis>) {
    let parsed = parse(text);
    let analysis = analyze_program(&parsed.program, &Options::default()).analysis;
    (parsed, Arc::new(analysis.unwrap()))
}

fn svg(text: &str, kind: PictureKind, is_fused: bool) -> String {
    let (parsed, analysis) = of_text(text);
    let layout = layout_of(&analysis.graph, &analysis.partition, Folding::Iterations);
    let pictured = Pictured {
        analysis: &analysis,
        layout: &layout,
        is_fused,
    };
    let caption = Caption::new(
        "A <name> & more",
        &analysis,
        &parsed.program,
        kind.key(is_fused),
    );
    pictured.drawing(kind, SCREEN).svg(&caption, STYLE_SHEETS)
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// The words of all texts, as they are read.
fn words(document: &Document<'_>) -> Vec<String> {
    let texts = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    let words = |node: Node<'_, '_>| {
        let parts = node.descendants().filter(Node::is_text);
        parts.filter_map(|part| part.text()).collect()
    };
    texts.map(words).collect()
}

#[test]
fn each_picture_of_each_example_is_a_file_that_needs_nothing_else() {
    for example in EXAMPLES {
        for &kind in PictureKind::VARIANTS {
            for is_fused in [true, false] {
                let name = format!("{} {} {is_fused}", example.id, kind.name());
                let svg = svg(example.text, kind, is_fused);
                if let Some(folder) = std::env::var_os("EXPORT_SVG") {
                    let file = std::path::Path::new(&folder).join(format!("{name}.svg"));
                    std::fs::write(file, &svg).unwrap();
                }
                let document = Document::parse(&svg).unwrap_or_else(|e| panic!("{name}: {e}"));
                let root = document.root_element();
                let (width, height) = (number(root, "width"), number(root, "height"));
                let view = format!("0 0 {width} {height}");
                assert_eq!(root.attribute("viewBox"), Some(&*view), "{name}");
                for part in ["title", "desc"] {
                    let part = root.children().find(|node| node.has_tag_name(part));
                    assert!(part.and_then(|part| part.text()).is_some(), "{name}");
                }
                let ground = root
                    .children()
                    .find(|node| node.has_tag_name("rect"))
                    .unwrap();
                assert_eq!(ground.attribute("fill"), Some("#ffffff"), "{name}");
                for node in document.descendants().filter(Node::is_element) {
                    assert_eq!(node.attribute("class"), None, "{name}");
                    for color in ["fill", "stroke"]
                        .iter()
                        .filter_map(|name| node.attribute(*name))
                    {
                        let is_plain = color.starts_with('#') && color.len() == 7;
                        let is_known = matches!(color, "none" | "url(#hatch)");
                        assert!(is_plain || is_known, "{name}: {color}");
                    }
                    // Without a colour an element would be black.
                    if ["rect", "circle", "path", "text"].contains(&node.tag_name().name()) {
                        let is_set = |at: Node<'_, '_>| at.attribute("fill").is_some();
                        let is_line = |at: Node<'_, '_>| at.attribute("stroke").is_some();
                        assert!(node.ancestors().any(is_set), "{name}: {node:?}");
                        let is_seen = node.has_tag_name("text")
                            || node.attribute("fill") != Some("none")
                            || is_line(node);
                        assert!(is_seen, "{name}: {node:?}");
                    }
                }
                let words = words(&document);
                assert_eq!(
                    words[0],
                    format!("A <name> & more: {}", title(&document)),
                    "{name}"
                );
                assert!(
                    words.iter().any(|line| line.contains("Memory traffic ")),
                    "{name}: {words:?}"
                );
                assert!(
                    words
                        .iter()
                        .any(|line| line.contains("H200") || line.contains("A100")),
                    "{name}: {words:?}"
                );
            }
        }
    }
}

/// What the heading says behind the name of the program.
fn title(document: &Document<'_>) -> String {
    let title = document
        .descendants()
        .find(|node| node.has_tag_name("title"))
        .unwrap();
    title
        .text()
        .unwrap()
        .strip_prefix("A <name> & more: ")
        .unwrap()
        .to_owned()
}

#[test]
fn colours_are_the_light_ones_of_the_style_sheets() {
    let text = "input x : f16[1024, 1024]\ny = relu(x)\nz = gelu(y)\n";
    let svg = svg(text, PictureKind::Graph, true);
    let document = Document::parse(&svg).unwrap();
    let panel = document
        .descendants()
        .find(|node| node.has_tag_name("rect") && node.attribute("rx") == Some("12"));
    let panel = panel.unwrap();
    // --kernel-1-tint and --kernel-1 of style/tokens.css: oklch(0.955 0.024 255) and 45 % of
    // oklch(0.55 0.181 255).
    assert_eq!(panel.attribute("fill"), Some("#e6f1ff"));
    assert_eq!(panel.attribute("stroke"), Some("#006fd7"));
    assert_eq!(panel.attribute("stroke-opacity"), Some("0.45"));
    assert_eq!(panel.attribute("stroke-width"), Some("1"));
    let dotted = document
        .descendants()
        .filter(|node| node.attribute("stroke-dasharray") == Some("0.1 5"));
    assert_eq!(dotted.count(), 1, "one tensor stays on chip");
}

#[test]
fn a_name_is_text_whatever_it_holds() {
    let name = "</text><script>alert(1)</script>\u{1b}\u{0}&\"'";
    let (parsed, analysis) = of_text(EXAMPLES[0].text);
    let layout = layout_of(&analysis.graph, &analysis.partition, Folding::Iterations);
    let pictured = Pictured {
        analysis: &analysis,
        layout: &layout,
        is_fused: true,
    };
    let caption = Caption::new(name, &analysis, &parsed.program, "");
    let svg = pictured
        .drawing(PictureKind::Traffic, SCREEN)
        .svg(&caption, STYLE_SHEETS);
    let document = Document::parse(&svg).unwrap();
    assert!(
        !document
            .descendants()
            .any(|node| node.has_tag_name("script"))
    );
    let heading = words(&document).swap_remove(0);
    assert!(
        heading.contains("</text><script>alert(1)</script>\u{fffd}\u{fffd}&\"'"),
        "{heading}"
    );
}

#[test]
fn the_command_line_draws_what_it_is_asked_for() {
    let example = "public/examples/transformer.fuse";
    let draw = |arguments: &[&str]| {
        let output = run(&[&["svg", example], arguments].concat(), "");
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output).to_owned()
    };
    let text = std::fs::read_to_string(example).unwrap();
    let title = |svg: &str| {
        let document = Document::parse(svg).unwrap();
        let title = document
            .descendants()
            .find(|node| node.has_tag_name("title"));
        title.unwrap().text().unwrap().to_owned()
    };
    let name = text.lines().next().unwrap().trim_start_matches('#').trim();
    assert_eq!(title(&draw(&[])), format!("{name}: Graph"));
    assert_eq!(
        title(&draw(&["--unfused"])),
        format!("{name}: Graph, unfused")
    );
    let [small, large] =
        ["S=1024", "S=4096"].map(|set| draw(&["--picture", "roofline", "--set", set]));
    assert_ne!(small, large);
    let refused = run(&["svg", example, "--picture", "pie"], "");
    assert!(!refused.status.success());
    assert!(
        stderr(&refused).contains("by-kernel"),
        "{}",
        stderr(&refused)
    );
}
