//! Figures of a transport plan that need no truth. Sums are in float64: they are reports, not steps.

use crate::geometry::Dense;
use crate::geometry::products::rows_between_looks;
use crate::scale::{Cancelled, NoWatch, Watch, unwatched};
use compute::kernels::matmul::sgemm;

/// The classic Gromov-Wasserstein loss `Σ (DX_ik − DY_jl)² Π_ij Π_kl`, for any square matrices, by
/// `⟨DX², r rᵀ⟩ + ⟨DY², c cᵀ⟩ − 2⟨DX Π DYᵀ, Π⟩` with the plan's own sums r and c.
pub fn gw_loss(dist_x: &Dense, dist_y: &Dense, plan: &Dense) -> f64 {
    // Nobody is there to give it up.
    unwatched(gw_losses(dist_x, dist_y, plan, &mut NoWatch)).map_or(f64::NAN, |[own, _]| own)
}

/// [`gw_loss`] and its null, the loss of the independent plan `r cᵀ`, for which ⟨DX Π DYᵀ, Π⟩ is `(rᵀ DX r)(cᵀ DY c)`.
pub async fn gw_losses(
    dist_x: &Dense,
    dist_y: &Dense,
    plan: &Dense,
    watch: &mut impl Watch,
) -> Result<[f64; 2], Cancelled> {
    let (r, c) = sums(plan);
    let squares = moment(dist_x, &r, &r, 2) + moment(dist_y, &c, &c, 2);
    let null = moment(dist_x, &r, &r, 1) * moment(dist_y, &c, &c, 1);
    let own = agreement(dist_x, dist_y, plan, plan, watch).await?;
    Ok([own, null].map(|both| squares - 2.0 * both))
}

/// The plan that knows nothing: `r cᵀ`, with the given plan's sums.
pub fn independent(plan: &Dense) -> Dense {
    let (r, c) = sums(plan);
    Dense::from_fn(plan.rows(), plan.cols(), |i, j| (r[i] * c[j]) as f32)
}

/// The correlation, under the plan, of the ranks of matched distances: `corr_Π(R_X, R_Y)` of row ranks
/// (`geometry::ranks`). 1 for a perfect match of orders; at random 0.
pub fn spearman(ranks_x: &Dense, ranks_y: &Dense, plan: &Dense) -> f64 {
    let all: Vec<usize> = (0..plan.rows()).collect();
    // Nobody is there to give it up.
    unwatched(spearman_of(&all, ranks_x, ranks_y, plan, &mut NoWatch)).unwrap_or(f64::NAN)
}

/// The same correlation over the distances from some points of x only, the anchors, and from what they are matched
/// with, to all others. Its cost is in proportion to their number.
pub async fn spearman_of(
    anchors: &[usize],
    ranks_x: &Dense,
    ranks_y: &Dense,
    plan: &Dense,
    watch: &mut impl Watch,
) -> Result<f64, Cancelled> {
    let (r, c) = sums(plan);
    let anchored = plan.picked(anchors);
    let (from_x, from_y) = sums(&anchored);
    let (x, y) = (centred(&ranks_x.picked(anchors), &r), centred(ranks_y, &c));
    let scale = (moment(&x, &from_x, &r, 2) * moment(&y, &from_y, &c, 2)).sqrt();
    Ok(if scale > 0.0 { agreement(&x, &y, &anchored, plan, watch).await? / scale } else { 0.0 })
}

/// How many values of a line exceed the one at `own`. Equal ones count half: a plan with many zeros must not look better than
/// it is.
pub fn exceeding(line: impl Iterator<Item = f32>, own: f32) -> f64 {
    let each = |p: f32| if p == own { 0.5 } else { f64::from(u8::from(p > own)) };
    // It is equal to itself.
    line.map(each).sum::<f64>() - 0.5
}

/// How many masses in a pair's row, and in its column, exceed its own.
fn stronger(plan: &Dense, (i, j): (usize, usize)) -> [f64; 2] {
    let own = plan.at(i, j);
    let column = (0..plan.rows()).map(|k| plan.at(k, j));
    [exceeding(plan.row(i).iter().copied(), own), exceeding(column, own)]
}

/// How strongly a plan couples pairs that are known to belong together, beside all other points: 1 if nothing is coupled
/// more strongly with either of them, at random 0, and −1 if everything is.
pub fn agreement_of(plan: &Dense, pairs: &[(usize, usize)]) -> f64 {
    let others = |count: usize| (count.max(2) - 1) as f64;
    let each = |&pair: &(usize, usize)| {
        let [row, column] = stronger(plan, pair);
        1.0 - row / others(plan.cols()) - column / others(plan.rows())
    };
    pairs.iter().map(each).sum::<f64>() / pairs.len().max(1) as f64
}

