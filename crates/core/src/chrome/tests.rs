use crate::input::{Codec, Input};
use crate::options::{Needs, Options};
use crate::store::{Store, Value};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Rows = Vec<BTreeMap<String, Value>>;

fn options(threads: usize, piece_bytes: usize) -> Options {
    let extra = [("piece_bytes".to_owned(), piece_bytes.to_string())].into();
    Options {
        threads,
        extra,
        ..Options::default()
    }
}

fn read_with(text: impl AsRef<[u8]>, options: &Options) -> crate::error::Result<Store> {
    crate::decode(
        "chrome_trace",
        &Input::bytes(text.as_ref().to_vec(), Codec::Plain),
        options,
    )
}

fn read(text: impl AsRef<[u8]>) -> Store {
    read_with(text, &options(1, 1 << 20)).unwrap()
}

fn rows(store: &Store, table: &str) -> Rows {
    if store.tables().contains_key(table) {
        store.rows(table).unwrap()
    } else {
        Rows::new()
    }
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
    let line = |row: &BTreeMap<String, Value>| {
        columns
            .iter()
            .map(|c| text(row, c))
            .collect::<Vec<_>>()
            .join(" | ")
    };
    rows(store, table).iter().map(line).collect()
}

fn notes(store: &Store) -> Vec<String> {
    store
        .facts
        .notes
        .iter()
        .map(|n| format!("{} {} {}", n.slug, n.effect.as_str(), n.events))
        .collect()
}

fn counts(store: &Store) -> (u64, u64, u64, u64) {
    let facts = &store.facts;
    assert_eq!(facts.events_seen, facts.events_stored + facts.events_lost);
    (
        facts.events_seen,
        facts.events_stored,
        facts.events_lost,
        facts.events_repaired,
    )
}

const SLICE: [&str; 5] = ["track_id", "name", "ts_ps", "dur_ps", "args_json"];

#[test]
fn forms() {
    let event = r#"{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":2}"#;
    let pretty =
        "{\n  \"ph\" : \"X\" ,\n  \"name\" : \"a\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2 }";
    for (text, end) in [
        (format!("[{event},{event}]"), None),
        (format!("\u{feff} [ {event} , {event} ] \n"), None),
        (format!("[{event},{pretty},]"), None),
        (
            format!("[\n{event},\n{event},\n"),
            Some("missing-end info 0"),
        ),
        (format!("[{event}\n{event}]"), Some("missing-comma info 0")),
        (format!("{{\"traceEvents\":[{event},{event}]}}"), None),
        (
            format!(
                "{{\"a\":[{{}}],\"traceEvents\":[{event},{event}],\"displayTimeUnit\":\"ns\"}}"
            ),
            None,
        ),
        (
            format!(
                "{{\"x\":{{\"traceEvents\":[1]}},\"traceEvents\" : [{pretty},{event}], \"z\":1,}}"
            ),
            None,
        ),
        (
            format!("{{\"traceEvents\":[{event},{event}]"),
            Some("missing-end missing 0"),
        ),
        (
            format!("{{\"traceEvents\":[{event}],\"traceEvents\":[{event}]}}"),
            None,
        ),
    ] {
        for piece in [1, 7, 1 << 20] {
            let store = read_with(&text, &options(1, piece)).unwrap();
            assert_eq!(counts(&store), (2, 2, 0, 0), "{text}");
            assert_eq!(
                lines(&store, "slice", &SLICE),
                ["0 | a | 1000000 | 2000000 | -"; 2]
            );
            assert_eq!(
                notes(&store),
                end.map(str::to_owned).into_iter().collect::<Vec<_>>(),
                "{text}"
            );
        }
    }
}

