//! Markup: names are escaped, and every value can be updated in place.

use fuseline::markup::{ABSENT, Gap, Markup, Part};

const ROW: &str =
    r#"<tr class="{}"><td>{}</td><td title="{}" hidden="{}">at {} of {}<br></td></tr>"#;

fn row(values: [&str; 6]) -> Markup {
    let mut markup = Markup::new();
    markup.fill(ROW, &values);
    markup
}

#[test]
fn values_are_escaped_in_texts_and_attributes() {
    let hostile = r#""><img onerror='x' src=y>&"#;
    let html = row([hostile, hostile, "t", "", "1", "2"]).html().text;
    let escaped = "&quot;&gt;&lt;img onerror=&#39;x&#39; src=y&gt;&amp;";
    assert_eq!(
        html,
        format!(
            r#"<tr class="{escaped}"><td>{escaped}</td><td title="t" hidden="">at 1 of 2<br></td></tr>"#
        )
    );
}

#[test]
fn each_gap_knows_its_element_and_its_part() {
    let html = row(["a", "b", "c", "d", "e", "f"]).html();
    assert_eq!(html.element_count, 4);
    let gap = |element, part| Gap { element, part };
    assert_eq!(
        html.gaps,
        [
            gap(0, Part::Attribute("class")),
            gap(1, Part::Content),
            gap(2, Part::Attribute("title")),
            gap(2, Part::Attribute("hidden")),
            gap(2, Part::Among),
            gap(2, Part::Among),
        ]
    );
}

#[test]
fn an_absent_attribute_is_left_out_and_keeps_its_place() {
    let html = row(["a", "b", ABSENT, ABSENT, "e", "f"]).html();
    assert_eq!(
        html.text,
        r#"<tr class="a"><td>b</td><td  >at e of f<br></td></tr>"#
    );
    assert_eq!(html.gaps[3].part, Part::Attribute("hidden"));
}

#[test]
fn content_may_come_from_a_template_of_its_own() {
    let mut markup = Markup::new();
    markup.raw("<p>");
    markup.text("a < b");
    markup.raw("</p><p>");
    markup.text("c");
    markup.raw("<i></i></p>");
    let html = markup.html();
    assert_eq!(html.text, "<p>a &lt; b</p><p>c<i></i></p>");
    assert_eq!(html.gaps[0].part, Part::Content);
    assert_eq!(html.gaps[1].part, Part::Among);
}

#[test]
fn an_angle_in_quotes_ends_no_tag() {
    let mut markup = Markup::new();
    markup.fill(r#"<p title="a > b" class="{}">{}</p>"#, &["x", "y"]);
    let parts: Vec<Part> = markup.html().gaps.iter().map(|gap| gap.part).collect();
    assert_eq!(parts, [Part::Attribute("class"), Part::Content]);
}

#[test]
fn only_the_same_templates_can_be_patched() {
    let a = row(["1", "2", "3", "4", "5", "6"]);
    let b = row(["6", "5", "4", "3", "2", "1"]);
    assert!(a.has_same_templates(&b));
    let mut longer = a.clone();
    longer.raw("<hr>");
    assert!(!a.has_same_templates(&longer));
}
