//! Pictures as PNG: eight bits a channel, red, green, blue and opacity. For figures whose points are too many to be
//! drawn one by one.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use crate::{Kind, Trouble};

/// A picture of so many pixels, four bytes each, line by line from the top.
pub fn png(width: u32, height: u32, pixels: &[u8]) -> Result<Vec<u8>, Trouble> {
    let line = 4 * width as usize;
    if line == 0 || pixels.len() != line * height as usize {
        let what = format!("A picture of {width} × {height} has not {} bytes.", pixels.len());
        return Err(Trouble::new(Kind::Broken, what, "Choose another size."));
    }
    // Every line begins with its filter: 0, none.
    let mut lines = Vec::with_capacity(pixels.len() + height as usize);
    for line in pixels.chunks_exact(line) {
        lines.push(0);
        lines.extend_from_slice(line);
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let packed = encoder.write_all(&lines).and_then(|()| encoder.finish()).map_err(|error| {
        Trouble::new(Kind::Broken, format!("It cannot be packed: {error}."), "Try again.")
    })?;
    let mut head = Vec::new();
    head.extend(width.to_be_bytes());
    head.extend(height.to_be_bytes());
    // Depth, colour with opacity, and the only methods there are.
    head.extend([8, 6, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in [(b"IHDR", &head), (b"IDAT", &packed), (b"IEND", &Vec::new())] {
        chunk(&mut file, name, data);
    }
    Ok(file)
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(data);
    let mut sum = Crc::new();
    sum.update(&file[start..]);
    file.extend(sum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn the_pixels_come_back() {
        let pixels: Vec<u8> = (0..3 * 2 * 4).map(|i| (i * 7) as u8).collect();
        let file = png(3, 2, &pixels).expect("written");
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        let mut at = 8;
        let mut lines = Vec::new();
        let mut names = Vec::new();
        while at < file.len() {
            let length = u32::from_be_bytes(file[at..at + 4].try_into().expect("four")) as usize;
            let (name, data) = (&file[at + 4..at + 8], &file[at + 8..at + 8 + length]);
            let mut sum = Crc::new();
            sum.update(&file[at + 4..at + 8 + length]);
            assert_eq!(file[at + 8 + length..at + 12 + length], sum.sum().to_be_bytes());
            names.push(String::from_utf8_lossy(name).into_owned());
            match name {
                b"IHDR" => assert_eq!(data, [0, 0, 0, 3, 0, 0, 0, 2, 8, 6, 0, 0, 0]),
                b"IDAT" => {
                    flate2::read::ZlibDecoder::new(data).read_to_end(&mut lines).expect("unpacked");
                }
                _ => assert!(data.is_empty()),
            }
            at += 12 + length;
        }
        assert_eq!(names, ["IHDR", "IDAT", "IEND"]);
        assert_eq!(lines, [&[0], &pixels[..12], &[0], &pixels[12..]].concat());
    }

    #[test]
    fn a_size_that_does_not_fit_is_refused() {
        assert!(png(3, 3, &[0; 24]).is_err());
        assert!(png(0, 0, &[]).is_err());
    }
}
