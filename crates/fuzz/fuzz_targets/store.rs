//! A damaged store: opened or refused, read or an error, never a crash of the process.
//!
//! The input is a list of changes to the files of a good store: which file, where, and 4 bytes to
//! write there, or a length to cut it to.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;
use stepscope_core::input::{Codec, Input};
use stepscope_core::options::Options;

const SAMPLE: &[u8] = include_bytes!("../../../tests/samples/run_metadata/two_servers.pb");

/// Names and contents of the files of a good store, and the folder to write changed ones to.
static GOOD: LazyLock<(Vec<(String, Vec<u8>)>, PathBuf)> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("stepscope-fuzz-{}", std::process::id()));
    let options = Options { folder: Some(folder.clone()), ..Options::default() };
    let input = Input::bytes(SAMPLE.to_vec(), Codec::Plain);
    drop(stepscope_core::decode("run_metadata", &input, &options).expect("the sample"));
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(&folder)
        .expect("the folder of the store")
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            (
                entry.file_name().into_string().expect("plain names"),
                std::fs::read(entry.path()).expect("a file"),
            )
        })
        .collect();
    files.sort();
    (files, folder)
});

fuzz_target!(|data: &[u8]| {
    let (files, folder) = &*GOOD;
    let mut changed = files.clone();
    for change in data.chunks_exact(10) {
        let (name, content) = &mut changed[usize::from(change[0]) % files.len()];
        let at =
            u32::from_le_bytes([change[2], change[3], change[4], change[5]]) as usize % content.len().max(1);
        match change[1] % 4 {
            0 => content.truncate(at),
            _ => content.iter_mut().skip(at).zip(&change[6..]).for_each(|(byte, new)| *byte = *new),
        }
        std::fs::write(folder.join(&*name), content).expect("writing a changed file");
    }
    if let Ok(store) = stepscope_core::open(folder) {
        for table in store.tables().keys() {
            let _rows_or_error = store.rows(table);
        }
    }
    for (name, content) in files {
        std::fs::write(folder.join(name), content).expect("writing a good file");
    }
});
