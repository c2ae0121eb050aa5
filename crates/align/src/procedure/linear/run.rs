//! One run of the linear solver: a start, a lift or a refinement.

use super::super::control::{Control, Failure, Progress, View};
use super::super::reached::{recalled, remember};
use crate::geometry::Dense;
use crate::geometry::products::product;
use crate::solver::linear::{Linear, Problem, Stage};
use compute::exec::{AnyExecutor, Device, Executor};
use compute::plan::{Mat, Plan};

/// What to run, and from where.
pub(in crate::procedure) struct Run<'a> {
    /// What its result is called.
    pub what: String,
    /// Which rows of both sides these are.
    pub rows: [&'a [usize]; 2],
    pub points: [Dense; 2],
    pub from: From,
}

/// Where a run starts.
pub(in crate::procedure) enum From {
    /// The plan of a guide G, which also counts as much as `weight` while the schedule says so.
    Guide { guide: Dense, weight: f32 },
    /// The plan of a map.
    Map(Dense),
}

/// A larger plan is not read back in the midst of a run.
const SHOWN: usize = 1 << 20;

/// Puts a run into a plan; the pass with which it begins.
pub(in crate::procedure) fn record(
    plan: &mut Plan,
    stages: &[Stage],
    [x, y]: [&Dense; 2],
    from: &From,
) -> Linear {
    let mut put = |label, dense: &Dense| -> Mat {
        let mat = plan.mat(label, dense.rows() as u32, dense.cols() as u32);
        plan.set_initial(mat.buf, dense.data());
        mat
    };
    let [x_mat, y_mat] = [x, y].map(|side| put("points", side));
    let (guide, weight) = match from {
        From::Guide { guide, weight } => (put("guide", guide), *weight),
        From::Map(_) => (put("guide", &Dense::new(x.rows(), y.rows(), vec![0.0; x.rows() * y.rows()])), 0.0),
    };
    let weight = put("weight of the guide", &Dense::new(1, 1, vec![weight]));
    let linear = Linear::record(plan, stages, &Problem { x: x_mat, y: y_mat, guide, weight });
    if let From::Map(map) = from {
        plan.set_initial(linear.map.buf, map.data());
    }
    linear
}

impl Run<'_> {
    /// Plays all stages and returns the map.
    pub(in crate::procedure) async fn play(
        &self,
        device: &Device,
        stages: &[Stage],
        phase: &'static str,
        control: &mut impl Control,
    ) -> Result<Dense, Failure> {
        let (rows, cols) = (self.points[0].cols(), self.points[1].cols());
        if let Some(map) = recalled(control, &self.what, rows * cols) {
            return Ok(Dense::new(rows, cols, map));
        }
        let mut plan = Plan::new();
        let linear = record(&mut plan, stages, self.points.each_ref(), &self.from);
        let mut executor = device.prepare(plan).await?;
        let first = if matches!(self.from, From::Map(_)) { linear.resume } else { linear.start };
        executor.submit(first, 1)?;
        let of = stages.len() as u32;
        let mut done = 1;
        while done < of {
            let chunk = control.chunk().min(of - done);
            executor.submit(linear.step, chunk)?;
            executor.settle(1).await?;
            done += chunk;
            if control.curious() {
                self.show(&mut executor, &linear, control).await?;
            }
            control.checkpoint(Progress { phase, done, of }).await?;
        }
        let map = executor.read(linear.map.buf).await?;
        if let Some(bad) = map.iter().find(|v| !v.is_finite()) {
            return Err(Failure::Diverged { step: of, cause: format!("the linear map holds {bad}") });
        }
        remember(control, &self.what, &map);
        Ok(Dense::new(rows, cols, map))
    }

    /// Shows where the map puts X among Y's points. It is a rotation only in the end; until then only its directions
    /// count, so X is shown as large as Y.
    async fn show(
        &self,
        executor: &mut AnyExecutor,
        linear: &Linear,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let [x, y] = &self.points;
        let map = Dense::new(x.cols(), y.cols(), executor.read(linear.map.buf).await?);
        let mut mapped = product(x, &map);
        let size = |points: &Dense| points.data().iter().map(|v| v * v).sum::<f32>() / points.rows() as f32;
        let scale = (size(y) / size(&mapped).max(1e-20)).sqrt();
        (0..mapped.rows()).for_each(|i| mapped.row_mut(i).iter_mut().for_each(|v| *v *= scale));
        let mut plans = Vec::new();
        if x.rows() * y.rows() <= SHOWN {
            plans.push(Dense::new(x.rows(), y.rows(), executor.read(linear.coupling.buf).await?));
        }
        control.view(View { rows: self.rows, embedded: [mapped, y.clone()], plans });
        Ok(())
    }
}
