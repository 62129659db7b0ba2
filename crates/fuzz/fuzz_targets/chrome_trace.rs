//! Hostile bytes for the decoder of Chrome traces. What serde_json reads, we read, event by event.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let store = stepscope_fuzz::check("chrome_trace", data);
    let Ok(document) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    let events = match &document {
        Value::Array(events) => Some(events),
        Value::Object(fields) => fields.get("traceEvents").and_then(Value::as_array),
        _ => None,
    };
    // Of keys that come twice, serde_json takes the last; we read both.
    let once = data.windows(11).filter(|word| word == b"traceEvents").count() < 2 && !data.contains(&b'\\');
    if let (Some(events), true) = (events, once) {
        let store = store.expect("a document with an array of events");
        assert_eq!(store.facts.events_seen, events.len() as u64, "events of a whole document");
    }
});
