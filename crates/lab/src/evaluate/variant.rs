//! Harder variants of a data set, in which the two sides do not hold the same groups in the same proportions. The truth is
//! kept: it is drawn which rows take part, and X may get rows that belong to nothing.

use align::geometry::Dense;
use compute::rng::Rng;

use super::case::{Chosen, Draw};
use super::data::Data;

/// What is done to the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// `a`: a class is removed from Y.
    MissingClass,
    /// `b`, `m`: the classes have proportions from this number to 1 in X, and the reverse in Y.
    Proportions(u32),
    /// `c`: 40 % of each side have no partner on the other.
    WithoutPartner,
    /// `d`: a fifth as many rows are added to X that belong to nothing.
    Foreign,
}

impl Variant {
    pub const NAMES: [&str; 5] = ["a", "b", "c", "d", "m"];

    pub fn named(name: &str) -> Option<Self> {
        match name {
            "a" => Some(Self::MissingClass),
            "b" => Some(Self::Proportions(4)),
            "c" => Some(Self::WithoutPartner),
            "d" => Some(Self::Foreign),
            "m" => Some(Self::Proportions(2)),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::MissingClass => "a",
            Self::Proportions(2) => "m",
            Self::Proportions(_) => "b",
            Self::WithoutPartner => "c",
            Self::Foreign => "d",
        }
    }

    /// The rows that take part, at most `draw.most` a side beside those that are added.
    pub fn rows(self, data: &Data, draw: &Draw, rng: &mut Rng) -> Result<Chosen, String> {
        let rows = match self {
            Self::MissingClass => {
                let [_, labels] = labels(data)?;
                // Another class each seed, so that a few seeds see several.
                let gone = (draw.seed % u64::from(data.kinds.max(1))) as u32;
                let [ix, iy] = data.rows(draw.most, rng);
                [ix, iy.into_iter().filter(|&row| labels[row] != gone).collect()]
            }
            Self::Proportions(most) => proportions(data, draw.most, most, rng)?,
            Self::WithoutPartner => alone(data, draw.most, rng)?,
            Self::Foreign => {
                if data.distances.is_some() {
                    return Err("--variant d: rows that are added have no distances to the others".into());
                }
                let rows = data.rows(draw.most, rng);
                let foreign = foreign(&data.points[0], rows[0].len() / 5, rng);
                return Ok(Chosen { rows, foreign: Some(foreign) });
            }
        };
        Ok(Chosen { rows, foreign: None })
    }
}

fn labels(data: &Data) -> Result<[&[u32]; 2], String> {
    match &data.labels {
        [Some(x), Some(y)] if data.kinds > 1 => Ok([x, y]),
        _ => Err("--variant a, b or m: that needs labels on both sides, of two kinds at least".into()),
    }
}

/// Fewest rows of a class.
const FEWEST: usize = 3;

/// Classes in a random order, of which X has geometrically fewer and Y geometrically more.
fn proportions(data: &Data, most: usize, times: u32, rng: &mut Rng) -> Result<[Vec<usize>; 2], String> {
    let labels = labels(data)?;
    let kinds = data.kinds as usize;
    let order = rng.sample(kinds, kinds);
    let mut weight = vec![0.0; kinds];
    for (place, class) in order.into_iter().enumerate() {
        weight[class] = f64::from(times).powf(1.0 - place as f64 / (kinds - 1) as f64);
    }
    Ok([0, 1].map(|side| {
        let classes: Vec<Vec<usize>> = (0..kinds)
            .map(|class| {
                let labels = labels[side];
                let own: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] == class as u32).collect();
                rng.sample(own.len(), own.len()).into_iter().map(|at| own[at]).collect()
            })
            .collect();
        let share = |class: usize| if side == 0 { weight[class] } else { f64::from(times) / weight[class] };
        let there = (0..kinds).filter(|&class| !classes[class].is_empty());
        let scale = there.map(|class| classes[class].len() as f64 / share(class)).fold(f64::MAX, f64::min);
        let all: Vec<usize> = classes
            .iter()
            .enumerate()
            .flat_map(|(class, rows)| rows.iter().take(((scale * share(class)) as usize).max(FEWEST)))
            .copied()
            .collect();
        rng.sample(all.len(), most).into_iter().map(|at| all[at]).collect()
    }))
}

/// Three fifths of each side with their partners, and two fifths whose partners are left out.
fn alone(data: &Data, most: usize, rng: &mut Rng) -> Result<[Vec<usize>; 2], String> {
    let pairs = data.pairs.as_ref().ok_or("--variant c: that needs rows whose partners are known")?;
    let order = rng.sample(pairs.len(), pairs.len());
    let rows = most.min(pairs.len() * 5 / 7);
    let (both, rest) = order.split_at(rows * 3 / 5);
    let single = (rows * 2 / 5).min(rest.len() / 2);
    let (x, y) = (&rest[..single], &rest[single..2 * single]);
    let of = |alone: &[usize], row: fn(&(usize, usize)) -> usize| {
        both.iter().chain(alone).map(|&p| row(&pairs[p])).collect()
    };
    Ok([of(x, |p| p.0), of(y, |p| p.1)])
}

