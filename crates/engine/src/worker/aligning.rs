//! What the worker does with the tables on its desk: align them, compare, apply what was learned, hand out files.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use formats::Trouble;
use formats::write::model::Model;
use formats::write::record::{Record, Timing};
use js_sys::{Array, Uint8Array};
use web_sys::{Blob, BlobPropertyBag, Url};

use super::desk::{Desk, Prepared};
use super::live::{Live, Reached, Watched};
use super::runs::Runs;
use super::scope::{breathe, now, post, rest};
use super::source::Writer;
use super::used::Used;
use align::geometry::Dense;
use align::geometry::panel::{Distance, Measure};
use align::geometry::units::Unit;
use align::procedure::{self, Failure as Fault, FreshFits, Settings, Sides, Watching};
use analysis::compare::compare;
use analysis::labels::Coded;
use analysis::model::Taught;
use analysis::outcome::{Study, matches};
use analysis::subject::{Looked, Subject};
use analysis::take_away::{Goods, file};
use analysis::{model, options};
use compute::exec::Device;
use schema::{AlignOptions, Event, Export, Outcome, RunId, Side, Slot};

/// How long an export waits for the hashes of its inputs.
const PATIENCE_MS: i32 = 60_000;
const LOOK_MS: i32 = 20;

/// Rows of a side whose distances are all computed because the other side comes with its own.
const COMPUTED: usize = 8000;

/// The phase in which the points are made ready.
pub(super) const PREPARING: &str = "preparing points";
/// That in which distances are computed which did not come with the data.
const MEASURING: &str = "measuring distances";

/// New points that trained encoders were applied to.
pub(super) struct Applied {
    pub(super) subject: Subject,
    pub(super) looked: Looked,
    pub(super) model: Model,
    /// The files that this took beside those of the training.
    pub(super) used: Vec<Used>,
}

