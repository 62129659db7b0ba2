//! Hostile bytes for the decoder of RunMetadata and StepStats, binary or text.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _any = stepscope_fuzz::check("run_metadata", data);
});
