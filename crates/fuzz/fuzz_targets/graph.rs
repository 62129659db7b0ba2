//! Hostile bytes for the decoder of GraphDef, MetaGraphDef and SavedModel.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _any = stepscope_fuzz::check("graph", data);
});
