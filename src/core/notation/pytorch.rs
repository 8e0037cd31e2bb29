//! Calls with PyTorch's names.

use crate::model::functions::{AttributeKind, AttributeName, Function, pytorch};
use crate::model::program::{Attribute, AttributeValue, ExprKind, Name};
use crate::notation::lexer::{Lexeme, Token};

/// Gives a call the notation's names where PyTorch's names mean the same.
pub(super) fn in_notation(callee: &mut Name, attributes: &mut [Attribute]) {
    let (_, has_module) = pytorch::without_module(&callee.text);
    let own = Function::called(&callee.text).filter(|_| !has_module);
    let own = own.map(|(function, _)| function);
    // `torch.relu_` is `relu_`, and what means another function there has no form in place.
    let plain = callee.text.strip_suffix('_').map(str::to_owned);
    let alias_of = |name: &str| pytorch::alias(name).map(|alias| (alias.function, alias.needs));
    let in_place = plain.as_deref().and_then(alias_of);
    let in_place = in_place.filter(|(function, _)| function.has_in_place_form());
    let alias = || alias_of(&callee.text).or(in_place);
    let Some((function, needs)) = own.map(|own| (own, &[][..])).or_else(alias) else {
        return;
    };
    let own_name = |attribute: &Attribute| pytorch::attribute(function, &attribute.name.text);
    let is_given = |need: &AttributeName| {
        let given = |a: &Attribute| a.is(*need) || own_name(a) == Some(*need);
        attributes.iter().any(given)
    };
    if !needs.iter().all(is_given) {
        return;
    }
    if own.is_none() {
        callee.text = match in_place {
            Some(_) => function.in_place_name(),
            None => function.name().to_owned(),
        };
    }
    for attribute in attributes {
        if let Some(name) = own_name(attribute) {
            name.name().clone_into(&mut attribute.name.text);
        }
        let known = AttributeName::from_name(&attribute.name.text);
        if known.is_some_and(|known| known.kind() == AttributeKind::Flag)
            && let AttributeValue::Size(value) = &mut attribute.value
            && let ExprKind::Param(word) = &mut value.kind
            && matches!(word.as_str(), "True" | "False")
        {
            attribute.value = AttributeValue::Word(word.to_lowercase());
        }
    }
}

/// What to write instead of a call that cannot be parsed, if its name is one of PyTorch's.
pub(super) fn answer_to(text: &str, tokens: &[Token]) -> Option<&'static str> {
    let place = tokens.iter().position(|t| t.kind == Lexeme::Equals)? + 1;
    let callee = tokens.get(place).filter(|t| t.kind == Lexeme::Name)?;
    let open = tokens.get(place + 1)?;
    let is_call = open.kind == Lexeme::OpenParen;
    let answer = pytorch::answer(callee.span.slice(text)).filter(|_| is_call)?;
    Some(answer.hint)
}
