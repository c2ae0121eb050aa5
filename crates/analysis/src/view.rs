//! Clouds of any dimension on a flat screen.

use align::geometry::Dense;
use align::geometry::spectral::principal_axes_watched;
use align::scale::{Cancelled, NoWatch, Tile, Watch, unwatched};

/// Rows on which axes are found; all are projected.
const SEEN: usize = 3000;

/// The first two principal coordinates of points.
pub async fn flat(points: &Dense, watch: &mut impl Watch) -> Result<Dense, Cancelled> {
    Ok(together_watched(&[points], watch).await?.pop().unwrap_or_else(|| Dense::new(0, 2, Vec::new())))
}

/// Several clouds in the first two principal coordinates of all of them together.
pub fn together(clouds: &[&Dense]) -> Vec<Dense> {
    // Nobody is there to give it up.
    unwatched(together_watched(clouds, &mut NoWatch)).unwrap_or_default()
}

/// Numbers that are multiplied between two looks at who is watching.
const PATIENCE: usize = 1 << 24;

/// As [`together`], which takes its time where there are many points and columns.
pub async fn together_watched(clouds: &[&Dense], watch: &mut impl Watch) -> Result<Vec<Dense>, Cancelled> {
    let cols = clouds.first().map_or(0, |cloud| cloud.cols());
    let rows: usize = clouds.iter().map(|cloud| cloud.rows()).sum();
    let every = rows.div_ceil(SEEN).max(1);
    let all = clouds.iter().flat_map(|cloud| (0..cloud.rows()).map(|i| cloud.row(i)));
    let seen: Vec<&[f32]> = all.step_by(every).collect();
    let mut mean = vec![0f64; cols];
    for row in &seen {
        mean.iter_mut().zip(*row).for_each(|(sum, v)| *sum += f64::from(*v) / seen.len() as f64);
    }
    let centred = |row: &[f32], j: usize| row[j] - mean[j] as f32;
    let axes = if cols > 2 {
        let seen = Dense::from_fn(seen.len(), cols, |i, j| centred(seen[i], j));
        Some(principal_axes_watched(&seen, watch).await?)
    } else {
        None
    };
    // Of all axes two are seen.
    let along = |row: &[f32], j: usize| match &axes {
        Some(axes) if j < axes.cols() => (0..cols).map(|k| centred(row, k) * axes.at(k, j)).sum(),
        None if j < cols => centred(row, j),
        _ => 0.0,
    };
    let every = PATIENCE / (2 * cols).max(1) + 1;
    let mut flat = Vec::with_capacity(clouds.len());
    for cloud in clouds {
        let mut values = Vec::with_capacity(2 * cloud.rows());
        for i in 0..cloud.rows() {
            values.extend([0, 1].map(|j| along(cloud.row(i), j)));
            if (i + 1) % every == 0 {
                watch.step((i + 1) as f64 / cloud.rows() as f64).await?;
            }
        }
        flat.push(Dense::new(cloud.rows(), 2, values));
    }
    Ok(flat)
}

/// Turns clouds, which lie in the plane, so that they are nearest to where they were before: from frame to frame axes
/// may flip or exchange places, and the eye should not have to follow that.
pub fn steady(now: &mut [Dense], before: &[Dense]) {
    if now.len() != before.len() || now.iter().zip(before).any(|(a, b)| a.rows() != b.rows()) {
        return;
    }
    // The best rotation or reflection of the plane, in closed form from the 2×2 matrix of moments.
    let mut m = [[0f64; 2]; 2];
    for (a, b) in now.iter().zip(before) {
        for i in 0..a.rows() {
            for (r, line) in m.iter_mut().enumerate() {
                for (c, sum) in line.iter_mut().enumerate() {
                    *sum += f64::from(a.at(i, r)) * f64::from(b.at(i, c));
                }
            }
        }
    }
    let turn = (m[0][0] + m[1][1]).hypot(m[0][1] - m[1][0]);
    let flip = (m[0][0] - m[1][1]).hypot(m[0][1] + m[1][0]);
    let q = if turn >= flip {
        let (c, s) = (m[0][0] + m[1][1], m[0][1] - m[1][0]);
        [[c, s], [-s, c]].map(|line| line.map(|v| v / turn.max(1e-300)))
    } else {
        let (c, s) = (m[0][0] - m[1][1], m[0][1] + m[1][0]);
        [[c, s], [s, -c]].map(|line| line.map(|v| v / flip.max(1e-300)))
    };
    for cloud in now {
        for i in 0..cloud.rows() {
            let row = cloud.row_mut(i);
            let (x, y) = (f64::from(row[0]), f64::from(row[1]));
            row[0] = (x * q[0][0] + y * q[1][0]) as f32;
            row[1] = (x * q[0][1] + y * q[1][1]) as f32;
        }
    }
}

/// A plan as a square picture: rows and columns in the order of both clouds' first coordinate, gathered into squares.
pub struct Heat {
    side: usize,
    places: [Vec<usize>; 2],
    sums: Vec<f32>,
}

