//! Events too long to be read at once.

use super::lines::PIECE_LIMIT_BYTES;
use super::metadata::{NAME_LIMIT_BYTES, each_field};
use super::window::{Extent, Trouble, Window, push_varint};
use crate::error::Result;

/// A huge event with its long stats replaced by their size.
pub fn shortened(window: &mut Window<'_>, extent: Extent) -> Result<Vec<u8>> {
    let mut event = Vec::new();
    each_field(window, extent, |window, head| {
        if !head.is(4) {
            return Ok(true);
        }
        each_field(window, head.body, |window, head| {
            match (head.number, head.wire) {
                (1..=3 | 5, 0) => {
                    event.push((head.number << 3) as u8);
                    push_varint(&mut event, head.value);
                }
                (4, 2) => {
                    let stat = if head.body.len() <= NAME_LIMIT_BYTES as u64 {
                        window.copy(head.body, NAME_LIMIT_BYTES)?.0
                    } else {
                        short_stat(window, head.body)?
                    };
                    // A million short ones are as bad as a long one.
                    if event.len() as u64 + stat.len() as u64 <= PIECE_LIMIT_BYTES {
                        event.push(0x22);
                        push_varint(&mut event, stat.len() as u64);
                        event.extend(stat);
                    }
                }
                _ => {}
            }
            Ok(true)
        })?;
        Ok(true)
    })?;
    let mut field = vec![0x22];
    push_varint(&mut field, event.len() as u64);
    field.extend(event);
    Ok(field)
}

fn short_stat(window: &mut Window<'_>, stat: Extent) -> std::result::Result<Vec<u8>, Trouble> {
    let (mut id, mut size) = (0, 0);
    each_field(window, stat, |_, head| {
        id = head.varint(1).unwrap_or(id);
        size = if head.wire == 2 { head.body.len() } else { size };
        Ok(true)
    })?;
    let mut short = vec![0x08];
    push_varint(&mut short, id);
    let text = format!("({size} bytes, not kept)");
    short.push(0x2a);
    push_varint(&mut short, text.len() as u64);
    short.extend(text.as_bytes());
    Ok(short)
}
