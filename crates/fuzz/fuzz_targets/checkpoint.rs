//! Hostile bytes for the readers of checkpoints: a bundle (index and values) and a file of slices.
//!
//! The first two bytes say how many of the others are the index; the rest are the values.
#![no_main]

use std::fs;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use stepscope_core::formats::checkpoint::{self, Checkpoint};

fuzz_target!(|data: &[u8]| {
    let Some((size, rest)) = data.split_first_chunk::<2>() else {
        return;
    };
    let (index, values) = rest.split_at(usize::from(u16::from_le_bytes(*size)).min(rest.len()));
    // In memory where that is possible: on a disk the files take longer than reading them.
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    let folder = place.join(format!("stepscope-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for files that are read by their names");
    fs::write(folder.join("model.index"), index).expect("the index");
    fs::write(folder.join("model.data-00000-of-00001"), values).expect("the values");
    fs::write(folder.join("slices"), rest).expect("the slices");
    let _any = checkpoint::version(rest);
    read(&folder.join("model"));
    read(&folder.join("model.index"));
    read(&folder.join("slices"));
});

/// Every tensor of a checkpoint, with its values and their text.
fn read(path: &Path) {
    let Ok(found) = Checkpoint::open(path) else {
        return;
    };
    let _any = found.absent();
    for tensor in found.tensors().iter().take(64) {
        if let Ok(values) = found.values(tensor) {
            let _any = checkpoint::text::print(tensor, &values);
        }
    }
}
