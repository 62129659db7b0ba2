//! The text reader against the wire walker: the same visits for the same message.

use std::io::Read;
use std::path::Path;
use stepscope_core::error::Result;
use stepscope_core::proto::messages::{GRAPH_DEF, Kind as Type, Message, RUN_METADATA};
use stepscope_core::proto::text::walk_text;
use stepscope_core::proto::walk::{Place, Value, Visitor, Walked, walk};
use stepscope_core::proto::wire;

/// Writes down its visits, with nested messages unfolded so that padded lengths do not show.
#[derive(Default)]
struct Diary(Vec<String>);

/// Fields sorted, because maps have no order, and packed numbers unpacked.
fn unfold(message: &Message, bytes: &[u8]) -> String {
    let mut out = Vec::new();
    for field in wire::Fields::new(bytes, 0) {
        let field = field.expect("what a visitor gets is whole");
        let known = message.by_number(field.number);
        match (known.map(|known| &known.kind), field.value) {
            (Some(Type::Message(inner)), wire::Value::Bytes(bytes)) => {
                out.push(format!("{}:{}", field.number, unfold(inner, bytes)));
            }
            (Some(Type::Int | Type::Enum(_) | Type::Bool), _) => {
                out.extend(field.varints().map(|number| format!("{}:{number:?}", field.number)));
            }
            (_, value) => out.push(format!("{}:{value:?}", field.number)),
        }
    }
    out.sort();
    format!("{{{}}}", out.join(" "))
}

impl Visitor for Diary {
    fn enter(&mut self, container: &'static Message, number: u32, _: u64) -> Result<()> {
        self.0.push(format!("enter {} {number}", container.name));
        Ok(())
    }
    fn leave(&mut self, container: &'static Message) -> Result<()> {
        self.0.push(format!("leave {}", container.name));
        Ok(())
    }
    fn field(&mut self, Place { container, number, .. }: Place, value: Value<'_>) -> Result<()> {
        let shown = match (container.by_number(number).map(|field| &field.kind), value) {
            (Some(Type::Message(inner)), Value::Bytes(bytes)) => unfold(inner, bytes),
            (_, value) => format!("{value:?}"),
        };
        self.0.push(format!("{} {number} {shown}", container.name));
        Ok(())
    }
    fn flawed(&mut self, _: Place) -> Result<()> {
        Ok(())
    }
    fn broken(&mut self, Place { container, number, .. }: Place, _: &str) -> Result<()> {
        self.0.push(format!("broken {} {number}", container.name));
        Ok(())
    }
}

