//! Networks whose marginals are relaxed at the end of their training: which settings allow it, and what their loss then
//! takes.

use super::control::Failure;
use super::{EncoderChoice, LossChoice, Settings};
use crate::geometry::Dense;
use crate::geometry::products::product_with_transposed_watched;
use crate::solver::align::Objective;
use crate::solver::losses::classic::Distances;
use crate::solver::losses::rank_gw::Ranks;
use crate::solver::losses::sums::Sums;
use crate::watch::{Cancelled, Watch};
use compute::plan::{Mat, Plan};

/// Whether networks can be trained in this way with these settings, or why not.
pub fn suits(settings: &Settings) -> Result<(), Failure> {
    if !settings.relaxed_networks || settings.encoder == EncoderChoice::Linear {
        return Ok(());
    }
    let why = match settings.loss {
        LossChoice::Classic | LossChoice::RankGw if settings.all_points => {
            "cannot be trained on all points at once. Train them on a subsample".to_owned()
        }
        LossChoice::Classic | LossChoice::RankGw => return Ok(()),
        other => format!(
            "need the objective “{}” or “{}”, not “{}”. Choose one of these",
            LossChoice::RankGw.name(),
            LossChoice::Classic.name(),
            other.name()
        ),
    };
    Err(Failure::Input(format!(
        "Networks with relaxed marginals {why}, or set the marginals to “relaxed”, which relaxes those of linear maps only."
    )))
}

/// Puts what the loss takes where marginals are relaxed into a plan that holds the objective, for equal weights. None for
/// losses that are not quadratic.
pub(super) async fn sums(
    plan: &mut Plan,
    objective: &Objective,
    watch: &mut impl Watch,
) -> Result<Option<Sums>, Cancelled> {
    let sides = match *objective {
        Objective::Classic(Distances::Dense { x, y }) => [Held::Square(x), Held::Square(y)],
        Objective::Classic(Distances::LowRank { u, us, v, vt }) => {
            [Held::Product([us, u]), Held::Product([vt, v])]
        }
        Objective::RankGw(Ranks::Dense { x, y }) => [Held::Square(x), Held::Square(y)],
        Objective::RankGw(Ranks::Thin { x, y, .. }) => [Held::Halves(x.ab), Held::Halves(y.ab)],
        Objective::Frobenius(_) | Objective::SoftRank(_) => return Ok(None),
    };
    let batch = sides[0].mat().batch;
    let mut constant = vec![0.0; batch as usize];
    let mut squares = Vec::with_capacity(2);
    for side in sides {
        let rows = side.mat().rows as usize;
        let mut stack = Vec::with_capacity(constant.len() * rows * rows);
        for (fit, constant) in constant.iter_mut().enumerate() {
            let whole = side.whole(plan, fit, watch).await?;
            let both = |i: usize, j: usize| whole.at(i, j).powi(2) + whole.at(j, i).powi(2);
            let square = Dense::from_fn(rows, rows, both);
            let total: f64 = square.data().iter().map(|v| f64::from(*v)).sum();
            *constant += (0.5 * total / (rows * rows) as f64) as f32;
            stack.extend_from_slice(square.data());
            watch.step((fit + 1) as f64 / f64::from(batch)).await?;
        }
        let mat = plan.mats("squares", batch, rows as u32, rows as u32);
        plan.set_initial(mat.buf, &stack);
        squares.push(mat);
    }
    let of_weights = plan.mats("loss of the weights", batch, 1, 1);
    plan.set_initial(of_weights.buf, &constant);
    Ok(Some(Sums { squares: [squares[0], squares[1]], constant: of_weights }))
}

/// How a plan holds the distances or the ranks R of a side.
#[derive(Clone, Copy)]
enum Held {
    /// R, or R beside something else.
    Square(Mat),
    /// `R = A Bᵀ`.
    Product([Mat; 2]),
    /// `[A | B]`.
    Halves(Mat),
}

impl Held {
    fn mat(self) -> Mat {
        match self {
            Self::Square(mat) | Self::Product([mat, _]) | Self::Halves(mat) => mat,
        }
    }

