//! Some rows of both sides and how well maps do on them. Both sides are centred anew, so that a map is judged by what is
//! there.

use crate::geometry::Dense;
use crate::procedure::control::{Control, Failure};
use crate::procedure::linear::{From, Run, centred, leading};
use crate::procedure::selection::{Scorer, norm_of, plan_of};
use crate::solver::linear::{Stage, refine_schedule};
use compute::exec::Device;

/// ε of the plans from which maps are compared, and how often ten iterations are played.
const EPS: f32 = 0.1;
const PLAYED: u32 = 3;

/// Judged rows of both sides.
pub(super) struct Rest<'a> {
    device: &'a Device,
    /// Their places among the judged rows.
    pub(super) places: [Vec<usize>; 2],
    /// Their rows in the data set.
    rows: [Vec<usize>; 2],
    /// What linear maps see of them, in the leading coordinates.
    pub(super) points: [Dense; 2],
    name: String,
}

/// A map and its nuclear norm.
pub(super) struct Fitted {
    pub(super) map: Dense,
    pub(super) norm: f64,
}

impl<'a> Rest<'a> {
    pub(super) fn new(
        device: &'a Device,
        scorer: &Scorer<'_>,
        places: [Vec<usize>; 2],
        coordinates: usize,
        name: String,
    ) -> Self {
        let rows = [0, 1].map(|side| places[side].iter().map(|&at| scorer.rows()[side][at]).collect());
        let points =
            [0, 1].map(|side| centred(&leading(&scorer.prepared()[side].picked(&places[side]), coordinates)));
        Self { device, places, rows, points, name }
    }

    /// The coordinates of both sides.
    pub(super) fn dims(&self) -> [usize; 2] {
        self.points.each_ref().map(Dense::cols)
    }

    /// Plays the linear solver on these rows, and compares where it comes to.
    pub(super) async fn fit(
        &self,
        what: &str,
        from: From,
        stages: &[Stage],
        control: &mut impl Control,
    ) -> Result<Fitted, Failure> {
        let rows = [&self.rows[0][..], &self.rows[1][..]];
        let run = Run { what: format!("{}, {what}", self.name), rows, points: self.points.clone(), from };
        let map = run.play(self.device, stages, super::PHASE, control).await?;
        let [x, y] = self.points.each_ref();
        let plan = plan_of(self.device, [x, y], &map, (EPS, PLAYED), control).await?;
        let norm = norm_of(&plan, [x, y]);
        if !norm.is_finite() {
            return Err(Failure::Diverged { step: stages.len() as u32, cause: format!("a norm is {norm}") });
        }
        Ok(Fitted { map, norm })
    }

    /// A map, refined on these rows.
    pub(super) async fn refined(
        &self,
        what: &str,
        map: Dense,
        steps: u32,
        control: &mut impl Control,
    ) -> Result<Fitted, Failure> {
        self.fit(what, From::Map(map), &refine_schedule(steps), control).await
    }
}
