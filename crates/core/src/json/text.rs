//! The texts of JSON strings, and values written anew as standard JSON.

use super::{Cursor, Fault, REPAIR, Result, is_space};

/// Four hexadecimal digits.
pub(super) fn hex4(data: &[u8], at: usize) -> Result<u32> {
    let mut unit = 0;
    for i in at..at + 4 {
        let byte = data.get(i).ok_or(Fault::More)?;
        unit = unit << 4 | (*byte as char).to_digit(16).ok_or(Fault::Bad)?;
    }
    Ok(unit)
}

/// The text of a string as read by [`Cursor::string`]. True when something had to be replaced: a
/// lone surrogate or bytes that are not UTF-8 became U+FFFD.
pub fn unescape(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let mut replaced = false;
    let mut at = 0;
    while at < raw.len() {
        let next = memchr::memchr(b'\\', &raw[at..]).map_or(raw.len(), |i| at + i);
        replaced |= push_utf8(&raw[at..next], out);
        at = next;
        if at == raw.len() {
            break;
        }
        let plain = match raw.get(at + 1) {
            Some(b @ (b'"' | b'\\' | b'/')) => *b,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let (c, length) = unicode(raw, at);
                let lone = length == 6 && c == char::REPLACEMENT_CHARACTER;
                replaced |= lone && hex4(raw, at + 2) != Ok(0xfffd);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                at += length;
                continue;
            }
            _ => {
                out.push(b'\\');
                at += 1;
                continue;
            }
        };
        out.push(plain);
        at += 2;
    }
    replaced
}

/// The character of the escape at `at`, and its length. A backslash when the escape is invalid.
fn unicode(raw: &[u8], at: usize) -> (char, usize) {
    let Ok(unit) = hex4(raw, at + 2) else {
        return ('\\', 1);
    };
    if let Some(c) = char::from_u32(unit) {
        return (c, 6);
    }
    if unit < 0xdc00
        && raw.get(at + 6..at + 8) == Some(b"\\u")
        && let Ok(low @ 0xdc00..0xe000) = hex4(raw, at + 8)
    {
        let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::REPLACEMENT_CHARACTER, 6)
}

/// Appends bytes, replacing what is not UTF-8 by U+FFFD; true if anything was replaced.
pub fn push_utf8(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let mut replaced = false;
    for chunk in raw.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
            replaced = true;
        }
    }
    replaced
}

/// Appends `text` as a JSON string with its quotes.
pub fn push_quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    push_escaped(text.as_bytes(), out);
    out.push(b'"');
}

fn push_escaped(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(*byte),
        }
    }
}

/// Appends a value that [`Cursor::value`] accepted as standard JSON in valid UTF-8 without white
/// space. NaN and the infinities become strings. True when a lone surrogate or invalid UTF-8 was
/// replaced.
pub fn write_valid(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let mut cursor = Cursor::new(raw, 0);
    let mut replaced = false;
    let mut comma = false;
    let mut text = Vec::new();
    while let Ok(byte) = cursor.space() {
        if byte == b',' {
            comma = true;
            cursor.pos += 1;
            continue;
        }
        if comma && !matches!(byte, b'}' | b']') {
            out.push(b',');
        }
        comma = false;
        let start = cursor.pos;
        match byte {
            b'{' | b'}' | b'[' | b']' | b':' => {
                out.push(byte);
                cursor.pos += 1;
            }
            b'"' => {
                cursor.pos += 1;
                let Ok(part) = cursor.string() else { break };
                let inside = &raw[part.start..part.end];
                if part.odd & REPAIR == 0 {
                    out.push(b'"');
                    replaced |= push_utf8(inside, out);
                    out.push(b'"');
                } else {
                    text.clear();
                    replaced |= unescape(inside, &mut text);
                    out.push(b'"');
                    push_escaped(&text, out);
                    out.push(b'"');
                }
            }
            _ => {
                // A number may be the last byte of `raw`, where the cursor would wait for more.
                while cursor.peek().is_ok_and(|b| !is_space(b) && !b",:[]{}\"".contains(&b)) {
                    cursor.pos += 1;
                }
                let word = &raw[start..cursor.pos];
                if word.ends_with(b"NaN") || word.ends_with(b"Infinity") {
                    out.push(b'"');
                    out.extend_from_slice(word);
                    out.push(b'"');
                } else {
                    out.extend_from_slice(word);
                }
            }
        }
    }
    replaced
}
