//! What the page knows, as signals, and how events change it.
//!
//! Each part has its own file: the files that were loaded, the settings, the run, what came of it, and the
//! demonstration. This one keeps the worker and hands every event to the part it concerns.

mod busy;
mod demo;
mod estimate;
mod files;
mod going_on;
mod keeping;
mod lost;
mod new_rows;
mod own;
mod pairs;
mod read_again;
mod record;
mod results;
mod run;
mod sample;
mod settings;
mod standing;

pub(crate) use super::history::History;
pub(crate) use demo::{Demo, Picture};
pub(crate) use files::{Files, SlotPhase, SlotState};
pub(crate) use keeping::{Keeping, in_words};
pub(crate) use pairs::Pairs;
pub(crate) use record::Record;
pub(crate) use results::{PAGE, Results, Shown};
pub(crate) use run::{Moving, Run};
pub(crate) use settings::Settings;

use leptos::prelude::*;

use super::ledger::{Activity, Ledger};
use schema::{
    Command, Diagnostics, Estimate, Event, ExecutorChoice, Failure, Fault, Message, NewRows, RunId, Slot,
};
use worker_client::{Engine, Link};

/// The state of an activity; the names are part of the page's automation interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    #[default]
    Idle,
    Loading,
    Training,
    Paused,
    Done,
    Failed,
}

impl Phase {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Loading => "loading",
            Self::Training => "training",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// Whether something is under way that a lost worker would take along.
    pub(crate) fn busy(self) -> bool {
        matches!(self, Self::Loading | Self::Training | Self::Paused)
    }
}

/// Copy handles on everything the components show.
#[derive(Clone, Copy)]
pub(crate) struct State {
    pub(crate) diagnostics: RwSignal<Option<Diagnostics>>,
    /// The last failure, until it is dismissed.
    pub(crate) notice: RwSignal<Option<Failure>>,
    pub(crate) demo: Demo,
    pub(crate) files: Files,
    pub(crate) settings: Settings,
    /// Parts of the page that the address hides.
    hidden: StoredValue<Vec<&'static str>>,
    pub(crate) run: Run,
    /// What the next alignment would take.
    pub(crate) estimate: RwSignal<Option<Estimate>>,
    pub(crate) results: Results,
    /// How new rows follow those of training, of both sides.
    pub(crate) new_rows: RwSignal<[NewRows; 2]>,
    pub(crate) pairs: Pairs,
    pub(crate) keeping: Keeping,
    pub(crate) record: Record,
    ledger: StoredValue<Ledger>,
    link: StoredValue<Option<Link>, LocalStorage>,
    choice: StoredValue<ExecutorChoice>,
    /// Workers that were lost since a run last came to its end or got on.
    losses_in_a_row: StoredValue<u32>,
    /// When the device was opened and when a worker was last lost, in milliseconds since 1970.
    opened_at: StoredValue<f64>,
    lost_at: StoredValue<f64>,
    /// How often a result was computed again because the worker that held it was lost.
    restored: StoredValue<u32>,
}

/// What the address asks for.
pub(crate) struct Asked {
    /// Its words, among them settings.
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) hidden: Vec<&'static str>,
}

impl State {
    /// Whether a part of the page is to be seen.
    pub(crate) fn shows(&self, part: &str) -> bool {
        self.hidden.with_value(|hidden| !hidden.contains(&part))
    }

    /// Starts the worker and asks it to open a device. `sample` is what a visitor sees first, if anything.
    pub(crate) fn new(
        engine: Engine,
        choice: ExecutorChoice,
        sample: Option<&'static str>,
        asked: Asked,
    ) -> Self {
        let state = Self {
            diagnostics: RwSignal::new(None),
            notice: RwSignal::new(None),
            demo: Demo::new(),
            files: Files::new(),
            settings: Settings::new(asked.settings),
            hidden: StoredValue::new(asked.hidden),
            run: Run::new(),
            estimate: RwSignal::new(None),
            results: Results::new(),
            new_rows: RwSignal::default(),
            pairs: Pairs::new(),
            keeping: Keeping::new(),
            record: Record::new(),
            ledger: StoredValue::default(),
            link: StoredValue::new_local(None),
            choice: StoredValue::new(choice),
            losses_in_a_row: StoredValue::new(0),
            opened_at: StoredValue::new(0.0),
            lost_at: StoredValue::new(0.0),
            restored: StoredValue::new(0),
        };
        let link = Link::new(engine, move |message| state.receive(message));
        state.link.set_value(Some(link));
        if let Some(name) = sample {
            state.load_sample(name);
        }
        state.keep_estimate();
        state.keep_new_rows();
        state.keep_work();
        state
    }

    /// Breaks something on purpose. A device is lost in the midst of work, so the demonstration runs if nothing else does.
    pub(crate) fn drill(&self, fault: Fault) {
        if !self.run.phase.get_untracked().busy() {
            self.start_demo();
        }
        self.send(RunId::WORKER, Command::Drill { fault });
    }

    /// Starts a run of an activity in place of the one before.
    fn begin(&self, activity: Activity, command: Command) {
        self.begin_with(activity, command, Vec::new());
    }

    /// The same, with bulk data.
    fn begin_with(&self, activity: Activity, command: Command, bulk: Vec<Vec<f32>>) {
        let mut begun = None;
        self.ledger.update_value(|ledger| begun = Some(ledger.begin(activity)));
        let Some((run, replaced)) = begun else { return };
        if let Some(old) = replaced {
            self.send(old, Command::Stop);
        }
        self.post(Message { run, body: command, bulk });
    }

