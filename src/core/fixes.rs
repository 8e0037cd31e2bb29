//! Which of the proposed fixes hold in the whole text.

use crate::analysis::read;
use crate::model::diagnostic::{Code, Diagnostic, Severity, Span};
use crate::model::fix::{Fix, TextEdit};
use crate::model::program::Program;
use crate::notation::import::{Form, form_of};
use crate::notation::parse;
use crate::resolve::bytes_of_further_iterations;
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// Bytes of corrected texts, their blocks written out, that are read to try fixes: the time for one
/// look at the diagnostics of a text.
const MAX_TRIED_BYTES: usize = 200_000;

/// For each diagnostic of a text its fixes that hold: applied by itself, each makes the diagnostic
/// go away and no error come. Errors of statements that were not looked at before, because they
/// depend on a wrong one, do not count as new.
///
/// Each fix is tried on the text, in order, until `MAX_TRIED_BYTES` are read; the others are left
/// out. A text in another form than notation has none. `O(text)`.
///
/// ```
/// use fuseline_core::{fixes::sound_fixes, notation::parse, resolve::resolve};
/// let text = "input x : f16[8]\ny = rleu(x)";
/// let found = resolve(&parse(text).program).diagnostics;
/// let fixes = sound_fixes(text, &found).concat();
/// assert_eq!(fixes[0].label, "Write `relu`");
/// assert_eq!(fixes[0].applied(text).unwrap(), "input x : f16[8]\ny = relu(x)");
/// ```
pub fn sound_fixes(text: &str, diagnostics: &[Diagnostic]) -> Vec<Vec<Fix>> {
    let mut sound = vec![Vec::new(); diagnostics.len()];
    let has_fixes = diagnostics.iter().any(|found| !found.fixes.is_empty());
    if !has_fixes || form_of(text) != Form::Notation {
        return sound;
    }
    let before = Reading::of(text);
    let bytes = text.len() + bytes_of_further_iterations(&before.program);
    let mut left = MAX_TRIED_BYTES;
    for (diagnostic, sound) in diagnostics.iter().zip(&mut sound) {
        for fix in &diagnostic.fixes {
            let Some(rest) = left.checked_sub(bytes) else {
                continue;
            };
            left = rest;
            let fix = tidied(text, fix);
            if before.is_corrected(text, diagnostic, &fix) {
                sound.push(fix);
            }
        }
    }
    sound
}

/// The findings in a text.
struct Reading {
    program: Program,
    diagnostics: Vec<Diagnostic>,
    /// Statements that were not looked at, because they depend on a wrong one.
    unread: Vec<usize>,
}

impl Reading {
    fn of(text: &str) -> Self {
        let parsed = parse(text);
        let read = read(&parsed.program);
        let mut is_unread = vec![true; parsed.program.ops.len()];
        let reported = read.diagnostics.iter().filter_map(|found| found.op);
        for place in read.statement_of_op.into_iter().chain(reported) {
            if let Some(is_unread) = is_unread.get_mut(place) {
                *is_unread = false;
            }
        }
        let unread = (0..).zip(is_unread).filter(|&(_, is_unread)| is_unread);
        Self {
            unread: unread.map(|(place, _)| place).collect(),
            diagnostics: [parsed.diagnostics, read.diagnostics].concat(),
            program: parsed.program,
        }
    }

    /// Whether a fix of a diagnostic that is found here makes it go away, and no error come.
    fn is_corrected(&self, text: &str, corrected: &Diagnostic, fix: &Fix) -> bool {
        let Some(text) = fix.applied(text) else {
            return false;
        };
        let after = Self::of(&text);
        let mut known: HashMap<Kind<'_>, usize> = HashMap::new();
        for found in &self.diagnostics {
            *known.entry(kind(found)).or_default() += 1;
        }
        let wrong = kind(corrected);
        let left = (after.diagnostics.iter()).filter(|found| kind(found) == wrong);
        if known.get(&wrong).is_none_or(|&count| left.count() >= count) {
            return false;
        }
        let unread: HashSet<&str> = (self.unread.iter())
            .filter_map(|&place| Some(self.program.ops.get(place)?.output.text.as_str()))
            .collect();
        let mut errors = (after.diagnostics.iter()).filter(|f| f.severity == Severity::Error);
        errors.all(|found| {
            if let Some(count) = known.get_mut(&kind(found))
                && *count > 0
            {
                *count -= 1;
                return true;
            }
            let statement = found.op.and_then(|op| after.program.ops.get(op));
            statement.is_some_and(|op| unread.contains(op.output.text.as_str()))
        })
    }
}

/// The identity of a diagnostic, wherever it stands. Its message is in parts around the line
/// numbers, which a fix may change.
type Kind<'a> = (Code, SmallVec<[&'a str; 2]>);

fn kind(found: &Diagnostic) -> Kind<'_> {
    let is_digit = |c: char| c.is_ascii_digit();
    let parts = found.message.split(" line ");
    let parts = parts.map(|part| part.trim_start_matches(is_digit));
    (found.code, parts.collect())
}

/// The fix with what a removal would leave behind removed, too: a line without anything else than
/// the keyword `output`, or the colon before an annotation.
fn tidied(text: &str, fix: &Fix) -> Fix {
    let edits = fix.edits.iter().map(|edit| {
        let before = text.get(..edit.span.start).unwrap_or("");
        let after = text.get(edit.span.end..).unwrap_or("");
        if !edit.text.is_empty() || edit.span.start == edit.span.end {
            return edit.clone();
        }
        if let Some(call) = before.trim_end().strip_suffix(':') {
            return TextEdit::remove(Span::new(call.trim_end().len(), edit.span.end));
        }
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = after.find('\n').map_or(after.len(), |at| at + 1);
        let in_front = before.get(start..).unwrap_or("").trim();
        let behind = after.get(..end).unwrap_or("").trim();
        match (in_front, behind) {
            ("" | "output", "") => TextEdit::remove(Span::new(start, edit.span.end + end)),
            ("output", _) => TextEdit::remove(Span::new(start, edit.span.end)),
            _ => edit.clone(),
        }
    });
    Fix {
        label: fix.label.clone(),
        edits: edits.collect(),
    }
}
