//! Regular expressions as tfprof means them: RE2's syntax, and only a match of the whole text counts.
//!
//! The `regex` crate comes from RE2 and shares its guarantees; what they spell differently is
//! translated: `\d`, `\s`, `\w`, `\b` mean ASCII in RE2, braces without a repetition are literal,
//! a class knows neither nesting nor `&&`, and `\Q…\E` quotes.

use regex::bytes::{Regex, RegexBuilder};

/// Comma separated expressions of one option.
#[derive(Debug, Clone, Default)]
pub struct Regexes {
    /// Only `.*` is asked for: everything matches, even what holds a line break.
    all: bool,
    compiled: Vec<Regex>,
    /// Invalid expressions, with the reason; they match nothing.
    pub wrong: Vec<(String, String)>,
}

impl Regexes {
    /// Compiles; an expression that cannot be read matches nothing.
    pub fn new(patterns: &[String]) -> Self {
        let mut regexes = Regexes { all: patterns.len() == 1 && patterns[0] == ".*", ..Regexes::default() };
        for pattern in patterns {
            match compile(pattern) {
                Ok(regex) => regexes.compiled.push(regex),
                Err(reason) => regexes.wrong.push((pattern.clone(), reason)),
            }
        }
        regexes
    }

    /// True when the option is exactly `.*`.
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// True when one of them matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        self.compiled.iter().any(|regex| regex.is_match(text.as_bytes()))
    }

    /// The compiled expressions, in their order.
    pub fn each(&self) -> impl Iterator<Item = &Regex> {
        self.compiled.iter()
    }
}

fn compile(pattern: &str) -> Result<Regex, String> {
    let translated = format!(r"\A(?:{})\z", translate(pattern)?);
    RegexBuilder::new(&translated).size_limit(1 << 23).build().map_err(|error| {
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default();
        last.trim_start_matches("error: ").to_owned()
    })
}

/// RE2's syntax in the crate's.
fn translate(pattern: &str) -> Result<String, String> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut at = 0;
    // Whether a repetition ends here; a second one would be an error in RE2, not in the crate.
    let mut repeated = false;
    while at < chars.len() {
        let length = match chars[at] {
            '*' | '+' | '?' if at > 0 && chars[at - 1] != '(' => 1,
            '{' => repetition(&chars[at..])?.unwrap_or(0),
            _ => 0,
        };
        if length > 0 {
            if repeated {
                return Err(format!("bad repetition operator: {}", chars[at]));
            }
            let lazy = usize::from(chars.get(at + length) == Some(&'?'));
            out.extend(&chars[at..at + length + lazy]);
            at += length + lazy;
            repeated = true;
            continue;
        }
        repeated = false;
        match chars[at] {
            '\\' => at = escape(&chars, at, false, &mut out)?,
            '[' => at = class(&chars, at, &mut out)?,
            '{' | '}' | ']' => {
                out.push('\\');
                out.push(chars[at]);
                at += 1;
            }
            other => {
                out.push(other);
                at += 1;
            }
        }
    }
    Ok(out)
}

/// Length of `{n}`, `{n,}` or `{n,m}`; None when the braces are themselves. RE2 counts to 1000.
fn repetition(rest: &[char]) -> Result<Option<usize>, String> {
    let Some(end) = rest.iter().position(|c| *c == '}') else {
        return Ok(None);
    };
    let inner: String = rest[1..end].iter().collect();
    let (low, high) = inner.split_once(',').unwrap_or((&inner, ""));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if low.is_empty() || !digits(low) || !digits(high) {
        return Ok(None);
    }
    let most = |text: &str| text.is_empty() || text.parse().is_ok_and(|n: u32| n <= 1000);
    if !most(low) || !most(high) {
        return Err(format!("bad repetition operator: {{{inner}}}"));
    }
    Ok(Some(end + 1))
}

