//! Hostile records for the decoder of event files. Checksums are made right, or nothing would get past them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stepscope_core::input::crc;

fuzz_target!(|data: &[u8]| {
    let _any = stepscope_fuzz::check("event_file", data);
    // The same bytes as the content of records: a length byte, then that many bytes.
    let (mut file, mut rest) = (Vec::new(), data);
    while let Some((length, after)) = rest.split_first() {
        let (record, after) = after.split_at(after.len().min(usize::from(*length)));
        let head = (record.len() as u64).to_le_bytes();
        file.extend_from_slice(&head);
        file.extend_from_slice(&crc::masked_crc32c(&head).to_le_bytes());
        file.extend_from_slice(record);
        file.extend_from_slice(&crc::masked_crc32c(record).to_le_bytes());
        rest = after;
    }
    let _any = stepscope_fuzz::check("event_file", &file);
});