#[test]
fn no_trace() {
    for text in [
        "",
        "  \n",
        "nonsense",
        "{}",
        "{\"a\":1}",
        "\u{feff}",
        "1",
        "\"traceEvents\"",
    ] {
        let error = read_with(text, &options(1, 3)).err().unwrap();
        assert_eq!(
            error.kind,
            crate::error::Kind::NotThisFormat,
            "{text:?}: {error}"
        );
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
        (
            r#""args":{ "a" : [ 1 , { "b" : "x y" } ] }"#,
            r#"{"a":[1,{"b":"x y"}]}"#,
            vec![],
        ),
        (
            r#""args":{"a":NaN,"b":-Infinity}"#,
            r#"{"a":"NaN","b":"-Infinity"}"#,
            vec!["not-a-number repaired 1"],
        ),
        (
            r#""args":{"a":1,"b":2,"a":3}"#,
            r#"{"b":2,"a":3}"#,
            vec!["duplicate-key repaired 1"],
        ),
        (
            r#""args":{"a":1},"args":{"b":2}"#,
            r#"{"b":2}"#,
            vec!["duplicate-key repaired 1"],
        ),
        (
            r#""args":{"a":"\ud800"}"#,
            "{\"a\":\"\u{fffd}\"}",
            vec!["lone-surrogate repaired 1"],
        ),
        (
            r#""args":{"a":"\ud83d\ude00\n"}"#,
            "{\"a\":\"\u{1f600}\\n\"}",
            vec![],
        ),
        (
            r#""args":{"a":[1,],}"#,
            r#"{"a":[1]}"#,
            vec!["trailing-comma repaired 1"],
        ),
        (r#""args":[1,2]"#, r#"{"$args":[1,2]}"#, vec![]),
        (r#""args":null"#, "-", vec![]),
        (r#""args":"x""#, r#"{"$args":"x"}"#, vec![]),
        (
            r#""id":"0x1","s":"g","args":{"a":1},"cname":"q\"\\""#,
            r#"{"a":1,"$s":"g","$cname":"q\"\\","$id":"0x1"}"#,
            vec![],
        ),
        (
            r#""tts":5,"stack":["a", "b"]"#,
            r#"{"$tts":5,"$stack":["a","b"]}"#,
            vec![],
        ),
    ] {
        let store = read(format!("[{{\"ph\":\"X\",\"ts\":0,\"dur\":0,{event}}}]"));
        assert_eq!(lines(&store, "slice", &["args_json"]), [args], "{event}");
        assert_eq!(notes(&store), repairs, "{event}");
        assert_eq!(counts(&store), (1, 1, 0, repairs.len() as u64));
        let needs = Needs {
            args: false,
            ..Needs::default()
        };
        let bare = read_with(
            format!("[{{\"ph\":\"X\",\"ts\":0,\"dur\":0,{event}}}]"),
            &Options {
                needs,
                ..options(1, 64)
            },
        )
        .unwrap();
        assert_eq!(lines(&bare, "slice", &["args_json"]), ["-"], "{event}");
        assert_eq!(notes(&bare), repairs);
    }
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let store = read(format!(
        "[{{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"args\":{{\"a\":{deep}}}}}]"
    ));
    assert_eq!(
        lines(&store, "slice", &["args_json"]),
        [r#"{"$dropped":"nested deeper than 256 levels"}"#]
    );
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
            {"ph":"B","ts":7,"cat":"kernel","name":"b","args":{"correlation":"78"}},{"ph":"E","ts":8}]"#,
    );
    assert_eq!(
        lines(&store, "slice", &columns),
        [
            "MatMul | Op | dense/MatMul | MatMul | -",
            "aten::add | cpu_op | - | aten::add | -",
            "fusion.7 | - | fusion.7 | - | -",
            "k | kernel | - | k | 77",
            "x | Op | scope/x | - | -",
            "b | kernel | - | b | 78",
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
        [
            "s7 | lane | dispatch",
            "other | unknown | unknown",
            "1 | async | annotation"
        ]
    );
    assert_eq!(
        lines(&store, "slice", &["op_name", "op_type", "args_json"]),
        [
            "w/a | MatMul | -",
            "- | - | {\"$op_name\":7}",
            "- | Send | -"
        ]
    );
    assert_eq!(counts(&store), (6, 6, 0, 0));
}

#[test]
fn begin_and_end() {
    let store = read(
        r#"[{"ph":"B","name":"outer","pid":1,"tid":1,"ts":0,"args":{"a":1,"b":1}},
            {"ph":"B","name":"inner","pid":1,"tid":1,"ts":0},
            {"ph":"B","name":"other","pid":1,"tid":2,"ts":3},
            {"ph":"E","pid":1,"tid":1,"ts":5},
            {"ph":"E","pid":1,"tid":1,"ts":5,"args":{"b":2}},
            {"ph":"E","pid":1,"tid":1,"ts":6},
            {"ph":"X","name":"x","pid":1,"tid":2,"ts":4,"dur":10},
            {"ph":"B","name":"late","pid":1,"tid":3,"ts":20},{"ph":"E","pid":1,"tid":3,"ts":10},
            {"ph":"E","pid":1,"tid":3,"ts":30},{"ph":"B","name":"early","pid":1,"tid":3,"ts":5}]"#,
    );
    assert_eq!(
        lines(
            &store,
            "slice",
            &["name", "ts_ps", "dur_ps", "depth", "args_json"]
        ),
        [
            "outer | 0 | 5000000 | 0 | {\"a\":1,\"b\":2}",
            "inner | 0 | 5000000 | 1 | -",
            "other | 3000000 | 11000000 | 0 | -",
            "x | 4000000 | 10000000 | 1 | -",
            "early | 5000000 | 5000000 | 0 | -",
            "late | 20000000 | 10000000 | 0 | -",
        ]
    );
    assert_eq!(
        notes(&store),
        ["end-without-begin lost 1", "unclosed-begin repaired 1"]
    );
    assert_eq!(counts(&store), (11, 10, 1, 1));
}

#[test]
fn sequences() {
    let store = read(
        r#"[{"ph":"b","cat":"c","id":1,"name":"a","pid":1,"tid":1,"ts":0},
            {"ph":"n","cat":"c","id":1,"name":"mark","pid":1,"tid":1,"ts":1},
            {"ph":"b","cat":"c","id":"1","name":"child","pid":1,"tid":9,"ts":2},
            {"ph":"b","cat":"c","id":1,"name":"a","pid":2,"tid":1,"ts":3},
            {"ph":"e","cat":"c","id":1,"name":"child","pid":1,"tid":1,"ts":4},
            {"ph":"e","cat":"c","id":1,"name":"a","pid":1,"tid":1,"ts":5},
            {"ph":"e","cat":"c","id":1,"name":"a","pid":3,"tid":1,"ts":7},
            {"ph":"S","cat":"d","id":"x","name":"old","pid":1,"tid":1,"ts":0},
            {"ph":"T","cat":"d","id":"x","name":"old","pid":1,"tid":1,"ts":1},
            {"ph":"F","cat":"d","id":"x","name":"old","pid":1,"tid":1,"ts":2},
            {"ph":"b","cat":"c","id2":{"local":"0x1"},"name":"l","pid":1,"tid":1,"ts":0},
            {"ph":"e","cat":"c","id2":{"local":"0x1"},"name":"l","pid":2,"tid":1,"ts":1},
            {"ph":"b","cat":"c","id2":{"global":"0x2"},"name":"g","pid":1,"tid":1,"ts":0},
            {"ph":"e","cat":"c","id2":{"global":"0x2"},"name":"g","pid":2,"tid":1,"ts":8}]"#,
    );
    assert_eq!(
        lines(
            &store,
            "slice",
            &["track_id", "name", "ts_ps", "dur_ps", "depth"]
        ),
        [
            "0 | a | 0 | 5000000 | 0",
            "0 | child | 2000000 | 2000000 | 1",
            "1 | a | 3000000 | 4000000 | 0",
            "3 | old | 0 | 2000000 | 0",
            "4 | l | 0 | 0 | 0",
            "6 | g | 0 | 8000000 | 0",
        ]
    );
    assert_eq!(
        lines(
            &store,
            "instant",
            &[
                "track_id",
                "name",
                "kind",
                "object_id",
                "ts_ps",
                "args_json"
            ]
        ),
        [
            "0 | mark | async | 1 | 1000000 | -",
            "3 | old | async | x | 1000000 | {\"$ph\":\"T\"}"
        ]
    );
    assert_eq!(
        lines(&store, "track", &["kind", "process", "name", "origin"])[0],
        "async | pid 1 | c | pid 1 async c id 1"
    );
    assert_eq!(
        notes(&store),
        ["end-without-begin lost 1", "unclosed-begin repaired 1"]
    );
}

#[test]
fn flows_counters_objects_and_the_rest() {
    let store = read(
        r#"[{"ph":"s","cat":"f","id":0,"name":"t","pid":1,"tid":0,"ts":5},
            {"ph":"t","cat":"f","id":0,"name":"t","pid":1,"tid":1,"ts":6},
            {"ph":"f","cat":"g","id":0,"name":"t","pid":1,"tid":1,"ts":6,"bp":"e"},
            {"ph":"s","cat":"f","id":0,"name":"t","pid":1,"tid":0,"ts":8},
            {"ph":"f","cat":"f","id":0,"name":"t","pid":1,"tid":0,"ts":9},
            {"ph":"X","name":"w","pid":1,"tid":0,"ts":1,"dur":2,"bind_id":"0x7","flow_out":true},
            {"ph":"C","name":"mem","pid":1,"ts":1,"args":{"used":1.5,"free":"2","odd":[1],"nan":NaN}},
            {"ph":"C","name":"mem","pid":1,"ts":2,"args":{}},
            {"ph":"N","cat":"Tensor","name":"x","id":7,"pid":1,"tid":0,"ts":1},
            {"ph":"O","cat":"Tensor","name":"x","id":7,"pid":1,"tid":0,"ts":2,"args":{"snapshot":{"d":1}}},
            {"ph":"D","cat":"Tensor","name":"x","id":7,"pid":1,"tid":0,"ts":3},
            {"ph":"i","name":"tick","s":"g","ts":4},{"ph":"R","name":"nav","pid":1,"ts":4},
            {"ph":"P","ts":4},{"ph":"v","id":3,"ts":4},{"ph":"c","ts":4},{"ph":"(","id":1,"ts":4},
            {"ph":"?","ts":4},{"ph":"XX","ts":4}]"#,
    );
    assert_eq!(
        lines(
            &store,
            "flow",
            &[
                "flow_id",
                "phase",
                "track_id",
                "category",
                "ts_ps",
                "args_json"
            ]
        ),
        [
            "0 | start | 0 | f | 5000000 | -",
            "0 | step | 1 | f | 6000000 | -",
            "1 | end | 1 | g | 6000000 | {\"$bp\":\"e\"}",
            "2 | start | 0 | f | 8000000 | -",
            "2 | end | 0 | f | 9000000 | -",
            "3 | start | 0 | - | 3000000 | -",
        ]
    );
    assert_eq!(
        lines(&store, "counter", &["name", "series", "ts_ps", "value"]),
        [
            "mem | used | 1000000 | 1.5",
            "mem | free | 1000000 | 2",
            "mem | odd | 1000000 | -",
            "mem | nan | 1000000 | -"
        ]
    );
    assert_eq!(
        lines(
            &store,
            "instant",
            &["kind", "name", "object_id", "args_json"]
        ),
        [
            "object_new | x | 7 | -",
            "object_snapshot | x | 7 | {\"snapshot\":{\"d\":1}}",
            "object_delete | x | 7 | -",
            "instant | tick | - | {\"$s\":\"g\"}",
            "mark | nav | - | -",
            "sample |  | - | -",
            "memory_dump |  | - | {\"$id\":3}",
            "clock_sync |  | - | -",
            "context |  | - | {\"$id\":1}",
            "unknown |  | - | {\"$ph\":\"?\"}",
            "unknown |  | - | {\"$ph\":\"XX\"}",
        ]
    );
    assert_eq!(
        notes(&store),
        [
            "not-a-number repaired 1",
            "unknown-phase info 2",
            "counter-without-value lost 1"
        ]
    );
    assert_eq!(counts(&store).2, 1);
}

