//! What is guessed from the event before is read as if nothing were guessed: the same event behind two
//! of its like, and behind two that have nothing in common with it.

use super::*;
use proptest::prelude::*;

/// Events as writers lay them out.
const EVENTS: [&str; 7] = [
    r#"{"ph": "X", "cat": "Op", "name": "MatMul", "pid": 7, "tid": 1, "ts": 1234.25, "dur": 30, "args": {"name": "a/b/MatMul", "op": "MatMul", "input0": "x"}}"#,
    r#"{"ph":"X","cat":"kernel","name":"a kernel whose name is so long that no block of bytes holds it all, as many are","pid":"0","tid":"stream 7","ts":12345,"dur":0.125,"args":{"correlation":77,"stream":7,"block":[1,2,3],"a":{"b":{}},"name":"n"}}"#,
    "{\n    \"ph\": \"X\",\n    \"name\": \"step\",\n    \"ts\": 5,\n    \"dur\": 6,\n    \"args\": {\n        \"step_num\": \"12\",\n        \"long name of an argument that no guess can hold\": null\n    },\n    \"tid\": 3\n}",
    r#"{"name":"q\"\\\\\"uote","ph":"X","ts":1e3,"dur":"2","pid":1,"args":{"hlo_op":"fusion.7","x":"\\\\","name":"a\u00e9"},"cat":""}"#,
    r#"{"args":{},"ph":"X","ts":10,"dur":1,"s":"t","id":"0x1","op_name":"o","op_type":7,"ts":11}"#,
    r#"{ "ph" : "X" , "ts" : 1 , "dur" : 1 , "args" : { "a" : 1 , "a" : NaN , "b" : true , } , }"#,
    r#"{"ph":"X","ts":7,"dur":12345678,"name":"0123456789012345678901234567890123456789012345678901234567890123","args":[1,"\\"]}"#,
];

fn told(store: &Store) -> (Vec<String>, Vec<String>) {
    let columns =
        ["name", "category", "ts_ps", "dur_ps", "op_name", "op_type", "correlation_id", "args_json"];
    (lines(store, "slice", &columns), notes(store))
}

/// Events before that have nothing in common with any other.
const STRANGE: &str = r#"{  "ts"  :  0,  "ph"  :  "i"  }"#;

/// An event to be guessed from, and what two of it give.
struct Like {
    text: &'static str,
    alone: [(Options, Vec<String>, bool); 2],
}

impl Like {
    fn new(text: &'static str) -> Like {
        let alone = [Needs::default(), little()].map(|needs| {
            let options = Options { needs, ..options(1, 1 << 20) };
            let store = read_with(format!("[{text},{text}]"), &options).unwrap();
            let (rows, notes) = told(&store);
            (options, rows, notes.is_empty())
        });
        Like { text, alone }
    }

    /// Reads `event` behind two that are like it, and behind two that are not.
    fn assert_same(&self, event: &[u8], tail: &str) {
        let shown = String::from_utf8_lossy(event);
        let file = |before: &str| {
            let mut file = format!("[{before},{before},").into_bytes();
            file.extend_from_slice(event);
            file.extend_from_slice(tail.as_bytes());
            file
        };
        for (options, rows, clean) in &self.alone {
            let cold = read_with(file(STRANGE), options).unwrap();
            let warm = read_with(file(self.text), options).unwrap();
            let ((mut expected, cold_notes), (mut found, warm_notes)) = (told(&cold), told(&warm));
            expected.extend_from_slice(rows);
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{shown}");
            let seen = |store: &Store| (counts(store).0, counts(store).1, counts(store).2);
            assert_eq!(seen(&warm), seen(&cold), "{shown}");
            if *clean {
                assert_eq!(warm_notes, cold_notes, "{shown}");
            }
        }
    }
}

fn little() -> Needs {
    Needs { args: false, nesting: false, tables: false, ops: false }
}

#[test]
fn every_end_of_an_event() {
    for event in EVENTS {
        let like = Like::new(event);
        for end in 1..=event.len() {
            like.assert_same(&event.as_bytes()[..end], "");
        }
    }
}

#[test]
fn every_byte_wrong() {
    let blanks = " ".repeat(100) + "]";
    for event in EVENTS {
        let like = Like::new(event);
        for at in (1..event.len()).step_by(step(3)) {
            let mut bytes = event.as_bytes().to_vec();
            for wrong in [b"\0\"\\,"[at % 4], b":{} "[at / 4 % 4], b"x7-\xff"[at % 4]] {
                bytes[at] = wrong;
                like.assert_same(&bytes, &blanks);
            }
            bytes.remove(at);
            like.assert_same(&bytes, &blanks);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn lengths(name in "[a-z\\\\\"é ]{0,90}", digits in "[1-9][0-9]{0,17}", part in "[0-9]{0,7}", long in "[a-z]{0,200}") {
        let mut quoted = Vec::new();
        crate::json::push_quoted(&name, &mut quoted);
        let name = String::from_utf8(quoted).unwrap();
        let part = if part.is_empty() { part } else { format!(".{part}") };
        let event = format!(
            r#"{{"ph": "X", "name": {name}, "ts": 1, "dur": {digits}{part}, "args": {{"name": {name}, "other": "{long}"}}}}"#
        );
        let like = r#"{"ph": "X", "name": "usual", "ts": 1, "dur": 3, "args": {"name": "a", "other": ""}}"#;
        Like::new(like).assert_same(event.as_bytes(), &(",{}".to_owned() + &" ".repeat(100) + "]"));
    }
}
