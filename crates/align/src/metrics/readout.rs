//! What is read off a plan in one pass over its entries: partners, sums, entropy, and where it sends the points. No more
//! than a few numbers a point are kept, so a plan of any size can be read.

use super::plan::relative;
use crate::geometry::Dense;
use crate::scale::{Cancelled, Matching, Tile, Watch};

/// Entries below this share of the mean entry count in the sums only: all of them together have less than this share
/// of the mass.
const NEGLIGIBLE: f64 = 1e-5;
/// Partners that are kept for each point.
pub const PARTNERS: usize = 10;

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Readout {
    /// The strongest partners of every row, and of every column.
    pub partners: [Partners; 2],
    /// The mass of every row and of every column.
    pub sums: [Vec<f64>; 2],
    /// `−Σ Π log Π`.
    pub entropy: f64,
    /// `x̂_i = Σ_j Π_ij y_j / Σ_j Π_ij`: where the plan sends each x. A row without mass goes to the mean of y.
    pub projected: Dense,
}

/// The strongest partners of every point of one side, strongest first; of equals the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Partners {
    kept: usize,
    of: Vec<u32>,
    mass: Vec<f32>,
}

impl Partners {
    fn new(points: usize, others: usize) -> Self {
        let kept = PARTNERS.min(others);
        Self { kept, of: vec![0; points * kept], mass: vec![0.0; points * kept] }
    }

    /// Partners and masses of a point. Those without mass are no partners.
    pub fn get(&self, point: usize) -> (&[u32], &[f32]) {
        let all = &self.mass[point * self.kept..][..self.kept];
        let some = all.iter().take_while(|mass| **mass > 0.0).count();
        (&self.of[point * self.kept..][..some], &all[..some])
    }

    /// The strongest partner of every point; the first point of all where there is none.
    pub fn first(&self) -> Vec<usize> {
        self.of.chunks_exact(self.kept.max(1)).map(|partners| partners[0] as usize).collect()
    }

    /// The strongest partner of a point, where it has one.
    pub fn strongest(&self, point: usize) -> Option<usize> {
        self.get(point).0.first().map(|other| *other as usize)
    }

    /// The second choice of a point, where it has one.
    pub fn second(&self, point: usize) -> Option<usize> {
        self.get(point).0.get(1).map(|other| *other as usize)
    }

    /// The mass that a further partner of a point has to have.
    fn least(&self, point: usize) -> f32 {
        self.mass[(point + 1) * self.kept - 1]
    }

    fn offer(&mut self, point: usize, other: u32, mass: f32) {
        let of = &mut self.of[point * self.kept..][..self.kept];
        let held = &mut self.mass[point * self.kept..][..self.kept];
        let stronger =
            |at: usize, of: &[u32], held: &[f32]| mass > held[at] || (mass == held[at] && other < of[at]);
        let mut at = self.kept;
        while at > 0 && stronger(at - 1, of, held) {
            at -= 1;
        }
        if at < self.kept {
            of[at..].rotate_right(1);
            held[at..].rotate_right(1);
            (of[at], held[at]) = (other, mass);
        }
    }
}

impl Readout {
    /// Reads a plan that sends X among the points of `there`.
    pub async fn new(plan: &Matching, there: &Dense, watch: &mut impl Watch) -> Result<Self, Cancelled> {
        let (n, m) = (plan.rows(), plan.cols());
        let mut reading = Reading {
            floor: (NEGLIGIBLE / (n.max(1) as f64 * m.max(1) as f64)) as f32,
            there,
            partners: [Partners::new(n, m), Partners::new(m, n)],
            sums: [vec![0.0; n], vec![0.0; m]],
            entropy: 0.0,
            sent: vec![0.0; n * there.cols()],
            counted: vec![0.0; n],
        };
        plan.visit(watch, |tile| reading.look(tile)).await?;
        Ok(reading.finished())
    }

    /// For each point of a side the share of its mass that goes to its first partner.
    pub fn share(&self, side: usize) -> Vec<f32> {
        let share = |(point, sum): (usize, &f64)| {
            let (_, mass) = self.partners[side].get(point);
            if *sum > 0.0 { mass.first().map_or(0.0, |mass| (f64::from(*mass) / sum) as f32) } else { 0.0 }
        };
        self.sums[side].iter().enumerate().map(share).collect()
    }

    /// The median share of the rows' matches.
    pub fn typical_share(&self) -> f32 {
        let mut all = self.share(0);
        let middle = all.len() / 2;
        if all.is_empty() { 0.0 } else { *all.select_nth_unstable_by(middle, f32::total_cmp).1 }
    }

    /// The entropy as a share of the independent plan's, as [`super::plan::relative_entropy`].
    pub fn relative_entropy(&self) -> f64 {
        relative(self.entropy, [&self.sums[0], &self.sums[1]])
    }

