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
    // A text in pieces says what the whole says.
    if let Ok(Some(found)) = hlo::stream::walk(data, data.len() as u64, 64, &mut |_| Ok(())) {
        let module = hlo::module(data).expect("what pieces can be read");
        assert_eq!(found.summary.instructions, module.instructions.len() as u64);
        assert_eq!(found.roots.len(), module.computations.len());
        assert_eq!(found.summary.lost, module.lost);
        assert_eq!(found.summary.dangling, module.dangling);
    }
});