    /// Says something to the current run of an activity; returns whether there is one.
    fn tell(&self, activity: Activity, command: Command) -> bool {
        let run = self.ledger.with_value(|ledger| ledger.current(activity));
        if let Some(run) = run {
            self.send(run, command);
        }
        run.is_some()
    }

    /// Gives up an activity; whatever its run still says is not heard.
    fn give_up(&self, activity: Activity) {
        let mut run = None;
        self.ledger.update_value(|ledger| run = ledger.drop_run(activity));
        if let Some(run) = run {
            self.send(run, Command::Stop);
        }
    }

    fn is_waiting_for(&self, activity: Activity) -> bool {
        self.ledger.with_value(|ledger| ledger.current(activity).is_some())
    }

    fn send(&self, run: RunId, command: Command) {
        self.post(Message::new(run, command));
    }

    fn post(&self, message: Message<Command>) {
        self.link.with_value(|link| {
            if let Some(link) = link {
                link.send(message);
            }
        });
    }

    fn receive(&self, message: Message<Event>) {
        if message.run == RunId::WORKER {
            match message.body {
                // Every worker, the first and each that replaces one, opens a device before anything else.
                Event::Ready => {
                    self.begin(Activity::Open, Command::Open { choice: self.choice.get_value() });
                    self.load_again();
                }
                Event::Failed(failure) => self.fail(None, failure),
                Event::Hashed { slot, url, sha256 } => self.hashed(slot, &url, sha256),
                _ => {}
            }
            return;
        }
        let Some(activity) = self.ledger.with_value(|ledger| ledger.activity_of(message.run)) else {
            // Stale: the run was replaced. A file that nobody waits for any more goes with it.
            if let Event::Exported { url, .. } = message.body {
                let _ = web_sys::Url::revoke_object_url(&url);
            }
            return;
        };
        let bulk = message.bulk;
        match message.body {
            // For the worker, above; and for the JavaScript API.
            Event::Ready | Event::Hashed { .. } | Event::Taken { .. } => {}
            Event::Opened(diagnostics) => {
                self.settings.offer_defaults(&diagnostics.defaults);
                self.diagnostics.set(Some(diagnostics));
                self.opened_at.set_value(js_sys::Date::now());
                self.recall_if_promised();
            }
            event @ (Event::DemoStarted { .. }
            | Event::DemoPicture { .. }
            | Event::DemoLosses { .. }
            | Event::Checked(_)) => self.demo_event(event, bulk),
            Event::Reading { slot, done, of } => self.files.progressed(slot, done, of),
            Event::Loaded { slot, content } => self.loaded(slot, content),
            Event::NewRows(sides) => self.new_rows.set(sides),
            Event::Estimated(estimate) => self.estimate.set(estimate),
            event @ (Event::Progress(_) | Event::Statistics { .. } | Event::Labels(_) | Event::Moving) => {
                self.run_event(activity, event, bulk);
            }
            Event::Reached { what } => self.reached(what, bulk.into_iter().next().unwrap_or_default()),
            Event::Aligned(outcome) => self.aligned(activity, *outcome, bulk),
            Event::Compared(outcome) => self.compared(*outcome, bulk),
            Event::Matches { total, from, rows } => self.matches_arrived(activity, total, from, rows),
            Event::Exported { what, name, url } => self.exported(what, name, url),
            Event::Finished => {
                if activity.computes() {
                    self.losses_in_a_row.set_value(0);
                }
                self.ended(activity);
                self.phase(activity, Phase::Done);
            }
            Event::Failed(failure) => {
                self.ended(activity);
                self.fail(Some(activity), failure);
            }
        }
    }

    /// The run says nothing more, and need not be stopped when another takes its place.
    fn ended(&self, activity: Activity) {
        self.ledger.update_value(|ledger| {
            ledger.drop_run(activity);
        });
    }

    fn phase(&self, activity: Activity, phase: Phase) {
        match activity {
            Activity::Open
            | Activity::Load(_)
            | Activity::Estimate
            | Activity::NewRows
            | Activity::Matches
            | Activity::Ids => {}
            Activity::Demo => self.demo.phase.set(phase),
            Activity::SelfCheck => self.demo.check.set(phase),
            Activity::Align => self.run.enter(phase),
            Activity::Show => self.results.showing.set(phase),
            Activity::Compare => self.results.comparing.set(phase),
            Activity::Apply => self.results.applying.set(phase),
            Activity::Export => self.results.exporting.set(phase),
        }
    }

    /// Why an alignment cannot be started, in words; `None` if it can.
    pub(crate) fn blocker(&self) -> Option<String> {
        if self.diagnostics.with(Option::is_none) {
            return Some("The computing part is starting.".into());
        }
        if let Some(reason) = self.files.blocker() {
            return Some(reason);
        }
        let given = |name: &str| name == "given";
        let (x, y) = self.settings.options.with(|o| (given(&o.distance_x), given(&o.distance_y)));
        for (wanted, side) in [(x, schema::Side::X), (y, schema::Side::Y)] {
            if wanted && !self.files.get(Slot::Distances(side)).with(SlotState::in_use) {
                let letter = side.letter().to_uppercase();
                return Some(format!(
                    "The distance of {letter} is set to “given”, but there is no distance file: load one under \
                     More files, or choose another distance."
                ));
            }
        }
        self.settings.blocker()
    }
}