    /// How far the sums are from the same for every point: `Σ|r − 1/n| + Σ|c − 1/m|`. Its null is 0 for any plan that was
    /// solved; a large value says that it was not.
    pub fn marginal_error(&self) -> f64 {
        let miss =
            |sums: &Vec<f64>| -> f64 { sums.iter().map(|sum| (sum - 1.0 / sums.len() as f64).abs()).sum() };
        self.sums.iter().map(miss).sum()
    }
}

struct Reading<'a> {
    floor: f32,
    there: &'a Dense,
    partners: [Partners; 2],
    sums: [Vec<f64>; 2],
    entropy: f64,
    /// `Σ_j Π_ij y_j` and `Σ_j Π_ij` over the entries that are not negligible.
    sent: Vec<f64>,
    counted: Vec<f64>,
}

/// Entries that are looked at together: many groups hold nothing that matters, and sums of so few are exact enough in
/// float32.
const GROUP: usize = 16;

impl Reading<'_> {
    fn look(&mut self, tile: Tile<'_>) {
        let Tile { rows, cols, mass, log_mass } = tile;
        let width = cols.len().max(1);
        let mut logs = log_mass.map(|logs| logs.chunks_exact(width));
        let mut few = [0.0; GROUP];
        let mut sent = vec![0.0; self.there.cols()];
        for (&i, masses) in rows.iter().zip(mass.chunks_exact(width)) {
            let row_logs = logs.as_mut().and_then(Iterator::next);
            let mut sum = 0.0;
            for (at, (cols, masses)) in cols.chunks(GROUP).zip(masses.chunks(GROUP)).enumerate() {
                let mut part = 0.0;
                let mut most = 0.0;
                for (&j, &p) in cols.iter().zip(masses) {
                    self.sums[1][j as usize] += f64::from(p);
                    part += p;
                    most = if p > most { p } else { most };
                }
                sum += f64::from(part);
                if most > self.floor {
                    let logs = match row_logs {
                        Some(logs) => &logs[at * GROUP..][..masses.len()],
                        None => {
                            // Nothing that is negligible is counted, so that its logarithm may be wrong.
                            few.iter_mut()
                                .zip(masses)
                                .for_each(|(log, p)| *log = p.max(f32::MIN_POSITIVE).ln());
                            &few[..masses.len()]
                        }
                    };
                    self.take(i, cols, masses, logs, &mut sent);
                }
            }
            self.sums[0][i as usize] += sum;
        }
    }

    /// Takes a group of a row's entries that holds some that matter.
    fn take(&mut self, i: u32, cols: &[u32], masses: &[f32], logs: &[f32], sent: &mut [f32]) {
        let row = i as usize;
        let (mut counted, mut entropy) = (0.0, 0.0);
        sent.fill(0.0);
        for ((&j, &p), log) in cols.iter().zip(masses).zip(logs) {
            if p <= self.floor {
                continue;
            }
            counted += p;
            entropy -= p * log;
            sent.iter_mut().zip(self.there.row(j as usize)).for_each(|(sum, v)| *sum += p * v);
            let [from_x, from_y] = &mut self.partners;
            if p >= from_x.least(row) {
                from_x.offer(row, j, p);
            }
            if p >= from_y.least(j as usize) {
                from_y.offer(j as usize, i, p);
            }
        }
        self.entropy += f64::from(entropy);
        self.counted[row] += f64::from(counted);
        let d = sent.len();
        self.sent[row * d..][..d].iter_mut().zip(sent).for_each(|(all, part)| *all += f64::from(*part));
    }

    fn finished(self) -> Readout {
        let (n, d) = (self.counted.len(), self.there.cols());
        let mean: Vec<f64> = (0..d)
            .map(|c| {
                (0..self.there.rows()).map(|j| f64::from(self.there.at(j, c))).sum::<f64>()
                    / self.there.rows().max(1) as f64
            })
            .collect();
        let projected = Dense::from_fn(n, d, |i, c| {
            if self.counted[i] > 0.0 {
                (self.sent[i * d + c] / self.counted[i]) as f32
            } else {
                mean[c] as f32
            }
        });
        Readout { partners: self.partners, sums: self.sums, entropy: self.entropy, projected }
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::scale::{Clouds, CostKind, Implicit, NoWatch, Relaxation};
    use compute::rng::Rng;

    fn read(plan: &Matching, there: &Dense) -> Readout {
        pollster::block_on(Readout::new(plan, there, &mut NoWatch)).expect("nobody cancels")
    }

    /// A plan of potentials that solve nothing: its rows and columns have very different masses.
    fn computed(n: usize, m: usize) -> Implicit {
        let mut rng = Rng::new(4);
        let mut side = |rows: usize| Dense::new(rows, 3, rng.fill(3 * rows, -1.0, 1.0));
        let clouds = Clouds::new([&side(n), &side(m)], CostKind::Sqm);
        let (f, g) = (rng.fill(n, -0.5, -0.1), rng.fill(m, -0.2, 0.2));
        Implicit { clouds, eps: 0.1, relaxation: Relaxation::STRICT, f, g }
    }

    /// The definitions, entry by entry in float64.
    #[test]
    fn a_plan_is_read_as_it_is_written() {
        let (n, m) = (150, 33);
        let plan = Matching::Computed(computed(n, m)).whole();
        let there = Dense::new(m, 2, Rng::new(5).fill(2 * m, 3.0, 9.0));
        let got = read(&Matching::Held(plan.clone()), &there);
        let p = |i: usize, j: usize| f64::from(plan.at(i, j));
        let near = |got: f64, want: f64, what: &str| {
            assert!((got - want).abs() <= 1e-5 * want.abs(), "{what}: {got}, not {want}");
        };
        let all = || (0..n * m).map(|e| p(e / m, e % m));
        near(got.entropy, all().map(|p| -p * p.ln()).sum(), "entropy");
        let miss = |i: usize| ((0..m).map(|j| p(i, j)).sum::<f64>() - 1.0 / n as f64).abs();
        let miss_y = |j: usize| ((0..n).map(|i| p(i, j)).sum::<f64>() - 1.0 / m as f64).abs();
        let missed = (0..n).map(miss).sum::<f64>() + (0..m).map(miss_y).sum::<f64>();
        near(got.marginal_error(), missed, "marginal error");
        for i in 0..n {
            let mass: f64 = (0..m).map(|j| p(i, j)).sum();
            near(got.sums[0][i], mass, "a row's mass");
            for c in 0..2 {
                let sent = (0..m).map(|j| p(i, j) * f64::from(there.at(j, c))).sum::<f64>() / mass;
                near(f64::from(got.projected.at(i, c)), sent, "where a row is sent");
            }
            let mut order: Vec<u32> = (0..m as u32).collect();
            order.sort_by(|a, b| plan.at(i, *b as usize).total_cmp(&plan.at(i, *a as usize)));
            assert_eq!(got.partners[0].get(i).0, &order[..PARTNERS]);
            near(f64::from(got.share(0)[i]), p(i, order[0] as usize) / mass, "share");
        }
        for j in 0..m {
            let mut order: Vec<u32> = (0..n as u32).collect();
            order.sort_by(|a, b| plan.at(*b as usize, j).total_cmp(&plan.at(*a as usize, j)));
            assert_eq!(got.partners[1].get(j).0, &order[..PARTNERS]);
        }
    }

    /// Larger than a tile in both directions, and ragged.
    #[test]
    fn a_plan_that_is_computed_reads_like_one_that_is_held() {
        let plan = Matching::Computed(computed(131, 517));
        let there = Dense::new(517, 2, Rng::new(5).fill(1034, -1.0, 1.0));
        let (held, computed) = (read(&Matching::Held(plan.whole()), &there), read(&plan, &there));
        assert_eq!(held.partners, computed.partners);
        assert!((held.entropy - computed.entropy).abs() < 1e-6 * held.entropy);
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart(&held.sums[0], &computed.sums[0]) < 1e-8);
        assert!(apart(&held.sums[1], &computed.sums[1]) < 1e-8);
        let apart = held.projected.data().iter().zip(computed.projected.data()).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0f32, f32::max) < 1e-5);
    }

    #[test]
    fn a_point_without_mass_has_no_partner_and_goes_to_the_middle() {
        let plan = Dense::new(2, 3, vec![0.0, 0.0, 0.0, 0.5, 0.0, 0.5]);
        let there = Dense::new(3, 1, vec![1.0, 2.0, 6.0]);
        let got = read(&Matching::Held(plan), &there);
        assert_eq!(got.partners[0].get(0), (&[][..], &[][..]));
        assert_eq!((got.projected.at(0, 0), got.projected.at(1, 0)), (3.0, 3.5));
        assert_eq!((got.share(0), got.partners[0].get(1).0), (vec![0.0, 0.5], &[0, 2][..]));
        assert_eq!((got.partners[0].second(1), got.partners[0].second(0)), (Some(2), None));
        assert_eq!([0, 1].map(|point| got.partners[0].strongest(point)), [None, Some(0)]);
    }

    #[test]
    fn a_reading_can_be_given_up() {
        struct Never;
        impl Watch for Never {
            async fn step(&mut self, _done: f64) -> Result<(), Cancelled> {
                Err(Cancelled)
            }
        }
        let plan = Matching::Computed(computed(1500, 1500));
        let there = Dense::new(1500, 1, vec![0.0; 1500]);
        assert_eq!(pollster::block_on(Readout::new(&plan, &there, &mut Never)), Err(Cancelled));
    }
}
