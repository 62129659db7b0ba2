//! Patterns of names, many at once: `*` for any text, `?` for one character.

use memchr::memmem::Finder;
use rustc_hash::{FxHashMap, FxHashSet};

/// Several patterns. A text is looked up among whole texts and beginnings, whatever their number.
#[derive(Default)]
pub struct Patterns {
    whole: FxHashSet<String>,
    /// Beginnings, by their first byte.
    begins: FxHashMap<u8, Vec<String>>,
    ends: Vec<String>,
    contained: Vec<Finder<'static>>,
    words: Vec<Word>,
    others: Vec<Vec<char>>,
    any: bool,
}

/// A text at the begin, or behind a space or a colon.
struct Word {
    text: Finder<'static>,
    /// It goes to the end, or a colon follows.
    closed: bool,
}

impl Word {
    fn is_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        self.text.find_iter(bytes).any(|at| {
            let before = at.checked_sub(1).map(|at| bytes[at]);
            let behind = bytes.get(at + self.text.needle().len());
            matches!(before, None | Some(b' ' | b':'))
                && (!self.closed || matches!(behind, None | Some(b':')))
        })
    }
}

impl Patterns {
    /// Adds a pattern: what `{a,b}` stands for is written out.
    pub fn add(&mut self, pattern: &str) {
        if let Some((before, rest)) = pattern.split_once('{')
            && let Some((choices, after)) = rest.split_once('}')
        {
            for choice in choices.split(',') {
                self.add(&format!("{before}{choice}{after}"));
            }
            return;
        }
        let plain = |text: &str| !text.contains(['*', '?']);
        let finder = |text: &str| Finder::new(text).into_owned();
        if let Some(word) = pattern.strip_prefix('<') {
            let closed = word.strip_suffix('>');
            let text = closed.unwrap_or_else(|| word.trim_end_matches('*'));
            self.words.push(Word { text: finder(text), closed: closed.is_some() });
            return;
        }
        let (open, shut) = (pattern.strip_prefix('*'), pattern.strip_suffix('*'));
        match (open, shut) {
            _ if pattern == "*" => self.any = true,
            (None, None) if plain(pattern) => {
                self.whole.insert(pattern.to_owned());
            }
            (None, Some(begin)) if plain(begin) && !begin.is_empty() => {
                let first = begin.as_bytes()[0];
                self.begins.entry(first).or_default().push(begin.to_owned());
            }
            (Some(end), None) if plain(end) => self.ends.push(end.to_owned()),
            (Some(rest), Some(_)) if plain(&rest[..rest.len() - 1]) => {
                self.contained.push(finder(&rest[..rest.len() - 1]));
            }
            _ => self.others.push(pattern.chars().collect()),
        }
    }

    /// Whether any of them is the text.
    pub fn hold(&self, text: &str) -> bool {
        self.any
            || self.whole.contains(text)
            || (text.as_bytes().first())
                .and_then(|first| self.begins.get(first))
                .is_some_and(|all| all.iter().any(|begin| text.starts_with(begin)))
            || self.ends.iter().any(|end| text.ends_with(end))
            || (self.contained.iter()).any(|part| part.find(text.as_bytes()).is_some())
            || self.words.iter().any(|word| word.is_in(text))
            || self.others.iter().any(|pattern| is(pattern, text))
    }
}

/// Whether a text is a pattern. Only the last `*` is tried at other places: what stands before it has matched as far
/// to the left as can be.
fn is(pattern: &[char], text: &str) -> bool {
    let (mut at, mut rest) = (0, text);
    let mut again: Option<(usize, &str)> = None;
    loop {
        let mut characters = rest.chars();
        let next = characters.next();
        match (pattern.get(at), next) {
            (None, None) => return true,
            (Some('*'), _) => {
                at += 1;
                again = Some((at, rest));
            }
            (Some(wanted), Some(next)) if *wanted == '?' || *wanted == next => {
                at += 1;
                rest = characters.as_str();
            }
            _ => {
                let Some((star, from)) = again else {
                    return false;
                };
                let mut later = from.chars();
                if later.next().is_none() {
                    return false;
                }
                (at, rest) = (star, later.as_str());
                again = Some((at, rest));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Patterns;

    #[test]
    fn what_patterns_hold() {
        for (pattern, text, wanted) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("Memcpy*", "MemcpyHtoD", true),
            ("Memcpy*", "aMemcpy", false),
            ("*ALLREDUCE", "x_ALLREDUCE", true),
            ("*ALLREDUCE", "x_ALLREDUCE_y", false),
            ("WAIT_FOR_*", "WAITxFORxa", false),
            ("WAIT_FOR_*", "WAIT_FOR", false),
            ("*stream:all*", "a stream:all b", true),
            ("*BlockUntilReady*", "BlockUntilRead", false),
            ("*a?c*", "xxabc", true),
            ("*a?c", "acaéc", true),
            ("a*b*c", "abbbc", true),
            ("a*b*c", "acb", false),
            ("a*bc", "abcbcbc", true),
            ("?", "é", true),
            ("{,_}{a,b}c*", "_bcd", true),
            ("{,_}{a,b}c*", "abcd", false),
            ("<Save>", "save/Save:Save", true),
            ("<Save>", "Eager: Save", true),
            ("<Save>", "SaveV2", false),
            ("<Save>", "a/Save", false),
            ("<Iterator*", "x:IteratorGetNext", true),
            ("<Iterator*", "xIterator Iterator", true),
            ("<Iterator*", "xIterator", false),
        ] {
            let mut patterns = Patterns::default();
            patterns.add(pattern);
            assert_eq!(patterns.hold(text), wanted, "{text} is {pattern}");
        }
    }
}
