//! Many points as pixels: stamped into a buffer that becomes the canvas in one go. A canvas takes microseconds for
//! each disc it is asked for; a stamp is some bytes.

use crate::app::palette::Rgb;

/// The shape of a point with its opacity, pixel by pixel.
pub struct Stamp {
    side: usize,
    /// From 0 to 256.
    cover: Vec<u16>,
}

impl Stamp {
    /// A disc of this radius in pixels; edges are soft.
    pub fn disc(radius: f64, opacity: f64) -> Self {
        Self::shaped(radius, opacity, |x, y| radius - x.hypot(y))
    }

    /// A square that stands on its corner, as large as the disc.
    pub fn diamond(radius: f64, opacity: f64) -> Self {
        let reach = 1.25 * radius;
        Self::shaped(reach, opacity, |x, y| (reach - x.abs() - y.abs()) * std::f64::consts::FRAC_1_SQRT_2)
    }

    /// A shape from how deep inside it a place is, in pixels.
    fn shaped(reach: f64, opacity: f64, depth: impl Fn(f64, f64) -> f64) -> Self {
        let side = 2 * (reach.ceil().max(1.0) as usize) + 1;
        let middle = (side / 2) as f64;
        let cover = (0..side * side).map(|at| {
            let (x, y) = ((at % side) as f64 - middle, (at / side) as f64 - middle);
            ((depth(x, y) + 0.5).clamp(0.0, 1.0) * opacity * 256.0) as u16
        });
        Self { side, cover: cover.collect() }
    }
}

/// No canvas reaches so many pixels, and integers do.
const FAR_OUT: f64 = 1e6;

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
        let colour = colour.map(i32::from);
        for line in lines {
            let from = (line * side + columns.start) as usize;
            let to = 4 * ((top + line) as usize * self.width + (left + columns.start) as usize);
            let cover = &stamp.cover[from..from + wide];
            for (pixel, share) in self.pixels[to..to + 4 * wide].chunks_exact_mut(4).zip(cover) {
                for (channel, value) in pixel.iter_mut().zip(colour) {
                    let below = i32::from(*channel);
                    *channel = (below + (((value - below) * i32::from(*share)) >> 8)) as u8;
                }
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