#[test]
fn metadata_after_and_before() {
    let store = read(
        r#"[{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":1},{"ph":"X","name":"a","pid":"Spans","tid":"","ts":1,"dur":1},
            {"ph":"X","name":"a","ts":1,"dur":1},{"ph":"X","name":"a","pid":"1","tid":"2","ts":3,"dur":1},
            {"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}},
            {"ph":"M","name":"process_labels","pid":1,"args":{"labels":"CPU"}},
            {"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"main"}},
            {"ph":"M","name":"thread_sort_index","pid":1,"tid":2,"args":{"sort_index":-1}},
            {"ph":"M","name":"thread_name","pid":1,"tid":3,"args":{"name":"idle"}},
            {"ph":"M","name":"process_name","pid":9,"args":{"name":"nothing here"}},
            {"ph":"M","name":"stackFrames","pid":1,"args":{"x":[1]}},{"ph":"M","pid":4}]"#,
    );
    assert_eq!(
        lines(
            &store,
            "track",
            &["process", "name", "origin", "sort_index", "kind"]
        ),
        [
            "python | main | pid 1 tid 2 | -1 | unknown",
            "pid Spans | tid  | pid Spans tid  | - | unknown",
            " |  |  | - | unknown",
            "python | idle | pid 1 tid 3 | - | unknown",
            "nothing here |  | pid 9 | - | unknown",
        ]
    );
    assert_eq!(
        store.facts.meta["metadata stackFrames pid 1"],
        "{\"x\":[1]}"
    );
    assert!(store.facts.meta["processes"].contains("\"labels\":\"CPU\""));
    assert_eq!(counts(&store), (12, 12, 0, 0));
}

#[test]
fn lost_events_are_counted_with_their_reason() {
    let store = read(
        r#"[{},{ },1,"x",null,[{"ph":"X"}],{"name":"a"},{"ph":"X","dur":1},{"ph":"X","ts":"no","dur":1},
            {"ph":"X","ts":1e40,"dur":1},{"ph":"X","ts":1,"dur":1e40},{"ph":"X","ts":1,"dur":9223372036854775807},
            {"ph":"X","ts":NaN,"dur":1},{"ph":"i"},
            {"ph":"X","ts":2,"dur":-3,"name":"n"},{"ph":"X","ts":3,"name":"m"},{"ph":"X","ts":4,"dur":"5","name":"s"}]"#,
    );
    assert_eq!(
        lines(&store, "slice", &["name", "dur_ps"]),
        ["n | 0", "m | 0", "s | 5000000"]
    );
    assert_eq!(counts(&store), (17, 5, 12, 2));
    assert_eq!(
        notes(&store),
        [
            "empty-event info 2",
            "not-an-event lost 4",
            "missing-phase lost 1",
            "missing-time lost 2",
            "bad-time lost 2",
            "time-out-of-range lost 3",
            "negative-duration repaired 1",
            "missing-duration repaired 1",
        ]
    );
    assert_eq!(store.facts.notes[0].first_offset, Some(1));
    assert_eq!(store.facts.notes[3].first_offset, Some(45));
}

