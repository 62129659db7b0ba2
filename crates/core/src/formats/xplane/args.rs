//! Stats of an event as the JSON object in `args_json`.

use super::metadata::{StatName, StatNames};
use super::text::Text;
use crate::proto::wire;
use rustc_hash::FxHashMap;

/// Value of a stat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Found<'a> {
    /// No value was set, or one of an unknown type.
    Nothing,
    Double(f64),
    Unsigned(u64),
    Signed(i64),
    Str(&'a [u8]),
    Bytes(&'a [u8]),
    /// The name of another stat, by its id.
    Ref(u64),
}

/// Reads an XStat: id of its name, and value. Of several values the last counts.
pub fn read_stat(bytes: &[u8]) -> Result<(u64, Found<'_>), &'static str> {
    let (mut id, mut found) = (0, Found::Nothing);
    for field in wire::Fields::new(bytes, 0) {
        let field = field.map_err(|damage| damage.seen)?;
        let value = match field.number {
            1 => {
                id = field.u64().unwrap_or(id);
                None
            }
            2 => field.f64().map(Found::Double),
            3 => field.u64().map(Found::Unsigned),
            4 => field.i64().map(Found::Signed),
            5 => field.bytes().map(Found::Str),
            6 => field.bytes().map(Found::Bytes),
            7 => field.u64().map(Found::Ref),
            _ => None,
        };
        found = value.unwrap_or(found);
    }
    Ok((id, found))
}

/// Writes the args of one event after the other behind one another into a [`Text`].
#[derive(Debug, Default)]
pub struct Args {
    pub text: Text,
    start: usize,
    /// One bit for each name so far; a bit met twice may mean a name given twice.
    bits: u64,
    twice: bool,
    /// Name and end of each member so far.
    members: Vec<(u32, usize)>,
    /// Numbers for ids that have no name, from the number of names on.
    nameless: FxHashMap<u64, u32>,
    /// A text was not UTF-8.
    pub not_utf8: bool,
}

impl Args {
    pub fn with_capacity(bytes: usize) -> Self {
        Args { text: Text::with_capacity(bytes), ..Args::default() }
    }

    /// Begins the args of the next event.
    #[inline(always)]
    pub fn begin(&mut self) {
        self.start = self.text.len();
        self.bits = 0;
        self.twice = false;
        self.members.clear();
        self.not_utf8 = false;
        if !self.nameless.is_empty() {
            // The next event may have other names, whose numbers these must not take.
            self.nameless.clear();
        }
    }

    /// Adds any stat; one without a name is called by its id.
    pub fn add_any(&mut self, names: &StatNames, id: u64, found: Found<'_>) {
        match names.get(id) {
            Some(name) => self.add(names, name, found),
            None => self.add_nameless(names, id, found),
        }
    }

    /// Adds a stat that has a name.
    pub fn add(&mut self, names: &StatNames, name: &StatName, found: Found<'_>) {
        self.key(names, name);
        self.value(names, found);
        self.member(name);
    }

    /// Begins a member; its value and [`Args::member`] follow.
    #[inline(always)]
    pub fn key(&mut self, names: &StatNames, name: &StatName) {
        let bit = 1 << (name.same_as & 63);
        self.twice |= self.bits & bit != 0;
        self.bits |= bit;
        self.text.push_from(&names.pool, name.start, name.length as usize);
    }

    /// Ends a member.
    #[inline(always)]
    pub fn member(&mut self, name: &StatName) {
        self.members.push((name.same_as, self.text.len()));
    }

    /// Writes the name that a reference points to.
    #[inline(always)]
    pub fn reference(&mut self, names: &StatNames, id: u64) {
        match names.get(id) {
            Some(name) => {
                // The name in quotes, without the comma before and the colon behind.
                self.text.push_from(&names.pool, name.start + 1, name.length as usize - 2);
            }
            None => self.text.push(b"null"),
        }
    }

    /// Adds a stat whose id has no name.
    #[cold]
    pub fn add_nameless(&mut self, names: &StatNames, id: u64, found: Found<'_>) {
        let next = (names.entries.len() + self.nameless.len()) as u32;
        let number = *self.nameless.entry(id).or_insert(next);
        self.twice = true;
        self.text.formatted(format_args!(",\"unnamed stat {id}\":"));
        self.value(names, found);
        self.members.push((number, self.text.len()));
    }

    /// Adds a number under a name of our own, which begins with `$`.
    #[cold]
    pub fn add_own(&mut self, name: &str, value: i64) {
        self.text.formatted(format_args!(",\"{name}\":{value}"));
        self.own_member();
    }

    /// Adds the size of a value that is too long to be kept.
    #[cold]
    pub fn add_size(&mut self, name: &str, bytes: u64) {
        self.text.byte(b',');
        self.text.quoted(name.as_bytes());
        self.text.byte(b':');
        self.text.size_of(bytes);
        self.own_member();
    }

    /// Adds a text under a name of our own.
    #[cold]
    pub fn add_text(&mut self, name: &str, text: &str) {
        self.text.byte(b',');
        self.text.quoted(name.as_bytes());
        self.text.byte(b':');
        self.text.quoted(text.as_bytes());
        self.own_member();
    }

    /// Names of our own are all different.
    fn own_member(&mut self) {
        self.members.push((u32::MAX - self.members.len() as u32, self.text.len()));
    }

    pub fn value(&mut self, names: &StatNames, found: Found<'_>) {
        match found {
            Found::Signed(value) => self.text.signed(value),
            Found::Unsigned(value) => self.text.unsigned(value),
            Found::Ref(id) => self.reference(names, id),
            Found::Double(value) => self.text.double(value),
            Found::Str(bytes) => self.not_utf8 |= !self.text.quoted(bytes),
            Found::Bytes(bytes) => self.text.binary(bytes),
            Found::Nothing => self.text.push(b"null"),
        }
    }

    /// Ends the args of the event. An event without args has no text at all.
    #[inline(always)]
    pub fn end(&mut self) {
        if self.members.is_empty() {
            return;
        }
        if self.twice {
            self.keep_last();
        }
        self.text.set(self.start, b'{');
        self.text.byte(b'}');
    }

    /// Text of the event that was ended last.
    pub fn last(&self) -> &[u8] {
        &self.text.as_bytes()[self.start..]
    }

    /// Of several members of one name the last stays.
    #[cold]
    fn keep_last(&mut self) {
        let mut last: FxHashMap<u32, usize> = FxHashMap::default();
        for (index, &(name, _)) in self.members.iter().enumerate() {
            last.insert(name, index);
        }
        if last.len() == self.members.len() {
            return;
        }
        let all = self.text.as_bytes()[self.start..].to_vec();
        let origin = self.start;
        self.text.truncate(origin);
        let mut start = origin;
        for (index, &(name, end)) in self.members.iter().enumerate() {
            if last[&name] == index {
                self.text.push(&all[start - origin..end - origin]);
            }
            start = end;
        }
    }
}
