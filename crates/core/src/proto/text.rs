//! Reads messages in protobuf's text format, streamed, and hands them on in wire format.
//!
//! The tables of [`crate::proto::messages`] say which number a name has and what it holds. Containers are
//! entered as [`crate::proto::walk`] enters them and every other field comes whole, so that a decoder written
//! for the binary form reads text too. Accepts what TensorFlow's readers accept and a little more:
//! `#` comments, `<>` for `{}`, `;` and `,` behind fields, `[a, b]` lists, adjacent strings, all escapes,
//! extensions and `Any` (skipped). Unknown fields are skipped and counted. Over 400 lines: one state machine.

use crate::error::Result;
use crate::proto::messages::{Field, Kind, Message};
use crate::proto::stream::Source;
use crate::proto::token::{Cursor, Piece, Stop, Wire, encode, is_space, push_varint};
use crate::proto::walk::{DEPTH_LIMIT, Damage, Place, UNIT_LIMIT, Value, Visitor, Walked};
use std::io::Read;

/// Longest name, number or string.
const TOKEN_LIMIT: usize = 256 << 20;
/// Bytes that a nested message's length is written in; padded, so that nothing has to move.
const LENGTH_BYTES: usize = 5;

/// Walks through a text message of type `root`, as [`crate::proto::walk::walk`] does through a binary one.
pub fn walk_text(
    read: &mut dyn Read,
    root: &'static Message,
    base: u64,
    visitor: &mut dyn Visitor,
) -> Result<Walked> {
    let mut source = Source::new(read, base);
    let mut parser = Parser::new(root, base);
    visitor.enter(root, 0, base)?;
    let mut want = 1;
    let damage = loop {
        let offset = source.offset();
        source.peek(want)?;
        let ended = source.ended();
        let ahead = source.peek(0)?;
        let mut at = 0;
        let stop = loop {
            match parser.step(ahead, &mut at, ended, offset, visitor)? {
                Step::Next => {}
                other => break other,
            }
        };
        let left = ahead.len() - at;
        source.consume(at);
        match stop {
            Step::Fail(seen, at) => {
                break Some(Damage { offset: offset + at as u64, seen: seen.into() });
            }
            Step::End => break None,
            _ if left >= TOKEN_LIMIT => {
                break Some(Damage { offset: source.offset(), seen: "a value too long to be read".into() });
            }
            // Twice as much each time, so that a long string is not scanned again and again.
            _ => want = (left * 2).max(4096),
        }
    };
    parser.abandon(visitor, damage.as_ref())?;
    let bytes = source.offset() - base;
    Ok(Walked { damage: damage.or(source.cut), unknown_fields: parser.unknown_fields, bytes })
}

enum Step {
    /// Something was taken; go on.
    Next,
    /// The bytes ahead end inside something; `at` is before it.
    More,
    /// The message ended where it may.
    End,
    /// Not text format, and where.
    Fail(&'static str, usize),
}

struct Frame {
    /// None inside fields that nobody knows or reads.
    message: Option<&'static Message>,
    /// The byte that ends it.
    close: u8,
    /// Field number in the message around it.
    number: u32,
    /// Where its length goes in `out`; for a unit, 0.
    start: usize,
    /// Inside `[...]`: the field that the values belong to.
    list: Option<Option<&'static Field>>,
    /// Place in the table of the field read last: the next one is likely behind it.
    last: usize,
    offset: u64,
}

impl Frame {
    /// Where it is in the container around it.
    fn place(&self, container: &'static Message) -> Place {
        Place { container, number: self.number, offset: self.offset }
    }

    fn holds(&self) -> Holds {
        match self.message {
            None => Holds::Nothing,
            Some(message) if message.container => Holds::Container(message),
            Some(_) => Holds::Bytes,
        }
    }
}

enum Holds {
    Nothing,
    Container(&'static Message),
    Bytes,
}

struct Parser {
    frames: Vec<Frame>,
    /// The unit under construction, in wire format.
    out: Vec<u8>,
    scratch: Vec<u8>,
    in_comment: bool,
    unknown_fields: u64,
    /// Whether the unit holds text that is not UTF-8.
    flawed: bool,
}

impl Parser {
    fn new(root: &'static Message, base: u64) -> Self {
        let frame = Frame {
            message: Some(root),
            close: 0,
            number: 0,
            start: 0,
            list: None,
            last: usize::MAX,
            offset: base,
        };
        Parser {
            frames: vec![frame],
            out: Vec::new(),
            scratch: Vec::new(),
            in_comment: false,
            unknown_fields: 0,
            flawed: false,
        }
    }

