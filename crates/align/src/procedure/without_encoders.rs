//! The baseline on the same data: entropic Gromov-Wasserstein between all points, without encoders.

use super::control::{Aside, Control, Failure, Progress};
use super::transport::{Coupling, Way};
use super::{Settings, Sides};
use crate::baseline::entropic_gw::{EntropicGw, GwSettings, Look, solve_watched};
use crate::geometry::Dense;
use crate::geometry::distance::{halved, symmetric};
use crate::scale::Matching;
use crate::solver::losses::classic::Distances;
use crate::solver::sinkhorn::{Marginals, Relaxation, uniform};
use compute::exec::Device;
use compute::plan::Plan;

/// Into so many parts progress is divided.
const PARTS: u32 = 1000;

/// Solves it for the first measure of the panel.
pub async fn entropic_gw(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    control: &mut impl Control,
) -> Result<(Coupling, u32), Failure> {
    let measure = settings.panel(sides)[0];
    let [x, y] = sides.points();
    let mut plan = Plan::new();
    let mut put = |distances: Dense| {
        let mat = plan.mat("distances", distances.rows() as u32, distances.cols() as u32);
        plan.set_initial(mat.buf, halved(&symmetric(&distances)).data());
        mat
    };
    let all = [x, y].map(|side| (0..side.rows()).collect::<Vec<_>>());
    let watch = &mut Aside { control, at: Progress { phase: "comparing", done: 0, of: PARTS } };
    let distances = Distances::Dense {
        x: put(sides.within(0, measure.x, &all[0], settings.neighbours, watch).await?),
        y: put(sides.within(1, measure.y, &all[1], settings.neighbours, watch).await?),
    };
    let (a, b) = (uniform(x.rows() as u32), uniform(y.rows() as u32));
    let gw = EntropicGw::record(&mut plan, &GwSettings::default(), Marginals::strict(&a, &b), &distances);
    let mut executor = device.prepare(plan).await?;
    let mut most = 0.0f32;
    let watch = async |look: Look| {
        most = most.max(look.share);
        let done = (most * PARTS as f32) as u32;
        control.checkpoint(Progress { phase: "comparing", done, of: PARTS }).await?;
        Ok::<u32, Failure>(control.chunk())
    };
    let solution = solve_watched(&mut executor, &gw, watch).await?;
    let plan = Matching::Held(Dense::new(x.rows(), y.rows(), solution.coupling));
    let coupling = Coupling {
        plan,
        embedded: None,
        error: solution.marginal_error,
        way: Way::Held,
        relaxation: Relaxation::STRICT,
        retained: None,
        confidence: None,
    };
    Ok((coupling, solution.outer))
}
