//! Hostile bytes for the reader of compiled programs (HloProto).
#![no_main]

use libfuzzer_sys::fuzz_target;
use stepscope_core::formats::hlo;

fuzz_target!(|data: &[u8]| {
    if let Ok(program) = hlo::program(data) {
        let made = program.instructions.len() + program.frames.len();
        assert!(made <= data.len(), "{made} rows of {} bytes", data.len());
    }
});
