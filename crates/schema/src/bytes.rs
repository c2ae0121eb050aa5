//! Bytes as bulk data: four to a number, whatever number that makes. Numbers are only ever copied on their way, so that
//! the bytes come out as they went in.

/// The bytes as numbers; the last one is filled up with zeros.
pub fn as_bulk(bytes: &[u8]) -> Vec<f32> {
    let four = |bytes: &[u8]| std::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0));
    bytes.chunks(4).map(|part| f32::from_bits(u32::from_le_bytes(four(part)))).collect()
}

/// The bytes that [`as_bulk`] was given, as many as there were.
pub fn from_bulk(bulk: &[f32], count: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = bulk.iter().flat_map(|value| value.to_bits().to_le_bytes()).collect();
    bytes.truncate(count);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Among them numbers that are none, whose bits some instructions change.
    #[test]
    fn bytes_come_out_as_they_went_in() {
        let bytes: Vec<u8> = (0..=255).chain([0, 0, 0xa0, 0x7f, 1, 0, 0x80, 0xff, 7]).collect();
        for count in [0, 1, 3, 4, bytes.len()] {
            assert_eq!(from_bulk(&as_bulk(&bytes[..count]), count), &bytes[..count]);
        }
    }
}
