//! What a stack of fits compares: distances or ranks of both sides, put into a plan in the form that is
//! cheapest for the loss.

use super::{LossChoice, Settings};
use crate::geometry::Dense;
use crate::geometry::distance::{halved, symmetric};
use crate::geometry::graph::{EdgeWeight, Graph};
use crate::geometry::ranks::mid_ranks_watched;
use crate::geometry::spectral::{Thin, thin_to_watched, thin_watched};
use crate::solver::align::{Objective, Terms};
use crate::solver::losses::Symmetry;
use crate::solver::losses::classic::Distances;
use crate::solver::losses::rank_gw::{self, Halves, Ranks};
use crate::solver::losses::soft_rank::{SoftRank, TAU};
use crate::solver::sinkhorn::uniform;
use crate::watch::{Cancelled, NoWatch, Watch, unwatched};
use compute::plan::{Mat, Plan};

/// The share of the ranks' variance that a thin product has to keep.
const KEPT: f64 = 0.98;
/// Neighbours in the graphs along which the cost is smoothed.
const NEIGHBOURS: usize = 10;

/// Puts one matrix of every fit into the plan, as a stack.
pub(super) fn put(plan: &mut Plan, label: &'static str, fits: &[Dense]) -> Mat {
    let mat = plan.mats(label, fits.len() as u32, fits[0].rows() as u32, fits[0].cols() as u32);
    let data: Vec<f32> = fits.iter().flat_map(|fit| fit.data()).copied().collect();
    plan.set_initial(mat.buf, &data);
    mat
}

/// In which form ranks are put into a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As thin products where these are good enough, else as they are.
    Cheapest,
    Dense,
    /// As thin products of exactly these widths.
    Thin([usize; 2]),
}

impl Form {
    /// The form an objective has, in which others can replace it buffer by buffer.
    pub(super) fn of(objective: &Objective) -> Self {
        match objective {
            Objective::RankGw(Ranks::Thin { x, y, .. }) => {
                Self::Thin([x, y].map(|side| side.ab.cols as usize / 2))
            }
            _ => Self::Dense,
        }
    }
}

/// Puts the objective of a stack of fits into the plan, given the distances within both sides of every fit. Losses on
/// distances take the mean of these and their transposes; ranks are of the rows as they are.
pub fn objective(plan: &mut Plan, loss: LossChoice, sides: [&[Dense]; 2], form: Form) -> Objective {
    match unwatched(objective_watched(plan, loss, sides, form, &mut NoWatch)) {
        Ok(objective) => objective,
        Err(Cancelled) => unreachable!("nobody is there to give it up"),
    }
}

/// As [`objective`], which takes its time where the subsamples are large.
pub(super) async fn objective_watched(
    plan: &mut Plan,
    loss: LossChoice,
    sides: [&[Dense]; 2],
    form: Form,
    watch: &mut impl Watch,
) -> Result<Objective, Cancelled> {
    Ok(match loss {
        LossChoice::Classic => {
            let [x, y] = sides.map(|fits| put(plan, "distances", &each(fits, even)));
            Objective::Classic(Distances::Dense { x, y })
        }
        LossChoice::Frobenius => {
            Objective::Frobenius(sides.map(|fits| put(plan, "distances", &each(fits, even))))
        }
        LossChoice::SoftRank => {
            let data = sides.map(|fits| {
                each(fits, symmetric).iter().flat_map(|d| d.data()).copied().collect::<Vec<f32>>()
            });
            let sizes = sides.map(|fits| fits[0].rows() as u32);
            Objective::SoftRank(SoftRank::new(plan, [&data[0], &data[1]], sizes, TAU, Symmetry::Symmetric))
        }
        LossChoice::RankGw => Objective::RankGw(ranks(plan, sides, form, watch).await?),
    })
}

/// What is known beside the distances of every fit.
pub(super) struct Beside {
    /// Costs between shared features.
    pub(super) shared: Vec<Dense>,
    /// Known pairs as matrices of weights.
    pub(super) known: Vec<Dense>,
}

