//! The light look of pictures in files, from the style sheets of the page.
//!
//! A file goes where no style sheet and no variable of CSS is: into slides, papers and drawing
//! programs. So each element gets what the rules for its classes say as plain attributes.

use super::element::SvgElement;
use csscolorparser::Color;
use simplecss::{AttributeOperator, Declaration, PseudoClass, Rule, StyleSheet};
use std::collections::HashMap;

/// The style sheets that say how pictures look, as the page has them.
#[derive(Clone, Copy, Debug)]
pub struct StyleSheets {
    /// The variables: colours, sizes of type. Their light values count.
    pub tokens: &'static str,
    pub charts: &'static str,
    pub graph: &'static str,
}

/// Colours, which may be variables and mixtures.
const COLORS: [(&str, &str); 2] = [("fill", "fill-opacity"), ("stroke", "stroke-opacity")];
/// Properties that are attributes of SVG by the same name and value.
const PLAIN: [&str; 10] = [
    "stroke-width",
    "stroke-dasharray",
    "stroke-linecap",
    "stroke-linejoin",
    "opacity",
    "font-size",
    "font-weight",
    "font-style",
    "text-anchor",
    "paint-order",
];
/// The prefix of CSS variables here: the parser knows CSS 2.1 and no `--name`.
const VARIABLE: &str = "var-";
/// Most variables that stand for each other, so that a circle ends.
const MOST_STEPS: usize = 8;

/// An element with plain attributes instead of classes, and all that is in it. Reads the sheets,
/// which takes about as long as a picture.
pub(super) fn styled(element: &SvgElement, sheets: StyleSheets) -> SvgElement {
    let StyleSheets {
        tokens,
        charts,
        graph,
    } = sheets;
    let texts = [tokens, charts, graph].map(with_plain_variables);
    let mut sheet = StyleSheet::new();
    for text in &texts {
        sheet.parse_more(text);
    }
    sheet
        .rules
        .retain(|rule| rule.declarations.iter().any(matters));
    let styles = Styles {
        rules: sheet.rules,
        variables: page_variables(&texts[0]),
    };
    let place = Place {
        element,
        parent: None,
    };
    styles.styled(&place, &Scope::new())
}

/// The rules of the page that matter to a picture.
struct Styles<'s> {
    rules: Vec<Rule<'s>>,
    /// The variables of the whole page, as they are written.
    variables: HashMap<&'s str, &'s str>,
}

/// Variables that rules have set on an element or around it, the innermost last.
type Scope<'s> = Vec<(&'s str, &'s str)>;

/// An element among those around it.
#[derive(Clone, Copy)]
struct Place<'a> {
    element: &'a SvgElement,
    parent: Option<&'a Place<'a>>,
}

impl simplecss::Element for Place<'_> {
    fn parent_element(&self) -> Option<Self> {
        self.parent.copied()
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        None
    }

    fn has_local_name(&self, name: &str) -> bool {
        self.element.name == name
    }

    fn attribute_matches(&self, name: &str, operator: AttributeOperator<'_>) -> bool {
        (self.element.attribute(name)).is_some_and(|value| operator.matches(value))
    }

    fn pseudo_class_matches(&self, _class: PseudoClass<'_>) -> bool {
        false
    }
}

