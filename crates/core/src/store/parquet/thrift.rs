//! Thrift's compact protocol, as far as Parquet's metadata needs it to be written.

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
/// Kind of the items of a list of enums.
pub const I32: u8 = 5;
const I64: u8 = 6;
/// Kind of the items of a list of texts.
pub const BINARY: u8 = 8;
const LIST: u8 = 9;
/// Kind of the items of a list of structs.
pub const STRUCT: u8 = 12;

/// A struct being written. Fields must come in the order of their numbers.
#[derive(Debug)]
pub struct Thrift {
    out: Vec<u8>,
    last: Vec<i16>,
}

/// Appends a number of 7 bits a byte, lowest first.
pub fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A signed number so that small ones are short whatever their sign.
pub fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

impl Thrift {
    /// An empty struct.
    pub fn new() -> Thrift {
        Thrift {
            out: Vec::new(),
            last: vec![0],
        }
    }

    fn field(&mut self, id: i16, kind: u8) {
        let last = self.last.last_mut();
        let before = last.map_or(0, |last| std::mem::replace(last, id));
        let step = id - before;
        if (1..=15).contains(&step) {
            self.out.push((step as u8) << 4 | kind);
        } else {
            self.out.push(kind);
            varint(&mut self.out, zigzag(i64::from(id)));
        }
    }

    /// A number of 8 bits.
    pub fn i8(&mut self, id: i16, value: i8) {
        self.field(id, BYTE);
        self.out.push(value as u8);
    }

    /// A number of 16 bits.
    pub fn i16(&mut self, id: i16, value: i16) {
        self.field(id, I16);
        varint(&mut self.out, zigzag(i64::from(value)));
    }

    /// A number of 32 bits, or an enum.
    pub fn i32(&mut self, id: i16, value: i32) {
        self.field(id, I32);
        varint(&mut self.out, zigzag(i64::from(value)));
    }

    /// A number of 64 bits.
    pub fn i64(&mut self, id: i16, value: i64) {
        self.field(id, I64);
        varint(&mut self.out, zigzag(value));
    }

    /// A truth.
    pub fn flag(&mut self, id: i16, value: bool) {
        self.field(id, if value { TRUE } else { FALSE });
    }

    /// Bytes or a text.
    pub fn bytes(&mut self, id: i16, value: &[u8]) {
        self.field(id, BINARY);
        self.item_bytes(value);
    }

    /// Begins a struct in a field; [`Thrift::end`] ends it.
    pub fn begin(&mut self, id: i16) {
        self.field(id, STRUCT);
        self.last.push(0);
    }

    /// Ends a struct.
    pub fn end(&mut self) {
        self.last.pop();
        self.out.push(0);
    }

    /// Begins a list; so many items of that kind must follow.
    pub fn list(&mut self, id: i16, kind: u8, items: usize) {
        self.field(id, LIST);
        if items < 15 {
            self.out.push((items as u8) << 4 | kind);
        } else {
            self.out.push(0xf0 | kind);
            varint(&mut self.out, items as u64);
        }
    }

    /// An item of a list of enums.
    pub fn item_i32(&mut self, value: i32) {
        varint(&mut self.out, zigzag(i64::from(value)));
    }

    /// An item of a list of texts.
    pub fn item_bytes(&mut self, value: &[u8]) {
        varint(&mut self.out, value.len() as u64);
        self.out.extend_from_slice(value);
    }

    /// Begins an item of a list of structs; [`Thrift::end`] ends it.
    pub fn item(&mut self) {
        self.last.push(0);
    }

    /// The bytes of the finished struct.
    pub fn finish(mut self) -> Vec<u8> {
        self.out.push(0);
        self.out
    }
}
