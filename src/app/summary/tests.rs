//! Words that follow the numbers: each sentence is held against data whose answer is known.

use super::points::{Cloud, Matched, aligned, alone};
use super::*;
use schema::Side;

fn falling() -> Vec<f32> {
    (0..300).map(|t| 0.12 + 0.69 * (-(t as f32) / 60.0).exp()).collect()
}

#[test]
fn a_curve_is_told_by_its_ends_and_its_trend() {
    let loss = falling();
    assert_eq!(
        curves("Loss", &[("cosine", &loss)], 300),
        "Loss fell from 0.810 to 0.125, level at the end, over 300 steps."
    );
    assert_eq!(
        curves("Loss", &[("cosine", &loss[..60])], 300),
        "Loss fell from 0.810 to 0.378, still falling, over 60 of 300 steps."
    );
    let rising: Vec<f32> = (0..100).map(|t| t as f32).collect();
    assert!(curves("Entropy", &[("a", &rising)], 100).contains("rose from 0 to 99.00, still rising"));
    // What jumps is not taken for a trend, and one against the course is told as such.
    let jumpy: Vec<f32> =
        loss.iter().enumerate().map(|(t, v)| v + if t % 2 == 0 { 0.05 } else { -0.05 }).collect();
    assert!(curves("Loss", &[("a", &jumpy)], 300).contains("level at the end"));
    let back: Vec<f32> =
        loss.iter().enumerate().map(|(t, v)| v + 0.02 * (t as f32 - 270.0).max(0.0)).collect();
    let told = curves("Loss", &[("a", &back)], 300);
    assert!(told.contains("rising at the end"), "{told}");
    assert_eq!(curves("ε", &[("a", &[0.05; 40])], 40), "ε stays at 0.050, over 40 steps.");
    assert_eq!(curves("Loss", &[("a", &[])], 40), "Loss: nothing yet.");
    assert_eq!(curves("Loss", &[("a", &[f32::NAN, 2.0])], 40), "Loss is at 2.00, over 2 of 40 steps.");
}

#[test]
fn several_curves_are_told_one_by_one_or_by_their_range() {
    let (one, other) = (falling(), vec![0.5; 300]);
    let told = curves("Loss", &[("cosine", &one), ("centred", &other)], 300);
    assert!(told.starts_with("Loss of 2 fits, over 300 steps: cosine fell from"), "{told}");
    assert!(told.ends_with("centred stays at 0.500."), "{told}");
    assert!(curves("ε", &[("a", &one), ("b", &one)], 300).ends_with("the same for all 2 fits."));
    let many: Vec<Vec<f32>> = (1..=6).map(|k| vec![k as f32, 0.1 * k as f32]).collect();
    let lines: Vec<(&str, &[f32])> = many.iter().map(|values| ("fit", values.as_slice())).collect();
    assert_eq!(
        curves("Loss", &lines, 2),
        "Loss of 6 fits, over 2 steps: from 1.00 to 6.00 at the start to 0.100 to 0.600 now."
    );
}

#[test]
fn a_sharp_plan_is_told_from_an_even_one() {
    let side = 40;
    let sharp: Vec<f32> = (0..side * side).map(|at| f32::from(u8::from(at / side == at % side))).collect();
    assert_eq!(
        plan(side, &sharp),
        "100 % of the mass lies within a twentieth of the diagonal, where an even plan has 12 %. Half of the 40 rows have \
         four fifths of their mass in 1 of 40 columns or fewer."
    );
    let even = plan(side, &vec![1.0; side * side]);
    assert!(even.starts_with("12 % of the mass") && even.contains("in 32 of 40 columns"), "{even}");
    assert_eq!(plan(3, &[0.0; 9]), "There is no plan yet.");
    assert_eq!(plan(3, &[1.0; 4]), "There is no plan yet.");
}

#[test]
fn closer_points_are_counted() {
    let sorted: Vec<f32> = (0..101).map(|i| if i < 50 { 0.0 } else { (i - 50) as f32 / 500.0 }).collect();
    let told = closer(&sorted);
    assert!(told.starts_with("Of 101 true pairs 50 % have no closer point."), "{told}");
    assert!(told.contains("Half have at most 0 % of all points closer, nine tenths at most 8 %"), "{told}");
    assert_eq!(closer(&[]), "No true pairs are known.");
}

#[test]
fn a_learned_picture_is_compared() {
    assert_eq!(
        likeness(&[-1.0, 1.0], &[-0.5, 1.0]),
        "It is off by 0.250 on average, where the picture goes from -1.00 to 1.00."
    );
    assert_eq!(likeness(&[], &[]), "Nothing is learned yet.");
}

/// Two lumps of 30 and 10 points, far apart, and what they are called.
fn lumps() -> (Vec<f32>, Vec<f32>, Vec<String>) {
    let code = |i: usize| usize::from(i % 4 == 3);
    let points = (0..40).flat_map(|i| {
        let place = |step: f32| (i as f32 * step).fract() + 20.0 * code(i) as f32;
        [place(0.618_034), place(0.754_878)]
    });
    let labels = (0..40).map(|i| code(i) as f32).collect();
    (points.collect(), labels, vec!["animal".into(), "vegetable".into()])
}

#[test]
fn labels_are_counted_and_found_together_or_not() {
    let (points, labels, names) = lumps();
    let cloud = Cloud { points: &points, labels: &labels, names: &names };
    assert_eq!(
        alone(Side::X, cloud),
        "40 points of X along its two principal axes. 2 labels: animal 30, vegetable 10. 100 % of the points have a nearest \
         neighbour of their own label here."
    );
    // The same labels dealt out regardless of where points lie.
    let dealt: Vec<f32> = (0..40).map(|i| f32::from(u8::from(i % 7 < 3))).collect();
    let told = alone(Side::Y, Cloud { labels: &dealt, ..cloud });
    let share: f32 =
        told.split(". ").nth(2).and_then(|t| t.split(' ').next()?.parse().ok()).expect("a share");
    assert!(share < 80.0, "{told}");
    let bare = alone(Side::Y, Cloud { points: &points, ..Cloud::default() });
    assert_eq!(bare, "40 points of Y along its two principal axes.");
}

#[test]
fn matches_are_told_by_distance_label_and_confidence() {
    let (points, labels, names) = lumps();
    let cloud = Cloud { points: &points, labels: &labels, names: &names };
    let own: Vec<f32> = (0..40).map(|i| i as f32).collect();
    let told = aligned(cloud, cloud, Matched { rows: &own, confidence: &[0.8; 40], share: &[0.3; 40] });
    assert_eq!(
        told,
        "40 points of X, as discs, and 40 of Y, as diamonds, in the common space. X has 2 labels: animal 30, vegetable 10. \
         Half of the matches lie within 0 % of the picture's width of each other. 100 % of them have the same label on both \
         sides. The middle confidence is 0.80."
    );
    // Every point of X with the next lump's: one in four stays with its label at most.
    let wrong: Vec<f32> = (0..40).map(|i| ((i + 3) % 40) as f32).collect();
    let told = aligned(cloud, cloud, Matched { rows: &wrong, confidence: &[], share: &[0.3; 40] });
    assert!(told.contains(" 50 % of them have the same label") && !told.contains("confidence"), "{told}");
    assert!(told.ends_with(" The middle share of mass is 0.30."), "{told}");
    let none = aligned(cloud, cloud, Matched { rows: &[-1.0; 40], confidence: &[], share: &[f32::NAN; 40] });
    assert!(none.ends_with("vegetable 10."), "{none}");
}
