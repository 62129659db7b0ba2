//! Hostile bytes for the reader of compiled programs (HloProto).
#![no_main]

use libfuzzer_sys::fuzz_target;
use stepscope_core::formats::hlo;

fuzz_target!(|data: &[u8]| {
    if let Ok(program) = hlo::program(data) {
        let made = program.instructions.len() + program.frames.len();
        assert!(made <= data.len(), "{made} rows of {} bytes", data.len());
    }
    if let Ok(module) = hlo::module(data) {
        let made = module.instructions.len() + module.computations.len();
        assert!(made <= data.len() + 64, "{made} rows of {} bytes", data.len());
        let costs = hlo::cost::costs(&module);
        assert_eq!(costs.instructions.len(), module.instructions.len());
    }
});
