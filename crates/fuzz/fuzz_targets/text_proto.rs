//! Hostile text for the reader of text protos, as RunMetadata and as graph.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for format in ["run_metadata", "graph"] {
        let _any = stepscope_fuzz::check(format, text.as_bytes());
    }
});