/// Gives a few bytes at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = out.len().min(self.1).min(self.0.len());
        out[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

fn read_text(text: &[u8], root: &'static Message) -> (Vec<String>, Walked) {
    let mut diary = Diary::default();
    let walked = walk_text(&mut { text }, root, 0, &mut diary).expect("memory can be read");
    (diary.0, walked)
}

fn sample(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples").join(name);
    std::fs::read(path).expect("the sample is in the repository")
}

#[test]
fn text_and_binary_tell_the_same() {
    for (text, binary, root) in [
        ("run_metadata/xla_cluster.pbtxt", "run_metadata/xla_cluster.pb", &RUN_METADATA),
        ("graph/small.pbtxt", "graph/small.pb", &GRAPH_DEF),
    ] {
        let (visits, walked) = read_text(&sample(text), root);
        assert_eq!((walked.damage, walked.unknown_fields), (None, 0));
        let mut diary = Diary::default();
        let walked = walk(&mut &sample(binary)[..], root, 0, &mut diary).unwrap();
        assert_eq!((walked.damage, walked.unknown_fields), (None, 0));
        assert_eq!(visits, diary.0);
    }
}

#[test]
fn any_piecing_gives_the_same() {
    let text = sample("run_metadata/xla_cluster.pbtxt");
    let whole = read_text(&text, &RUN_METADATA).0;
    for piece in [1, 2, 3, 7, 4096] {
        let mut diary = Diary::default();
        walk_text(&mut Trickle(&text, piece), &RUN_METADATA, 0, &mut diary).unwrap();
        assert_eq!(diary.0, whole, "{piece} bytes at a time");
    }
}

#[test]
fn every_way_of_writing_is_one_message() {
    let plain = r#"node { name: "a" op: "Const" input: "x" input: "y" attr { key: "T" value { type: DT_FLOAT } } }
        versions { producer: 27 }"#;
    let (visits, walked) = read_text(plain.as_bytes(), &GRAPH_DEF);
    assert_eq!(walked.damage, None);
    for other in [
        "node<name:'a' op:\"Con\" 'st' input:['x',\"y\"] attr<key:'T',value<type:1>>>;versions:{producer:0x1B}",
        "# a comment\nnode: { name: \"\\x61\"; op: \"C\\157n\\u0073t\", input: \"x\" # another\n input : [ \"y\" ] \
         attr: [ { key: \"T\" value: { type: DT_FLOAT } } ] }, versions { producer: 033 } # no end of line",
        "node { name: \"a\" op: \"Const\" input: [\"x\"] input: \"y\" attr { key: \"T\" value { type: DT_FLOAT } }\
         attr []}versions{producer:27}",
    ] {
        let (also, walked) = read_text(other.as_bytes(), &GRAPH_DEF);
        assert_eq!(walked.damage, None, "{other}");
        assert_eq!(also, visits, "{other}");
    }
}

#[test]
fn scalars() {
    let value = |text: &str| {
        let text = format!("node {{ attr {{ value {{ {text} }} }} }}");
        let (visits, walked) = read_text(text.as_bytes(), &GRAPH_DEF);
        walked.damage.is_none().then(|| visits[1].clone())
    };
    for (text, same) in [
        ("i: -1", "i: -0x1"),
        ("i: - 9223372036854775808", "i: -01000000000000000000000"),
        ("f: 1.5", "f: 15e-1"),
        ("f: 1.5", "f: 0.15E+1f"),
        ("f: -inf", "f: -Infinity"),
        ("b: true", "b: t"),
        ("b: false", "b: 0"),
        (
            "s: \"\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\?\"",
            "s: '\\x07\\010\\014\\12\\015\\x9\\013\\\\\\x27\\\"?'",
        ),
        ("s: \"\\U0001F600\"", "s: \"\\360\\237\\230\\200\""),
    ] {
        assert!(value(text).is_some(), "{text}");
        assert_eq!(value(text), value(same), "{text} {same}");
    }
    for wrong in [
        "i: 1.5", "i: 9223372036854775808000", "i: -9223372036854775809", "i: \"1\"", "i: 08", "i: +5",
        "b: maybe", "s: text", "s: \"open", "s: \"line\nbreak\"", "s: \"\\q\"", "s: \"\\x\"",
        "s: \"\\ud800\"", "f: x1", "i 5", "i:", "shape: 5", "i: { }", "i: [[1]]", "s: \"a\" ] ",
    ] {
        assert_eq!(value(wrong), None, "{wrong}");
    }
}

#[test]
fn unknown_fields_are_skipped_and_counted() {
    let text = "later { a: 1 b { c: [1, 2] } } [some.extension] { x: \"}\" } node { name: \"a\" newer: <z: 1> } other: 5";
    let (visits, walked) = read_text(text.as_bytes(), &GRAPH_DEF);
    assert_eq!((walked.damage, walked.unknown_fields), (None, 4));
    assert_eq!(visits.len(), 3);
}

#[test]
fn damage_keeps_what_stood_before() {
    let text = b"node { name: \"a\" } node { name: \"b\" ! } node { name: \"c\" }";
    let (visits, walked) = read_text(text, &GRAPH_DEF);
    assert_eq!(walked.damage.map(|damage| damage.offset), Some(36));
    assert_eq!(visits[2..], ["broken GraphDef 1", "leave GraphDef"]);
    let (_, walked) = read_text(&"node{".repeat(1_000_000).into_bytes(), &GRAPH_DEF);
    assert!(walked.damage.is_some());
    let (_, walked) = read_text(&"x{".repeat(1_000_000).into_bytes(), &GRAPH_DEF);
    assert_eq!(walked.damage.map(|damage| damage.seen).as_deref(), Some("messages nested too deep"));
}

#[test]
fn text_survives_every_cut() {
    let text = sample("run_metadata/xla_cluster.pbtxt");
    let whole = read_text(&text, &RUN_METADATA).0;
    // The first tier of the tests, with few cases of each property, tries some of the cuts.
    let step = if proptest::test_runner::Config::default().cases < 1000 { 7 } else { 1 };
    for end in (0..text.len()).step_by(step) {
        let (visits, walked) = read_text(&text[..end], &RUN_METADATA);
        let kept = visits
            .iter()
            .take_while(|line| !line.starts_with("leave") && !line.starts_with("broken"))
            .count();
        assert_eq!(visits[..kept], whole[..kept], "{end}");
        // Whole again only between two fields of the outermost message.
        let opened = text[..end].iter().filter(|byte| **byte == b'{').count();
        let closed = text[..end].iter().filter(|byte| **byte == b'}').count();
        let behind = text[..end].rsplit(|byte| *byte == b'}').next().unwrap_or_default();
        let outside = opened == closed && behind.trim_ascii().is_empty();
        assert_eq!(walked.damage.is_none(), outside, "{end}");
    }
}
