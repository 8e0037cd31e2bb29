//! Reads the program to analyse, in any of its three forms.

use crate::cli::Failed;
use crate::cli::choices::one_of;
use crate::core::json::read_json;
use crate::core::model::program::Program;
use crate::core::notation::import::Form;
use crate::core::notation::{Parsed, import, parse};
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

pub(super) fn set_param(program: &mut Program, name: &str, value: i64) -> Result<(), Failed> {
    if let Some(param) = program.params.iter_mut().find(|p| p.name.text == name) {
        param.value = value;
        return Ok(());
    }
    let names: Vec<&str> = program
        .params
        .iter()
        .map(|p| p.name.text.as_str())
        .collect();
    eprintln!("error: no param is called `{name}`");
    eprintln!(
        "  = help: {}",
        if names.is_empty() {
            "the program declares no params".to_owned()
        } else {
            one_of(names.into_iter())
        }
    );
    Err(Failed)
}