/// Translates the escape at `at`; returns the index after it.
fn escape(chars: &[char], at: usize, in_class: bool, out: &mut String) -> Result<usize, String> {
    let Some(&letter) = chars.get(at + 1) else {
        return Err("a backslash at the end".into());
    };
    let ascii = match letter {
        'd' => "0-9",
        's' => r"\t\n\f\r\x20",
        'w' => "0-9A-Za-z_",
        'D' => "^0-9",
        'S' => r"^\t\n\f\r\x20",
        'W' => "^0-9A-Za-z_",
        'b' if !in_class => {
            out.push_str(r"(?-u:\b)");
            return Ok(at + 2);
        }
        'B' if !in_class => {
            out.push_str(r"(?-u:\B)");
            return Ok(at + 2);
        }
        'C' if !in_class => {
            out.push_str("(?s-u:.)");
            return Ok(at + 2);
        }
        'Q' if !in_class => {
            let rest = &chars[at + 2..];
            let end = rest.windows(2).position(|pair| pair == ['\\', 'E']);
            let quoted: String = rest[..end.unwrap_or(rest.len())].iter().collect();
            out.push_str(&regex::escape(&quoted));
            return Ok(end.map_or(chars.len(), |end| at + 4 + end));
        }
        '0'..='7' => {
            let digits: String =
                chars[at + 1..].iter().take(3).take_while(|c| ('0'..='7').contains(*c)).collect();
            if letter != '0' && digits.len() == 1 {
                return Err(format!("invalid escape sequence: \\{letter}"));
            }
            let code = u32::from_str_radix(&digits, 8).unwrap_or_default();
            out.push_str(&format!(r"\x{{{code:x}}}"));
            return Ok(at + 1 + digits.len());
        }
        'p' | 'P' | 'x' | 'a' | 'f' | 'n' | 'r' | 't' | 'v' | 'A' | 'z' => {
            out.push('\\');
            out.push(letter);
            return Ok(at + 2);
        }
        _ if letter.is_ascii_alphanumeric() => {
            return Err(format!("invalid escape sequence: \\{letter}"));
        }
        _ => {
            out.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
            return Ok(at + 2);
        }
    };
    out.push('[');
    out.push_str(ascii);
    out.push(']');
    Ok(at + 2)
}

/// Translates the class that begins at `at`; returns the index after it.
fn class(chars: &[char], mut at: usize, out: &mut String) -> Result<usize, String> {
    out.push('[');
    at += 1;
    if chars.get(at) == Some(&'^') {
        out.push('^');
        at += 1;
    }
    let mut first = true;
    loop {
        let Some(&letter) = chars.get(at) else {
            return Err("missing ]".into());
        };
        match letter {
            ']' if !first => {
                out.push(']');
                return Ok(at + 1);
            }
            '[' if chars.get(at + 1) == Some(&':') => {
                let close = chars[at..].windows(2).position(|pair| pair == [':', ']']);
                let Some(close) = close else {
                    return Err("missing :]".into());
                };
                out.extend(&chars[at..at + close + 2]);
                at += close + 2;
            }
            '\\' => at = escape(chars, at, true, out)?,
            '[' | ']' | '&' | '~' | '^' => {
                out.push('\\');
                out.push(letter);
                at += 1;
            }
            // A dash is itself at either end, and between two letters a range.
            '-' if first || chars.get(at + 1) == Some(&']') => {
                out.push_str(r"\-");
                at += 1;
            }
            other => {
                out.push(other);
                at += 1;
            }
        }
        first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(pattern: &str, text: &str) -> bool {
        Regexes::new(&[pattern.to_owned()]).matches(text)
    }

    #[test]
    fn the_whole_text_has_to_match() {
        assert!(full("unit_1_0.*gamma", "unit_1_0/bn/gamma"));
        assert!(!full("Variable", "VariableV2"));
        assert!(!full("unit", "my/unit"));
        assert!(full("a|b", "b"));
        assert!(full("^train_op$", "train_op"));
        assert!(!full(".*", "a\nb"));
    }

    #[test]
    fn what_re2_spells_differently() {
        assert!(full(r"save\/.*", "save/x"));
        assert!(full("a{,3}", "a{,3}"));
        assert!(full("a{2}", "aa"));
        assert!(full("x{y}]", "x{y}]"));
        assert!(full("[a&&b]", "&"));
        assert!(full("[[a]", "["));
        assert!(full("[]a]+", "a]"));
        assert!(full("[[:alpha:]]+", "ab"));
        assert!(full(r"\Qa.b\E.", "a.bc"));
        assert!(!full(r"\d", "٣"));
        assert!(full(r"[\d-]+", "1-2"));
        assert!(full(r"\x41\101", "AA"));
    }

    #[test]
    fn wrong_ones_match_nothing_and_are_told() {
        let regexes = Regexes::new(&["unit_((".to_owned(), "b".to_owned()]);
        assert!(!regexes.matches("unit_(("));
        assert!(regexes.matches("b"));
        assert_eq!(regexes.wrong.len(), 1);
        assert!(!full(r"(a)\1", "aa"));
        assert!(!full("a**", "aa"));
        assert!(full("a*?b+?", "aab"));
    }
}
