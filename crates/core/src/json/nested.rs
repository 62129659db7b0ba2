//! Values within values.

use super::{Cursor, DEEP, DEPTH_LIMIT, Fault, Minified, Result, TRAILING_COMMA};

impl Cursor<'_> {
    /// The rest of a container, from its opening bracket, without recursion.
    pub(super) fn container(&mut self, object: bool, out: &mut Minified<'_>) -> Result<()> {
        self.outer.clear();
        let mut kinds = object as u64;
        let mut depth = 1_usize;
        let mut object = object;
        self.pos += 1;
        // True right behind an opening bracket, where a closing one may follow.
        let mut fresh = true;
        loop {
            // Before a member or an element, or the end.
            let mut first = self.space_out(out)?;
            let closing = if object { b'}' } else { b']' };
            if first == closing {
                if !fresh {
                    self.odd |= TRAILING_COMMA;
                }
            } else {
                if object {
                    self.key(out)?;
                    first = self.peek()?;
                }
                if first == b'{' || first == b'[' {
                    if depth.is_multiple_of(64) {
                        self.outer.push(kinds);
                    }
                    depth += 1;
                    if depth > DEPTH_LIMIT {
                        self.odd |= DEEP;
                    }
                    object = first == b'{';
                    kinds = kinds << 1 | object as u64;
                    self.pos += 1;
                    fresh = true;
                    continue;
                }
                self.scalar(first)?;
            }
            // Behind a member or an element, or at the end.
            loop {
                let closing = if object { b'}' } else { b']' };
                match self.space_out(out)? {
                    b',' => {
                        self.pos += 1;
                        fresh = false;
                        break;
                    }
                    byte if byte == closing => {
                        self.pos += 1;
                        depth -= 1;
                        if depth == 0 {
                            return Ok(());
                        }
                        kinds >>= 1;
                        if depth.is_multiple_of(64) {
                            kinds = self.outer.pop().unwrap_or(0);
                        }
                        object = kinds & 1 == 1;
                    }
                    _ => return Err(Fault::Bad),
                }
            }
        }
    }
}