#[test]
fn unix_times_count_from_the_earliest() {
    let t = 1_795_163_227_337_279_i64;
    let store = read(format!(
        r#"[{{"ph":"M","ts":0,"name":"process_name","pid":1,"args":{{}}}},{{"ph":"i","ts":0}},{{"ph":"X","ts":{}.5,"dur":1}},{{"ph":"X","ts":{t},"dur":1}}]"#,
        t + 2
    ));
    assert_eq!(lines(&store, "slice", &["ts_ps"]), ["0", "2500000"]);
    assert_eq!(store.facts.origin_unix_ns, Some(t * 1000));
    assert_eq!(notes(&store), ["time-out-of-range lost 1"]);
}

fn sample() -> String {
    let mut text = String::from("{\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [\n");
    for i in 0..40 {
        let t = 1_700_000_000_000_000_u64 + i * 10;
        text += &format!(
            "{{\"ph\":\"X\",\"cat\":\"Op\",\"name\":\"op{}\",\"pid\":{},\"tid\":{},\"ts\":{t},\"dur\":{}.125, \"args\": {{\"name\": \"n{i}\", \"op\":\"T\", \"k\":[{{\"ph\":\"X\"}},{{\"a\":\"}},{{\\\"ph\\\":\"}}]}}}},\n",
            i % 5,
            i % 3,
            i % 2,
            i % 7
        );
        if i % 4 == 0 {
            text += &format!(
                "{{\"ph\":\"B\",\"name\":\"b\u{e9}\",\"pid\":0,\"tid\":7,\"ts\":{t}}},\n{{\"ph\":\"E\",\"pid\":0,\"tid\":7,\"ts\":{}}},\n{{}},\n",
                t + 5
            );
            text += &format!(
                "{{\"ph\":\"s\",\"id\":{i},\"pid\":0,\"tid\":0,\"ts\":{t}}},\n{{\"ph\":\"C\",\"pid\":0,\"name\":\"c\",\"ts\":{t},\"args\":{{\"v\":{i}}}}},\n"
            );
        }
    }
    text + "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"p\"}}\n],\n\"traceName\": \"x\"}\n"
}

