"""CRC-32C bit by bit, with the mask of TFRecord files: a reference for framing drawn files."""


def masked_crc32c(data: bytes) -> int:
    """CRC-32C as TFRecord files and tables of checkpoints store it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