impl<'s> Styles<'s> {
    fn styled(&self, place: &Place<'_>, around: &Scope<'s>) -> SvgElement {
        let element = place.element;
        let has_class = element.classes().any(|class| !class.is_empty());
        // Rules are sorted: later ones win.
        let matching = self
            .rules
            .iter()
            .filter(|rule| rule.selector.matches(place));
        let declared: Vec<&Declaration<'s>> =
            matching.flat_map(|rule| &rule.declarations).collect();
        let mut scope = around.clone();
        for declaration in &declared {
            if let Some(name) = declaration
                .name
                .strip_prefix(VARIABLE)
                .filter(|_| has_class)
            {
                scope.push((name, declaration.value));
            }
        }
        let mut attributes: Vec<(&'static str, String)> = Vec::new();
        let own = element
            .attributes
            .iter()
            .filter(|(name, _)| *name != "class");
        for (name, value) in own {
            self.set(&mut attributes, name, value, &scope);
        }
        for declaration in declared {
            let known = COLORS.iter().map(|(name, _)| name).chain(&PLAIN);
            if let Some(name) = known.copied().find(|name| *name == declaration.name) {
                self.set(&mut attributes, name, declaration.value, &scope);
            }
        }
        let children = element.children.iter().map(|child| {
            let place = Place {
                element: child,
                parent: Some(place),
            };
            self.styled(&place, &scope)
        });
        SvgElement {
            name: element.name,
            attributes,
            children: children.collect(),
            text: element.text.clone(),
        }
    }

    /// Sets an attribute in place of an earlier one.
    fn set(
        &self,
        attributes: &mut Vec<(&'static str, String)>,
        name: &'static str,
        value: &str,
        scope: &Scope<'_>,
    ) {
        let mut put = |name, value: Option<String>| {
            attributes.retain(|(known, _)| *known != name);
            attributes.extend(value.map(|value| (name, value)));
        };
        let opacity = COLORS
            .iter()
            .find(|(color, _)| *color == name)
            .map(|(_, opacity)| *opacity);
        let Some(opacity) = opacity else {
            put(name, Some(value.to_owned()));
            return;
        };
        match self.color(value, scope, MOST_STEPS) {
            Some(color) if color.a > 0.0 => {
                let [r, g, b, _] = color.to_rgba8();
                put(name, Some(format!("#{r:02x}{g:02x}{b:02x}")));
                put(opacity, (color.a < 1.0).then(|| format!("{:.2}", color.a)));
            }
            Some(_) => put(name, Some("none".to_owned())),
            // `none`, and the pattern of a hatched bar.
            None => put(name, Some(value.to_owned())),
        }
    }

    /// The light colour that a value stands for; `None` for one that is no colour.
    fn color(&self, value: &str, scope: &Scope<'_>, steps: usize) -> Option<Color> {
        let steps = steps.checked_sub(1)?;
        let value = value.trim();
        if value == "transparent" {
            return Some(Color::new(0.0, 0.0, 0.0, 0.0));
        }
        if let Some(name) = value.strip_prefix(VARIABLE) {
            let own = scope.iter().rev().find(|(known, _)| *known == name);
            let value = own
                .map(|(_, value)| value)
                .or_else(|| self.variables.get(name))?;
            return self.color(value, scope, steps);
        }
        if let Some(colors) = arguments(value, "light-dark") {
            return self.color(colors.first()?, scope, steps);
        }
        if let Some(mixed) = arguments(value, "color-mix") {
            let [_, first, second] = mixed[..] else {
                return None;
            };
            let (first, share) = first.rsplit_once(' ')?;
            let share: f32 = share.strip_suffix('%')?.parse().ok()?;
            let first = self.color(first, scope, steps)?;
            let second = self.color(second, scope, steps)?;
            let second_share = 1.0 - share / 100.0;
            return Some(if second.a == 0.0 {
                Color::new(first.r, first.g, first.b, first.a * share / 100.0)
            } else {
                // Also where the sheet mixes in OKLCh: its second colour is a grey, whose hue means
                // nothing.
                first.interpolate_oklab(&second, second_share)
            });
        }
        csscolorparser::parse(value).ok()
    }
}

fn matters(declaration: &Declaration<'_>) -> bool {
    let name = declaration.name;
    name.starts_with(VARIABLE)
        || PLAIN.contains(&name)
        || COLORS.iter().any(|(color, _)| *color == name)
}

/// A sheet with `var-x` for `var(--x)` and for `--x`.
fn with_plain_variables(sheet: &str) -> String {
    let mut parts = sheet.split("var(--");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(')').unwrap_or((part, ""));
        plain.push_str(VARIABLE);
        plain.push_str(name);
        plain.push_str(rest);
    }
    plain.replace("--", VARIABLE)
}

/// The variables of the first rule, whose nested functions are more than the parser reads.
fn page_variables(tokens: &str) -> HashMap<&str, &str> {
    let root = tokens.split_once(":root {").map_or("", |(_, rest)| rest);
    let root = root.split_once('}').map_or(root, |(root, _)| root);
    let lines = root
        .lines()
        .filter_map(|line| line.trim().strip_prefix(VARIABLE));
    lines
        .filter_map(|line| line.strip_suffix(';')?.split_once(": "))
        .collect()
}

/// The arguments of a call of this function of CSS.
fn arguments<'a>(value: &'a str, function: &str) -> Option<Vec<&'a str>> {
    let inner = value
        .strip_prefix(function)?
        .strip_prefix('(')?
        .strip_suffix(')')?;
    let mut depth = 0_usize;
    let arguments = inner.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    Some(arguments.map(str::trim).collect())
}
