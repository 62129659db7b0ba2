//! Protocol Buffers, written.

/// A message that is being written. Numbers that are 0 are left out, as proto3 does.
#[derive(Debug, Default, Clone)]
pub struct MessageWriter(Vec<u8>);

impl MessageWriter {
    /// The bytes so far.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Text, bytes, or a message; also when it is empty.
    pub fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.varint(u64::from(number << 3 | 2));
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A text, unless it is empty.
    pub fn text(&mut self, number: u32, text: &str) {
        if !text.is_empty() {
            self.bytes(number, text.as_bytes());
        }
    }

    /// A message within; also when it is empty.
    pub fn message(&mut self, number: u32, inner: MessageWriter) {
        self.bytes(number, &inner.0);
    }

    /// A number, unless it is 0.
    pub fn number(&mut self, number: u32, value: u64) {
        if value != 0 {
            self.varint(u64::from(number << 3));
            self.varint(value);
        }
    }

    /// A signed number as int32 and int64 are written, unless it is 0.
    pub fn int(&mut self, number: u32, value: i64) {
        self.number(number, value as u64);
    }

    /// Repeated numbers in one field.
    pub fn packed(&mut self, number: u32, values: impl IntoIterator<Item = u64>) {
        let mut inner = MessageWriter::default();
        values.into_iter().for_each(|value| inner.varint(value));
        if !inner.0.is_empty() {
            self.bytes(number, &inner.0);
        }
    }

    /// What is in wire format already.
    pub fn raw(&mut self, fields: &[u8]) {
        self.0.extend_from_slice(fields);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::wire::{Fields, Value};

    #[test]
    fn what_is_written_can_be_read() {
        let mut inner = MessageWriter::default();
        inner.int(1, -5);
        inner.number(2, 0);
        let mut message = MessageWriter::default();
        message.text(1, "name");
        message.message(2, inner);
        message.packed(3, [1, 300]);
        let bytes = message.into_bytes();
        let fields: Vec<_> = Fields::new(&bytes, 0).map(Result::unwrap).collect();
        assert_eq!(fields[0].text().unwrap(), "name");
        let within: Vec<_> = fields[1].message().unwrap().map(Result::unwrap).collect();
        assert_eq!(within.len(), 1);
        assert_eq!(within[0].i64(), Some(-5));
        assert_eq!(fields[2].value, Value::Bytes(&[1, 0xac, 2]));
    }
}
