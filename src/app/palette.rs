//! The colours of points. They can be told apart with every kind of colour vision, on light and dark grounds.

/// A colour as red, green, blue.
pub type Rgb = [u8; 3];

/// Okabe and Ito's colours without black and yellow, and some more of other lightness.
const LABELS: [Rgb; 12] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 148, 108],
    [190, 95, 150],
    [70, 160, 215],
    [205, 140, 0],
    [110, 80, 190],
    [130, 125, 0],
    [165, 50, 85],
    [0, 150, 160],
    [140, 85, 45],
    [95, 110, 125],
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
pub const DISTINCT: usize = LABELS.len();

/// The colour of a label code; negative for missing.
pub fn label(code: f32, dark: bool) -> Rgb {
    if code < 0.0 || !code.is_finite() {
        return MISSING;
    }
    lift(LABELS[code as usize % LABELS.len()], dark)
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
}
