use crate::input::{Codec, Input};
use crate::options::{Needs, Options};
use crate::store::{Store, Value};
use std::collections::BTreeMap;

mod cuts;
mod events;
mod habits;

type Rows = Vec<BTreeMap<String, Value>>;

/// Of how many cuts or bytes one is tried: `few` by the first tier of the tests, which asks for few cases of each
/// property, and each of them by the second.
fn step(few: usize) -> usize {
    if proptest::test_runner::Config::default().cases < 1000 { few } else { 1 }
}

fn options(threads: usize, piece_bytes: usize) -> Options {
    let extra = [("piece_bytes".to_owned(), piece_bytes.to_string())].into();
    Options { threads, extra, ..Options::default() }
}

fn read_with(text: impl AsRef<[u8]>, options: &Options) -> crate::error::Result<Store> {
    crate::decode("chrome_trace", &Input::bytes(text.as_ref().to_vec(), Codec::Plain), options)
}

fn read(text: impl AsRef<[u8]>) -> Store {
    read_with(text, &options(1, 1 << 20)).unwrap()
}

fn rows(store: &Store, table: &str) -> Rows {
    if store.tables().contains_key(table) { store.rows(table).unwrap() } else { Rows::new() }
}

fn text(row: &BTreeMap<String, Value>, column: &str) -> String {
    match &row[column] {
        Value::Text(text) => text.clone(),
        Value::I64(number) => number.to_string(),
        Value::F64(number) => number.to_string(),
        Value::Null => "-".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Columns of a table, a line a row.
fn lines(store: &Store, table: &str, columns: &[&str]) -> Vec<String> {
    let line =
        |row: &BTreeMap<String, Value>| columns.iter().map(|c| text(row, c)).collect::<Vec<_>>().join(" | ");
    rows(store, table).iter().map(line).collect()
}

fn notes(store: &Store) -> Vec<String> {
    store.facts.notes.iter().map(|n| format!("{} {} {}", n.slug, n.effect.as_str(), n.events)).collect()
}

fn counts(store: &Store) -> (u64, u64, u64, u64) {
    let facts = &store.facts;
    assert_eq!(facts.events_seen, facts.events_stored + facts.events_lost);
    (facts.events_seen, facts.events_stored, facts.events_lost, facts.events_repaired)
}

const SLICE: [&str; 5] = ["track_id", "name", "ts_ps", "dur_ps", "args_json"];

#[test]
fn forms() {
    let event = r#"{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":2}"#;
    let pretty = "{\n  \"ph\" : \"X\" ,\n  \"name\" : \"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2 }";
    for (text, end) in [
        (format!("[{event},{event}]"), None),
        (format!("\u{feff} [ {event} , {event} ] \n"), None),
        (format!("[{event},{pretty},]"), None),
        (format!("[\n{event},\n{event},\n"), Some("missing-end info 0")),
        (format!("[{event}\n{event}]"), Some("missing-comma info 0")),
        (format!("{{\"traceEvents\":[{event},{event}]}}"), None),
        (format!("{{\"a\":[{{}}],\"traceEvents\":[{event},{event}],\"displayTimeUnit\":\"ns\"}}"), None),
        (format!("{{\"x\":{{\"traceEvents\":[1]}},\"traceEvents\" : [{pretty},{event}], \"z\":1,}}"), None),
        (format!("{{\"traceEvents\":[{event},{event}]"), Some("missing-end missing 0")),
        (format!("{{\"traceEvents\":[{event}],\"traceEvents\":[{event}]}}"), None),
    ] {
        for piece in [1, 7, 1 << 20] {
            let store = read_with(&text, &options(1, piece)).unwrap();
            assert_eq!(counts(&store), (2, 2, 0, 0), "{text}");
            assert_eq!(lines(&store, "slice", &SLICE), ["0 | a | 1000000 | 2000000 | -"; 2]);
            assert_eq!(notes(&store), end.map(str::to_owned).into_iter().collect::<Vec<_>>(), "{text}");
        }
    }
}

#[test]
fn no_trace() {
    for text in ["", "  \n", "nonsense", "{}", "{\"a\":1}", "\u{feff}", "1", "\"traceEvents\""] {
        let error = read_with(text, &options(1, 3)).err().unwrap();
        assert_eq!(error.kind, crate::error::Kind::NotThisFormat, "{text:?}: {error}");
    }
    for text in ["{\"a\":", "{", "{\"a\":1,\"traceEv", "{\"traceEvents\":"] {
        assert_eq!(
            read_with(text, &options(1, 3)).err().unwrap().kind,
            crate::error::Kind::Damaged,
            "{text:?}"
        );
    }
    for text in ["[]", "[", "{\"traceEvents\":[]}", "{\"traceEvents\":["] {
        assert_eq!(counts(&read(text)), (0, 0, 0, 0), "{text:?}");
    }
}

#[test]
fn head_and_tail_are_kept() {
    let big = "x".repeat(3 << 20);
    let text = format!(
        "{{\"schemaVersion\": 1, \"big\": \"{big}\", \"deviceProperties\":[ {{ \"id\" : 0 }} ],\"traceEvents\":[],\"after\":[{{\"q\":\"{big}\"}}],\"traceName\":\"a\\nb\"}}"
    );
    for piece in [4099, 1 << 20, 1 << 26] {
        let store = read_with(&text, &options(2, piece)).unwrap();
        let meta = &store.facts.meta;
        assert_eq!(meta["schemaVersion"], "1");
        assert_eq!(meta["deviceProperties"], "[{\"id\":0}]");
        assert_eq!(meta["traceName"], "a\nb");
        assert!(!meta.contains_key("big") && !meta.contains_key("after"));
        assert_eq!(notes(&store), ["value-too-long info 0"]);
    }
    let damaged = read("{\"a\": x, \"traceEvents\": [{\"ph\":\"i\",\"ts\":1}]}");
    assert_eq!(counts(&damaged), (1, 1, 0, 0));
    assert_eq!(notes(&damaged), ["damaged-head missing 0"]);
}

#[test]
fn arguments() {
    for (event, args, repairs) in [
        (r#""args":{}"#, "-", vec![]),
        (r#""args":{ "a" : [ 1 , { "b" : "x y" } ] }"#, r#"{"a":[1,{"b":"x y"}]}"#, vec![]),
        (
            r#""args":{"a":NaN,"b":-Infinity}"#,
            r#"{"a":"NaN","b":"-Infinity"}"#,
            vec!["not-a-number repaired 1"],
        ),
        (r#""args":{"a":1,"b":2,"a":3}"#, r#"{"b":2,"a":3}"#, vec!["duplicate-key repaired 1"]),
        (r#""args":{"a":1,"\u0061":2}"#, r#"{"\u0061":2}"#, vec!["duplicate-key repaired 1"]),
        (r#""args":{"\u0061":1,"b":2}"#, r#"{"\u0061":1,"b":2}"#, vec![]),
        (r#""args":{"a":1},"args":{"b":2}"#, r#"{"b":2}"#, vec!["duplicate-key repaired 1"]),
        (r#""args":{"a":"\ud800"}"#, "{\"a\":\"\u{fffd}\"}", vec!["lone-surrogate repaired 1"]),
        (r#""args":{"a":"\ud83d\ude00\n"}"#, "{\"a\":\"\u{1f600}\\n\"}", vec![]),
        (r#""args":{"a":[1,],}"#, r#"{"a":[1]}"#, vec!["trailing-comma repaired 1"]),
        (r#""args":[1,2]"#, r#"{"$args":[1,2]}"#, vec![]),
        (r#""args":null"#, "-", vec![]),
        (r#""args":"x""#, r#"{"$args":"x"}"#, vec![]),
        (
            r#""id":"0x1","s":"g","args":{"a":1},"cname":"q\"\\""#,
            r#"{"a":1,"$s":"g","$cname":"q\"\\","$id":"0x1"}"#,
            vec![],
        ),
        (r#""tts":5,"stack":["a", "b"]"#, r#"{"$tts":5,"$stack":["a","b"]}"#, vec![]),
    ] {
        let store = read(format!("[{{\"ph\":\"X\",\"ts\":0,\"dur\":0,{event}}}]"));
        assert_eq!(lines(&store, "slice", &["args_json"]), [args], "{event}");
        assert_eq!(notes(&store), repairs, "{event}");
        assert_eq!(counts(&store), (1, 1, 0, repairs.len() as u64));
        let needs = Needs { args: false, ..Needs::default() };
        let bare = read_with(
            format!("[{{\"ph\":\"X\",\"ts\":0,\"dur\":0,{event}}}]"),
            &Options { needs, ..options(1, 64) },
        )
        .unwrap();
        assert_eq!(lines(&bare, "slice", &["args_json"]), ["-"], "{event}");
        assert_eq!(notes(&bare), repairs);
    }
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let store = read(format!("[{{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"args\":{{\"a\":{deep}}}}}]"));
    assert_eq!(lines(&store, "slice", &["args_json"]), [r#"{"$dropped":"nested deeper than 256 levels"}"#]);
}

#[test]
fn keys_that_come_twice_among_any_number() {
    for count in [2, 15, 16, 17, 18, 100] {
        let args: Vec<String> = (0..count).map(|i| format!("\"k{i}\":{i}")).collect();
        for twice in [0, count / 2, count - 1] {
            let again = format!("\"k{twice}\":\"again\"");
            let store = read(format!(
                "[{{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"args\":{{{},{again}}}}}]",
                args.join(",")
            ));
            let mut kept = args.clone();
            kept.remove(twice);
            kept.push(again);
            let expected = format!("{{{}}}", kept.join(","));
            assert_eq!(lines(&store, "slice", &["args_json"]), [expected]);
            assert_eq!(notes(&store), ["duplicate-key repaired 1"]);
        }
        let store = read(format!("[{{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"args\":{{{}}}}}]", args.join(",")));
        assert_eq!(notes(&store), [""; 0]);
    }
}

#[test]
fn invalid_utf8_is_repaired_and_counted() {
    let store = read(b"[{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"name\":\"a\xff\",\"args\":{\"b\":\"\xc3\x28\"}},{\"ph\":\"X\",\"ts\":1,\"dur\":0,\"name\":\"\xc3\xa9\"}]");
    assert_eq!(
        lines(&store, "slice", &["name", "args_json"]),
        ["a\u{fffd} | {\"b\":\"\u{fffd}(\"}", "\u{e9} | -"]
    );
    assert_eq!(notes(&store), ["invalid-utf8 repaired 1"]);
}

#[test]
fn ops_by_each_writer() {
    let columns = ["name", "category", "op_name", "op_type", "correlation_id"];
    let store = read(
        r#"[{"ph":"X","ts":1,"dur":1,"cat":"Op","name":"MatMul","args":{"name":"dense/MatMul","op":"MatMul"}},
            {"ph":"X","ts":2,"dur":1,"cat":"cpu_op","name":"aten::add","args":{"External id":5}},
            {"ph":"X","ts":3,"dur":1,"name":"fusion.7","args":{"hlo_op":"fusion.7"}},
            {"ph":"X","ts":4,"dur":1,"cat":"kernel","name":"k","args":{"correlation":77}},
            {"ph":"X","ts":5,"dur":1,"cat":"Op","name":"x","args":{"name":"scope/x"}},
            {"ph":"X","ts":6,"dur":1,"tid":2,"name":"a/b/MatMul:_FusedMatMul","args":{"group_id":"0"}},
            {"ph":"X","ts":7,"dur":1,"tid":2,"name":"MatMul","args":{"group_id":"0","long_name":"a/MatMul:MatMul"}},
            {"ph":"X","ts":8,"dur":1,"tid":2,"name":"GatherV2:GatherV2"},
            {"ph":"X","ts":9,"dur":1,"tid":2,"name":"Iterator::Model","args":{"group_id":"0"}},
            {"ph":"B","ts":7,"cat":"kernel","name":"b","args":{"correlation":"78"}},{"ph":"E","ts":8}]"#,
    );
    assert_eq!(
        lines(&store, "slice", &columns),
        [
            "MatMul | Op | dense/MatMul | MatMul | -",
            "aten::add | cpu_op | - | aten::add | -",
            "fusion.7 | - | fusion.7 | - | -",
            "x | Op | scope/x | - | -",
            "b | kernel | - | b | 78",
            // Complete kernels leave the row of the host for one of their own.
            "k | kernel | - | k | 77",
            "a/b/MatMul:_FusedMatMul | - | a/b/MatMul | _FusedMatMul | -",
            "MatMul | - | a/MatMul | MatMul | -",
            "GatherV2:GatherV2 | - | - | - | -",
            "Iterator::Model | - | - | - | -",
        ]
    );
}

#[test]
fn what_our_exports_tell() {
    let store = read(
        r#"[{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"s7","kind":"lane","records":"dispatch"}},
        {"ph":"M","name":"thread_name","pid":1,"tid":3,"args":{"name":"other","kind":"whale"}},
        {"ph":"X","pid":1,"tid":2,"ts":1,"dur":1,"name":"a","op_name":"w/a","op_type":"MatMul"},
        {"ph":"b","pid":1,"tid":2,"ts":1,"id":1,"name":"a","op_type":"Send"},
        {"ph":"e","pid":1,"tid":2,"ts":2,"id":1,"name":"a"},
        {"ph":"X","pid":1,"tid":3,"ts":1,"dur":1,"name":"a","op_name":7}]"#,
    );
    assert_eq!(
        lines(&store, "track", &["name", "kind", "records"]),
        ["s7 | lane | dispatch", "other | unknown | unknown", "1 | async | annotation"]
    );
    assert_eq!(
        lines(&store, "slice", &["op_name", "op_type", "args_json"]),
        ["w/a | MatMul | -", "- | - | {\"$op_name\":7}", "- | Send | -"]
    );
    assert_eq!(counts(&store), (6, 6, 0, 0));
}

#[test]
fn too_many_tracks_are_refused() {
    let mut tracks = super::tracks::Tracks::default();
    let first = (0..u32::MAX).find_map(|key| match tracks.number(&key.to_le_bytes()) {
        Ok(number) => {
            assert_eq!(number, key);
            None
        }
        Err(error) => Some((key, error)),
    });
    let (tracks, error) = first.unwrap();
    assert_eq!((tracks, error.kind), (3_000_000, crate::error::Kind::Limit));
}
