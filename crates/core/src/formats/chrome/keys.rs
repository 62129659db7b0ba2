//! The keys that have a place of their own. Frequent ones are recognised by their first eight bytes.

const fn key(text: &str) -> (u64, u64) {
    let bytes = text.as_bytes();
    let (mut word, mut mask, mut i) = (b'"' as u64, 0xff, bytes.len());
    while i > 0 {
        i -= 1;
        word = word << 8 | bytes[i] as u64;
        mask = mask << 8 | 0xff;
    }
    (word, mask)
}

const PH: (u64, u64) = key("ph");
const TS: (u64, u64) = key("ts");
const ID: (u64, u64) = key("id");
const PID: (u64, u64) = key("pid");
const TID: (u64, u64) = key("tid");
const CAT: (u64, u64) = key("cat");
const DUR: (u64, u64) = key("dur");
const NAME: (u64, u64) = key("name");
const ARGS: (u64, u64) = key("args");

/// Keys whose value has a place of its own.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Key {
    Ph = 1,
    Ts = 2,
    Id = 4,
    Pid = 8,
    Tid = 16,
    Cat = 32,
    Dur = 64,
    Name = 128,
    Args = 256,
    Id2 = 512,
    Scope = 1024,
    OpName = 2048,
    OpType = 4096,
    /// No key: the closing brace.
    End = 8192,
    #[default]
    Other = 0,
}

/// The key behind an opening quote when it is one of the frequent ones, and its length.
#[inline]
pub(super) fn frequent(word: u64) -> Option<(Key, usize)> {
    let is = |(text, mask): (u64, u64)| word & mask == text;
    Some(if is(NAME) {
        (Key::Name, 4)
    } else if is(PH) {
        (Key::Ph, 2)
    } else if is(PID) {
        (Key::Pid, 3)
    } else if is(TID) {
        (Key::Tid, 3)
    } else if is(TS) {
        (Key::Ts, 2)
    } else if is(DUR) {
        (Key::Dur, 3)
    } else if is(CAT) {
        (Key::Cat, 3)
    } else if is(ARGS) {
        (Key::Args, 4)
    } else if is(ID) {
        (Key::Id, 2)
    } else {
        return None;
    })
}

/// A key by its whole text.
pub(super) fn by_text(text: &[u8]) -> Key {
    match text {
        b"ph" => Key::Ph,
        b"ts" => Key::Ts,
        b"id" => Key::Id,
        b"pid" => Key::Pid,
        b"tid" => Key::Tid,
        b"cat" => Key::Cat,
        b"dur" => Key::Dur,
        b"name" => Key::Name,
        b"args" => Key::Args,
        b"id2" => Key::Id2,
        b"scope" => Key::Scope,
        b"op_name" => Key::OpName,
        b"op_type" => Key::OpType,
        _ => Key::Other,
    }
}
