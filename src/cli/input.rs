//! Reads the program to analyse, in any of its three forms.

use crate::cli::Failed;
use crate::cli::choices::one_of;
use crate::cli::output::tell;
use crate::core::json::read_json;
use crate::core::notation::import::Form;
use crate::core::notation::{Parsed, import, out_of_range, parse};
use std::io::Read;

pub(super) fn read_all(mut source: impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    // An invalid byte becomes a visible character, so that the parser can point at it.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn read_program(text: &str) -> Result<Parsed, String> {
    Ok(match import::form_of(text) {
        Form::Notation => parse(text),
        Form::OpLines => import::read_op_lines(text),
        Form::Json => import::program_of_op_list(&read_json(text)?),
    })
}

/// Gives a param another value. Diagnostics about the value in the text no longer hold; one about the new value may come.
pub(super) fn set_param(parsed: &mut Parsed, name: &str, value: i64) -> Result<(), Failed> {
    let params = &mut parsed.program.params;
    if let Some(param) = params.iter_mut().find(|p| p.name.text == name) {
        param.value = value;
        let old = Some(param.value_span);
        parsed.diagnostics.retain(|d| d.span != old);
        parsed.diagnostics.extend(out_of_range(param));
        return Ok(());
    }
    let help = if params.is_empty() {
        "the program declares no params".to_owned()
    } else {
        one_of(params.iter().map(|p| p.name.text.as_str()))
    };
    tell(&format!(
        "error: no param is called `{name}`\n  = help: {help}\n"
    ));
    Err(Failed)
}
