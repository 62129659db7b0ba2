//! Which message the first bytes of a file are.
//!
//! Protocol buffers carry no name, so the bytes are held against the tables of [`crate::proto::messages`]:
//! fields that fit count for a message, fields that contradict it count ten times against it.

use super::messages::{
    GRAPH_DEF, Kind, META_GRAPH_DEF, Message, PROFILE_PROTO, RUN_METADATA, SAVED_MODEL, STEP_STATS, many, one,
};
use super::probe::first_name;
use super::wire;

/// Points above which a head is taken for a message.
pub const PROVEN: i32 = 4;
/// Fields that are looked at; a file has shown what it is long before.
const MOST_FIELDS: usize = 400;
const MOST_DEPTH: usize = 8;
/// What a field costs that the message does not have, or not like this.
const CONTRADICTION: i32 = -10;
/// What a field costs whose number is beyond all that the message has: newer versions add such fields.
const NEWER: i32 = -1;

/// The messages that files of TensorFlow are; of equals the first is taken. The op log is read elsewhere.
static ROOTS: [&Message; 7] =
    [&RUN_METADATA, &STEP_STATS, &GRAPH_DEF, &META_GRAPH_DEF, &SAVED_MODEL, &OP_LOG_PROTO, &PROFILE_PROTO];

/// tfprof's op log, which nothing here decodes; what reads as one is no statistics of steps.
static OP_LOG_PROTO: Message = Message {
    name: "OpLogProto",
    container: true,
    fields: &[many(1, "log_entries", Kind::Message(&OP_LOG_ENTRY)), many(2, "id_to_string", Kind::Unread)],
};

static OP_LOG_ENTRY: Message = Message {
    name: "OpLogEntry",
    container: false,
    fields: &[
        one(1, "name", Kind::Text),
        one(2, "float_ops", Kind::Int),
        many(3, "types", Kind::Text),
        one(4, "code_def", Kind::Unread),
    ],
};

/// Names that a text begins with, and the message that has them.
static FIRST_NAMES: [(&str, &Message); 11] = [
    ("step_stats", &RUN_METADATA),
    ("cost_graph", &RUN_METADATA),
    ("partition_graphs", &RUN_METADATA),
    ("function_graphs", &RUN_METADATA),
    ("dev_stats", &STEP_STATS),
    ("node", &GRAPH_DEF),
    ("library", &GRAPH_DEF),
    ("versions", &GRAPH_DEF),
    ("meta_info_def", &META_GRAPH_DEF),
    ("graph_def", &META_GRAPH_DEF),
    ("saved_model_schema_version", &SAVED_MODEL),
];

/// The message that a file begins with, as text or binary; None when it begins with none of them.
pub fn root(head: &[u8]) -> Option<&'static Message> {
    if let Some(name) = first_name(head)
        && let Some((_, root)) = FIRST_NAMES.iter().find(|(one, _)| one.as_bytes() == name)
        && (is_steps(root) || speaks_of_graphs(head))
    {
        return Some(root);
    }
    let mut best = (None, PROVEN);
    for root in ROOTS {
        let points = score(root, head);
        if points > best.1 {
            best = (Some(root), points);
        }
    }
    best.0.filter(|root| !std::ptr::eq(*root, &OP_LOG_PROTO))
}

/// True for the messages with the statistics of steps.
pub fn is_steps(root: &Message) -> bool {
    std::ptr::eq(root, &RUN_METADATA) || std::ptr::eq(root, &STEP_STATS)
}

/// True for tfprof's profile.
pub fn is_profile(root: &Message) -> bool {
    std::ptr::eq(root, &PROFILE_PROTO)
}

/// True for graphs, alone or in a file of more.
pub fn is_graph(root: &Message) -> bool {
    !is_steps(root) && !is_profile(root)
}

/// Other messages have fields called `node` or `library` as well, but a graph has one of these, too.
fn speaks_of_graphs(head: &[u8]) -> bool {
    has_word(head, b"op", Some(b":"))
        || has_word(head, b"producer", Some(b":"))
        || has_word(head, b"signature", Some(b":{<"))
        || has_word(head, b"meta_graph", None)
        || has_word(head, b"stripped_op_list", None)
}

/// True when a word begins so and, if that is asked, is followed by one of the signs.
fn has_word(head: &[u8], word: &[u8], signs: Option<&[u8]>) -> bool {
    memchr::memmem::find_iter(head, word).any(|at| {
        let before = at.checked_sub(1).map(|before| head[before]);
        if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return false;
        }
        let after = head[at + word.len()..].trim_ascii_start().first();
        signs.is_none_or(|signs| after.is_some_and(|sign| signs.contains(sign)))
    })
}

/// How well bytes, possibly cut short, fit a message; below 1 they do not.
pub fn score(message: &Message, head: &[u8]) -> i32 {
    score_fields(message, head, &mut { MOST_FIELDS }, 0)
}

fn score_fields(message: &Message, bytes: &[u8], left: &mut usize, depth: usize) -> i32 {
    let (mut points, mut at) = (0, 0);
    while at < bytes.len() && *left > 0 {
        let Some(tag) = wire::varint(bytes, &mut at) else {
            break;
        };
        let (wire_type, mut value, mut body, mut cut) = (tag & 7, 0, &bytes[..0], false);
        match wire_type {
            0 => {
                let Some(number) = wire::varint(bytes, &mut at) else {
                    break;
                };
                value = number;
            }
            1 => at += 8,
            5 => at += 4,
            2 => {
                let Some(length) = wire::varint(bytes, &mut at) else {
                    break;
                };
                let end = at.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
                cut = end > bytes.len();
                body = &bytes[at..end.min(bytes.len())];
                at = end;
            }
            _ => return points + CONTRADICTION,
        }
        *left -= 1;
        let number = u32::try_from(tag >> 3).ok();
        let field = number.and_then(|number| message.by_number(number));
        points += match (field.map(|field| &field.kind), wire_type) {
            (None, _) if number.is_some_and(|number| message.is_newer(number)) => NEWER,
            (Some(Kind::Unread), _) => 0,
            (Some(Kind::Message(inner)), 2) if depth < MOST_DEPTH => {
                1 + score_fields(inner, body, left, depth + 1)
            }
            (Some(Kind::Message(_)), 2) => 1,
            (Some(Kind::Text), 2) if is_text(body, cut) => 2,
            // Whatever writes protocol buffers writes booleans as 0 and 1; a text may repeat any letter.
            (Some(Kind::Bool), 0) if value > 1 => CONTRADICTION,
            (Some(Kind::Int | Kind::Bool | Kind::Enum(_)), 0)
            | (Some(Kind::Double), 1)
            | (Some(Kind::Float), 5)
            | (Some(Kind::Bytes), 2) => 1,
            // Numbers one after the other could be anything.
            (Some(kind), 2) if !matches!(kind, Kind::Text) && field.is_some_and(|field| field.repeated) => 0,
            _ => CONTRADICTION,
        };
    }
    points
}

fn is_text(body: &[u8], cut: bool) -> bool {
    if body.iter().take(200).any(|byte| *byte < b' ') {
        return false;
    }
    match std::str::from_utf8(body) {
        Ok(_) => true,
        // The last character may be cut with the head.
        Err(error) => cut && error.valid_up_to() + 4 > body.len(),
    }
}
