//! Hostile bytes for the reader of compiled programs (HloProto and text).
#![no_main]

use libfuzzer_sys::fuzz_target;
use stepscope_core::formats::hlo;

fuzz_target!(|data: &[u8]| {
    if let Ok(module) = hlo::module(data) {
        let made = module.instructions.len() + module.computations.len() + module.frames.len();
        assert!(made <= data.len() + 64, "{made} rows of {} bytes", data.len());
        let costs = hlo::cost::costs(&module);
        assert_eq!(costs.instructions.len(), module.instructions.len());
    }
});
