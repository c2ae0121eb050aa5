//! What the colours promise, computed: as people with and without all cones see them, against the grounds of the page.

use super::*;

#[test]
fn every_value_has_a_colour() {
    for dark in [false, true] {
        assert_eq!(label(-1.0, dark), missing(dark));
        assert_eq!(label(0.0, dark), label(DISTINCT as f32, dark));
        assert_ne!(confidence(0.0, dark), confidence(1.0, dark));
        assert_eq!(confidence(f32::NAN, dark), missing(dark));
        assert_eq!(confidence(7.0, dark), confidence(1.0, dark));
    }
}

type Matrix = [[f64; 3]; 3];

/// What somebody sees of linear light: everybody, and those without red, green or blue cones. G. M. Machado,
/// M. M. Oliveira, L. A. F. Fernandes: A Physiologically-based Model for Simulation of Color Vision Deficiency, IEEE
/// TVCG 15(6), 2009; the matrices of severity 1.
const EYES: [Matrix; 4] = [
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
const CONES: Matrix = [
    [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
    [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
    [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
];
const HUES: Matrix = [
    [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
    [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
    [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
];
/// Linear sRGB to CIE XYZ, and the white of D65 (IEC 61966-2-1).
const XYZ: Matrix =
    [[0.412_456, 0.357_576, 0.180_437], [0.212_673, 0.715_152, 0.072_175], [0.019_334, 0.119_192, 0.950_304]];
const WHITE: [f64; 3] = [0.950_47, 1.0, 1.088_83];

/// The grounds that points lie on: those of the page (`www/style.css`), its cards, and white paper.
const GROUNDS: [&[Rgb]; 2] = [&[[0xf7, 0xf5, 0xf0], [255; 3]], &[[0x10, 0x19, 0x1e], [0x18, 0x24, 0x2b]]];

fn times(matrix: &Matrix, v: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
}

fn linear(colour: [f64; 3]) -> [f64; 3] {
    colour.map(|c| match c / 255.0 {
        c if c <= 0.040_45 => c / 12.92,
        c => ((c + 0.055) / 1.055).powf(2.4),
    })
}

fn light(colour: Rgb, eyes: usize) -> [f64; 3] {
    times(&EYES[eyes], linear(colour.map(f64::from))).map(|v| v.clamp(0.0, 1.0))
}

fn oklab(light: [f64; 3]) -> [f64; 3] {
    times(&HUES, times(&CONES, light).map(f64::cbrt))
}

/// CIE L*a*b*.
fn lab(light: [f64; 3]) -> [f64; 3] {
    let xyz = times(&XYZ, light);
    let [x, y, z] = [0, 1, 2].map(|i| match xyz[i] / WHITE[i] {
        t if t > 216.0 / 24_389.0 => t.cbrt(),
        t => (24_389.0 / 27.0 * t + 16.0) / 116.0,
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The contrast of WCAG 2, of a point as it is drawn to the ground it is drawn on.
fn contrast(colour: Rgb, ground: Rgb) -> f64 {
    let drawn: [f64; 3] =
        [0, 1, 2].map(|i| OPACITY * f64::from(colour[i]) + (1.0 - OPACITY) * f64::from(ground[i]));
    let [a, b] = [drawn, ground.map(f64::from)].map(|c| times(&XYZ, linear(c))[1] + 0.05);
    (a / b).max(b / a)
}

const PALETTES: [(&str, [Rgb; 36]); 2] = [("light", ON_LIGHT), ("dark", ON_DARK)];

#[test]
fn labels_can_be_told_apart_by_everybody() {
    assert_eq!(DISTINCT, 36);
    for (dark, (name, colours)) in PALETTES.into_iter().enumerate() {
        // In Oklab a difference of 0.02 is about the least that is noticed.
        for (eyes, least) in [0.06, 0.03, 0.03, 0.03].into_iter().enumerate() {
            for (i, a) in colours.iter().enumerate() {
                for b in colours[..i].iter().chain([&MISSING[dark]]) {
                    let apart = apart(oklab(light(*a, eyes)), oklab(light(*b, eyes)));
                    assert!(apart > least, "{name}, eyes {eyes}: {a:?} and {b:?} are {apart:.3} apart");
                }
            }
        }
    }
}

/// Most data has few labels: the first ten are far apart for everybody, and so are neighbours further on. In CIE Lab
/// 2.3 is about the least that is noticed (M. Mahy, L. Van Eycken, A. Oosterlinck: Evaluation of Uniform Color Spaces
/// Developed after the Adoption of CIELAB and CIELUV, Color Research and Application 19(2), 1994).
#[test]
fn few_labels_and_neighbours_are_far_apart() {
    for (name, colours) in PALETTES {
        for eyes in 0..EYES.len() {
            let far = |i: usize, j: usize| apart(lab(light(colours[i], eyes)), lab(light(colours[j], eyes)));
            for (i, j) in (0..10).flat_map(|i| (0..i).map(move |j| (i, j))) {
                assert!(far(i, j) > 9.0, "{name}, eyes {eyes}: {i} and {j} are {:.1} apart", far(i, j));
            }
            for i in 1..colours.len() {
                assert!(
                    far(i - 1, i) > 7.0,
                    "{name}, eyes {eyes}: {i} is {:.1} from the one before",
                    far(i - 1, i)
                );
            }
        }
    }
}

#[test]
fn points_stand_out_from_every_ground() {
    for (dark, grounds) in GROUNDS.into_iter().enumerate() {
        let scale = if dark == 1 { SURE_ON_DARK } else { SURE_ON_LIGHT };
        for colour in
            PALETTES[dark].1.iter().chain(&scale).chain([&MISSING[dark], &SIDES[dark][0], &SIDES[dark][1]])
        {
            for ground in grounds {
                let contrast = contrast(*colour, *ground);
                assert!(contrast >= 3.0, "{colour:?} on {ground:?}: {contrast:.2}");
            }
        }
    }
}

/// The colours of X and Y in the style sheet, on light and on dark grounds.
const SIDES: [[Rgb; 2]; 2] =
    [[[0x0f, 0x7c, 0x80], [0xb9, 0x6a, 0x06]], [[0x37, 0xa6, 0xa6], [0xf0, 0xa5, 0x45]]];

#[test]
fn the_sides_are_those_of_the_style_sheet_and_differ_for_everybody() {
    let sheet = include_str!("../../../www/style.css");
    for [x, y] in SIDES {
        for (name, [r, g, b]) in [("x", x), ("y", y)] {
            let line = format!("--{name}: #{r:02x}{g:02x}{b:02x};");
            assert!(sheet.contains(&line), "{line}");
        }
        for eyes in 0..EYES.len() {
            let apart = apart(lab(light(x, eyes)), lab(light(y, eyes)));
            assert!(apart > 20.0, "eyes {eyes}: {apart:.1}");
        }
    }
}

/// The angle between the hues of two colours, in degrees.
fn turn(a: Rgb, b: Rgb) -> f64 {
    let [a, b] = [a, b].map(|colour| {
        let [_, a, b] = oklab(light(colour, 0));
        b.atan2(a).to_degrees()
    });
    let turn = (a - b).abs();
    turn.min(360.0 - turn)
}

#[test]
fn a_label_keeps_its_hue_from_light_to_dark() {
    for (code, (a, b)) in ON_LIGHT.into_iter().zip(ON_DARK).enumerate() {
        assert!(turn(a, b) < 15.0, "label {code}: {a:?} and {b:?} are {:.0} degrees apart", turn(a, b));
    }
}

#[test]
fn lightness_alone_tells_how_sure_a_match_is() {
    for (name, scale, darker) in [("light", SURE_ON_LIGHT, true), ("dark", SURE_ON_DARK, false)] {
        for eyes in 0..EYES.len() {
            let lightness = scale.map(|colour| lab(light(colour, eyes))[0]);
            for pair in lightness.windows(2) {
                let step = if darker { pair[0] - pair[1] } else { pair[1] - pair[0] };
                assert!(step > 1.0, "{name}, eyes {eyes}: {lightness:.1?}");
            }
            let whole = (lightness[0] - lightness[7]).abs();
            assert!(whole > 25.0, "{name}, eyes {eyes}: {whole:.1} from end to end");
        }
    }
}