/// Everything a store says.
fn whole(store: &Store) -> (Vec<(String, Rows)>, String) {
    let tables = store.tables().into_keys().map(|name| {
        let rows = rows(store, &name);
        (name, rows)
    });
    (tables.collect(), store.facts.to_json())
}

/// Fails with the first difference of two stores, which two whole ones would bury.
fn assert_same(
    expected: &(Vec<(String, Rows)>, String),
    got: &(Vec<(String, Rows)>, String),
    about: &str,
) {
    assert_eq!(expected.1, got.1, "{about}");
    for (expected, got) in expected.0.iter().zip(&got.0) {
        assert_eq!(expected.0, got.0, "{about}");
        assert_eq!(expected.1.len(), got.1.len(), "{about}: rows of {}", got.0);
        for (expected, row) in expected.1.iter().zip(&got.1) {
            assert_eq!(expected, row, "{about}: {}", got.0);
        }
    }
    assert_eq!(expected.0.len(), got.0.len(), "{about}");
}

fn same_for_all_cuts(text: &[u8]) {
    let expected = read_with(text, &options(1, 1 << 20)).map(|store| whole(&store));
    for piece in [1, 2, 3, 5, 17, 64, 100, 333, 1000, 2500] {
        for threads in [1, 3] {
            let got = read_with(text, &options(threads, piece)).map(|store| whole(&store));
            match (&expected, &got) {
                (Ok(expected), Ok(got)) => {
                    assert_same(
                        expected,
                        got,
                        &format!(
                            "piece {piece} threads {threads} {}",
                            String::from_utf8_lossy(text)
                        ),
                    );
                }
                (Err(expected), Err(got)) => assert_eq!(expected.kind, got.kind),
                _ => panic!(
                    "piece {piece} threads {threads}: {:?}",
                    String::from_utf8_lossy(text)
                ),
            }
        }
    }
}

