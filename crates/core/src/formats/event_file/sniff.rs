//! Recognises event files.

use crate::input::crc::masked_crc32c;
use crate::proto::messages::{Kind, Message, one};
use crate::proto::score::score;
use memchr::memmem;

/// What every writer begins with: the version of the format.
const VERSION: &[u8] = b"\x1a\x0dbrain.Event:";

static EVENT: Message = Message {
    name: "Event",
    container: false,
    fields: &[
        one(1, "wall_time", Kind::Double),
        one(2, "step", Kind::Int),
        one(3, "file_version", Kind::Text),
        one(4, "graph_def", Kind::Bytes),
        one(5, "summary", Kind::Unread),
        one(6, "log_message", Kind::Unread),
        one(7, "session_log", Kind::Unread),
        one(8, "tagged_run_metadata", Kind::Message(&TAGGED)),
        one(9, "meta_graph_def", Kind::Bytes),
        one(10, "source_metadata", Kind::Message(&SOURCE)),
    ],
};

static TAGGED: Message = Message {
    name: "TaggedRunMetadata",
    container: false,
    fields: &[one(1, "tag", Kind::Text), one(2, "run_metadata", Kind::Bytes)],
};

static SOURCE: Message =
    Message { name: "SourceMetadata", container: false, fields: &[one(1, "writer", Kind::Text)] };

/// True for a record whose length carries the right checksum, and in it the beginning of an event; or, where
/// the length is damaged, for the version of the format.
pub fn sniff(head: &[u8], _name: &str) -> bool {
    let Some((frame, rest)) = head.split_at_checked(12).filter(|(_, rest)| !rest.is_empty()) else {
        return false;
    };
    let (length, checksum) = frame.split_at(8);
    let whole = masked_crc32c(length).to_le_bytes() == checksum;
    let bytes = length.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
    let data = &rest[..rest.len().min(usize::try_from(bytes).unwrap_or(usize::MAX))];
    let event = matches!(data.first(), Some(0x09 | 0x1a)) && score(&EVENT, data) > 0;
    (whole && event) || memmem::find(&rest[..rest.len().min(36)], VERSION).is_some()
}
