//! The colours of points. They can be told apart with every kind of colour vision, on light and dark grounds.

/// A colour as red, green, blue.
pub type Rgb = [u8; 3];

/// Colours of labels on a light ground: the first are of Okabe and Ito's kind, each further one is that of the sRGB
/// cube which is farthest from all before, as seen with normal vision and without red, green or blue cones. Hue and
/// lightness vary.
const ON_LIGHT: [Rgb; 36] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 148, 108],
    [190, 95, 150],
    [119, 0, 51],
    [68, 0, 153],
    [136, 0, 255],
    [153, 170, 255],
    [204, 170, 0],
    [153, 34, 102],
    [136, 85, 51],
    [170, 170, 136],
    [0, 51, 204],
    [85, 68, 136],
    [170, 85, 221],
    [238, 136, 221],
    [68, 51, 85],
    [204, 17, 170],
    [204, 0, 0],
    [102, 0, 119],
    [255, 85, 187],
    [136, 17, 170],
    [221, 136, 68],
    [85, 153, 255],
    [119, 136, 51],
    [85, 119, 102],
    [136, 85, 153],
    [255, 34, 119],
    [68, 153, 187],
    [102, 68, 51],
    [187, 119, 221],
    [119, 102, 255],
    [85, 85, 204],
    [34, 85, 102],
    [153, 17, 0],
    [0, 187, 221],
];

/// The same on a dark ground.
const ON_DARK: [Rgb; 36] = [
    [85, 161, 203],
    [227, 147, 85],
    [153, 255, 0],
    [136, 0, 221],
    [187, 0, 0],
    [153, 102, 102],
    [0, 102, 102],
    [85, 221, 170],
    [153, 85, 255],
    [238, 255, 170],
    [119, 102, 187],
    [255, 34, 0],
    [204, 204, 0],
    [170, 187, 255],
    [187, 51, 153],
    [170, 136, 85],
    [204, 136, 255],
    [255, 85, 136],
    [204, 255, 255],
    [238, 187, 136],
    [85, 136, 0],
    [255, 102, 204],
    [170, 34, 102],
    [153, 34, 170],
    [102, 255, 204],
    [68, 51, 255],
    [85, 102, 136],
    [51, 119, 221],
    [136, 187, 170],
    [238, 221, 119],
    [221, 17, 204],
    [221, 170, 0],
    [170, 221, 221],
    [119, 85, 51],
    [255, 153, 221],
    [153, 119, 170],
];

/// From unsure to sure: dark violet over teal to amber, its lightness rising evenly.
const CONFIDENCE: [Rgb; 8] = [
    [94, 60, 153],
    [74, 88, 160],
    [45, 114, 160],
    [22, 138, 148],
    [36, 158, 122],
    [98, 170, 84],
    [170, 164, 40],
    [226, 152, 20],
];

const MISSING: Rgb = [140, 146, 150];

/// How many different label colours there are before they repeat.
pub const DISTINCT: usize = ON_LIGHT.len();

/// The colour of a label code; negative for missing.
pub fn label(code: f32, dark: bool) -> Rgb {
    if code < 0.0 || !code.is_finite() {
        return MISSING;
    }
    if dark { ON_DARK[code as usize % DISTINCT] } else { ON_LIGHT[code as usize % DISTINCT] }
}

/// The colour of a confidence between 0 and 1.
pub fn confidence(value: f32, dark: bool) -> Rgb {
    if !value.is_finite() {
        return MISSING;
    }
    let at = (value.clamp(0.0, 1.0) * CONFIDENCE.len() as f32) as usize;
    lift(CONFIDENCE[at.min(CONFIDENCE.len() - 1)], dark)
}

/// Dark grounds want lighter colours.
fn lift(colour: Rgb, dark: bool) -> Rgb {
    if dark { colour.map(|channel| channel + (255 - channel) / 3) } else { colour }
}

pub fn css(colour: Rgb) -> String {
    format!("rgb({} {} {})", colour[0], colour[1], colour[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_colour() {
        for dark in [false, true] {
            assert_eq!(label(-1.0, dark), MISSING);
            assert_eq!(label(0.0, dark), label(DISTINCT as f32, dark));
            assert_ne!(confidence(0.0, dark), confidence(1.0, dark));
            assert_eq!(confidence(f32::NAN, dark), MISSING);
            assert_eq!(confidence(7.0, dark), confidence(1.0, dark));
        }
    }

    /// What somebody sees of linear light: everybody, and those without red, green or blue cones
    /// (Machado, Oliveira and Fernandes 2009).
    const EYES: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];
    /// Linear sRGB to the cones of Oklab, and these to its lightness and two hues.
    const CONES: [[f64; 3]; 3] = [
        [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
        [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
        [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
    ];
    const HUES: [[f64; 3]; 3] = [
        [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
        [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
        [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
    ];

    fn times(matrix: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    fn seen(colour: Rgb, eyes: usize) -> [f64; 3] {
        let linear = colour.map(|c| match f64::from(c) / 255.0 {
            c if c <= 0.040_45 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        });
        let light = times(&EYES[eyes], linear).map(|v| v.clamp(0.0, 1.0));
        times(&HUES, times(&CONES, light).map(f64::cbrt))
    }

    #[test]
    fn labels_can_be_told_apart_by_everybody() {
        assert_eq!(DISTINCT, 36);
        for (name, colours) in [("light", ON_LIGHT), ("dark", ON_DARK)] {
            // A difference of 0.02 is about the least that is noticed.
            for (eyes, least) in [0.07, 0.035, 0.035, 0.035].into_iter().enumerate() {
                for (i, a) in colours.iter().enumerate() {
                    for b in colours[..i].iter().chain([&MISSING]) {
                        let [p, q] = [a, b].map(|colour| seen(*colour, eyes));
                        let apart = p.iter().zip(q).map(|(p, q)| (p - q).powi(2)).sum::<f64>().sqrt();
                        assert!(apart > least, "{name}, eyes {eyes}: {a:?} and {b:?} are {apart:.3} apart");
                    }
                }
            }
        }
    }
}