/// The plan's entropy `−Σ Π log Π` as a share of the independent plan's, which is its null: 1 says that
/// nothing is matched with anything in particular.
pub fn relative_entropy(plan: &Dense) -> f64 {
    let (r, c) = sums(plan);
    relative(entropy(plan.data().iter().map(|&p| f64::from(p))), [&r, &c])
}

/// An entropy as a share of that of the independent plan with these sums.
pub fn relative(own: f64, sums: [&[f64]; 2]) -> f64 {
    let null: f64 = sums.iter().map(|sums| entropy(sums.iter().copied())).sum();
    if null > 0.0 { own / null } else { 0.0 }
}

fn entropy(values: impl Iterator<Item = f64>) -> f64 {
    values.filter(|p| *p > 0.0).map(|p| -p * p.ln()).sum()
}

/// For each row the column with the most mass.
pub fn matches(plan: &Dense) -> Vec<usize> {
    (0..plan.rows()).map(|i| largest(plan.row(i)).0).collect()
}

/// The largest value of a row and where it stands; the first of equals.
pub fn largest(row: &[f32]) -> (usize, f32) {
    row.iter().copied().enumerate().fold((0, f32::MIN), |top, (j, v)| if v > top.1 { (j, v) } else { top })
}

/// Row and column sums.
pub fn sums(plan: &Dense) -> (Vec<f64>, Vec<f64>) {
    let mut c = vec![0.0; plan.cols()];
    let r = (0..plan.rows())
        .map(|i| {
            plan.row(i)
                .iter()
                .zip(&mut c)
                .map(|(&p, c)| {
                    *c += f64::from(p);
                    f64::from(p)
                })
                .sum()
        })
        .collect();
    (r, c)
}

/// `Σ_ik v_i w_k D_ik`, of distances to this power.
fn moment(distances: &Dense, v: &[f64], w: &[f64], power: i32) -> f64 {
    let row = |i: usize| -> f64 {
        distances.row(i).iter().zip(w).map(|(d, w)| w * f64::from(*d).powi(power)).sum()
    };
    v.iter().enumerate().map(|(i, v)| v * row(i)).sum()
}

/// Each row minus its weighted mean.
fn centred(ranks: &Dense, w: &[f64]) -> Dense {
    let total: f64 = w.iter().sum();
    let mut ranks = ranks.clone();
    for i in 0..ranks.rows() {
        let row = ranks.row_mut(i);
        let mean = row.iter().zip(w).map(|(&v, w)| f64::from(v) * w).sum::<f64>() / total;
        row.iter_mut().for_each(|v| *v = (f64::from(*v) - mean) as f32);
    }
    ranks
}