/// How far the middle of foreign rows lies from that of the others, and how wide they are spread, in deviations of each
/// column.
const AWAY: f64 = 2.0;
const WIDE: f64 = 0.35;

/// A blob beside the cloud: every column around a random place, spread as this column's own values are, but drawn on its
/// own, so that no row has the shape of a real one.
fn foreign(points: &Dense, count: usize, rng: &mut Rng) -> Dense {
    let (n, cols) = (points.rows().max(1), points.cols());
    let column = |j: usize| (0..points.rows()).map(move |i| f64::from(points.at(i, j)));
    let moments: Vec<(f64, f64)> = (0..cols)
        .map(|j| {
            let mean = column(j).sum::<f64>() / n as f64;
            (mean, (column(j).map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64).sqrt())
        })
        .collect();
    let places: Vec<f64> =
        moments.iter().map(|(mean, deviation)| mean + AWAY * deviation * normal(rng)).collect();
    Dense::from_fn(count, cols, |_, j| {
        let drawn = f64::from(points.at(rng.below(n), j));
        (places[j] + WIDE * (drawn - moments[j].0)) as f32
    })
}

/// The sum of twelve uniform numbers less six: near enough to the normal distribution here.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| f64::from(rng.unit())).sum::<f64>() - 6.0
}

#[cfg(test)]
mod tests {
    use super::super::data::tests::Folder;
    use super::*;

    fn data() -> Data {
        let labels: String = (0..400).map(|i| format!("{}\n", ["p", "q", "r", "s"][i % 4])).collect();
        Folder::new([400, 400], &[("labels.txt", &labels)]).read().expect("read")
    }

    fn draw(name: &str, seed: u64) -> super::super::case::Case {
        let draw = Draw { seed, most: 6000, variant: Variant::named(name), ..Draw::default() };
        data().case(&draw).expect("drawn")
    }

    fn counts(labels: &[u32]) -> Vec<usize> {
        let mut counts: Vec<usize> =
            (0..5).map(|kind| labels.iter().filter(|l| **l == kind).count()).filter(|c| *c > 0).collect();
        counts.sort_unstable();
        counts
    }

    #[test]
    fn every_variant_does_what_its_letter_says() {
        let alone = |case: &super::super::case::Case, side: usize| {
            case.partnered[side].iter().filter(|partner| **partner == Some(false)).count()
        };
        let a = draw("a", 6);
        assert_eq!(a.sides.points().map(Dense::rows), [400, 300]);
        assert!(!a.labels[1].contains(&2) && alone(&a, 0) == 100 && a.pairs.len() == 300);
        for (name, want) in [("b", [25, 39, 62, 100]), ("m", [50, 62, 79, 100])] {
            let case = draw(name, 1);
            assert_eq!([0, 1].map(|side| counts(&case.labels[side])), [want, want], "{name}");
            let most = |side: usize| {
                (0..4).max_by_key(|kind| case.labels[side].iter().filter(|l| *l == kind).count())
            };
            let few = (0..4).min_by_key(|kind| case.labels[1].iter().filter(|l| *l == kind).count());
            assert_eq!(most(0), few, "{name}: the largest of X is the smallest of Y");
            assert!(most(0) != most(1));
        }
        let c = draw("c", 1);
        assert_eq!((c.pairs.len(), alone(&c, 0), alone(&c, 1)), (171, 114, 114));
        let d = draw("d", 1);
        assert_eq!((d.sides.points().map(Dense::rows), alone(&d, 0)), ([480, 400], 80));
        for (row, label) in d.labels[0].iter().enumerate() {
            assert_eq!(
                *label == 4,
                d.partnered[0][row] == Some(false),
                "foreign rows have a kind of their own"
            );
        }
    }

    #[test]
    fn pairs_stay_true_and_seeds_differ() {
        for name in Variant::NAMES {
            let case = draw(name, 2);
            assert!(case.pairs.iter().all(|&(i, j)| case.labels[0][i] == case.labels[1][j]), "{name}");
            assert!(draw(name, 2).sides.points() == case.sides.points(), "{name}: the same seed");
            assert!(draw(name, 3).sides.points() != case.sides.points(), "{name}: another seed");
        }
        let unlabelled = Folder::new([4, 4], &[("truth.txt", "0\n1\n2\n3\n")]).read().expect("read");
        let refused = |name: &str| {
            let draw = Draw { most: 9, variant: Variant::named(name), ..Draw::default() };
            unlabelled.case(&draw).err().unwrap_or_default()
        };
        assert!(["a", "b", "m"].iter().all(|name| refused(name).contains("needs labels on both sides")));
    }
}
