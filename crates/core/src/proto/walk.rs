//! Walks through a message that may be larger than memory, along the tables of [`crate::proto::messages`].
//!
//! Containers are entered field by field; every other field comes whole, at most [`UNIT_LIMIT`]
//! bytes, and is checked to the bottom before it is handed on. The text reader
//! ([`crate::proto::text`]) calls the same visitor with the same bytes.

use crate::error::{Error, Result};
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

/// Where a walk is.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The innermost container.
    pub container: &'static Message,
    /// Number of the field in it.
    pub number: u32,
    /// Offset of the field.
    pub offset: u64,
}

impl Place {
    /// Whether it is this field of the message of that name.
    pub fn is(self, container: &str, number: u32) -> bool {
        self.container.name == container && self.number == number
    }
}

/// Takes what a walk finds.
pub trait Visitor {
    /// A container begins, in this field of the one around it.
    fn enter(&mut self, _container: &'static Message, _number: u32, _offset: u64) -> Result<()> {
        Ok(())
    }
    /// The innermost container ends, whole or cut.
    fn leave(&mut self, _container: &'static Message) -> Result<()> {
        Ok(())
    }
    /// A field of the innermost container.
    fn field(&mut self, at: Place, value: Value<'_>) -> Result<()>;
    /// The field that comes next holds text that is not UTF-8; protobuf refuses it, we repair it.
    fn flawed(&mut self, at: Place) -> Result<()>;
    /// A field of the innermost container that could not be read; the walk goes on if it can.
    fn broken(&mut self, at: Place, seen: &str) -> Result<()>;
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
        format!("nothing behind byte {} could be read: {}", self.offset, self.seen)
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
    let mut walk =
        Walk { source: Source::new(read, base), open: vec![(root, u64::MAX)], walked: Walked::default() };
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

/// What ends a walk early: damage, or a failure of the reader or the visitor.
enum Trouble {
    Damage(Damage),
    Failure(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Failure(error)
    }
}

type Step = std::result::Result<(), Trouble>;

fn damage(offset: u64, seen: &str) -> Trouble {
    Trouble::Damage(Damage { offset, seen: seen.to_owned() })
}

/// A field whose tag was read.
#[derive(Clone, Copy)]
struct Found {
    at: Place,
    /// What the container holds in it; None for a number that it does not know.
    kind: Option<&'static Type>,
}

impl Walk<'_> {
    /// Reads fields until the outermost container or the file ends.
    fn run(&mut self, visitor: &mut dyn Visitor) -> Result<Option<Damage>> {
        loop {
            self.close(visitor)?;
            let Some(&(container, end)) = self.open.last() else {
                return Ok(None);
            };
            let offset = self.source.offset();
            if self.source.peek(1)?.is_empty() {
                return Ok((end != u64::MAX).then(|| cut(offset, container.name)));
            }
            match self.field(container, end, visitor) {
                Ok(()) => {}
                Err(Trouble::Damage(damage)) => return Ok(Some(damage)),
                Err(Trouble::Failure(error)) => return Err(error),
            }
        }
    }

    /// Leaves the containers that end here.
    fn close(&mut self, visitor: &mut dyn Visitor) -> Result<()> {
        while let Some(&(container, end)) = self.open.last()
            && self.source.offset() == end
        {
            self.open.pop();
            visitor.leave(container)?;
        }
        Ok(())
    }

    /// Reads a field of the innermost container, which ends at `end`.
    fn field(&mut self, container: &'static Message, end: u64, visitor: &mut dyn Visitor) -> Step {
        let offset = self.source.offset();
        let left = usize::try_from(end - offset).unwrap_or(usize::MAX);
        // A tag and a length take ten bytes, a tag and a number fifteen.
        let ahead = self.source.peek(20)?;
        let ahead = &ahead[..ahead.len().min(left)];
        let mut at = 0;
        let (number, wire_type) = wire::tag(ahead, &mut at).map_err(|seen| damage(offset, seen))?;
        let kind = container.by_number(number).map(|field| &field.kind);
        let found = Found { at: Place { container, number, offset }, kind };
        match wire_type {
            0 => {
                let value = wire::varint(ahead, &mut at);
                let value = value.ok_or_else(|| damage(offset, "a number that is cut short or too long"))?;
                self.source.consume(at);
                self.number(found, value, visitor)
            }
            2 => {
                let before = at;
                let length = wire::varint(ahead, &mut at)
                    .filter(|length| wire::plausible_length(*length, at - before))
                    .ok_or_else(|| damage(offset, "a length that is cut short or too long"))?;
                if length > end - offset - at as u64 {
                    return self.too_long(found, visitor);
                }
                self.source.consume(at);
                self.long(found, length, visitor)
            }
            1 | 5 => {
                let size = if wire_type == 1 { 8 } else { 4 };
                if ahead.len() < at + size {
                    return Err(damage(offset, "a fixed number that is cut short"));
                }
                self.source.consume(at + size);
                self.walked.unknown_fields += 1;
                Ok(())
            }
            // None of these messages has groups, which are as old as protobuf; a short one is skipped.
            _ => {
                let ahead = self.source.peek(CHUNK_BYTES.min(left))?;
                let ahead = &ahead[..ahead.len().min(left)];
                wire::skip(ahead, &mut at, number, wire_type).map_err(|seen| damage(offset, seen))?;
                self.source.consume(at);
                self.walked.unknown_fields += 1;
                Ok(())
            }
        }
    }

    fn number(&mut self, found: Found, value: u64, visitor: &mut dyn Visitor) -> Step {
        if matches!(found.kind, Some(Type::Int | Type::Bool | Type::Enum(_))) {
            visitor.field(found.at, Value::Varint(value))?;
        } else {
            self.walked.unknown_fields += 1;
        }
        Ok(())
    }

    /// A field that reaches past the end of its container: nothing behind it can be trusted.
    fn too_long(&mut self, found: Found, visitor: &mut dyn Visitor) -> Step {
        let seen = "a field that reaches past the end of what holds it";
        if !matches!(found.kind, None | Some(Type::Unread)) {
            visitor.broken(found.at, seen)?;
        }
        Err(damage(found.at.offset, seen))
    }

    /// A field of `length` bytes, which begin at the cursor: entered, read whole or skipped.
    fn long(&mut self, found: Found, length: u64, visitor: &mut dyn Visitor) -> Step {
        match found.kind {
            Some(Type::Message(inner)) if inner.container => {
                if self.open.len() >= DEPTH_LIMIT {
                    return Err(damage(found.at.offset, "messages nested too deep"));
                }
                visitor.enter(inner, found.at.number, found.at.offset)?;
                self.open.push((inner, self.source.offset() + length));
                Ok(())
            }
            Some(Type::Message(_) | Type::Text | Type::Bytes) => self.unit(found, length, visitor),
            other => {
                // No container has numbers one after the other that a reader needs.
                let field = found.at.container.by_number(found.at.number);
                let known = matches!(other, Some(Type::Unread)) || field.is_some_and(|field| field.repeated);
                self.walked.unknown_fields += u64::from(!known);
                self.skip(found, length)
            }
        }
    }

    fn skip(&mut self, found: Found, length: u64) -> Step {
        match self.source.skip(length)? {
            true => Ok(()),
            false => Err(Trouble::Damage(cut(found.at.offset, found.at.container.name))),
        }
    }

    /// Reads a field whole, checks it, hands it on.
    fn unit(&mut self, found: Found, length: u64, visitor: &mut dyn Visitor) -> Step {
        let Found { at, kind } = found;
        if length > UNIT_LIMIT {
            let seen = "a field too large to be read whole";
            visitor.broken(at, seen)?;
            return self.skip(found, length);
        }
        let bytes = self.source.peek(length as usize)?;
        if (bytes.len() as u64) < length {
            visitor.broken(at, "the file ends inside it")?;
            return Err(Trouble::Damage(cut(at.offset, at.container.name)));
        }
        let bytes = &bytes[..length as usize];
        let checked = match kind {
            Some(Type::Message(message)) => check(message, bytes, self.open.len()),
            Some(Type::Text) => {
                Ok(Checked { unknown_fields: 0, flawed: std::str::from_utf8(bytes).is_err() })
            }
            _ => Ok(Checked::default()),
        };
        match checked {
            Ok(checked) => {
                self.walked.unknown_fields += checked.unknown_fields;
                if checked.flawed {
                    visitor.flawed(at)?;
                }
                visitor.field(at, Value::Bytes(bytes))?;
            }
            Err(seen) => visitor.broken(at, seen)?,
        }
        self.source.consume(length as usize);
        Ok(())
    }
}

fn cut(offset: u64, name: &str) -> Damage {
    Damage { offset, seen: format!("the file ends inside a {name}") }
}

/// What a check of a whole message finds.
#[derive(Debug, Default, Clone, Copy)]
pub struct Checked {
    /// Fields that are not in its table.
    pub unknown_fields: u64,
    /// Whether text in it is not UTF-8.
    pub flawed: bool,
}

/// Checks a message to the bottom, as a protobuf parser that knows it would.
pub fn check(message: &Message, bytes: &[u8], depth: usize) -> std::result::Result<Checked, &'static str> {
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
                    wire::varint(body, &mut at).ok_or("a packed number that is cut short or too long")?;
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
