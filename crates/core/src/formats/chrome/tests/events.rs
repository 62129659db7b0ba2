//! Events of every phase, metadata, counts and clocks.

use super::*;

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
        lines(&store, "slice", &["name", "ts_ps", "dur_ps", "depth", "args_json"]),
        [
            "outer | 0 | 5000000 | 0 | {\"a\":1,\"b\":2}",
            "inner | 0 | 5000000 | 1 | -",
            "other | 3000000 | 11000000 | 0 | -",
            "x | 4000000 | 10000000 | 1 | -",
            "early | 5000000 | 5000000 | 0 | -",
            "late | 20000000 | 10000000 | 0 | -",
        ]
    );
    assert_eq!(notes(&store), ["end-without-begin lost 1", "unclosed-begin repaired 1"]);
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
        lines(&store, "slice", &["track_id", "name", "ts_ps", "dur_ps", "depth"]),
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
        lines(&store, "instant", &["track_id", "name", "kind", "object_id", "ts_ps", "args_json"]),
        ["0 | mark | async | 1 | 1000000 | -", "3 | old | async | x | 1000000 | {\"$ph\":\"T\"}"]
    );
    assert_eq!(
        lines(&store, "track", &["kind", "process", "name", "origin"])[0],
        "async | pid 1 | c | pid 1 async c id 1"
    );
    assert_eq!(notes(&store), ["end-without-begin lost 1", "unclosed-begin repaired 1"]);
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
        lines(&store, "flow", &["flow_id", "phase", "track_id", "category", "ts_ps", "args_json"]),
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
            "mem | used | 1000000 | 1.5", "mem | free | 1000000 | 2", "mem | odd | 1000000 | -",
            "mem | nan | 1000000 | -"
        ]
    );
    assert_eq!(
        lines(&store, "instant", &["kind", "name", "object_id", "args_json"]),
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
        ["not-a-number repaired 1", "unknown-phase info 2", "counter-without-value lost 1"]
    );
    assert_eq!(counts(&store).2, 1);
}

#[test]
fn ids_are_told_apart_by_their_text() {
    let ids = [
        "7", r#""7""#, r#""\u0037""#, "7.0", r#""07""#, "-7", "0", r#""00""#, "999999999999999999",
        "9999999999999999999", r#""9999999999999999999""#, r#""7 ""#, r#""""#, "null", "7",
    ];
    let events = ids.map(|id| format!(r#"{{"ph":"t","id":{id},"name":"n","pid":1,"ts":1}}"#));
    let store = read(format!("[{}]", events.join(",")));
    assert_eq!(
        lines(&store, "flow", &["flow_id"]),
        "0 0 0 1 2 3 4 5 6 7 7 8 9 9 0".split(' ').collect::<Vec<_>>()
    );
    let store = read(
        r#"[{"ph":"b","cat":"c","id":"7","name":"n","pid":1,"ts":1},{"ph":"e","cat":"c","id":7,"name":"n","pid":1,"ts":3},
            {"ph":"b","cat":"c","id":7,"scope":"s","name":"n","pid":1,"ts":1},
            {"ph":"e","cat":"c","id":"\u0037","scope":"s","name":"n","pid":1,"ts":4}]"#,
    );
    assert_eq!(
        lines(&store, "slice", &["track_id", "ts_ps", "dur_ps"]),
        ["0 | 1000000 | 2000000", "1 | 1000000 | 3000000"]
    );
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
        lines(&store, "track", &["process", "name", "origin", "sort_index", "kind"]),
        [
            "python | main | pid 1 tid 2 | -1 | unknown",
            "pid Spans | tid  | pid Spans tid  | - | unknown",
            " |  |  | - | unknown",
            "python | idle | pid 1 tid 3 | - | unknown",
            "nothing here |  | pid 9 | - | unknown",
        ]
    );
    assert_eq!(store.facts.meta["metadata stackFrames pid 1"], "{\"x\":[1]}");
    assert!(store.facts.meta["processes"].contains("\"labels\":\"CPU\""));
    assert_eq!(counts(&store), (12, 12, 0, 0));
}

#[test]
fn names_alone_are_lost() {
    for (events, count) in [
        (r#"{"ph":"M","name":"process_name","pid":1,"args":{"name":"a"}}"#, 1),
        (r#"{"ph":"M","name":"other","pid":1},{}"#, 2),
        ("{}", 1),
    ] {
        let store = read(format!("[{events}]"));
        assert_eq!(counts(&store), (count, 0, count, 0));
        assert!(notes(&store).contains(&format!("names-alone lost {count}")));
        let event = r#"{"ph":"C","name":"n","ts":1,"args":{"a":1,"b":2}}"#;
        let store = read(format!("[{events},{event}]"));
        assert_eq!(counts(&store), (count + 1, count + 1, 0, 0));
    }
}

#[test]
fn escapes_say_the_same() {
    let event = |escape: fn(&str) -> String| {
        let [ph, x, cat, kernel, args, device, correlation, bind, flow] =
            ["ph", "X", "cat", "kernel", "args", "device", "correlation", "bind_id", "flow_out"].map(escape);
        read(format!(
            "[{{{ph}:{x},\"name\":\"k\",{cat}:{kernel},\"ts\":1,\"dur\":2,\"pid\":0,\"tid\":7,{bind}:7,{flow}:true,\
             {args}:{{{device}:3,{correlation}:9}}}}]"
        ))
    };
    let plain = event(|text| format!("\"{text}\""));
    let escaped = event(|text| {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
        format!("\"{}\"", units.collect::<String>())
    });
    let columns = ["name", "category", "op_type", "correlation_id", "ts_ps", "dur_ps"];
    assert_eq!(lines(&plain, "slice", &columns), ["k | kernel | k | 9 | 1000000 | 2000000"]);
    assert_eq!(lines(&escaped, "slice", &columns), lines(&plain, "slice", &columns));
    assert_eq!(lines(&escaped, "flow", &["ts_ps", "phase"]), ["3000000 | start"]);
    let classes = "classes of rows";
    assert_eq!(escaped.facts.meta[classes], plain.facts.meta[classes]);
}

#[test]
fn lost_events_are_counted_with_their_reason() {
    let store = read(
        r#"[{},{ },1,"x",null,[{"ph":"X"}],{"name":"a"},{"ph":"X","dur":1},{"ph":"X","ts":"no","dur":1},
            {"ph":"X","ts":1e40,"dur":1},{"ph":"X","ts":1,"dur":1e40},{"ph":"X","ts":1,"dur":9223372036854775807},
            {"ph":"X","ts":NaN,"dur":1},{"ph":"i"},
            {"ph":"X","ts":2,"dur":-3,"name":"n"},{"ph":"X","ts":3,"name":"m"},{"ph":"X","ts":4,"dur":"5","name":"s"}]"#,
    );
    assert_eq!(lines(&store, "slice", &["name", "dur_ps"]), ["n | 0", "m | 0", "s | 5000000"]);
    assert_eq!(counts(&store), (17, 5, 12, 2));
    assert_eq!(
        notes(&store),
        [
            "empty-event info 2", "not-an-event lost 4", "missing-phase lost 1", "missing-time lost 2",
            "bad-time lost 2", "time-out-of-range lost 3", "negative-duration repaired 1",
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
