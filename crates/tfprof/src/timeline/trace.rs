//! A Chrome trace, written as TensorFlow writes it.

use std::fmt::Write as _;

/// A trace that is being written; flows and counters come last.
#[derive(Default)]
pub struct Trace {
    slices: Vec<String>,
    rest: Vec<String>,
}

/// A text as JSON, in ASCII.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(letter),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}

impl Trace {
    /// The name of a process.
    pub fn process(&mut self, name: &str, pid: i64) {
        let name = quoted(name);
        let event = format!(r#"{{"args":{{"name":{name}}},"name":"process_name","ph":"M","pid":{pid}}}"#);
        self.slices.push(event);
    }

    /// A slice.
    pub fn slice(&mut self, args: &str, name: &str, pid: i64, tid: i64, ts: i64, dur: i64) {
        self.slices.push(format!(
            r#"{{"args":{{{args}}},"cat":"Op","dur":{dur},"name":{name},"ph":"X","pid":{pid},"tid":{tid},"ts":{ts}}}"#
        ));
    }

    /// An end of an arrow.
    pub fn flow(&mut self, phase: &str, name: &str, id: i64, pid: i64, tid: i64, ts: i64) {
        self.rest.push(format!(
            r#"{{"cat":"DataFlow","id":{id},"name":{name},"ph":"{phase}","pid":{pid},"tid":{tid},"ts":{ts}}}"#
        ));
    }

    /// A point of a counter.
    pub fn counter(&mut self, args: &str, name: &str, pid: i64, ts: i64) {
        self.rest.push(format!(
            r#"{{"args":{{{args}}},"cat":"Memory","name":"{name}","ph":"C","pid":{pid},"tid":0,"ts":{ts}}}"#
        ));
    }

    /// The whole trace.
    pub fn bytes(self) -> Vec<u8> {
        let events: Vec<String> = self.slices.into_iter().chain(self.rest).collect();
        format!("{{\"traceEvents\":[{}]}}\n", events.join(",")).into_bytes()
    }
}
