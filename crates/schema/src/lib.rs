//! What crosses between page and worker: [`Command`]s one way, [`Event`]s the other.
//!
//! Every message carries its run, so that a late event of a run that was replaced can be dropped. Bulk
//! data does not pass through serde: it travels beside the message as transferred `ArrayBuffer`s.

mod alignment;
mod bytes;
mod data;
mod estimate;
#[cfg(target_arch = "wasm32")]
mod transport;

pub use alignment::{
    AlignOptions, CandidateRow, Early, Ending, Export, FigureRow, Finding, LabelColumn, MatchRow, Outcome,
    Progress,
};
pub use bytes::{as_bulk, from_bulk};
pub use data::{Chosen, Content, FileRef, NewRows, Reading, Recorded, Side, Slot};
pub use estimate::{Estimate, Way};

#[cfg(target_arch = "wasm32")]
pub use transport::{TransportError, pack, unpack};

use serde::{Deserialize, Serialize};

/// Names one activity of the worker, unique within the page's lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunId(pub u32);

impl RunId {
    /// The worker itself: what concerns no run in particular.
    pub const WORKER: RunId = RunId(0);
}

/// A message with the run it belongs to and its bulk data.
#[derive(Clone, Debug, PartialEq)]
pub struct Message<T> {
    pub run: RunId,
    pub body: T,
    pub bulk: Vec<Vec<f32>>,
}

impl<T> Message<T> {
    pub fn new(run: RunId, body: T) -> Self {
        Self { run, body, bulk: Vec::new() }
    }
}

/// Which executor the visitor wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutorChoice {
    #[default]
    Auto,
    Cpu,
    Gpu,
    /// The CPU, because the graphics device has failed repeatedly or stopped answering.
    CpuAfterFailures,
}

/// What the page asks of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Open a device. The first command; answered by [`Event::Opened`].
    Open {
        choice: ExecutorChoice,
    },
    /// Train a network on the demonstration picture, showing how it goes.
    Demo {
        seed: u32,
    },
    /// Run every kernel against its CPU twin on this device.
    SelfCheck,
    /// Read a file and keep what it holds for this use; what was there before stays until then.
    Load {
        slot: Slot,
        file: FileRef,
        reading: Reading,
    },
    /// Keep what is in memory already for this use, in place of a file. Bulk, one: the values of a table, rows of
    /// equal length; the codes of labels, −1 for missing; pairs, one after the other; a model's bytes ([`as_bulk`]). After a
    /// table, one for each of its wide columns: what 32 bits leave over of its values.
    Give {
        slot: Slot,
        /// Rows of the table, or bytes of the model.
        count: u32,
        /// The names that the codes of labels stand for.
        names: Vec<String>,
        wide: Vec<u32>,
    },
    /// Hand over what is on show, in memory; answered by [`Event::Taken`].
    Take,
    /// Forget what a slot holds.
    Unload {
        slot: Slot,
    },
    /// Align what is loaded; rows of these pairs are known to belong together, beside those of a file. An earlier attempt
    /// at the same has reached what is named; bulk: its values, in the same order.
    Align {
        options: Box<AlignOptions>,
        pairs: Vec<(u32, u32)>,
        reached: Vec<String>,
    },
    /// Say what an alignment of what is loaded would take.
    Estimate {
        options: Box<AlignOptions>,
    },
    /// Align what is loaded by encoders that were trained before, with the settings of then.
    Recall {
        model: FileRef,
    },
    /// Show another of the candidates that the last run has found.
    Show {
        candidate: u32,
    },
    /// Solve entropic Gromov-Wasserstein on the same data, to compare.
    Compare,
    /// Say whether the new rows can follow those of training.
    LookAtNewRows,
    /// Apply the trained or loaded encoders to the new points.
    Apply,
    /// Rows of the table of matches whose ids or labels contain the words, from the `from`-th on.
    Matches {
        words: String,
        from: u32,
        count: u32,
    },
    /// Make a file of something.
    Export {
        what: Export,
    },
    /// Train one chunk of steps of a held run, then hold it again.
    Step,
    /// End the training early and go on with what was learned.
    Finish,
    /// Hold the run, go on with it, give it up.
    Pause,
    Resume,
    Stop,
    /// Break something on purpose, to see that the page recovers.
    Drill {
        fault: Fault,
    },
}

/// The faults a [`Command::Drill`] can cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    Panic,
    LoseDevice,
    SilenceDevice,
}