    /// Closes what is still open at the end, and reports the unit that it cut.
    fn abandon(&mut self, visitor: &mut dyn Visitor, damage: Option<&Damage>) -> Result<()> {
        let seen = damage.map_or("the file ends inside it", |damage| damage.seen.as_str());
        while let Some(frame) = self.frames.pop() {
            match frame.holds() {
                Holds::Container(message) => visitor.leave(message)?,
                Holds::Bytes => {
                    if let Some(Holds::Container(around)) = self.frames.last().map(Frame::holds) {
                        visitor.broken(frame.place(around), seen)?;
                    }
                }
                Holds::Nothing => {}
            }
        }
        Ok(())
    }

    /// Takes one thing: a field with its value, the beginning or the end of a message.
    fn step(
        &mut self,
        ahead: &[u8],
        at: &mut usize,
        ended: bool,
        base: u64,
        visitor: &mut dyn Visitor,
    ) -> Result<Step> {
        // White space and comments are let go at once, however long they are.
        loop {
            if self.in_comment {
                match memchr::memchr(b'\n', &ahead[*at..]) {
                    Some(length) => *at += length + 1,
                    None => {
                        *at = ahead.len();
                        if !ended {
                            return Ok(Step::More);
                        }
                    }
                }
                self.in_comment = false;
            }
            while *at < ahead.len() && is_space(ahead[*at]) {
                *at += 1;
            }
            if ahead.get(*at) != Some(&b'#') {
                break;
            }
            self.in_comment = true;
        }
        let Some(&first) = ahead.get(*at) else {
            return Ok(match (ended, self.frames.len()) {
                (false, _) => Step::More,
                (true, 1) if self.frames[0].list.is_none() => Step::End,
                (true, _) => Step::Fail("the file ends inside a message", *at),
            });
        };
        let mut cursor = Cursor { bytes: ahead, at: *at, ended };
        let taken = match first {
            b'}' | b'>' => {
                let frame = self.frames.last().expect("the root stays until the end");
                if frame.close != first || frame.list.is_some() {
                    return Ok(Step::Fail("an end without its beginning", *at));
                }
                cursor.at += 1;
                self.close(visitor)?;
                Ok(())
            }
            b';' | b',' => {
                cursor.at += 1;
                Ok(())
            }
            _ => self.value_or_field(&mut cursor, first, base + *at as u64, visitor)?,
        };
        Ok(match taken {
            Ok(()) => {
                *at = cursor.at;
                Step::Next
            }
            Err(Stop::More) => Step::More,
            Err(Stop::Fail(seen, at)) => Step::Fail(seen, at),
        })
    }

    fn value_or_field(
        &mut self,
        cursor: &mut Cursor<'_>,
        first: u8,
        offset: u64,
        visitor: &mut dyn Visitor,
    ) -> Result<Piece<()>> {
        let frame = self.frames.last_mut().expect("the root stays until the end");
        if let Some(field) = frame.list {
            if first == b']' {
                cursor.at += 1;
                frame.list = None;
                return Ok(Ok(()));
            }
            return self.value(cursor, field, true, offset, visitor);
        }
        let start = cursor.at;
        let name = match cursor.name() {
            Ok(name) => name,
            Err(stop) => return Ok(Err(stop)),
        };
        let known = frame.message.and_then(|message| {
            let fields = message.fields;
            let next = frame.last.wrapping_add(1);
            let found = [frame.last, next]
                .into_iter()
                .find(|index| fields.get(*index).is_some_and(|field| field.name.as_bytes() == name))
                .or_else(|| fields.iter().position(|field| field.name.as_bytes() == name))?;
            frame.last = found;
            Some(&fields[found])
        });
        let colon = match cursor.blank().and_then(|()| cursor.take_if(b':')) {
            Ok(colon) => colon,
            Err(stop) => return Ok(Err(stop)),
        };
        if let Err(stop) = cursor.blank() {
            return Ok(Err(stop));
        }
        let next = match cursor.look() {
            Ok(next) => next,
            Err(stop) => return Ok(Err(stop)),
        };
        let unknown = known.is_none() && frame.message.is_some();
        let scalar = known.is_some_and(|field| !matches!(field.kind, Kind::Message(_) | Kind::Unread));
        let taken = if next == b'[' && (colon || !scalar) {
            cursor.at += 1;
            frame.list = Some(known);
            Ok(())
        } else if !colon && next != b'{' && next != b'<' {
            Err(Stop::Fail("a name without a value", start))
        } else {
            self.value(cursor, known, false, offset, visitor)?
        };
        if taken.is_ok() && unknown {
            self.unknown_fields += 1;
        }
        Ok(taken)
    }