impl Heat {
    /// An empty picture of at most `most` values a side.
    pub fn new(clouds: [&Dense; 2], most: usize) -> Self {
        let side = most.min(clouds[0].rows()).min(clouds[1].rows()).max(1);
        let places = clouds.map(|cloud| {
            let mut order: Vec<usize> = (0..cloud.rows()).collect();
            order.sort_by(|a, b| cloud.at(*a, 0).total_cmp(&cloud.at(*b, 0)));
            let mut places = vec![0; cloud.rows()];
            order.into_iter().enumerate().for_each(|(at, row)| places[row] = at * side / cloud.rows());
            places
        });
        Self { side, places, sums: vec![0.0; side * side] }
    }

    /// Adds a part of the plan.
    pub fn add(&mut self, tile: Tile<'_>) {
        let [rows, cols] = &self.places;
        for (&i, masses) in tile.rows.iter().zip(tile.mass.chunks_exact(tile.cols.len().max(1))) {
            let row = &mut self.sums[rows[i as usize] * self.side..][..self.side];
            tile.cols.iter().zip(masses).for_each(|(&j, p)| row[cols[j as usize]] += p);
        }
    }

    /// The sums, row by row.
    pub fn values(self) -> Vec<f32> {
        self.sums
    }
}

/// The picture of a plan that is held.
pub fn heat(plan: &Dense, clouds: [&Dense; 2], most: usize) -> Vec<f32> {
    let mut heat = Heat::new(clouds, most);
    let [rows, cols] = [plan.rows(), plan.cols()].map(|count| (0..count as u32).collect::<Vec<u32>>());
    heat.add(Tile { rows: &rows, cols: &cols, mass: plan.data(), log_mass: None });
    heat.values()
}

#[cfg(test)]
mod tests {
    use super::*;
    use align::scale::Count;
    use compute::rng::Rng;

    #[test]
    fn flattening_many_values_is_looked_at() {
        let points = |rows: usize| Dense::new(rows, 400, Rng::new(3).fill(400 * rows, -1.0, 1.0));
        let looks = |rows: usize| {
            let points = points(rows);
            Count::looks(async |watch| flat(&points, watch).await)
        };
        let [few, more, many] = [300, 3000, 48_000].map(looks);
        // First axes are found, on some rows; then every row is put between them.
        assert!(more >= few + 6 && many >= more + 2, "{few}, {more} and {many} looks");
    }

    #[test]
    fn a_cloud_lies_flat_along_its_longest_axes() {
        let mut rng = Rng::new(2);
        let points = Dense::from_fn(50, 4, |_, j| [0.1, 5.0, 0.01, 1.0][j] * rng.uniform(-1.0, 1.0) + 7.0);
        let flat = |points: &Dense| unwatched(flat(points, &mut NoWatch)).expect("nobody gives it up");
        let one = flat(&Dense::from_fn(5, 1, |i, _| i as f32));
        let flat = flat(&points);
        let deviation = |j: usize| (0..50).map(|i| flat.at(i, j).powi(2)).sum::<f32>().sqrt();
        assert!(deviation(0) > 2.0 * deviation(1) && deviation(1) > 1.0);
        assert_eq!(one.row(0), [-2.0, 0.0], "a single column is the first axis");
    }

    #[test]
    fn a_plan_between_sorted_points_is_dark_along_its_diagonal() {
        let place = |n: usize, i: usize, step: usize| ((i * step) % n) as f32;
        let [x, y] = [(60, 7), (90, 11)].map(|(n, step)| Dense::from_fn(n, 2, |i, _| place(n, i, step)));
        let plan =
            Dense::from_fn(60, 90, |i, j| f32::from((x.at(i, 0) / 2.0 - y.at(j, 0) / 3.0).abs() < 1.0));
        let heat = heat(&plan, [&x, &y], 30);
        assert_eq!(heat.len(), 900);
        assert!((heat.iter().sum::<f32>() - plan.data().iter().sum::<f32>()).abs() < 1e-3, "nothing is lost");
        for (at, value) in heat.iter().enumerate() {
            let far = (at / 30).abs_diff(at % 30);
            assert!((far > 1 || *value > 0.0 || far == 1) && (far <= 1 || *value == 0.0), "{at}: {value}");
        }
        assert_eq!(super::heat(&plan, [&x, &y], 200).len(), 3600, "no more squares than points");
    }

    #[test]
    fn turned_and_flipped_clouds_are_turned_back() {
        let mut rng = Rng::new(3);
        let cloud = Dense::new(20, 2, rng.fill(40, -1.0, 1.0));
        let (s, c) = 2.1f32.sin_cos();
        for flip in [1.0, -1.0] {
            let turned = Dense::from_fn(20, 2, |i, j| {
                let (x, y) = (cloud.at(i, 0), flip * cloud.at(i, 1));
                [c * x - s * y, s * x + c * y][j]
            });
            let mut now = [turned];
            steady(&mut now, std::slice::from_ref(&cloud));
            assert!(now[0].data().iter().zip(cloud.data()).all(|(a, b)| (a - b).abs() < 1e-5), "{flip}");
        }
    }
}
