//! Walks through a message that may be larger than memory, along the tables of [`crate::proto::messages`].
//!
//! Containers are entered field by field; every other field comes whole, at most [`UNIT_LIMIT`]
//! bytes, and is checked to the bottom before it is handed on. The text reader
//! ([`crate::proto::text`]) calls the same visitor with the same bytes.

use crate::error::Result;
use crate::proto::messages::{Kind as Type, Message};
use crate::proto::stream::Source;
use crate::proto::wire;
use std::io::Read;

/// Largest field that is read whole; larger ones are skipped and reported as broken.
pub const UNIT_LIMIT: u64 = 512 << 20;
/// Messages nest this deep at most, as in protobuf itself.
pub const DEPTH_LIMIT: usize = 100;
pub(crate) const CHUNK_BYTES: usize = 1 << 18;

/// What a field of a container holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// A number.
    Varint(u64),
    /// Text, bytes or a whole message in wire format.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The bytes; empty for a number.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Value::Varint(_) => &[],
            Value::Bytes(bytes) => bytes,
        }
    }
}

/// Takes what a walk finds. `number` is the field's number in `container`, `offset` its place.
pub trait Visitor {
    /// A container begins in field `number` of the one around it.
    fn enter(&mut self, _container: &'static Message, _number: u32, _offset: u64) -> Result<()> {
        Ok(())
    }
    /// The innermost container ends, whole or cut.
    fn leave(&mut self, _container: &'static Message) -> Result<()> {
        Ok(())
    }
    /// A field of the innermost container.
    fn field(
        &mut self,
        container: &'static Message,
        number: u32,
        value: Value<'_>,
        offset: u64,
    ) -> Result<()>;
    /// The field that comes next holds text that is not UTF-8; protobuf refuses it, we repair it.
    fn flawed(&mut self, container: &'static Message, number: u32, offset: u64) -> Result<()>;
    /// A field of the innermost container that could not be read; the walk goes on if it can.
    fn broken(
        &mut self,
        container: &'static Message,
        number: u32,
        offset: u64,
        seen: &str,
    ) -> Result<()>;
}

/// Where a walk had to stop before the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the first thing that could not be read.
    pub offset: u64,
    /// What is wrong with it.
    pub seen: String,
}

impl Damage {
    /// Half a sentence about it: that nothing behind it could be read.
    pub fn ends(&self) -> String {
        format!(
            "nothing behind byte {} could be read: {}",
            self.offset, self.seen
        )
    }
}

/// How a walk ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walked {
    /// Damage that ended it early.
    pub damage: Option<Damage>,
    /// Fields that belong to no known message, or have another wire type than it says.
    pub unknown_fields: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// Walks through the message of type `root` that `read` gives. `base` is the offset of its first byte.
///
/// Fails only where reading fails or the visitor does; damage is part of the result.
pub fn walk(
    read: &mut dyn Read,
    root: &'static Message,
    base: u64,
    visitor: &mut dyn Visitor,
) -> Result<Walked> {
    let mut walk = Walk {
        source: Source::new(read, base),
        open: vec![(root, u64::MAX)],
        walked: Walked::default(),
    };
    visitor.enter(root, 0, base)?;
    let damage = walk.run(visitor)?;
    while let Some((container, _)) = walk.open.pop() {
        visitor.leave(container)?;
    }
    walk.walked.bytes = walk.source.offset() - base;
    walk.walked.damage = damage.or(walk.source.cut);
    Ok(walk.walked)
}

struct Walk<'a> {
    source: Source<'a>,
    /// Containers around the cursor, each with the offset of its end.
    open: Vec<(&'static Message, u64)>,
    walked: Walked,
}