/// What the worker tells the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The worker listens.
    Ready,
    Opened(Diagnostics),
    /// The demonstration begins, on this executor. Bulk: its target, a picture of `side × side` values.
    DemoStarted {
        side: u32,
        executor: ExecutorKind,
    },
    /// New losses of the demonstration. Bulk: the losses of steps `first_step…`, one a step.
    DemoLosses {
        first_step: u32,
        steps: u32,
    },
    /// What the network has learned so far. Bulk: one picture of `side × side` values.
    DemoPicture {
        side: u32,
    },
    /// A file is being read: bytes done and in all.
    Reading {
        slot: Slot,
        done: f64,
        of: f64,
    },
    Loaded {
        slot: Slot,
        content: Content,
    },
    /// The hash of the file at this address, which takes as long as reading it. It belongs to no run, because it is true
    /// whoever has asked.
    Hashed {
        slot: Slot,
        url: String,
        sha256: String,
    },
    /// Of both sides.
    NewRows([NewRows; 2]),
    /// What an alignment would take; none while there is nothing to align.
    Estimated(Option<Estimate>),
    /// An alignment is on its way.
    Progress(Progress),
    /// Statistics of network training. Bulk: losses, marginal errors, plan entropies, each step by step and within a
    /// step fit by fit; then ε step by step.
    Statistics {
        fits: Vec<String>,
        first_step: u32,
        steps: u32,
    },
    /// The labels of what is being aligned, before the first of its points are shown.
    Labels([LabelColumn; 2]),
    /// Where a linear map or the first fit puts its subsample. Bulk: points of X, points of Y, rows of two; their label
    /// codes; the plan as a square picture in the order of the first coordinate, empty where there is none.
    Moving,
    /// Whoever sends this back with the same alignment spares it the way here. It takes the place of what had this name.
    /// Bulk: its values.
    Reached {
        what: String,
    },
    /// Bulk: see [`Outcome`].
    Aligned(Box<Outcome>),
    /// The comparison, in the same form as an alignment.
    Compared(Box<Outcome>),
    Matches {
        total: u32,
        from: u32,
        rows: Vec<MatchRow>,
    },
    /// A file is ready at this `blob:` address.
    Exported {
        what: Export,
        name: String,
        url: String,
    },
    /// What is on show, in memory. Bulk: the embeddings of X and of Y and where the plan sends X, rows of `dim`; the
    /// strongest partners of every row of X and their share of its mass, rows of `top`, −1 where there are fewer; the
    /// model ([`as_bulk`]).
    Taken {
        dim: u32,
        top: u32,
        /// Bytes of the model.
        model: u32,
    },
    /// One kernel of the self-check is done.
    Checked(CheckRow),
    /// The run ended as it should.
    Finished,
    /// The run ended otherwise, or ([`RunId::WORKER`]) the worker did.
    Failed(Failure),
}

/// The hint of a failure after which there is nothing to do.
pub const NOTHING_LOST: &str = "Nothing that was loaded is lost.";

/// Something went wrong, in words for the person in front of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// For whoever mends it; may be empty.
    pub details: String,
    pub recovery: Recovery,
    /// Other ways to read the file that this is about.
    #[serde(default)]
    pub ways: Vec<formats::Way>,
}

/// What has to happen before the next command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recovery {
    /// Nothing: the worker is well.
    None,
    /// The worker or its device is gone: it has to be replaced.
    RestartWorker,
    /// The device stopped answering: the worker has to be replaced by one that leaves the device alone, because it would wait
    /// for the same device again.
    RestartOnCpu,
}

impl Recovery {
    /// Whether the worker has to be replaced.
    pub fn restarts(self) -> bool {
        self != Self::None
    }
}

/// Which executor runs, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    pub executor: ExecutorKind,
    /// A full sentence.
    pub reason: String,
    /// The adapter that was found, whether it is used or not.
    pub adapter: Option<String>,
    pub software: bool,
    /// Limits by their WebGPU names.
    pub limits: Vec<(String, u64)>,
    pub kernels: u32,
    /// The settings a run has unless told otherwise.
    pub defaults: Box<AlignOptions>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutorKind {
    Cpu,
    Gpu,
}

impl ExecutorKind {
    /// The word for automation, and the value of `?executor=`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

/// One row of the self-check's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRow {
    pub kernel: String,
    pub summary: String,
    pub cases: u32,
    pub worst_error: f32,
    /// The error relative to what is allowed; a pass is at most 1.
    pub worst_ratio: f32,
    /// Where that was, or why the kernel does not run at all.
    pub worst_case: String,
}

impl CheckRow {
    pub fn passed(&self) -> bool {
        self.worst_ratio <= 1.0
    }
}