    /// R of one of the fits. Where the loss sees a thin product, so do its sums: it stays a sum of squares.
    async fn whole(self, plan: &Plan, fit: usize, watch: &mut impl Watch) -> Result<Dense, Cancelled> {
        let some = |mat: Mat, first: usize, cols: usize| {
            let start = mat.offset as usize + fit * mat.stride as usize;
            let held = &plan.buffers()[mat.buf.index()].initial[start..];
            Dense::from_fn(mat.rows as usize, cols, |i, j| held[i * mat.cols as usize + first + j])
        };
        let [a, b] = match self {
            Self::Square(mat) => return Ok(some(mat, 0, mat.rows as usize)),
            Self::Product(both) => both.map(|mat| some(mat, 0, mat.cols as usize)),
            Self::Halves(mat) => {
                let half = mat.cols as usize / 2;
                [0, half].map(|first| some(mat, first, half))
            }
        };
        product_with_transposed_watched(&a, &b, watch).await
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::procedure::{Form, objective};
    use crate::watch::{NoWatch, unwatched};
    use compute::rng::Rng;

    /// Of both sides of two fits, whatever form the objective has: what its own matrices are, squared.
    #[test]
    fn the_sums_are_of_what_the_loss_compares() {
        let [n, m] = [12, 9];
        // Along lines, so that thin products keep nearly everything.
        let line = |points: usize, seed: u64| {
            let at = Rng::new(seed).fill(points, 0.0, 1.0);
            Dense::from_fn(points, points, |i, j| (at[i] - at[j]).abs())
        };
        let within = [vec![line(n, 1), line(n, 2)], vec![line(m, 3), line(m, 4)]];
        let mean = |matrix: &Dense| {
            let total: f32 = matrix.data().iter().map(|v| v * v).sum();
            total / matrix.data().len() as f32
        };
        for (loss, form) in [
            (LossChoice::Classic, Form::Dense),
            (LossChoice::RankGw, Form::Dense),
            (LossChoice::RankGw, Form::Thin([n, m])),
        ] {
            let mut plan = Plan::new();
            let objective = objective(&mut plan, loss, [&within[0], &within[1]], form);
            let sums = unwatched(sums(&mut plan, &objective, &mut NoWatch)).expect("nobody cancels");
            let Sums { squares, constant } = sums.expect("a quadratic loss");
            let held = |mat: Mat| &plan.buffers()[mat.buf.index()].initial;
            let mut of_weights = [0.0; 2];
            for (side, square) in squares.into_iter().enumerate() {
                for (fit, total) in of_weights.iter_mut().enumerate() {
                    let own = compared(loss, &within[side][fit]);
                    let k = own.rows();
                    *total += mean(&own);
                    for (e, got) in held(square)[fit * k * k..][..k * k].iter().enumerate() {
                        let want = own.at(e / k, e % k).powi(2) + own.at(e % k, e / k).powi(2);
                        assert!((got - want).abs() < 1e-4, "{loss:?} {form:?}, {side}: {got}, not {want}");
                    }
                }
            }
            for (got, want) in held(constant).iter().zip(of_weights) {
                assert!((got - want).abs() < 1e-4, "{loss:?} {form:?}: {got}, not {want}");
            }
        }
    }

    /// What a loss compares: distances whose mean is a half, or ranks less a half.
    fn compared(loss: LossChoice, distances: &Dense) -> Dense {
        use crate::geometry::distance::halved;
        use crate::geometry::ranks::mid_ranks;
        use crate::solver::sinkhorn::uniform;
        match loss {
            LossChoice::Classic => halved(distances),
            _ => {
                let ranks = mid_ranks(distances, &uniform(distances.cols() as u32));
                Dense::from_fn(ranks.rows(), ranks.cols(), |i, j| ranks.at(i, j) - 0.5)
            }
        }
    }

    #[test]
    fn losses_that_are_not_quadratic_and_training_on_all_points_are_refused_in_words() {
        let refused = |change: fn(&mut Settings)| {
            let mut settings = Settings { relaxed_networks: true, ..Settings::default() };
            change(&mut settings);
            suits(&settings).map_err(|failure| failure.to_string())
        };
        assert_eq!(refused(|_| ()), Ok(()));
        assert_eq!(refused(|s| s.loss = LossChoice::Classic), Ok(()));
        for loss in [LossChoice::Frobenius, LossChoice::SoftRank] {
            let settings = Settings { relaxed_networks: true, loss, ..Settings::default() };
            let why = suits(&settings).expect_err("refused").to_string();
            assert!(why.contains(loss.name()) && why.contains("“rank-gw” or “classic”"), "{why}");
            assert!(why.contains("set the marginals to “relaxed”"), "{why}");
            assert!(suits(&Settings { relaxed_networks: false, ..settings.clone() }).is_ok());
            assert!(suits(&Settings { encoder: EncoderChoice::Linear, ..settings }).is_ok(), "no networks");
        }
        let why = refused(|s| (s.loss, s.all_points) = (LossChoice::Classic, true)).expect_err("refused");
        assert!(why.contains("all points at once") && why.contains("subsample"), "{why}");
    }
}
