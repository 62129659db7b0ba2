//! Writes profiles in the format of the pprof project (profile.proto), which `go tool pprof`, speedscope and
//! others open.

use super::wire_writer::MessageWriter;
use rustc_hash::FxHashMap;

/// A profile that is being written. The caller chooses the ids of functions and locations, from 1.
///
/// Texts are numbered in the order in which they are first given; number 0 is the empty text.
#[derive(Debug)]
pub struct Profile {
    numbers: FxHashMap<String, u64>,
    texts: MessageWriter,
    kinds: MessageWriter,
    samples: MessageWriter,
    locations: MessageWriter,
    functions: MessageWriter,
}

/// A function. Texts are numbers of [`Profile::text`]; 0 for what is unknown.
#[derive(Debug, Default, Clone, Copy)]
#[allow(missing_docs)]
pub struct Function {
    pub id: u64,
    pub name: u64,
    pub system_name: u64,
    pub file: u64,
    pub first_line: i64,
}

/// What a profile says about itself as a whole; 0 for what is unknown.
#[derive(Debug, Default, Clone, Copy)]
pub struct About {
    /// When it begins.
    pub start_unix_ns: i64,
    /// How long it is.
    pub span_ns: i64,
    /// Number of the text of a comment.
    pub comment: u64,
    /// Number of the text of the kind of value that is shown first.
    pub default_kind: u64,
}

impl Default for Profile {
    fn default() -> Self {
        let mut profile = Profile {
            numbers: FxHashMap::default(),
            texts: MessageWriter::default(),
            kinds: MessageWriter::default(),
            samples: MessageWriter::default(),
            locations: MessageWriter::default(),
            functions: MessageWriter::default(),
        };
        profile.text("");
        profile
    }
}

impl Profile {
    /// Number of a text.
    pub fn text(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.numbers.len() as u64;
        self.numbers.insert(text.to_owned(), number);
        self.texts.bytes(6, text.as_bytes());
        number
    }

    /// A kind of value that every sample has, and its unit.
    pub fn kind(&mut self, kind: &str, unit: &str) {
        let mut message = MessageWriter::default();
        message.number(1, self.text(kind));
        message.number(2, self.text(unit));
        self.kinds.message(1, message);
    }

    /// A sample: its locations from the leaf up, a value of each kind, and labels as numbers of the texts of
    /// key and value.
    pub fn sample(
        &mut self,
        locations: impl IntoIterator<Item = u64>,
        values: impl IntoIterator<Item = i64>,
        labels: impl IntoIterator<Item = (u64, u64)>,
    ) {
        let mut message = MessageWriter::default();
        message.packed(1, locations);
        message.packed(2, values.into_iter().map(|value| value as u64));
        for (key, text) in labels {
            let mut label = MessageWriter::default();
            label.number(1, key);
            label.number(2, text);
            message.message(3, label);
        }
        self.samples.message(2, message);
    }

    /// A line of a function.
    pub fn location(&mut self, id: u64, function: u64, line: i64) {
        let mut at = MessageWriter::default();
        at.number(1, function);
        at.int(2, line);
        let mut message = MessageWriter::default();
        message.number(1, id);
        message.message(4, at);
        self.locations.message(4, message);
    }

    /// A function.
    pub fn function(&mut self, function: Function) {
        let mut message = MessageWriter::default();
        message.number(1, function.id);
        message.number(2, function.name);
        message.number(3, function.system_name);
        message.number(4, function.file);
        message.int(5, function.first_line);
        self.functions.message(5, message);
    }

    /// The bytes of the profile, not compressed.
    pub fn finish(self, about: About) -> Vec<u8> {
        let mut profile = self.kinds;
        for part in [self.samples, self.locations, self.functions, self.texts] {
            profile.raw(&part.into_bytes());
        }
        profile.int(9, about.start_unix_ns);
        profile.int(10, about.span_ns);
        profile.packed(13, (about.comment != 0).then_some(about.comment));
        profile.number(14, about.default_kind);
        profile.into_bytes()
    }
}
