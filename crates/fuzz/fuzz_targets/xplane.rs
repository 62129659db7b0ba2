//! Hostile bytes for the decoder of XSpace. What prost reads, we read, event by event.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prost::Message;

/// The fields of tensorflow/tsl/profiler/protobuf/xplane.proto that events hang on.
#[derive(Clone, PartialEq, Message)]
struct Space {
    #[prost(message, repeated, tag = "1")]
    planes: Vec<Plane>,
}

#[derive(Clone, PartialEq, Message)]
struct Plane {
    #[prost(message, repeated, tag = "3")]
    lines: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(message, repeated, tag = "4")]
    events: Vec<Event>,
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(int64, tag = "1")]
    metadata_id: i64,
    #[prost(int64, tag = "3")]
    duration_ps: i64,
}

fuzz_target!(|data: &[u8]| {
    let store = stepscope_fuzz::check("xplane", data);
    let Ok(space) = Space::decode(data) else { return };
    let events: usize =
        space.planes.iter().flat_map(|plane| &plane.lines).map(|line| line.events.len()).sum();
    if events > 0 {
        let store = store.expect("an XSpace with events");
        assert_eq!(store.facts.events_seen, events as u64, "events of a whole XSpace");
    }
});
