//! Many points as pixels: stamped into a buffer that becomes the canvas in one go. A canvas takes microseconds for
//! each disc it is asked for; a stamp is some bytes.

use std::f64::consts::SQRT_2;

use crate::app::palette::Rgb;

/// The shape of a point with its opacity, pixel by pixel.
pub struct Stamp {
    side: usize,
    /// From 0 to 256.
    cover: Vec<u32>,
}

impl Stamp {
    /// A disc of this radius in pixels; edges are soft.
    pub fn disc(radius: f64, opacity: f64) -> Self {
        Self::shaped(radius + 0.5, opacity, |x, y| radius - x.hypot(y))
    }

    /// A square that stands on its corner, as large as the disc.
    pub fn diamond(radius: f64, opacity: f64) -> Self {
        let reach = 1.25 * radius;
        Self::shaped(reach + SQRT_2 / 2.0, opacity, |x, y| (reach - x.abs() - y.abs()) / SQRT_2)
    }

    /// A shape from how deep inside it a place is, in pixels; nothing of it is as far from its middle as `reach`.
    fn shaped(reach: f64, opacity: f64, depth: impl Fn(f64, f64) -> f64) -> Self {
        let side = 2 * (reach.ceil() as usize).saturating_sub(1) + 1;
        let middle = (side / 2) as f64;
        let cover = (0..side * side).map(|at| {
            let (x, y) = ((at % side) as f64 - middle, (at / side) as f64 - middle);
            ((depth(x, y) + 0.5).clamp(0.0, 1.0) * opacity * 256.0) as u32
        });
        Self { side, cover: cover.collect() }
    }
}

/// No canvas reaches so many pixels, and integers do.
const FAR_OUT: f64 = 1e6;

/// Red and blue of a pixel, its green, and what makes it opaque.
const ODD: u32 = 0x00ff_00ff;
const EVEN: u32 = 0x0000_ff00;
const OPAQUE: u32 = 0xff00_0000;

/// An opaque picture, four bytes a pixel.
pub struct Raster {
    width: usize,
    height: usize,
    pub pixels: Vec<u8>,
}

impl Raster {
    pub fn new(width: usize, height: usize, [r, g, b]: Rgb) -> Self {
        Self { width, height, pixels: [r, g, b, 255].repeat(width * height) }
    }

    /// Its width and its height in pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Lays a stamp over the picture, its middle at the pixel of this place. What lies outside is cut off.
    pub fn stamp(&mut self, stamp: &Stamp, (x, y): (f64, f64), colour: Rgb) {
        if x.abs().max(y.abs()) > FAR_OUT {
            return;
        }
        let (side, half) = (stamp.side as i64, (stamp.side / 2) as i64);
        let (left, top) = (x.floor() as i64 - half, y.floor() as i64 - half);
        let columns = (-left).max(0)..side.min(self.width as i64 - left);
        let lines = (-top).max(0)..side.min(self.height as i64 - top);
        if columns.is_empty() || lines.is_empty() {
            return;
        }
        let wide = (columns.end - columns.start) as usize;
        let [r, g, b] = colour.map(u32::from);
        let (odd, even) = (b << 16 | r, g << 8);
        for line in lines {
            let from = (line * side + columns.start) as usize;
            let to = 4 * ((top + line) as usize * self.width + (left + columns.start) as usize);
            let cover = &stamp.cover[from..from + wide];
            for (pixel, share) in self.pixels[to..to + 4 * wide].chunks_exact_mut(4).zip(cover) {
                // Red and blue at once, then green: each has room for a product by 256 beside it.
                let below = u32::from_le_bytes([pixel[0], pixel[1], pixel[2], 0]);
                let rest = 256 - share;
                let odd = ((below & ODD) * rest + odd * share) >> 8 & ODD;
                let even = ((below & EVEN) * rest + even * share) >> 8 & EVEN;
                pixel.copy_from_slice(&(odd | even | OPAQUE).to_le_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inked(raster: &Raster) -> Vec<(usize, usize)> {
        let dark = raster.pixels.chunks_exact(4).enumerate().filter(|(_, pixel)| pixel[0] < 128);
        dark.map(|(at, _)| (at % raster.width, at / raster.width)).collect()
    }

    #[test]
    fn a_disc_is_round_and_a_diamond_is_not() {
        let mut raster = Raster::new(20, 20, [255; 3]);
        raster.stamp(&Stamp::disc(4.0, 1.0), (10.2, 9.9), [0; 3]);
        let disc = inked(&raster);
        assert!(disc.contains(&(12, 11)) && disc.contains(&(7, 7)) && !disc.contains(&(14, 13)), "{disc:?}");
        assert!((40..60).contains(&disc.len()), "{} of about 50 pixels", disc.len());
        let mut raster = Raster::new(20, 20, [255; 3]);
        raster.stamp(&Stamp::diamond(4.0, 1.0), (10.2, 9.9), [0; 3]);
        assert!(!inked(&raster).contains(&(13, 12)) && inked(&raster).contains(&(14, 9)));
        assert!(raster.pixels.chunks_exact(4).all(|pixel| pixel[3] == 255));
    }

    #[test]
    fn stamps_are_cut_at_every_edge() {
        let stamp = Stamp::disc(3.0, 1.0);
        for at in [(0.0, 0.0), (9.9, 0.0), (0.0, 6.9), (9.9, 6.9)] {
            let mut raster = Raster::new(10, 7, [255; 3]);
            raster.stamp(&stamp, at, [0; 3]);
            assert!((6..20).contains(&inked(&raster).len()), "{at:?}");
        }
        let mut raster = Raster::new(10, 7, [255; 3]);
        for at in [(-50.0, 3.0), (50.0, 3.0), (3.0, -50.0), (3.0, 1e12), (-1e300, 0.0)] {
            raster.stamp(&stamp, at, [0; 3]);
        }
        assert!(inked(&raster).is_empty());
    }

    #[test]
    fn what_is_below_shines_through() {
        let mut raster = Raster::new(3, 3, [200, 100, 0]);
        raster.stamp(&Stamp::disc(2.0, 0.5), (1.0, 1.0), [100, 200, 255]);
        assert_eq!(raster.pixels[16..20], [150, 150, 127, 255]);
    }
}
