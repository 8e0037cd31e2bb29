//! An embedded page: what its address names, and what it makes of messages.

use fuseline::app::embed::{
    Change, Content, MessageError, Request, State, View, Views, Wish, message,
};
use fuseline_core::notation::parse;
use fuseline_core::{Options, Policy, analyze_program};
use serde_json::{Value, json};

const TEXT: &str = "param S = 1024 in 128..8192\ninput x : f16[S, S]\ny = relu(x)\n";

fn wish(message: Value) -> Result<Wish, MessageError> {
    Request::read(Ok(message)).unwrap().wish
}

fn refused(message: Value) -> String {
    wish(message).unwrap_err().to_string()
}

/// What a message of type `set` changes, or why nothing.
fn change(fields: &Value) -> Result<Change, MessageError> {
    let mut message = json!({ "fuseline": 1, "type": "set" });
    message
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    match wish(message)? {
        Wish::Set(settings) => settings.change(TEXT),
        Wish::Get => unreachable!("it is of type set"),
    }
}

#[test]
fn an_address_names_views_in_any_order_and_is_told_what_there_is() {
    assert_eq!(
        Views::named(" roofline,graph,graph ").shown,
        [View::Graph, View::Roofline]
    );
    assert_eq!(
        Views::named("headline,kernels").shown,
        [View::Headline, View::Kernels]
    );
    for empty in ["", ",", "pie"] {
        assert_eq!(Views::named(empty).shown, [View::Graph, View::Roofline]);
    }
    assert_eq!(Views::named("").problem, None);
    let problem = Views::named("graph,pie").problem.unwrap();
    assert!(
        problem.contains("`pie`") && problem.contains("headline, sliders, graph"),
        "{problem}"
    );
}

#[test]
fn an_answer_carries_the_id_of_its_message_and_the_version() {
    let error = Content::Error {
        message: "no".to_owned(),
    };
    for id in [json!("a"), json!(7)] {
        let request = Request::read(Ok(json!({ "fuseline": 1, "type": "get", "id": id }))).unwrap();
        assert_eq!(request.wish, Ok(Wish::Get));
        let answer = json!({ "fuseline": 1, "id": id, "type": "error", "message": "no" });
        assert_eq!(request.answer(&error), answer);
    }
    let resize = json!({ "fuseline": 1, "type": "resize", "height_px": 640.0 });
    assert_eq!(message(None, &Content::Resize { height_px: 640.0 }), resize);
}

#[test]
fn a_bad_message_is_told_what_is_wrong() {
    for message in [json!("hello"), json!(null), json!([1])] {
        assert!(refused(message).contains("is an object"));
    }
    assert!(refused(json!({})).contains("`fuseline: 1`"));
    assert!(refused(json!({ "fuseline": 2, "type": "get" })).contains("`fuseline: 1`"));
    assert!(refused(json!({ "fuseline": 1 })).contains("\"get\" or \"set\""));
    assert!(
        refused(json!({ "fuseline": 1, "type": "eval", "code": "alert(1)" }))
            .contains("\"get\" or \"set\"")
    );
    assert!(refused(json!({ "fuseline": 1, "type": "get", "what": 1 })).contains("`what`"));
    assert!(refused(json!({ "fuseline": 1, "type": "set", "sizes": {} })).contains("`sizes`"));
    let wrong = refused(json!({ "fuseline": 1, "type": "set", "params": { "S": "large" } }));
    assert!(
        wrong.contains("params.S") && wrong.contains("i64"),
        "{wrong}"
    );
    let unreadable = Request::read(Err("a function is no value".to_owned())).unwrap();
    assert!(
        unreadable
            .wish
            .unwrap_err()
            .to_string()
            .contains("a function")
    );
}

#[test]
fn an_error_is_never_answered_so_that_two_pages_do_not_for_ever() {
    assert_eq!(Request::read(Ok(json!({ "type": "error" }))), None);
    assert_eq!(
        Request::read(Ok(
            json!({ "fuseline": 1, "type": "error", "message": "no" })
        )),
        None
    );
}

#[test]
fn settings_are_made_together_or_not_at_all() {
    let all = change(
        &json!({ "params": { "S": 2048 }, "device": "h200", "policy": "optimal", "fused": false }),
    )
    .unwrap();
    assert_eq!(all.text.unwrap(), TEXT.replace("1024", "2048"));
    assert_eq!(all.device.unwrap().id, "h200");
    assert_eq!(
        (all.policy, all.is_fused),
        (Some(Policy::Optimal), Some(false))
    );
    let program = "param N = 8\ninput x : f16[N]\ny = relu(x)\n";
    let both = change(&json!({ "program": program, "params": { "N": 16 } })).unwrap();
    assert_eq!(both.text.unwrap(), program.replace("= 8", "= 16"));
    assert_eq!(change(&json!({})).unwrap().text, None);
    for (fields, words) in [
        (json!({ "params": { "S": 2048, "T": 1 } }), ["`T`", "S."]),
        (json!({ "device": "abacus" }), ["`abacus`", "h200"]),
        (json!({ "policy": "best" }), ["`best`", "optimal"]),
        (
            json!({ "program": "x".repeat(9_000_000) }),
            ["too large", "8 MB"],
        ),
    ] {
        let problem = change(&fields).unwrap_err().to_string();
        assert!(words.iter().all(|word| problem.contains(word)), "{problem}");
    }
}

#[test]
fn a_change_says_what_is_shown_in_figures() {
    let options = Options {
        policy: Policy::Rules,
        ..Options::default()
    };
    let parsed = parse(TEXT);
    let analysis = analyze_program(&parsed.program, &options).analysis.unwrap();
    let state = State::new(TEXT, &parsed, &[], &analysis, [true, false]);
    let message = message(Some(json!(1)), &Content::Change(Box::new(state)));
    assert_eq!(message["type"], "change");
    assert_eq!(message["params"], json!({ "S": 1024 }));
    assert_eq!(
        (&message["policy"], &message["fused"]),
        (&json!("rules"), &json!(true))
    );
    assert_eq!(message["fused_bytes"], 2 * 1024 * 1024 * 2);
    assert_eq!(
        (&message["fused_kernels"], &message["errors"]),
        (&json!(1), &json!([]))
    );
}

#[test]
fn views_are_named_in_the_address() {
    use fuseline::app::embed::{View, Views};
    let views = Views::named("graph,roofline");
    assert_eq!(views.shown, [View::Graph, View::Roofline]);
    assert_eq!(views.problem, None);
}
