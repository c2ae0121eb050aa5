//! What a run has reached, so that the same run can be taken up again: after a reload, after a lost device, on another
//! executor.
//!
//! A run is the same whenever data, settings and seed are. So whatever took long is told under a name, and a second
//! attempt asks for it before it computes it: finished maps as they are, networks in the midst of training as the
//! buffers from which their next step follows, a transport between all points as its potentials. The name bears a mark of data, settings and seed, so that nothing is ever
//! taken for the work of another run.

use super::control::{Control, Failure, Progress, Statistics, View};
use super::{Settings, Sides};
use compute::exec::{AnyExecutor, Executor};
use compute::plan::{BufId, Plan};

/// Larger maps are found again sooner than they are stored.
const LARGEST: usize = 1 << 20;

/// A finished result of this length that an earlier attempt has told.
pub(super) fn recalled(control: &mut impl Control, what: &str, length: usize) -> Option<Vec<f32>> {
    control.recall(what).filter(|values| values.len() == length)
}

/// Both potentials of a transport between so many points, as an earlier attempt has told them.
pub(super) fn recalled_potentials(
    control: &mut impl Control,
    what: &str,
    points: [usize; 2],
) -> Option<[Vec<f32>; 2]> {
    let mut f = recalled(control, what, points[0] + points[1])?;
    let g = f.split_off(points[0]);
    f.iter().chain(&g).all(|value| value.is_finite()).then_some([f, g])
}

/// Tells a finished result.
pub(super) fn remember(control: &mut impl Control, what: &str, values: &[f32]) {
    if values.len() <= LARGEST && control.keeps(true) {
        control.remember(what, values.to_vec());
    }
}

/// A training whose state can be told and taken up.
pub(super) struct Training {
    what: String,
    /// The step counter, the statistics so far, and what the solver needs.
    state: Vec<(BufId, usize)>,
    /// Values of a row of statistics.
    columns: usize,
    steps: u32,
}

/// Where a training stood.
pub(super) struct Stand {
    pub(super) done: u32,
    /// Whether there was nothing left to do.
    pub(super) ended: bool,
    /// The statistics of all steps that were done.
    pub(super) statistics: Vec<f32>,
    buffers: Vec<Vec<f32>>,
}

impl Training {
    /// For a recorded plan of which these buffers say how it goes on, besides its clock and its statistics.
    pub(super) fn new(plan: &Plan, what: String, state: &[BufId]) -> Option<Self> {
        let (clock, ring) = (plan.clock()?, plan.stats()?);
        let length = |id: BufId| (id, plan.buffers()[id.index()].len as usize);
        let state = [clock.step, ring.buf].into_iter().chain(state.iter().copied()).map(length).collect();
        Some(Self { what, state, columns: ring.columns as usize, steps: clock.steps })
    }

    /// What an earlier attempt has told, if it fits.
    pub(super) fn recall(&self, control: &mut impl Control) -> Option<Stand> {
        let length = 1 + self.state.iter().map(|(_, length)| length).sum::<usize>();
        let values = recalled(control, &self.what, length)?;
        let (ended, mut rest) = values.split_first()?;
        let mut buffers = Vec::new();
        for (_, length) in &self.state {
            let (own, others) = rest.split_at(*length);
            buffers.push(own.to_vec());
            rest = others;
        }
        // Counters are words, kept in the form of a number.
        let done = buffers[0][0].to_bits();
        let statistics = buffers[1].get(..done as usize * self.columns)?.to_vec();
        let ended = *ended == 1.0 || done == self.steps;
        (done <= self.steps).then_some(Stand { done, ended, statistics, buffers })
    }

    /// Puts an executor where the training stood. The statistics of the steps before come again with those of the next.
    pub(super) fn take_up(&self, stand: &Stand, executor: &mut AnyExecutor) -> Result<(), Failure> {
        for ((id, _), values) in self.state.iter().zip(&stand.buffers) {
            executor.write(*id, values)?;
        }
        Ok(())
    }

    /// Tells where the training stands, when that is wanted; its end always is.
    pub(super) async fn tell(
        &self,
        ended: bool,
        executor: &mut AnyExecutor,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        if !control.keeps(ended) {
            return Ok(());
        }
        let mut values = vec![f32::from(u8::from(ended))];
        for (id, _) in &self.state {
            values.extend(executor.read(*id).await?);
        }
        control.remember(&self.what, values);
        Ok(())
    }
}

/// Numbers that are digested between two looks.
const PIECE: usize = 4 << 20;

/// A run whose values bear its mark: those of another run, on other data or with other settings, are not found.
pub(super) struct Marked<'a, C> {
    control: &'a mut C,
    mark: String,
}

impl<'a, C: Control> Marked<'a, C> {
    pub(super) async fn new(sides: &Sides, settings: &Settings, control: &'a mut C) -> Result<Self, Failure> {
        let mut digest = Digest::default();
        let words = format!("{} {settings:?} {:?}", env!("CARGO_PKG_VERSION"), sides.known());
        words.bytes().for_each(|byte| digest.add(byte.into()));
        for table in sides.tables() {
            digest.add(table.rows() as u32);
            digest.add(table.cols() as u32);
            for piece in table.data().chunks(PIECE) {
                piece.iter().for_each(|value| digest.add(value.to_bits()));
                control.checkpoint(Progress { phase: "preparing points", done: 0, of: 1 }).await?;
            }
        }
        Ok(Self { control, mark: format!("{:016x}", digest.0) })
    }

    /// A part of whatever the control is about.
    pub(super) fn part(control: &'a mut C, part: &str) -> Self {
        Self { control, mark: part.to_owned() }
    }

    /// Of what is done with one part of the run, such as one of its candidates.
    pub(super) fn of(self, part: &str) -> Self {
        Self { mark: format!("{}/{part}", self.mark), ..self }
    }

    fn named(&self, what: &str) -> String {
        format!("{}/{what}", self.mark)
    }
}

/// Sixty-four bits that depend on every word and on their order.
#[derive(Default)]
struct Digest(u64);

impl Digest {
    fn add(&mut self, word: u32) {
        let mixed = (self.0 ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 29);
    }
}

impl<C: Control> Control for Marked<'_, C> {
    async fn checkpoint(&mut self, progress: Progress) -> Result<(), Failure> {
        self.control.checkpoint(progress).await
    }

    fn chunk(&self) -> u32 {
        self.control.chunk()
    }

    fn statistics(&mut self, new: Statistics<'_>) {
        self.control.statistics(new);
    }

    fn curious(&mut self) -> bool {
        self.control.curious()
    }

    fn view(&mut self, view: View<'_>) {
        self.control.view(view);
    }

    fn recall(&mut self, what: &str) -> Option<Vec<f32>> {
        self.control.recall(&self.named(what))
    }

    fn keeps(&mut self, finished: bool) -> bool {
        self.control.keeps(finished)
    }

    fn remember(&mut self, what: &str, values: Vec<f32>) {
        self.control.remember(&self.named(what), values);
    }

    fn finish(&self) -> bool {
        self.control.finish()
    }
}
