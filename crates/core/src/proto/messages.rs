//! What the tables of protocol buffer messages are made of. `tensorflow.rs` holds those of TensorFlow.
//!
//! One table serves both encodings: the text reader takes names and kinds from it, the wire walker
//! takes the numbers, and both stop at the same places. Generated structs (prost) would not do: they
//! need a message whole in memory, refuse it whole where one field is damaged, and cannot read text.

pub use super::tensorflow::{
    DATA_TYPES, DEVICE_STEP_STATS, GRAPH_DEF, META_GRAPH_DEF, PROFILE_PROTO, RUN_METADATA, SAVED_MODEL,
    STEP_STATS,
};

/// A message type.
#[derive(Debug)]
pub struct Message {
    /// Name of the type, without its package and without the message that it is declared in.
    pub name: &'static str,
    /// True when readers walk into it field by field, so that it may be larger than memory.
    pub container: bool,
    /// Fields, in the order in which they are declared.
    pub fields: &'static [Field],
}

/// A field of a message.
#[derive(Debug)]
pub struct Field {
    /// Number on the wire.
    pub number: u32,
    /// Name in text.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether it may occur more than once, and so may be packed.
    pub repeated: bool,
}

/// What a field holds.
#[derive(Debug)]
pub enum Kind {
    /// Any of the integer types that are varints on the wire.
    Int,
    /// A boolean.
    Bool,
    /// 32-bit floating point.
    Float,
    /// 64-bit floating point.
    Double,
    /// UTF-8 text.
    Text,
    /// Bytes.
    Bytes,
    /// An enumeration: its names and numbers; without any when nobody reads it.
    Enum(&'static [(&'static str, i32)]),
    /// A message that is described here.
    Message(&'static Message),
    /// A message that no reader looks into.
    Unread,
}

impl Message {
    /// The field with this number.
    pub fn by_number(&self, number: u32) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.number == number)
    }

    /// True for a number beyond those of all fields: a field of a newer version, if of this message at all.
    pub fn is_newer(&self, number: u32) -> bool {
        self.fields.iter().all(|field| field.number < number)
    }
}

/// Statics of messages, each written as `NAME "Name" container [fields]`.
macro_rules! messages {
    ($($constant:ident $name:literal $container:literal [$($field:expr,)*])*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub static $constant: Message =
                Message { name: $name, container: $container, fields: &[$($field),*] };
        )*
    };
}
pub(super) use messages;

/// What a field holds that has a message of its own.
pub const fn message(table: &'static Message) -> Kind {
    Kind::Message(table)
}

/// A field that occurs once.
pub const fn one(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, repeated: false }
}

/// A field that may be repeated.
pub const fn many(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind, repeated: true }
}

/// Name of an element type; `DT_<n>` for one that is newer than this table.
pub fn data_type_name(number: i64) -> std::borrow::Cow<'static, str> {
    match DATA_TYPES.iter().find(|entry| i64::from(entry.1) == number) {
        Some(entry) => entry.0.into(),
        None => format!("DT_{number}").into(),
    }
}