/// Puts the matrices of those terms into the plan that have a weight: the Laplacians of both sides' neighbour graphs,
/// the costs between shared features, the known pairs.
pub(super) async fn terms(
    plan: &mut Plan,
    settings: &Settings,
    sides: [&[Dense]; 2],
    beside: &Beside,
    watch: &mut impl Watch,
) -> Result<Terms, Cancelled> {
    let Settings { dirichlet, fused, pairs, .. } = *settings;
    let mut laplacians = [Vec::new(), Vec::new()];
    for (fits, laplacians) in sides.into_iter().zip(&mut laplacians).filter(|_| dirichlet > 0.0) {
        for d in fits {
            let graph = Graph::nearest_watched(d, NEIGHBOURS, EdgeWeight::Step, watch).await?;
            laplacians.push(graph.laplacian());
        }
    }
    let dirichlet =
        (dirichlet > 0.0).then(|| (dirichlet, laplacians.map(|fits| put(plan, "laplacian", &fits))));
    let mut weighted = |label, weight: f32, fits: &[Dense]| {
        (weight > 0.0 && !fits.is_empty()).then(|| (weight, put(plan, label, fits)))
    };
    let fused = weighted("shared cost", fused, &beside.shared);
    Ok(Terms { dirichlet, fused, pairs: weighted("known pairs", pairs, &beside.known) })
}

/// Distances as the losses on them take them.
fn even(distances: &Dense) -> Dense {
    halved(&symmetric(distances))
}

fn each(fits: &[Dense], make: impl Fn(&Dense) -> Dense) -> Vec<Dense> {
    fits.iter().map(make).collect()
}

/// The ranks of both sides, less their mean, which changes nothing and leaves less to keep.
async fn ranks(
    plan: &mut Plan,
    sides: [&[Dense]; 2],
    form: Form,
    watch: &mut impl Watch,
) -> Result<Ranks, Cancelled> {
    let mut ranks = [Vec::new(), Vec::new()];
    for (fits, ranks) in sides.into_iter().zip(&mut ranks) {
        for d in fits {
            let own = mid_ranks_watched(d, &uniform(d.cols() as u32), watch).await?;
            ranks.push(Dense::from_fn(d.rows(), d.cols(), |i, j| own.at(i, j) - 0.5));
        }
    }
    let mut chosen = [None; 2];
    for (ranks, (side, chosen)) in ranks.iter().zip(chosen.iter_mut().enumerate()) {
        *chosen = match form {
            Form::Thin(widths) => Some(widths[side]),
            Form::Dense => None,
            Form::Cheapest => common_width(ranks, watch).await?,
        };
    }
    if let [Some(kx), Some(ky)] = chosen {
        let mut thin = [Vec::new(), Vec::new()];
        for ((ranks, width), thin) in ranks.iter().zip([kx, ky]).zip(&mut thin) {
            for r in ranks {
                thin.push(thin_to_watched(r, width, watch).await?);
            }
        }
        let [x, y] = thin.map(|thin| {
            let beside = |a: fn(&Thin) -> &Dense, b: fn(&Thin) -> &Dense| -> Vec<Dense> {
                thin.iter().map(|t| side_by_side(a(t), b(t))).collect()
            };
            Halves {
                ab: put(plan, "rank factors", &beside(|t| &t.left, |t| &t.right)),
                ba: put(plan, "rank factors", &beside(|t| &t.right, |t| &t.left)),
            }
        });
        let batch = ranks[0].len();
        let mask = plan.mats("mask", batch as u32, x.ab.cols, y.ab.cols);
        plan.set_initial(mask.buf, &rank_gw::mask(x.ab.cols / 2, y.ab.cols / 2).repeat(batch));
        return Ok(Ranks::Thin { x, y, mask });
    }
    let [rx, ry] = ranks;
    let turned = |r: &Dense| Dense::from_fn(r.cols(), r.rows(), |i, j| r.at(j, i));
    let both = each(&rx, |r| side_by_side(r, &turned(r)));
    Ok(Ranks::Dense { x: put(plan, "ranks", &both), y: put(plan, "ranks", &ry) })
}

/// The width at which thin products of all fits keep enough; none if a dense product is as cheap.
async fn common_width(fits: &[Dense], watch: &mut impl Watch) -> Result<Option<usize>, Cancelled> {
    let mut widest = None;
    for ranks in fits {
        match thin_watched(ranks, KEPT, ranks.rows() / 4, watch).await? {
            Some(thin) => widest = widest.max(Some(thin.left.cols())),
            None => return Ok(None),
        }
    }
    Ok(widest)
}

fn side_by_side(a: &Dense, b: &Dense) -> Dense {
    let k = a.cols();
    Dense::from_fn(a.rows(), k + b.cols(), |i, j| if j < k { a.at(i, j) } else { b.at(i, j - k) })
}