#[test]
fn every_cut_of_the_file_gives_the_same() {
    let text = sample();
    let expected = whole(&read(&text));
    assert_eq!(notes(&read(&text))[0], "empty-event info 10");
    for piece in 1..text.len() {
        let got = whole(&read_with(&text, &options(1 + piece % 3, piece)).unwrap());
        assert_same(&expected, &got, &format!("piece {piece}"));
    }
}

#[test]
fn truncation_keeps_whole_events() {
    let text = sample();
    let all = read(&text).facts.events_stored;
    let mut before = 0;
    for cut in 0..text.len() {
        let Ok(store) = read_with(&text.as_bytes()[..cut], &options(1, 97)) else {
            assert!(cut < 43);
            continue;
        };
        let (_, stored, _, _) = counts(&store);
        assert!(
            stored >= before && stored <= all,
            "cut {cut}: {stored} after {before}"
        );
        before = stored;
        let cut_event = notes(&store).iter().any(|note| note == "truncated lost 1");
        assert!(cut_event || store.facts.events_lost == 0, "cut {cut}");
    }
    assert_eq!(before, all);
}

#[test]
fn damage_costs_little() {
    let text = sample();
    let all = read(&text).facts.events_stored;
    for at in (43..text.len()).step_by(3) {
        for damage in ["\u{0}", "]", "{", "\"", "}", "[[", "garbage, \"x"] {
            let damaged = [
                &text.as_bytes()[..at],
                damage.as_bytes(),
                &text.as_bytes()[at + 1..],
            ]
            .concat();
            let store = read_with(&damaged, &options(2, 777)).unwrap();
            let (_, stored, ..) = counts(&store);
            assert!(
                stored + 4 >= all,
                "{stored} of {all} at {at}: {damage}, {:?}",
                notes(&store)
            );
        }
    }
}

