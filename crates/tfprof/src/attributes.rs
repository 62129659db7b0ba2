//! Attributes of nodes, kept as they were written: most are small and few are ever asked for.

use stepscope_core::proto::wire::{Field, Fields};
use stepscope_core::proto::wire_writer::MessageWriter;

/// Field of a `ProfileNode` that holds its attributes.
const ATTRS: u32 = 11;

/// Attributes of a node, in the wire format of a `ProfileNode`.
#[derive(Debug, Clone, Default)]
pub struct Attributes(Box<[u8]>);

impl Attributes {
    /// Keeps `AttrValue`s by name.
    pub fn new<'a>(values: impl Iterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut all = MessageWriter::default();
        for (name, value) in values {
            let mut entry = MessageWriter::default();
            entry.text(1, name);
            entry.bytes(2, value);
            all.message(ATTRS, entry);
        }
        Attributes(all.into_bytes().into())
    }

    /// All of them, as fields of a `ProfileNode`.
    pub fn fields(&self) -> &[u8] {
        &self.0
    }

    /// The `AttrValue` of a name.
    fn value(&self, name: &str) -> Option<&[u8]> {
        let mut found = None;
        for entry in Fields::new(&self.0, 0).flatten() {
            let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
            for part in entry.message().into_iter().flatten().flatten() {
                match part.number {
                    1 => key = part.bytes().unwrap_or_default(),
                    2 => value = part.bytes().unwrap_or_default(),
                    _ => {}
                }
            }
            if key == name.as_bytes() {
                found = Some(value);
            }
        }
        found
    }

    /// The last field of an attribute that has the wanted number: values are one of a kind.
    fn field(&self, name: &str, number: u32) -> Option<Field<'_>> {
        let known = |field: &Field<'_>| (1..=10).contains(&field.number);
        let fields = Fields::new(self.value(name)?, 0).flatten();
        fields.filter(known).last().filter(|field| field.number == number)
    }

    /// Whether it is there at all.
    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.field(name, 2)?.text().map(|text| text.into_owned())
    }

    /// Bytes, which may be a message.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.field(name, 2)?.bytes()
    }

    /// A number.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.field(name, 3)?.i64()
    }

    /// A truth; what is missing is false, as proto3 has it.
    pub fn truth(&self, name: &str) -> bool {
        self.field(name, 5).and_then(|field| field.bool()).unwrap_or_default()
    }

    /// The fields of a list that have the number of its kind.
    fn list(&self, name: &str, number: u32) -> impl Iterator<Item = Field<'_>> {
        let list = self.field(name, 1).and_then(|list| list.message());
        let parts = list.into_iter().flatten().flatten();
        parts.filter(move |part| part.number == number)
    }

    /// A list of numbers.
    pub fn ints(&self, name: &str) -> Vec<i64> {
        self.list(name, 3)
            .flat_map(|part| part.varints().flatten().collect::<Vec<_>>())
            .map(|number| number as i64)
            .collect()
    }

    /// A list of texts.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.list(name, 2).filter_map(|part| part.text().map(|text| text.into_owned())).collect()
    }

    /// A shape, as a `TensorShapeProto`.
    pub fn shape(&self, name: &str) -> Option<&[u8]> {
        self.field(name, 7)?.bytes()
    }

    /// A list of shapes.
    pub fn shapes(&self, name: &str) -> Vec<Option<&[u8]>> {
        self.list(name, 7).map(|part| part.bytes()).collect()
    }

    /// A tensor, as a `TensorProto`.
    pub fn tensor(&self, name: &str) -> Option<&[u8]> {
        self.field(name, 8)?.bytes()
    }
}
