//! TFRecord: the length of a message, its checksum, the message, its checksum. Checksums are CRC-32C (Castagnoli), rotated and
//! shifted so that the checksum of data that has checksums in it stays good.

/// The reversed polynomial of CRC-32C.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// The checksums of single bytes.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| TABLE[((crc ^ u32::from(*byte)) & 0xff) as usize] ^ crc >> 8)
}

fn masked(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// A message as a record.
pub(super) fn written(message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u64).to_le_bytes();
    let mut record = length.to_vec();
    record.extend(masked(&length).to_le_bytes());
    record.extend(message);
    record.extend(masked(message).to_le_bytes());
    record
}

/// The messages of records, up to the first that is damaged or not whole.
pub(super) fn read(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = checked(bytes, 8)?;
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        let (message, rest) = checked(rest, length)?;
        bytes = rest;
        Some(message)
    })
}

/// This number of bytes, if their checksum follows them, and what comes after it.
fn checked(bytes: &[u8], length: usize) -> Option<(&[u8], &[u8])> {
    let (content, rest) = bytes.split_at_checked(length)?;
    let (checksum, rest) = rest.split_at_checked(4)?;
    (masked(content).to_le_bytes() == checksum).then_some((content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_castagnolis() {
        // The check value of the catalogue of parametrised CRC algorithms, and those of RFC 3720, B.4.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn records_are_read_back() {
        let file = [written(b"one"), written(b""), written(b"three")].concat();
        assert_eq!(read(&file).collect::<Vec<_>>(), [&b"one"[..], b"", b"three"]);
        assert_eq!(read(&[0xff; 40]).count(), 0);
    }
}