    /// Takes the value of a field; `field` is None for one that nobody knows.
    fn value(
        &mut self,
        cursor: &mut Cursor<'_>,
        field: Option<&'static Field>,
        in_list: bool,
        offset: u64,
        visitor: &mut dyn Visitor,
    ) -> Result<Piece<()>> {
        let next = match cursor.look() {
            Ok(next) => next,
            Err(stop) => return Ok(Err(stop)),
        };
        if next == b'{' || next == b'<' {
            let inner = match field.map(|field| &field.kind) {
                None | Some(Kind::Unread) => None,
                Some(Kind::Message(message)) => Some(*message),
                Some(_) => {
                    return Ok(Err(Stop::Fail("a message where a value belongs", cursor.at)));
                }
            };
            if self.frames.len() >= DEPTH_LIMIT {
                return Ok(Err(Stop::Fail("messages nested too deep", cursor.at)));
            }
            cursor.at += 1;
            let close = if next == b'{' { b'}' } else { b'>' };
            self.open(inner, field.map_or(0, |field| field.number), close, offset, visitor)?;
            return Ok(Ok(()));
        }
        if in_list && next == b'[' {
            return Ok(Err(Stop::Fail("a list in a list", cursor.at)));
        }
        let start = cursor.at;
        self.scratch.clear();
        let scalar = match cursor.scalar(&mut self.scratch) {
            Ok(scalar) => scalar,
            Err(stop) => return Ok(Err(stop)),
        };
        let Some(field) = field else {
            return Ok(Ok(()));
        };
        let value = match encode(&field.kind, &scalar, &self.scratch, &mut self.unknown_fields) {
            Ok(value) => value,
            Err(seen) => return Ok(Err(Stop::Fail(seen, start))),
        };
        let flawed = matches!(field.kind, Kind::Text) && std::str::from_utf8(&self.scratch).is_err();
        if let Some(Holds::Container(container)) = self.frames.last().map(Frame::holds)
            && flawed
        {
            visitor.flawed(Place { container, number: field.number, offset })?;
        }
        self.flawed |= flawed;
        match self.frames.last().map(Frame::holds) {
            Some(Holds::Container(container)) => {
                let at = Place { container, number: field.number, offset };
                match value {
                    Wire::Varint(value) => visitor.field(at, Value::Varint(value))?,
                    Wire::Bytes => visitor.field(at, Value::Bytes(&self.scratch))?,
                    // No container has a floating-point field.
                    Wire::Fixed32(_) | Wire::Fixed64(_) | Wire::Nothing => {}
                }
            }
            Some(Holds::Bytes) => {
                self.write(field.number, &value);
                if self.out.len() as u64 > UNIT_LIMIT {
                    return Ok(Err(Stop::Fail("a message too large to be read whole", start)));
                }
            }
            _ => {}
        }
        Ok(Ok(()))
    }

    fn write(&mut self, number: u32, value: &Wire) {
        let out = &mut self.out;
        match value {
            Wire::Varint(value) => {
                push_varint(out, u64::from(number) << 3);
                push_varint(out, *value);
            }
            Wire::Fixed32(value) => {
                push_varint(out, u64::from(number) << 3 | 5);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Wire::Fixed64(value) => {
                push_varint(out, u64::from(number) << 3 | 1);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Wire::Bytes => {
                push_varint(out, u64::from(number) << 3 | 2);
                push_varint(out, self.scratch.len() as u64);
                out.extend_from_slice(&self.scratch);
            }
            Wire::Nothing => {}
        }
    }

    fn open(
        &mut self,
        message: Option<&'static Message>,
        number: u32,
        close: u8,
        offset: u64,
        visitor: &mut dyn Visitor,
    ) -> Result<()> {
        let mut start = 0;
        match message {
            Some(message) if message.container => visitor.enter(message, number, offset)?,
            Some(_) => match self.frames.last().map(Frame::holds) {
                Some(Holds::Container(_)) => {
                    self.out.clear();
                    self.flawed = false;
                }
                _ => {
                    push_varint(&mut self.out, u64::from(number) << 3 | 2);
                    start = self.out.len();
                    self.out.extend_from_slice(&[0x80, 0x80, 0x80, 0x80, 0]);
                }
            },
            None => {}
        }
        self.frames.push(Frame { message, close, number, start, list: None, last: usize::MAX, offset });
        Ok(())
    }

    fn close(&mut self, visitor: &mut dyn Visitor) -> Result<()> {
        let frame = self.frames.pop().expect("the root has no closing byte");
        match frame.holds() {
            Holds::Container(message) => visitor.leave(message)?,
            Holds::Bytes => match self.frames.last().map(Frame::holds) {
                Some(Holds::Container(around)) => {
                    if self.flawed {
                        visitor.flawed(frame.place(around))?;
                    }
                    visitor.field(frame.place(around), Value::Bytes(&self.out))?;
                }
                _ => {
                    let mut length = self.out.len() - frame.start - LENGTH_BYTES;
                    for index in 0..LENGTH_BYTES {
                        self.out[frame.start + index] |= (length & 0x7f) as u8;
                        length >>= 7;
                    }
                }
            },
            Holds::Nothing => {}
        }
        Ok(())
    }
}
