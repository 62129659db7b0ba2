//! Writes JSON values: what goes into the `args_json` columns.

use std::fmt::Write;

/// Appends a string with its quotes.
pub fn push_text(out: &mut String, text: &str) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            _ => _ = write!(out, "\\u{byte:04x}"),
        }
    }
    out.push_str(&text[from..]);
    out.push('"');
}

/// Appends a number; those that JSON lacks become strings.
pub fn push_f64(out: &mut String, value: f64) {
    _ = if value.is_finite() { write!(out, "{value:?}") } else { write!(out, "\"{}\"", special(value)) };
}

/// Appends a 32-bit number with no more digits than it has.
pub fn push_f32(out: &mut String, value: f32) {
    if value.is_finite() {
        _ = write!(out, "{value:?}");
    } else {
        push_f64(out, f64::from(value));
    }
}

fn special(value: f64) -> &'static str {
    match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}

/// Appends an integer.
pub fn push_i64(out: &mut String, value: i64) {
    _ = write!(out, "{value}");
}

/// An object under construction in a string.
pub struct Object<'a> {
    out: &'a mut String,
    start: usize,
}

impl<'a> Object<'a> {
    /// Begins an object at the end of `out`.
    pub fn begin(out: &'a mut String) -> Self {
        out.push('{');
        let start = out.len();
        Object { out, start }
    }

    /// Begins a member and returns where its value goes.
    pub fn key(&mut self, name: &str) -> &mut String {
        if self.out.len() > self.start {
            self.out.push(',');
        }
        push_text(self.out, name);
        self.out.push(':');
        self.out
    }

    /// Ends the object.
    pub fn end(self) {
        self.out.push('}');
    }

    /// Ends the object, or takes it back when it has no member.
    pub fn end_unless_empty(self) {
        if self.out.len() == self.start {
            self.out.pop();
        } else {
            self.out.push('}');
        }
    }
}

/// Appends an array; `push` appends one element.
pub fn push_array<T>(
    out: &mut String,
    items: impl IntoIterator<Item = T>,
    mut push: impl FnMut(&mut String, T),
) {
    out.push('[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push(out, item);
    }
    out.push(']');
}