#[test]
fn false_starts_do_not_take_quadratic_time() {
    let start = std::time::Instant::now();
    for unit in [
        "{\"args\":",
        "{\"ph\":\"X\",",
        "{",
        "{\"ph\":\"X\",\"a\":{\"b\":",
        ",{\"",
        "{\"a\":[",
        "{\"a\":\"\\\"",
    ] {
        let text = format!("[x{}", unit.repeat((4 << 20) / unit.len()));
        let store = read_with(&text, &options(1, 1 << 20)).unwrap();
        assert_eq!(counts(&store).1, 0, "{unit}");
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn too_long_an_event_is_lost_and_the_rest_kept() {
    let ok = r#"{"ph":"X","name":"ok","ts":1,"dur":1}"#;
    let text = format!(
        "[{ok},{{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{{\"a\":\"{}\"}}}},{ok}]",
        "y".repeat(5000)
    );
    for piece in [1, 100, 1 << 20] {
        let mut options = options(1, piece);
        options
            .extra
            .insert("event_bytes".to_owned(), "4000".to_owned());
        let store = read_with(&text, &options).unwrap();
        assert_eq!(counts(&store), (3, 2, 1, 0));
        assert_eq!(notes(&store), ["event-too-long lost 1"]);
    }
}

#[test]
fn packed_input() {
    use std::io::Write;
    let text = sample();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(text.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let decode = |bytes: &[u8]| {
        crate::decode(
            "chrome_trace",
            &Input::bytes(bytes.to_vec(), Codec::Gzip),
            &options(2, 1000),
        )
        .unwrap()
    };
    assert_eq!(whole(&decode(&packed)).0, whole(&read(&text)).0);
    let cut = decode(&packed[..packed.len() / 2]);
    assert!(cut.facts.events_stored > 0);
    assert!(
        notes(&cut).contains(&"truncated-input missing 0".to_owned()),
        "{:?}",
        notes(&cut)
    );
}

/// Events with known faults, to be put together at random.
fn fragments() -> impl Strategy<Value = String> {
    let event = prop_oneof![
        Just(r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":1.5,"dur":2}"#.to_owned()),
        Just(r#"{"ph": "X", "ts": 1e-3, "dur": "7", "args": {"a": {"b": [1, NaN,]}, "step_num": 3}}"#.to_owned()),
        Just(r#"{"ph":"B","name":"train","pid":1,"tid":1,"ts":3}"#.to_owned()),
        Just(r#"{"ph":"E","pid":1,"tid":1,"ts":2}"#.to_owned()),
        Just(r#"{"ph":"b","cat":"c","id":1,"ts":4}"#.to_owned()),
        Just(r#"{"ph":"e","cat":"c","id":1,"ts":5,"pid":3}"#.to_owned()),
        Just(r#"{"ph":"C","ts":5,"args":{"x":1}}"#.to_owned()),
        Just(r#"{"ph":"s","id":"q","ts":5}"#.to_owned()),
        Just(r#"{"ph":"O","id":"q\ud800","ts":1700000000000000,"args":{"snapshot":"{},{"}}"#.to_owned()),
        Just("{}".to_owned()),
        Just("7".to_owned()),
        "[{}\\[\\]\":,a-c0-9\\\\ \n]{0,12}",
    ];
    (
        prop::collection::vec(
            (
                event,
                prop_oneof![4 => Just(","), 1 => Just(""), 1 => Just("\n")],
            ),
            0..12,
        ),
        0_u8..4,
    )
        .prop_map(|(events, form)| {
            let inside: String = events
                .iter()
                .map(|(event, comma)| format!("{event}{comma}"))
                .collect();
            match form {
                0 => format!("[{inside}]"),
                1 => format!("{{\"a\":1,\"traceEvents\":[{inside}],\"b\":[]}}"),
                2 => format!("[{inside}"),
                _ => format!("{{\"traceEvents\":[{inside}"),
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn mutants_give_the_same_for_all_cuts(text in fragments(), at in any::<prop::sample::Index>(), byte in any::<u8>(), flip in any::<bool>()) {
        let mut bytes = text.into_bytes();
        if flip {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(store) = read_with(&bytes, &options(1, 1 << 20)) {
            counts(&store);
        }
        same_for_all_cuts(&bytes);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let bytes = [b"[{\"ph\":\"X\",\"ts\":1,\"dur\":1},".as_slice(), &bytes].concat();
        let store = read_with(&bytes, &options(1, 50)).unwrap();
        prop_assert!(counts(&store).1 >= 1);
    }
}

/// Speed of reading alone, without committing, beside a plain scan of the same bytes. Run it with
/// `STEPSCOPE_TRACE=file cargo test --release -p stepscope-core speed -- --ignored --nocapture`.
#[test]
#[ignore = "measures, asserts nothing"]
fn speed() {
    use super::event::{Rules, Scanner};
    use super::piece::Piece;
    let Ok(path) = std::env::var("STEPSCOPE_TRACE") else {
        return;
    };
    let data = std::fs::read(path).unwrap();
    let start = memchr::memmem::find(&data, b"traceEvents")
        .map_or(1, |at| at + 1 + memchr::memchr(b'[', &data[at..]).unwrap());
    // Time on a processor tells more than the clock on a machine that is shared.
    let on_cpu = || -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        text.split(' ')
            .next()
            .and_then(|number| number.parse().ok())
            .unwrap_or(0)
    };
    let time = |what: &str, work: &mut dyn FnMut() -> u64| {
        let measure = |_| {
            let (clock, cpu) = (std::time::Instant::now(), on_cpu());
            std::hint::black_box(work());
            (clock.elapsed().as_secs_f64(), (on_cpu() - cpu) as f64 / 1e9)
        };
        let runs: Vec<(f64, f64)> = (0..7).map(measure).collect();
        let least = |pick: fn(&(f64, f64)) -> f64| runs.iter().map(pick).fold(f64::MAX, f64::min);
        let (clock, cpu) = (least(|run| run.0), least(|run| run.1));
        let speed = |seconds: f64| data.len() as f64 / seconds / 1e6;
        println!(
            "{what:32} {:7.0} ms {:6.0} MB/s; this thread {:7.0} ms {:6.0} MB/s",
            clock * 1e3,
            speed(clock),
            cpu * 1e3,
            speed(cpu)
        );
    };
    time("scan for quotes", &mut || {
        memchr::memchr_iter(b'"', &data).count() as u64
    });
    time("validate UTF-8", &mut || {
        std::str::from_utf8(&data).map_or(0, |text| text.len() as u64)
    });
    for keep_args in [true, false] {
        let rules = Rules {
            keep_args,
            max_event: 1 << 26,
            origin_us: Some(1_700_000_000_000_000),
        };
        time(&format!("read, args {keep_args}"), &mut || {
            let mut scanner = Scanner::default();
            let mut at = start;
            let mut seen = 0;
            while at + 3 < data.len() {
                let end = data.len().min(at + (4 << 20));
                let mut piece = Piece::default();
                let stop = scanner.read(&data[..end], at, &rules, &mut piece);
                seen += piece.seen;
                at = match stop {
                    super::event::Stop::More(next) if next > at => next,
                    _ => end,
                };
            }
            seen
        });
    }
    for threads in [1, 2] {
        for needs in [
            Needs {
                args: false,
                nesting: false,
                tables: false,
            },
            Needs::default(),
        ] {
            time(
                &format!("decode {threads} thread(s) args {}", needs.args),
                &mut || {
                    let options = Options {
                        threads,
                        needs,
                        ..Options::default()
                    };
                    let mut writer = crate::store::Writer::new(&options).unwrap();
                    let input = Input::file(
                        std::env::var("STEPSCOPE_TRACE").unwrap().into(),
                        0,
                        None,
                        Codec::Plain,
                    );
                    super::decode(&input, &options, &mut writer).unwrap();
                    writer.facts.events_seen
                },
            );
        }
    }
}
