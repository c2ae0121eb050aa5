//! The colours of points. They can be told apart with every kind of colour vision, on light and on dark grounds, and a
//! label keeps its hue from one to the other.

/// A colour as red, green, blue.
pub type Rgb = [u8; 3];

/// Colours of labels on a light ground. The first three are blue, orange and green of Okabe and Ito's kind; each
/// further one has the hue whose best light and dark colours are farthest from all before, as seen with normal vision
/// and without red, green or blue cones. All of them have a contrast of 3 to 1 to the ground as they are drawn.
const ON_LIGHT: [Rgb; 36] = [
    [0, 102, 170],
    [200, 82, 0],
    [0, 130, 90],
    [84, 0, 72],
    [36, 60, 0],
    [192, 72, 228],
    [144, 48, 60],
    [12, 0, 180],
    [168, 36, 144],
    [108, 48, 216],
    [108, 96, 48],
    [60, 96, 84],
    [120, 60, 12],
    [192, 36, 72],
    [168, 0, 192],
    [0, 24, 120],
    [240, 12, 204],
    [156, 72, 0],
    [24, 132, 168],
    [84, 48, 72],
    [120, 12, 0],
    [36, 36, 0],
    [132, 120, 48],
    [216, 36, 132],
    [0, 48, 48],
    [0, 84, 48],
    [108, 108, 204],
    [36, 60, 168],
    [180, 96, 96],
    [108, 72, 120],
    [84, 0, 12],
    [120, 0, 144],
    [168, 96, 156],
    [48, 12, 0],
    [12, 60, 96],
    [252, 36, 72],
];

/// The same hues on a dark ground.
const ON_DARK: [Rgb; 36] = [
    [90, 170, 230],
    [240, 140, 60],
    [40, 190, 140],
    [252, 192, 240],
    [168, 240, 72],
    [180, 84, 204],
    [228, 60, 84],
    [48, 120, 252],
    [192, 132, 180],
    [156, 132, 252],
    [192, 180, 108],
    [108, 204, 180],
    [252, 192, 144],
    [240, 168, 168],
    [228, 24, 228],
    [156, 180, 252],
    [252, 84, 216],
    [192, 96, 0],
    [48, 132, 156],
    [240, 0, 180],
    [168, 108, 96],
    [216, 204, 84],
    [252, 240, 168],
    [216, 84, 144],
    [180, 252, 252],
    [24, 228, 132],
    [120, 108, 228],
    [120, 144, 204],
    [252, 0, 0],
    [204, 180, 216],
    [252, 96, 84],
    [156, 108, 180],
    [228, 144, 204],
    [204, 156, 132],
    [0, 144, 228],
    [216, 120, 108],
];

/// From unsure to sure on a light ground: amber over green to deep blue. What is sure stands out most, and lightness
/// alone tells the order.
const SURE_ON_LIGHT: [Rgb; 8] = [
    [170, 108, 3],
    [127, 110, 5],
    [77, 109, 3],
    [7, 101, 58],
    [2, 83, 76],
    [8, 67, 77],
    [2, 51, 79],
    [16, 22, 97],
];

/// The same on a dark ground, where light stands out.
const SURE_ON_DARK: [Rgb; 8] = [
    [175, 113, 15],
    [175, 137, 11],
    [166, 162, 50],
    [151, 186, 90],
    [132, 208, 132],
    [111, 228, 177],
    [97, 244, 222],
    [160, 250, 255],
];

/// Points without a label, on a light and on a dark ground.
const MISSING: [Rgb; 2] = [[112, 116, 120], [126, 130, 134]];

/// How much of a point covers what is below it: where many lie, that is seen.
pub const OPACITY: f64 = 0.85;

/// How many different label colours there are before they repeat.
pub const DISTINCT: usize = ON_LIGHT.len();

fn missing(dark: bool) -> Rgb {
    MISSING[usize::from(dark)]
}

/// The colour of a label code; negative for missing.
pub fn label(code: f32, dark: bool) -> Rgb {
    if code < 0.0 || !code.is_finite() {
        return missing(dark);
    }
    if dark { ON_DARK[code as usize % DISTINCT] } else { ON_LIGHT[code as usize % DISTINCT] }
}

/// The colour of a confidence, or of a share, between 0 and 1.
pub fn confidence(value: f32, dark: bool) -> Rgb {
    if !value.is_finite() {
        return missing(dark);
    }
    let scale = if dark { SURE_ON_DARK } else { SURE_ON_LIGHT };
    let at = (value.clamp(0.0, 1.0) * scale.len() as f32) as usize;
    scale[at.min(scale.len() - 1)]
}

/// The colour of a point without a partner, or of one that has some: the ends of the scale of confidence.
pub fn partner(none: bool, dark: bool) -> Rgb {
    confidence(if none { 0.0 } else { 1.0 }, dark)
}

pub fn css(colour: Rgb) -> String {
    format!("rgb({} {} {})", colour[0], colour[1], colour[2])
}

#[cfg(test)]
mod tests;
