//! CRC-32C (Castagnoli), eight bytes at a time, and the mask that TFRecord puts over it.

const TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (0x82f6_3b78 & 0_u32.wrapping_sub(crc & 1));
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut level = 1;
    while level < 8 {
        let mut byte = 0;
        while byte < 256 {
            let below = tables[level - 1][byte];
            tables[level][byte] = (below >> 8) ^ tables[0][(below & 0xff) as usize];
            byte += 1;
        }
        level += 1;
    }
    tables
}

/// CRC-32C of bytes.
pub fn crc32c(bytes: &[u8]) -> u32 {
    extend_crc32c(0, bytes)
}

/// CRC-32C of bytes behind others whose own is `before`.
pub fn extend_crc32c(before: u32, bytes: &[u8]) -> u32 {
    let mut crc = !before;
    let (eights, rest) = bytes.as_chunks::<8>();
    for eight in eights {
        let low = crc ^ u32::from_le_bytes([eight[0], eight[1], eight[2], eight[3]]);
        crc = TABLES[7][(low & 0xff) as usize]
            ^ TABLES[6][(low >> 8 & 0xff) as usize]
            ^ TABLES[5][(low >> 16 & 0xff) as usize]
            ^ TABLES[4][(low >> 24) as usize]
            ^ TABLES[3][eight[4] as usize]
            ^ TABLES[2][eight[5] as usize]
            ^ TABLES[1][eight[6] as usize]
            ^ TABLES[0][eight[7] as usize];
    }
    for byte in rest {
        crc = (crc >> 8) ^ TABLES[0][(crc as u8 ^ byte) as usize];
    }
    !crc
}

/// CRC-32C as it stands in TFRecord files.
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
