//! The same however a file is cut, and little lost where it is damaged.

use super::*;
use proptest::prelude::*;

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
fn assert_same(expected: &(Vec<(String, Rows)>, String), got: &(Vec<(String, Rows)>, String), about: &str) {
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
                        &format!("piece {piece} threads {threads} {}", String::from_utf8_lossy(text)),
                    );
                }
                (Err(expected), Err(got)) => assert_eq!(expected.kind, got.kind),
                _ => panic!("piece {piece} threads {threads}: {:?}", String::from_utf8_lossy(text)),
            }
        }
    }
}

#[test]
fn every_cut_of_the_file_gives_the_same() {
    let text = sample();
    let expected = whole(&read(&text));
    assert_eq!(notes(&read(&text))[0], "empty-event info 10");
    for piece in (1..100).chain((100..text.len()).step_by(step(7))) {
        let got = whole(&read_with(&text, &options(1 + piece % 3, piece)).unwrap());
        assert_same(&expected, &got, &format!("piece {piece}"));
    }
}

#[test]
fn truncation_keeps_whole_events() {
    let text = sample();
    let all = read(&text).facts.events_stored;
    let mut before = 0;
    for cut in (0..text.len() - 1).step_by(step(3)).chain([text.len() - 1]) {
        let Ok(store) = read_with(&text.as_bytes()[..cut], &options(1, 97)) else {
            assert!(cut < 43);
            continue;
        };
        let (_, stored, _, _) = counts(&store);
        assert!(stored >= before && stored <= all, "cut {cut}: {stored} after {before}");
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
    let every = ["\u{0}", "]", "{", "\"", "}", "[[", "garbage, \"x"];
    for (number, at) in (43..text.len()).step_by(3).enumerate() {
        for damage in every.iter().skip(number % step(every.len())).step_by(step(every.len())) {
            let damaged = [&text.as_bytes()[..at], damage.as_bytes(), &text.as_bytes()[at + 1..]].concat();
            let store = read_with(&damaged, &options(2, 777)).unwrap();
            let (_, stored, ..) = counts(&store);
            assert!(stored + 4 >= all, "{stored} of {all} at {at}: {damage}, {:?}", notes(&store));
        }
    }
}

#[test]
fn false_starts_do_not_take_quadratic_time() {
    // 1 MB each: quadratic time would be many minutes.
    for unit in [
        "{\"args\":", "{\"ph\":\"X\",", "{", "{\"ph\":\"X\",\"a\":{\"b\":", ",{\"", "{\"a\":[",
        "{\"a\":\"\\\"",
    ] {
        let text = format!("[x{}", unit.repeat((1 << 20) / unit.len()));
        let store = read_with(&text, &options(1, 1 << 20)).unwrap();
        assert_eq!(counts(&store).1, 0, "{unit}");
    }
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
        options.extra.insert("event_bytes".to_owned(), "4000".to_owned());
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
        crate::decode("chrome_trace", &Input::bytes(bytes.to_vec(), Codec::Gzip), &options(2, 1000)).unwrap()
    };
    assert_eq!(whole(&decode(&packed)).0, whole(&read(&text)).0);
    let cut = decode(&packed[..packed.len() / 2]);
    assert!(cut.facts.events_stored > 0);
    assert!(notes(&cut).contains(&"truncated-input missing 0".to_owned()), "{:?}", notes(&cut));
}

/// Events with known faults, to be put together at random.
fn fragments() -> impl Strategy<Value = String> {
    let event = prop_oneof![
        Just(r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":1.5,"dur":2}"#.to_owned()),
        Just(
            r#"{"ph": "X", "ts": 1e-3, "dur": "7", "args": {"a": {"b": [1, NaN,]}, "step_num": 3}}"#
                .to_owned()
        ),
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
        prop::collection::vec((event, prop_oneof![4 => Just(","), 1 => Just(""), 1 => Just("\n")]), 0..12),
        0_u8..4,
    )
        .prop_map(|(events, form)| {
            let inside: String = events.iter().map(|(event, comma)| format!("{event}{comma}")).collect();
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
