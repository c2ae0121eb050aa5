//! Entropic Gromov-Wasserstein beside an alignment: the same data, the same figures, no encoders.
//!
//! Its work grows with the cube of the number of points, so that of large data a part is taken. What comes of it is
//! put back in the places of all rows, so that the views can be compared point by point.

use super::figures::Agreement;
use super::outcome::Study;
use super::subject::Subject;
use align::procedure::{self, Control, Failure, JUDGED, Watching, pairs_within};
use compute::exec::Device;
use schema::Outcome;

/// Solves it on the data of a study, or on a part of it. The outcome and its bulk data are of all rows.
pub async fn compare(
    device: &Device,
    study: &Study,
    control: &mut impl Control,
) -> Result<(Outcome, Vec<Vec<f32>>), Failure> {
    let Subject { sides, rows, truth, settings } = &study.subject;
    let chosen = sides.judged(0);
    let taken = [chosen[0].as_slice(), chosen[1].as_slice()];
    let part = Subject {
        sides: sides.part(taken, &mut Watching::new(control, "comparing")).await?,
        rows: [0, 1].map(|side| rows[side].picked(taken[side])),
        truth: pairs_within(taken, truth),
        settings: settings.clone(),
    };
    let (coupling, _) = procedure::entropic_gw(device, &part.sides, settings, control).await?;
    let score = procedure::plan_spearman(&part.sides, settings, &coupling, control).await?;
    let looked = part.look(coupling, control).await?;
    let agreement = Agreement { value: score, chance: study.chance };
    let (outcome, bulk) = looked.outcome(&part, agreement, control).await?;
    let all = sides.points().map(|points| points.rows());
    if all == taken.map(<[usize]>::len) {
        return Ok((outcome, bulk));
    }
    let outcome = Outcome { n: all[0] as u32, m: all[1] as u32, part: Some(JUDGED as u32), ..outcome };
    Ok((outcome, in_place(bulk, taken, all)))
}

/// Bulk data of some rows in the places of all: the others are nowhere, match nothing and have no label.
fn in_place(bulk: Vec<Vec<f32>>, rows: [&[usize]; 2], all: [usize; 2]) -> Vec<Vec<f32>> {
    bulk.into_iter()
        .enumerate()
        .map(|(at, values)| {
            let side = at % 2;
            // As `Outcome` lists them: points, matches, confidence, labels, shares of mass.
            let (width, missing) = match at {
                0..=3 => (2, f32::NAN),
                4..=5 | 8..=9 => (1, -1.0),
                6..=7 | 16..=17 => (1, f32::NAN),
                _ => return values,
            };
            if values.is_empty() {
                return values;
            }
            let partner = |value: f32| match at {
                4 | 5 if value >= 0.0 => {
                    rows[1 - side].get(value as usize).map_or(missing, |row| *row as f32)
                }
                _ => value,
            };
            let mut spread = vec![missing; all[side] * width];
            for (row, own) in rows[side].iter().zip(values.chunks_exact(width)) {
                let place = &mut spread[row * width..][..width];
                place.iter_mut().zip(own).for_each(|(place, value)| *place = partner(*value));
            }
            spread
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_put_back_in_its_places() {
        let (x, y) = ([1, 3], [0, 2, 4]);
        let bulk = vec![
            vec![1.0, 2.0, 3.0, 4.0],
            vec![5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
            vec![1.0, 2.0, 3.0, 4.0],
            vec![5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
            vec![2.0, 0.0],
            vec![1.0, -1.0, 0.0],
            vec![],
            vec![],
            vec![7.0, 8.0],
            vec![],
            vec![0.25; 4],
            vec![0.0],
            vec![],
            vec![],
            vec![],
            vec![],
            vec![0.5, 0.6],
            vec![0.1, 0.2, 0.3],
        ];
        let spread = in_place(bulk, [&x, &y], [4, 5]);
        assert!(spread[0][0].is_nan() && spread[0][2..4] == [1.0, 2.0] && spread[0][6..] == [3.0, 4.0]);
        assert_eq!(spread[1].len(), 10);
        assert_eq!(spread[4], [-1.0, 4.0, -1.0, 0.0], "matches are rows of the whole data set");
        assert_eq!(spread[5], [3.0, -1.0, -1.0, -1.0, 1.0], "what has no match has none");
        assert!(spread[6].is_empty() && spread[7].is_empty(), "nobody measured confidence");
        assert!(spread[16][0].is_nan() && spread[16][2].is_nan(), "rows that were left out hold nothing");
        assert_eq!([spread[16][1], spread[16][3]], [0.5, 0.6]);
        assert_eq!([spread[17][0], spread[17][2], spread[17][4]], [0.1, 0.2, 0.3]);
        assert_eq!(spread[8], [-1.0, 7.0, -1.0, 8.0]);
        assert!(spread[9].is_empty(), "no labels stay none");
        assert_eq!((spread[10].len(), spread[11].len()), (4, 1), "the picture and the curve are not of rows");
    }
}