/// Why something could not be done.
pub(super) enum Refusal {
    Fault(Fault),
    Words(String),
    Trouble(Trouble),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<String> for Refusal {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

impl From<Trouble> for Refusal {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

/// The task of one run.
pub(super) struct Task<'a> {
    pub(super) device: &'a Device,
    pub(super) desk: &'a RefCell<Desk>,
    pub(super) runs: &'a Runs,
    pub(super) run: RunId,
}

impl Task<'_> {
    /// Aligns what is loaded; some pairs were made by hand, and something may have been reached before.
    pub(super) async fn align(
        &self,
        options: &AlignOptions,
        made: &[(u32, u32)],
        reached: Reached,
    ) -> Result<(), Refusal> {
        let mut settings = options::settings(options)?;
        // Otherwise most of the time is somebody else's.
        let whole = reached.is_empty();
        // First of all: what does not fit is refused before anything is copied.
        let foretold = self.fit(&mut settings).await?;
        let mut preparing = Watched::before(self.runs, self.run);
        let sides = self.sides(options, made, &mut preparing).await?;
        if sides.default_panel() == [Measure::same(Distance::Given)] && !by_name(options) {
            settings.measures.clear();
        }
        let (rows, truth) = self.beside();
        // As they are now: by the end of the run other files may lie there.
        let taught = self.taught();
        let used = self.desk.borrow_mut().inputs.begin();
        let counts = [0, 1].map(|side| sides.points()[side].rows());
        let coded = Coded::new(&rows, counts);
        let mut live =
            Live::new(self.runs, self.run, &settings, foretold.as_ref().map_or(0.0, |told| told.last), coded);
        live.recalls(reached);
        live.before_training(&sides).await?;
        let start = now();
        let alignment = procedure::align(self.device, &sides, &settings, &mut live).await?;
        // Time that the run was held is no time of work.
        let (trained, held) = (now(), live.held());
        let ending = live.ending();
        let chance = procedure::chance(self.device, &sides, &settings, &mut live).await?;
        let (chosen, held_then) = (now(), live.held());
        let best = alignment.best();
        let mut coupling = procedure::conclude(self.device, &sides, &settings, best, &mut live).await?;
        let (concluded, held_before) = (now(), live.held());
        let fits = FreshFits::new(self.device, &sides, &settings, &alignment, &mut live).await?;
        if let Some(fits) = &fits {
            let sure = fits.confidence(self.device, &sides, &settings, best, &coupling, &mut live).await?;
            coupling.confidence = Some(sure);
        }
        // Fresh fits are no part of applying the encoders.
        let apart = now() - concluded - (live.held() - held_before);
        let subject = Subject { sides, rows, truth, settings };
        let looked = subject.look(coupling, &mut live).await?;
        let study = Study {
            subject,
            looked,
            options: options.clone(),
            alignment,
            shown: 0,
            chance,
            fits,
            saved: None,
            train_s: whole.then_some((trained - start - held) / 1000.0),
            infer_s: (now() - chosen - (live.held() - held_then) - apart) / 1000.0,
        };
        let (outcome, bulk) = study.outcome(&mut live).await?;
        let outcome = Outcome { ending: Some(ending), ..outcome };
        if let (Some(foretold), true) = (foretold, whole && !self.runs.is_finishing(self.run)) {
            self.learn(foretold.seconds, (now() - start - live.held()) / 1000.0);
        }
        let mut desk = self.desk.borrow_mut();
        desk.study = Some(Rc::new(study));
        desk.taught = taught;
        desk.used = used;
        desk.made = made.to_vec();
        desk.applied = None;
        post(self.run, Event::Aligned(Box::new(outcome)), bulk);
        Ok(())
    }

    /// The loaded tables as the solver takes them.
    pub(super) async fn sides(
        &self,
        options: &AlignOptions,
        made: &[(u32, u32)],
        watched: &mut Watched<'_>,
    ) -> Result<Sides, Refusal> {
        let points = |slot: Slot| self.desk.borrow().table(slot).map(|prepared| prepared.points.clone());
        let [dx, dy] = Side::BOTH.map(|side| points(Slot::Distances(side)));
        let side = |side: Side, name: &str, distances: &Option<Dense>| -> Result<Dense, Refusal> {
            // Distances alone are points as well: each row says how far a point is from all others.
            points(Slot::Features(side)).or_else(|| distances.clone()).ok_or_else(|| {
                Refusal::Words(format!(
                    "The {name} data set is missing. Drop a file there, or take a sample."
                ))
            })
        };
        let (x, y) = (side(Side::X, "first", &dx)?, side(Side::Y, "second", &dy)?);
        let given = Distance::Given.name();
        let wanted = options.distance_x == given || options.distance_y == given;
        // Where one side comes with distances, those of the other are computed as it says.
        let mut computed = async |points: &Dense, name: &str| {
            if points.rows() > COMPUTED {
                return Err(Refusal::Words(format!(
                    "One data set comes with a distance matrix, and the other, with {} rows, has none: computing it would \
                     take {:.1} GB of memory. Give both sides a distance matrix or neither, or take at most {COMPUTED} rows.",
                    points.rows(),
                    4e-9 * (points.rows() as f64).powi(2)
                )));
            }
            let distance = Distance::named(name).unwrap_or(Distance::Euclidean);
            let watch = &mut Watching::new(watched, MEASURING);
            // Distances square values, and 32 bits do not hold the squares of all units.
            let points = Unit::of(points).scaled(points.clone());
            distance.matrix_watched(&points, watch).await.map_err(Fault::from)?.ok_or_else(|| {
                Refusal::Words(
                    "A given distance was chosen for a data set that has none. Add its distance matrix, or choose another.".into(),
                )
            })
        };
        let given = match (dx, dy) {
            (Some(dx), Some(dy)) => Some((dx, dy)),
            (None, None) if !wanted => None,
            (Some(dx), None) => Some((dx, computed(&y, &options.distance_y).await?)),
            (None, Some(dy)) => Some((computed(&x, &options.distance_x).await?, dy)),
            (None, None) => {
                return Err(Refusal::Words(
                    "Given distances were chosen, but there are none. Add distance matrices, or choose another distance.".into(),
                ));
            }
        };
        let mut sides = Sides::watched(x, y, &mut Watching::new(watched, PREPARING)).await?;
        if let Some((dx, dy)) = given {
            sides = sides.measured(dx, dy)?;
        }
        let mut known = self.desk.borrow().pairs(Slot::Pairs).to_vec();
        for pair in made.iter().map(|&(x, y)| (x as usize, y as usize)) {
            if !known.contains(&pair) {
                known.push(pair);
            }
        }
        if !known.is_empty() {
            sides = sides.knowing(known)?;
        }
        match Side::BOTH.map(|side| points(Slot::Shared(side))) {
            [Some(x), Some(y)] => sides = sides.sharing(x, y)?,
            [None, None] => {}
            _ => {
                return Err(Refusal::Words(
                    "Shared features are given for one data set only. Add the same columns of the other, or remove them.".into(),
                ));
            }
        }
        Ok(sides)
    }

    /// The tables that encoders would be trained on, if both sides have one.
    fn taught(&self) -> Option<[Taught; 2]> {
        let desk = self.desk.borrow();
        let [x, y] = Side::BOTH.map(|side| desk.table(Slot::Features(side)).map(Prepared::taught));
        Some([x?, y?])
    }

    /// Entropic Gromov-Wasserstein on the same data.
    pub(super) async fn compare(&self) -> Result<(), Refusal> {
        let study = self.desk.borrow().study.clone().ok_or_else(nothing_yet)?;
        let start = now();
        let (outcome, bulk) = compare(self.device, &study, &mut Watched::new(self.runs, self.run)).await?;
        let outcome = Outcome { train_s: Some((now() - start) / 1000.0), ..outcome };
        post(self.run, Event::Compared(Box::new(outcome)), bulk);
        Ok(())
    }

    pub(super) fn options(&self) -> AlignOptions {
        self.desk.borrow().study.as_ref().map_or_else(options::defaults, |study| study.options.clone())
    }

    pub(super) fn settings(&self) -> Settings {
        self.desk.borrow().study.as_ref().map(|study| study.subject.settings.clone()).unwrap_or_default()
    }

    /// The loaded model, or that of the candidate which is shown.
    pub(super) fn model(&self) -> Option<Model> {
        let desk = self.desk.borrow();
        desk.model.clone().or_else(|| trained(&desk))
    }

    pub(super) fn matches(&self, words: &str, from: u32, count: u32) -> Result<(), Refusal> {
        let desk = self.desk.borrow();
        let (subject, looked) = looked_at(&desk).ok_or_else(nothing_yet)?;
        let (total, found) = matches(looked, &subject.rows, words, from as usize, count.min(500) as usize);
        post(self.run, Event::Matches { total: total as u32, from, rows: found }, Vec::new());
        Ok(())
    }

    /// Makes a file and tells where it is.
    pub(super) async fn export(&self, what: Export) -> Result<(), Refusal> {
        // Files are still being hashed right after they were read.
        for _ in 0..PATIENCE_MS / LOOK_MS {
            if self.desk.borrow().hashing == 0 {
                break;
            }
            rest(LOOK_MS).await;
            if !self.runs.wanted(self.run).await {
                return Err(Fault::Cancelled.into());
            }
        }
        // As it is now: writing takes a while, and meanwhile the desk is free for others.
        let (record, model, study, applied) = {
            let desk = self.desk.borrow();
            (record(&desk, self.device), trained(&desk), desk.study.clone(), desk.applied.clone())
        };
        let (subject, looked) = match (&applied, &study) {
            (Some(applied), _) => (&applied.subject, &applied.looked),
            (None, Some(study)) => (&study.subject, &study.looked),
            (None, None) => return Err(nothing_yet()),
        };
        let model = applied.as_ref().map(|applied| &applied.model).or(model.as_ref());
        let goods = Goods { subject, looked, model, record: &record };
        let mut writer = Writer { runs: self.runs, run: self.run };
        let (name, bytes) = file(what, &goods, &mut writer).await.map_err(|trouble| match trouble.kind {
            formats::Kind::Cancelled => Refusal::Fault(Fault::Cancelled),
            _ => Refusal::Trouble(trouble),
        })?;
        // Nobody would revoke the address of a file that is not waited for.
        breathe().await;
        if !self.runs.wanted(self.run).await {
            return Err(Fault::Cancelled.into());
        }
        let url = address(&bytes).map_err(|_| {
            Refusal::Words(
                "The browser refused to make the file. Close other tabs to free memory, and try again."
                    .into(),
            )
        })?;
        post(self.run, Event::Exported { what, name, url }, Vec::new());
        Ok(())
    }
}

/// Whether both sides are to be measured by distances that are computed.
fn by_name(options: &AlignOptions) -> bool {
    let given = Distance::Given.name();
    [&options.distance_x, &options.distance_y].into_iter().all(|name| !name.is_empty() && name != given)
}

pub(super) fn nothing_yet() -> Refusal {
    Refusal::Words("There is no alignment yet. Align two data sets first.".into())
}

/// What is looked at: new points, or those of training.
pub(super) fn looked_at(desk: &Desk) -> Option<(&Subject, &Looked)> {
    let applied = desk.applied.as_ref().map(|applied| (&applied.subject, &applied.looked));
    applied.or_else(|| desk.study.as_ref().map(|study| (&study.subject, &study.looked)))
}

/// The model of the candidate that is shown.
pub(super) fn trained(desk: &Desk) -> Option<Model> {
    let study = desk.study.as_ref()?;
    if let Some(saved) = &study.saved {
        return Some(saved.model.clone());
    }
    let [x, y] = desk.taught.as_ref()?;
    Some(model::of(study.candidate(), &study.subject.sides, [x, y], model::about(&study.options)))
}

fn record(desk: &Desk, device: &Device) -> Record {
    let study = desk.study.as_ref();
    let figures =
        study.map(|study| study.looked.figures(&study.subject, study.agreement())).unwrap_or_default();
    let metrics: BTreeMap<String, Option<f64>> =
        figures.into_iter().map(|figure| (figure.key, Some(figure.value))).collect();
    let timings = study.map_or_else(Vec::new, |study| {
        let train = study.train_s.map(|seconds| ("train", seconds));
        let timings = train.into_iter().chain([("infer", study.infer_s)]);
        timings.map(|(name, seconds)| Timing { name: name.to_owned(), seconds }).collect()
    });
    Record {
        format: Record::FORMAT,
        versions: BTreeMap::from([("concord".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]),
        date: js_sys::Date::new_0().to_iso_string().into(),
        seed: study.map_or(0, |study| study.subject.settings.seed),
        chosen: study.map(|study| study.chosen()).unwrap_or_default(),
        settings: study.and_then(|study| serde_json::to_value(&study.options).ok()).unwrap_or_default(),
        executor: super::serve::kind(device).name().to_owned(),
        inputs: desk.recorded(),
        pairs: desk.made.iter().map(|&(x, y)| (x.into(), y.into())).collect(),
        timings,
        metrics,
    }
}

/// Puts bytes where the page can download them.
fn address(bytes: &[u8]) -> Result<String, wasm_bindgen::JsValue> {
    let parts = Array::of1(&Uint8Array::from(bytes));
    let kind = BlobPropertyBag::new();
    kind.set_type("application/octet-stream");
    let blob = Blob::new_with_u8_array_sequence_and_options(&parts, &kind)?;
    Url::create_object_url_with_blob(&blob)
}