/// `⟨A Π Bᵀ, P⟩`, where A and P have the same rows, of which some are taken at a time. The products in float32, the sum over
/// pairs in float64.
async fn agreement(
    a: &Dense,
    b: &Dense,
    p: &Dense,
    plan: &Dense,
    watch: &mut impl Watch,
) -> Result<f64, Cancelled> {
    let (n, m) = (plan.rows(), plan.cols());
    let together = rows_between_looks(m.saturating_mul(n + m)).min(a.rows());
    let (mut through, mut product) = (vec![0.0; together * m], vec![0.0; together * m]);
    let (mut sum, mut done) = (0.0, 0);
    let pieces = a.data().chunks((together * n).max(1)).zip(p.data().chunks((together * m).max(1)));
    for (rows_of_a, p) in pieces {
        let rows = p.len() / m;
        let (through, product) = (&mut through[..rows * m], &mut product[..rows * m]);
        sgemm([rows, m, n], 1.0, (rows_of_a, (n, 1)), (plan.data(), (m, 1)), through);
        sgemm([rows, m, m], 1.0, (through, (m, 1)), (b.data(), (1, m)), product);
        product.iter().zip(p).for_each(|(&t, &p)| sum += f64::from(t) * f64::from(p));
        done += rows;
        if together < a.rows() {
            watch.step(done as f64 / a.rows() as f64).await?;
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::Count;

    #[test]
    fn a_permutation_is_certain_and_the_independent_plan_is_not() {
        let permutation = Dense::from_fn(4, 4, |i, j| if j == (i + 1) % 4 { 0.25 } else { 0.0 });
        assert!((relative_entropy(&permutation) - 0.5).abs() < 1e-12, "log 4 of 2 log 4");
        assert!((relative_entropy(&independent(&permutation)) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_independent_plan_has_no_rank_correlation() {
        let at = [0.0f32, 1.0, 3.0, 7.0];
        let distances = Dense::from_fn(4, 4, |i, j| (at[i] - at[j]).abs());
        let ranks = crate::geometry::ranks::mid_ranks(&distances, &[0.25; 4]);
        let identity = Dense::from_fn(4, 4, |i, j| if i == j { 0.25 } else { 0.0 });
        assert!((spearman(&ranks, &ranks, &identity) - 1.0).abs() < 1e-6);
        assert!(spearman(&ranks, &ranks, &independent(&identity)).abs() < 1e-6);
        assert!(gw_loss(&distances, &distances, &identity).abs() < 1e-6);
    }

    /// In pieces as at once, and the independent plan by its formula as by its masses.
    #[test]
    fn losses_and_correlations_of_many_points_are_looked_at() {
        let mut rng = compute::rng::Rng::new(8);
        let mut random = |rows, cols| Dense::new(rows, cols, rng.fill(rows * cols, 0.1, 1.0));
        let (x, y, plan) = (random(500, 500), random(600, 600), random(500, 600));
        let mass = plan.data().iter().map(|&p| f64::from(p)).sum::<f64>();
        let plan = Dense::from_fn(500, 600, |i, j| (f64::from(plan.at(i, j)) / mass) as f32);
        let (mut through, mut product) = (vec![0.0; 300_000], vec![0.0; 300_000]);
        sgemm([500, 600, 500], 1.0, (x.data(), (500, 1)), (plan.data(), (600, 1)), &mut through);
        sgemm([500, 600, 600], 1.0, (&through, (600, 1)), (y.data(), (1, 600)), &mut product);
        let want: f64 = product.iter().zip(plan.data()).map(|(&t, &p)| f64::from(t) * f64::from(p)).sum();
        assert_eq!(unwatched(agreement(&x, &y, &plan, &plan, &mut NoWatch)), Ok(want), "the same bits");
        let [_, null] = unwatched(gw_losses(&x, &y, &plan, &mut NoWatch)).expect("nobody gives it up");
        let apart = (null - gw_loss(&x, &y, &independent(&plan))).abs();
        assert!(apart < 1e-6 * null, "{apart} beside {null}");
        // 330 million products of two numbers.
        assert_eq!(Count::looks(async |watch| gw_losses(&x, &y, &plan, watch).await), 2);
        let all: Vec<usize> = (0..500).collect();
        assert_eq!(Count::looks(async |watch| spearman_of(&all, &x, &y, &plan, watch).await), 2);
    }

    #[test]
    fn pairs_agree_wholly_not_at_all_or_the_other_way() {
        let permutation = Dense::from_fn(4, 4, |i, j| if j == (i + 1) % 4 { 0.25 } else { 0.0 });
        assert_eq!(agreement_of(&permutation, &[(0, 1), (3, 0)]), 1.0);
        assert_eq!(agreement_of(&independent(&permutation), &[(0, 1), (2, 2)]), 0.0);
        let away = Dense::from_fn(4, 4, |i, j| if i == 0 && j == 1 { 0.0 } else { 1.0 / 15.0 });
        assert_eq!(agreement_of(&away, &[(0, 1)]), -1.0);
        // In row and column one of three others is stronger, and two are as strong.
        assert!((agreement_of(&permutation, &[(0, 2)]) - (1.0 - 4.0 / 3.0)).abs() < 1e-12);
    }

    /// The definition, pair by pair, beside the products.
    #[test]
    fn a_correlation_from_some_points_is_that_of_their_pairs() {
        let mut rng = compute::rng::Rng::new(5);
        let mut random = |rows, cols| Dense::new(rows, cols, rng.fill(rows * cols, 0.1, 1.0));
        let (x, y, plan) = (random(5, 5), random(4, 4), random(5, 4));
        let ranks = |d: &Dense| crate::geometry::ranks::mid_ranks(d, &vec![1.0 / d.rows() as f32; d.rows()]);
        let (x, y) = (ranks(&x), ranks(&y));
        let (r, c) = sums(&plan);
        let (cx, cy) = (centred(&x, &r), centred(&y, &c));
        for anchors in [vec![1, 3], vec![0, 1, 2, 3, 4]] {
            let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
            for &i in &anchors {
                for (j, k, l) in (0..80).map(|e| (e / 20, e / 4 % 5, e % 4)) {
                    let weight = f64::from(plan.at(i, j)) * f64::from(plan.at(k, l));
                    let (u, v) = (f64::from(cx.at(i, k)), f64::from(cy.at(j, l)));
                    xy += weight * u * v;
                    xx += weight * u * u;
                    yy += weight * v * v;
                }
            }
            let want = xy / (xx * yy).sqrt();
            let got = unwatched(spearman_of(&anchors, &x, &y, &plan, &mut NoWatch)).expect("not given up");
            assert!((got - want).abs() < 1e-5);
        }
    }
}
