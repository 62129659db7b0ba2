use super::*;
use proptest::prelude::*;

/// Reads one value of `text` followed by a blank, as within a container.
fn read(text: &str) -> (Result<Shape>, String, u16) {
    let text = format!("{text} ");
    let mut out = Vec::new();
    let mut cursor = Cursor::new(text.as_bytes(), 0);
    let mut minified = Minified::new(&mut out, 0, true);
    let shape = cursor.value(&mut minified);
    minified.finish(text.as_bytes(), cursor.pos);
    (shape, String::from_utf8(out).unwrap(), cursor.odd)
}

#[test]
fn accepts_and_minifies() {
    for (text, minified) in [
        ("{ }", "{}"),
        ("[ 1 , 2.5e-3,\t-0 ]", "[1,2.5e-3,-0]"),
        ("{\"a b\" : [ { } , \" x \\\" y \" ] , \"c\":null}", "{\"a b\":[{},\" x \\\" y \"],\"c\":null}"),
        ("[[],[[]],{\"a\":[true,false]}]", "[[],[[]],{\"a\":[true,false]}]"),
    ] {
        let (shape, out, odd) = read(text);
        assert!(shape.is_ok(), "{text}");
        assert_eq!(out, minified);
        assert_eq!(odd & REPAIR, 0);
    }
}

#[test]
fn repairs() {
    for (text, valid, flag) in [
        ("[NaN,-Infinity,Infinity]", "[\"NaN\",\"-Infinity\",\"Infinity\"]", NOT_FINITE),
        ("{\"a\":[1,2,],}", "{\"a\":[1,2]}", TRAILING_COMMA),
        ("[\"\\ud800\"]", "[\"\u{fffd}\"]", SURROGATE),
        ("[\"\\ud83d\\ude00\"]", "[\"\u{1f600}\"]", SURROGATE),
        ("[\"a\tb\"]", "[\"a\\tb\"]", CONTROL),
        ("[\"C:\\_x\\u12\"]", "[\"C:\\\\_x\\\\u12\"]", BAD_ESCAPE),
    ] {
        let (shape, out, odd) = read(text);
        assert!(shape.is_ok(), "{text}");
        assert_eq!(odd & REPAIR, flag, "{text}");
        let mut repaired = Vec::new();
        write_valid(out.as_bytes(), &mut repaired);
        assert_eq!(String::from_utf8(repaired).unwrap(), valid);
    }
}

#[test]
fn rejects() {
    for text in [
        "{\"a\" 1}", "{a:1}", "[1 2]", "[01]", "[+1]", "[.5]", "[1.]", "[1e]", "[-]", "[nul ]", "[}", "{]",
        "{,}", "[,]", "{\"a\":}", "{\"a\":1,,}", "{1:2}", "[1,,2]", "tru ", "[\"a\":1]", "[nan]", "[0x1]",
        "[1e+ ]",
    ] {
        assert_eq!(read(text).0, Err(Fault::Bad), "{text}");
    }
}

#[test]
fn every_prefix_of_good_json_asks_for_more() {
    let text = "{\"a\": [1.5e-7, -0.25, \"x\\u00e9\\n\", {\"b\": [true, null, NaN, -Infinity]}], \"\": {}, \"z\": false}";
    for cut in 0..text.len() {
        let mut cursor = Cursor::new(&text.as_bytes()[..cut], 0);
        let mut sink = Vec::new();
        assert_eq!(cursor.value(&mut Minified::new(&mut sink, 0, false)), Err(Fault::More), "{cut}");
    }
}

#[test]
fn a_million_brackets() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let text = open.repeat(1_000_000) + "1" + &close.repeat(1_000_000);
        let (shape, _, odd) = read(&text);
        assert!(shape.is_ok());
        assert_ne!(odd & DEEP, 0);
        assert_eq!(read(&text.replace('1', "")).0.is_ok(), open == "[");
    }
    let mixed = "[{\"k\":".repeat(200) + "0" + &"}]".repeat(200);
    assert!(read(&mixed).0.is_ok());
    let wrong = "[{\"k\":".repeat(200) + "0" + &"}]".repeat(100) + "]" + &"}]".repeat(99);
    assert_eq!(read(&wrong).0, Err(Fault::Bad));
}

#[test]
fn unescapes() {
    let mut out = Vec::new();
    assert!(!unescape(b"a\\n\\u00e9\\ud83d\\ude00\\/\\q", &mut out));
    assert_eq!(String::from_utf8(out).unwrap(), "a\n\u{e9}\u{1f600}/\\q");
    let mut out = Vec::new();
    assert!(unescape(b"\\udc00x\\ud800\\u0041\xff", &mut out));
    assert_eq!(String::from_utf8(out).unwrap(), "\u{fffd}x\u{fffd}A\u{fffd}");
}

proptest! {
    #[test]
    fn special_agrees_with_a_loop(data in proptest::collection::vec(any::<u8>(), 0..64), at in 0_usize..70) {
        let expected = (at..data.len()).find(|i| matches!(data[*i], b'"' | b'\\' | 0..0x20)).unwrap_or(at.max(data.len()));
        prop_assert_eq!(special(&data, at), expected);
    }

    #[test]
    fn any_bytes_end(data in proptest::collection::vec(proptest::sample::select(b"{}[]\",:\\u0dn1e.-NtI \n\xff\x01".to_vec()), 0..60)) {
        let mut out = Vec::new();
        let mut cursor = Cursor::new(&data, 0);
        let mut minified = Minified::new(&mut out, 0, true);
        if cursor.value(&mut minified).is_ok() {
            minified.finish(&data, cursor.pos);
            let mut valid = Vec::new();
            write_valid(&out, &mut valid);
            prop_assert!(std::str::from_utf8(&valid).is_ok());
            // What was repaired once needs no repair.
            valid.push(b' ');
            let mut again = Cursor::new(&valid, 0);
            let mut sink = Vec::new();
            prop_assert!(again.value(&mut Minified::new(&mut sink, 0, false)).is_ok());
            prop_assert_eq!(again.odd & REPAIR, 0);
        }
    }
}