impl Walk<'_> {
    fn run(&mut self, visitor: &mut dyn Visitor) -> Result<Option<Damage>> {
        loop {
            while let Some(&(container, end)) = self.open.last()
                && self.source.offset() == end
            {
                self.open.pop();
                visitor.leave(container)?;
            }
            let Some(&(container, end)) = self.open.last() else {
                return Ok(None);
            };
            let offset = self.source.offset();
            // A tag and a length take ten bytes, a tag and a number fifteen.
            let ahead = self.source.peek(20)?;
            if ahead.is_empty() {
                return Ok((end != u64::MAX).then(|| cut(offset, container.name)));
            }
            let left = usize::try_from(end - offset).unwrap_or(usize::MAX);
            let ahead = &ahead[..ahead.len().min(left)];
            let mut at = 0;
            let (number, wire_type) = match wire::tag(ahead, &mut at) {
                Ok(tag) => tag,
                Err(seen) => {
                    return Ok(Some(Damage {
                        offset,
                        seen: seen.into(),
                    }));
                }
            };
            let field = container.by_number(number);
            match (wire_type, field.map(|field| &field.kind)) {
                (0, kind) => {
                    let Some(value) = wire::varint(ahead, &mut at) else {
                        return Ok(Some(Damage {
                            offset,
                            seen: "a number that is cut short or too long".into(),
                        }));
                    };
                    self.source.consume(at);
                    if matches!(kind, Some(Type::Int | Type::Bool | Type::Enum(_))) {
                        visitor.field(container, number, Value::Varint(value), offset)?;
                    } else {
                        self.walked.unknown_fields += 1;
                    }
                }
                (2, kind) => {
                    let before = at;
                    let length = wire::varint(ahead, &mut at);
                    let Some(length) = length.filter(|n| wire::plausible_length(*n, at - before))
                    else {
                        return Ok(Some(Damage {
                            offset,
                            seen: "a length that is cut short or too long".into(),
                        }));
                    };
                    if length > end - offset - at as u64 {
                        let seen = "a field that reaches past the end of what holds it";
                        if !matches!(kind, None | Some(Type::Unread)) {
                            visitor.broken(container, number, offset, seen)?;
                        }
                        return Ok(Some(Damage {
                            offset,
                            seen: seen.into(),
                        }));
                    }
                    self.source.consume(at);
                    match kind {
                        Some(Type::Message(inner)) if inner.container => {
                            if self.open.len() >= DEPTH_LIMIT {
                                return Ok(Some(Damage {
                                    offset,
                                    seen: "messages nested too deep".into(),
                                }));
                            }
                            visitor.enter(inner, number, offset)?;
                            self.open.push((inner, self.source.offset() + length));
                        }
                        Some(Type::Message(_) | Type::Text | Type::Bytes) => {
                            if let Some(damage) =
                                self.unit(container, number, offset, length, visitor)?
                            {
                                return Ok(Some(damage));
                            }
                        }
                        other => {
                            self.walked.unknown_fields +=
                                u64::from(!matches!(other, Some(Type::Unread)));
                            if !self.source.skip(length)? {
                                return Ok(Some(cut(offset, container.name)));
                            }
                        }
                    }
                }
                (1, _) | (5, _) => {
                    let size = if wire_type == 1 { 8 } else { 4 };
                    if ahead.len() < at + size {
                        return Ok(Some(Damage {
                            offset,
                            seen: "a fixed number that is cut short".into(),
                        }));
                    }
                    self.source.consume(at + size);
                    self.walked.unknown_fields += 1;
                }
                // Groups are as old as protobuf and in none of these messages; a short one is skipped.
                _ => {
                    let ahead = self.source.peek(CHUNK_BYTES.min(left))?;
                    let ahead = &ahead[..ahead.len().min(left)];
                    if let Err(seen) = wire::skip(ahead, &mut at, number, wire_type) {
                        return Ok(Some(Damage {
                            offset,
                            seen: seen.into(),
                        }));
                    }
                    self.source.consume(at);
                    self.walked.unknown_fields += 1;
                }
            }
        }
    }

    /// Reads a field whole, checks it, hands it on. Damage is returned when nothing can follow.
    fn unit(
        &mut self,
        container: &'static Message,
        number: u32,
        offset: u64,
        length: u64,
        visitor: &mut dyn Visitor,
    ) -> Result<Option<Damage>> {
        if length > UNIT_LIMIT {
            visitor.broken(
                container,
                number,
                offset,
                "a field too large to be read whole",
            )?;
            let whole = self.source.skip(length)?;
            return Ok((!whole).then(|| cut(offset, container.name)));
        }
        let bytes = self.source.peek(length as usize)?;
        if (bytes.len() as u64) < length {
            visitor.broken(container, number, offset, "the file ends inside it")?;
            return Ok(Some(cut(offset, container.name)));
        }
        let bytes = &bytes[..length as usize];
        let checked = match container.by_number(number).map(|field| &field.kind) {
            Some(Type::Message(message)) => check(message, bytes, self.open.len()),
            Some(Type::Text) => Ok(Checked {
                unknown_fields: 0,
                flawed: std::str::from_utf8(bytes).is_err(),
            }),
            _ => Ok(Checked::default()),
        };
        match checked {
            Ok(checked) => {
                self.walked.unknown_fields += checked.unknown_fields;
                if checked.flawed {
                    visitor.flawed(container, number, offset)?;
                }
                visitor.field(container, number, Value::Bytes(bytes), offset)?;
            }
            Err(seen) => visitor.broken(container, number, offset, seen)?,
        }
        self.source.consume(length as usize);
        Ok(None)
    }
}

fn cut(offset: u64, name: &str) -> Damage {
    Damage {
        offset,
        seen: format!("the file ends inside a {name}"),
    }
}

/// What there is to say of a message that is whole.
#[derive(Debug, Default, Clone, Copy)]
pub struct Checked {
    /// Fields that its table does not know.
    pub unknown_fields: u64,
    /// Whether text in it is not UTF-8.
    pub flawed: bool,
}

/// Checks a message to the bottom, as a protobuf parser that knows it would.
pub fn check(
    message: &Message,
    bytes: &[u8],
    depth: usize,
) -> std::result::Result<Checked, &'static str> {
    if depth > DEPTH_LIMIT {
        return Err("messages nested too deep");
    }
    let mut at = 0;
    let mut all = Checked::default();
    while at < bytes.len() {
        let (number, wire_type) = wire::tag(bytes, &mut at)?;
        if wire_type != 2 {
            wire::skip(bytes, &mut at, number, wire_type)?;
            all.unknown_fields += u64::from(message.by_number(number).is_none());
            continue;
        }
        let length = wire::length(bytes, &mut at)?;
        let body = &bytes[at..at + length];
        at += length;
        let Some(field) = message.by_number(number) else {
            all.unknown_fields += 1;
            continue;
        };
        match field.kind {
            Type::Message(inner) => {
                let inner = check(inner, body, depth + 1)?;
                all.unknown_fields += inner.unknown_fields;
                all.flawed |= inner.flawed;
            }
            Type::Text => all.flawed |= std::str::from_utf8(body).is_err(),
            Type::Int | Type::Bool | Type::Enum(_) if field.repeated => {
                let mut at = 0;
                while at < body.len() {
                    wire::varint(body, &mut at)
                        .ok_or("a packed number that is cut short or too long")?;
                }
            }
            Type::Float if field.repeated && length % 4 != 0 => return Err(PACKED),
            Type::Double if field.repeated && length % 8 != 0 => return Err(PACKED),
            _ => {}
        }
    }
    Ok(all)
}

const PACKED: &str = "packed numbers of a broken length";
