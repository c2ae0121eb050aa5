//! What lies on the worker's desk: the tables that were loaded, by what they are used as.

use std::collections::BTreeMap;
use std::rc::Rc;

use formats::write::model::{Model, Step};
use formats::write::record::{Input, Record};
use formats::{Choices, Kind, Listed, MissingChoice, Source as _, Table, Trouble};

use super::estimating::memory;
use super::runs::Runs;
use super::scope::{breathe, rest};
use super::source::{BlobSource, Reader};
use super::used::{Inputs, Used};
use align::geometry::Dense;
use align::procedure::Failure;
use align::scale::Matching;
use analysis::model::Taught;
use analysis::options;
use analysis::outcome::Study;
use analysis::pace::Pace;
use analysis::prepare;
use analysis::room::Room;
use analysis::rows::Rows;
use analysis::subject::{Looked, Subject};
use schema::{Chosen, Content, FileRef, Reading, Recorded, RunId, Side, Slot};

/// A table with what was done to it.
pub(super) struct Prepared {
    pub(super) table: Table,
    /// What was done to its columns, so that new rows can follow.
    pub(super) chain: Vec<Step>,
    /// What came of it.
    pub(super) points: Dense,
    /// What was decided about its missing values.
    pub(super) missing: MissingChoice,
}

impl Prepared {
    /// What new rows have to follow.
    pub(super) fn taught(&self) -> Taught {
        Taught::new(&self.table, &self.chain, self.missing)
    }
}

/// Everything that is loaded, and the last alignment.
#[derive(Default)]
pub(super) struct Desk {
    tables: BTreeMap<Slot, Prepared>,
    labels: BTreeMap<Slot, Listed>,
    pairs: BTreeMap<Slot, Vec<(usize, usize)>>,
    /// A model that was loaded.
    pub(super) model: Option<Model>,
    /// The files that all this came from.
    pub(super) inputs: Inputs,
    /// Those that the last alignment was made of.
    pub(super) used: Vec<Used>,
    /// How many files are being hashed.
    pub(super) hashing: u32,
    /// Shared with a comparison that is under way.
    pub(super) study: Option<Rc<Study>>,
    /// What it was trained on; none where that were distances alone.
    pub(super) taught: Option<[Taught; 2]>,
    /// The pairs made by hand that it knew.
    pub(super) made: Vec<(u32, u32)>,
    /// How fast the device is, once that was measured.
    pub(super) pace: Option<Pace>,
    /// The last comparison and the last new points, which may be looked at and taken away as well.
    pub(super) applied: Option<Rc<super::aligning::Applied>>,
}

/// What a slot is filled with.
pub(super) enum Filling {
    Table(Prepared),
    Labels(Listed),
    Pairs(Vec<(usize, usize)>),
    Model(Box<Model>),
    /// What was read is for the page.
    Nothing,
}

impl Desk {
    pub(super) fn table(&self, slot: Slot) -> Option<&Prepared> {
        self.tables.get(&slot)
    }

    /// How much of a tab's memory is taken by what lies here.
    pub(super) fn room(&self) -> Room {
        let tables = self.tables.values().map(|t| t.table.values.len() + t.points.data().len());
        let of_study = self.study.as_ref().map(|study| taken(&study.subject, &study.looked));
        let of_applied = self.applied.as_ref().map(|applied| taken(&applied.subject, &applied.looked));
        let numbers = tables.chain(of_study).chain(of_applied).map(|count| count as u64).sum::<u64>();
        Room { memory: memory(), held: 4 * numbers }
    }

    pub(super) fn pairs(&self, slot: Slot) -> &[(usize, usize)] {
        self.pairs.get(&slot).map(Vec::as_slice).unwrap_or_default()
    }

    /// The table that says which rows a side has: where there are no features, its distances.
    fn table_of_rows(&self, slot: Slot) -> Option<&Table> {
        let own = self.tables.get(&slot).or_else(|| match slot {
            Slot::Features(side) => self.tables.get(&Slot::Distances(side)),
            _ => None,
        });
        own.map(|prepared| &prepared.table)
    }

    /// Ids and the first labels of a side's rows.
    pub(super) fn rows(&self, slot: Slot, side: Side) -> Rows {
        let table = self.table_of_rows(slot);
        let own = table.and_then(|table| table.labels.first());
        let beside = if slot == Slot::New(side) { Slot::NewLabels(side) } else { Slot::Labels(side) };
        let listed = self.labels.get(&beside);
        let fits = |count: usize| table.is_some_and(|table| table.rows == count);
        let labels =
            listed.and_then(|listed| listed.labels.first()).filter(|labels| fits(labels.codes.len()));
        // A table without names of its rows may have them in the list of its labels.
        let named = listed.and_then(|listed| listed.ids.as_ref()).filter(|ids| fits(ids.len()));
        let ids = table.and_then(|table| table.ids.as_ref()).or(named);
        Rows { ids: ids.cloned(), labels: labels.or(own).cloned() }
    }

    /// What lies here beside what the last result was trained on.
    pub(super) fn beside_training(&self) -> Vec<Used> {
        self.inputs.beside(&self.used)
    }

    /// The files that what is on show was made of.
    pub(super) fn recorded(&self) -> Vec<Input> {
        let applied = self.applied.iter().flat_map(|applied| &applied.used);
        self.inputs.recorded(self.used.iter().chain(applied))
    }

    /// Fills a slot; returns the number by which this filling is known.
    pub(super) fn put(&mut self, slot: Slot, filling: Filling, input: Input) -> u32 {
        let number = self.inputs.put(slot, input);
        match (slot, filling) {
            (_, Filling::Labels(labels)) => drop(self.labels.insert(slot, labels)),
            (_, Filling::Pairs(pairs)) => drop(self.pairs.insert(slot, pairs)),
            (_, Filling::Model(model)) => self.model = Some(*model),
            (_, Filling::Table(table)) => drop(self.tables.insert(slot, table)),
            (_, Filling::Nothing) => self.inputs.remove(slot),
        }
        number
    }

    /// Whether anybody may ask for the hash of the file of this filling.
    pub(super) fn wants_hash(&self, number: u32) -> bool {
        let applied = self.applied.iter().flat_map(|applied| &applied.used);
        self.inputs.holds(number) || self.used.iter().chain(applied).any(|used| used.number == number)
    }

    pub(super) fn clear(&mut self, slot: Slot) {
        self.tables.remove(&slot);
        self.pairs.remove(&slot);
        self.inputs.remove(slot);
        self.labels.remove(&slot);
        if slot == Slot::Model {
            self.model = None;
        }
    }
}

/// Numbers that two data sets take, and a plan between them.
fn taken(subject: &Subject, looked: &Looked) -> usize {
    let points = subject.sides.points().into_iter().chain(looked.coupling.embedded.iter().flatten());
    let plan = match &looked.coupling.plan {
        Matching::Held(plan) => plan.data().len(),
        Matching::Computed(plan) | Matching::Near { plan, .. } => {
            plan.clouds.x.data().len() + plan.clouds.y.data().len()
        }
    };
    plan + points.chain(&looked.distances).map(|points| points.data().len()).sum::<usize>()
}

/// How long labels and pairs wait for the tables they belong to.
const PATIENCE_MS: i32 = 60_000;
const LOOK_MS: i32 = 25;

/// A file that was read, and what it was read from.
pub(super) struct Arrived {
    pub(super) filling: Filling,
    pub(super) content: Content,
    pub(super) input: Input,
    pub(super) source: BlobSource,
}

/// Reads a file for a use. Labels and pairs wait until the tables they speak of are there.
pub(super) async fn read(
    desk: &std::cell::RefCell<Desk>,
    runs: &Runs,
    run: RunId,
    slot: Slot,
    file: &FileRef,
    reading: &Reading,
) -> Result<Arrived, Trouble> {
    let source = BlobSource::open(file).await?;
    let mut watch = Reader::new(runs, run, slot, desk.borrow().room());
    let (filling, content) = match slot {
        Slot::Labels(side) | Slot::NewLabels(side) => {
            let table = if slot == Slot::NewLabels(side) { Slot::New(side) } else { Slot::Features(side) };
            let [(rows, ids)] = wait_for(desk, runs, run, [table]).await?;
            let listed = formats::labels(&source, ids.as_deref(), rows, &mut watch).await?;
            let columns =
                listed.labels.iter().map(|column| (column.name.clone(), column.names.len())).collect();
            (Filling::Labels(listed), Content::Labels { rows, columns })
        }
        Slot::Pairs | Slot::Truth | Slot::NewTruth => {
            let table = if slot == Slot::NewTruth { Slot::New } else { Slot::Features };
            let both = Side::BOTH.map(table);
            let [(n, x_ids), (m, y_ids)] = wait_for(desk, runs, run, both).await?;
            let pairs = formats::pairs(&source, x_ids.as_deref(), y_ids.as_deref(), n, m, &mut watch).await?;
            let note = pairs.notes.join(" ");
            let pairs: Vec<(usize, usize)> =
                pairs.pairs.iter().map(|&(i, j)| (i as usize, j as usize)).collect();
            let content = Content::Pairs { count: pairs.len(), note };
            (Filling::Pairs(pairs), content)
        }
        Slot::Model => {
            let model = model(&source).await?;
            let [x, y] = model.sides.each_ref().map(|side| side.inputs);
            let about = format!(
                "Takes {x} columns on the first side and {y} on the second; saved by version {}.",
                model.about.version
            );
            (Filling::Model(Box::new(model)), Content::Model { about })
        }
        Slot::Record => {
            const LARGEST: u64 = 16 << 20;
            if source.len() > LARGEST {
                let what = format!("The file has {} MB, more than any record of a run.", source.len() >> 20);
                return Err(Trouble::new(Kind::TooLarge, what, "Choose a run.json that was saved here."));
            }
            let record = Record::read(&source.read(0, source.len() as usize).await?)?;
            let options = options::saved(&record.settings).map_err(|error| {
                let what = format!("The settings in the record cannot be used: {error}.");
                Trouble::new(Kind::Broken, what, "Choose a run.json that was saved here.")
            })?;
            let inputs: Vec<&str> = record.inputs.iter().map(|input| input.name.as_str()).collect();
            let about = format!(
                "Settings of a run with seed {} on {}. Load the same files and align to repeat it.",
                record.seed,
                if inputs.is_empty() { "no files".to_owned() } else { inputs.join(", ") }
            );
            let row = |row: u64| u32::try_from(row).ok();
            let pairs = record.pairs.iter().filter_map(|&(x, y)| row(x).zip(row(y))).collect();
            let (files, chosen) = (recorded(&record), chosen(&record));
            (Filling::Nothing, Content::Record { about, pairs, options: Box::new(options), files, chosen })
        }
        Slot::Features(_) | Slot::Distances(_) | Slot::Shared(_) | Slot::New(_) => {
            let mut choices = reading.choices.clone();
            if matches!(slot, Slot::New(_)) {
                // Missing values of new rows are treated as in training, which the model knows.
                choices.missing = MissingChoice::Keep;
            }
            let mut loaded = whole_or_first(&source, &choices, &mut watch).await?;
            if matches!(slot, Slot::Distances(_) | Slot::Shared(_)) {
                // From distances, and from columns that both sides share, nothing may be subtracted on one side.
                loaded.table.remainders.clear();
            }
            // The desk may hold more by now.
            desk.borrow().room().preparing(loaded.table.rows, loaded.table.cols, &reading.steps)?;
            let (chain, points) =
                prepare::fit(&loaded.table, &reading.steps, &mut watch).await.map_err(unfit)?;
            let content = Content::Table(Box::new(loaded.preview));
            let missing = reading.choices.missing;
            (Filling::Table(Prepared { table: loaded.table, chain, points, missing }), content)
        }
    };
    let (rows, cols) = match &filling {
        Filling::Table(prepared) => (prepared.table.rows, prepared.table.cols),
        Filling::Labels(Listed { labels, .. }) => {
            (labels.first().map_or(0, |column| column.codes.len()), labels.len())
        }
        Filling::Pairs(pairs) => (pairs.len(), 2),
        Filling::Model(_) | Filling::Nothing => (0, 0),
    };
    let input = Input {
        name: file.name.clone(),
        used_as: slot.words(),
        bytes: source.len(),
        // Once the page has its answer: hashing takes as long as reading.
        sha256: String::new(),
        rows: rows as u64,
        cols: cols as u64,
        choices: serde_json::to_value(reading).unwrap_or_default(),
        found: found(&content),
    };
    Ok(Arrived { filling, content, input, source })
}

/// Why a table could not be prepared.
fn unfit(failure: Failure) -> Trouble {
    match failure {
        Failure::Cancelled => Trouble::cancelled(),
        other => Trouble::new(Kind::Mismatch, other.to_string(), "Choose other steps."),
    }
}

/// The files that went into a recorded run.
fn recorded(record: &Record) -> Vec<Recorded> {
    let each = record.inputs.iter().map(|input| Recorded {
        name: input.name.clone(),
        used_as: input.used_as.clone(),
        sha256: input.sha256.clone(),
        reading: serde_json::from_value(input.choices.clone()).ok(),
    });
    each.collect()
}

/// The candidate that was on show, as [`analysis::outcome::Study::chosen`] writes it.
fn chosen(record: &Record) -> Option<Chosen> {
    let number = |key: &str| record.chosen.get(key)?.as_u64()?.try_into().ok();
    let candidate: u32 = number("candidate")?;
    let origin = record.chosen.get("origin")?.as_str()?.to_owned();
    Some(Chosen { candidate: candidate.checked_sub(1)?, of: number("of")?, origin })
}

/// What was found in a table, for the record.
fn found(content: &Content) -> serde_json::Value {
    match content {
        Content::Table(preview) => {
            let formats::Preview { format, decisions, looks, notices, .. } = &**preview;
            serde_json::json!({ "format": format, "decisions": decisions, "looks": looks, "notices": notices })
        }
        Content::Pairs { note, .. } if !note.is_empty() => serde_json::json!({ "notices": [note] }),
        _ => serde_json::Value::Null,
    }
}

/// Reads saved encoders.
pub(super) async fn model(source: &BlobSource) -> Result<Model, Trouble> {
    const LARGEST: u64 = 512 << 20;
    if source.len() > LARGEST {
        let what = format!("The file has {} MB, more than any model of ours.", source.len() >> 20);
        return Err(Trouble::new(Kind::TooLarge, what, "Choose a .safetensors file saved here."));
    }
    Model::load(&source.read(0, source.len() as usize).await?)
}

/// Reads a table. Of several that a file holds the first is taken, and said: the page offers the others.
async fn whole_or_first(
    source: &BlobSource,
    choices: &Choices,
    watch: &mut Reader<'_>,
) -> Result<formats::Loaded, Trouble> {
    let trouble = match formats::read(source, choices, watch).await {
        Err(trouble) if trouble.kind == Kind::Ambiguous => trouble,
        outcome => return outcome,
    };
    let parts = formats::parts(source, watch).await?;
    let Some(first) = parts.first() else { return Err(trouble) };
    let choices = Choices { part: Some(first.name.clone()), ..choices.clone() };
    let mut loaded = formats::read(source, &choices, watch).await?;
    let notice = format!("The file holds {} tables; the first, {}, was taken.", parts.len(), first.name);
    loaded.preview.notices.insert(0, notice);
    if loaded.preview.parts.is_empty() {
        loaded.preview.parts = parts;
    }
    Ok(loaded)
}

/// Rows and ids of tables, once they are there.
async fn wait_for<const N: usize>(
    desk: &std::cell::RefCell<Desk>,
    runs: &Runs,
    run: RunId,
    slots: [Slot; N],
) -> Result<[(usize, Option<Vec<String>>); N], Trouble> {
    for _ in 0..PATIENCE_MS / LOOK_MS {
        let found = slots.map(|slot| {
            let desk = desk.borrow();
            desk.table_of_rows(slot).map(|table| (table.rows, table.ids.clone()))
        });
        if found.iter().all(Option::is_some) {
            return Ok(found.map(Option::unwrap_or_default));
        }
        if !runs.wanted(run).await {
            return Err(Trouble::cancelled());
        }
        rest(LOOK_MS).await;
    }
    Err(Trouble::new(
        Kind::Mismatch,
        "The data set that this file speaks of is not loaded.",
        "Load the data set first, then this file again.",
    ))
}

/// The SHA-256 of a whole file, as long as it is wanted.
pub(super) async fn hash(source: &BlobSource, wanted: impl Fn() -> bool) -> Result<String, Trouble> {
    const PIECE: usize = 1 << 20;
    let mut digest = formats::write::sha256::Sha256::new();
    let mut at = 0;
    while at < source.len() {
        let bytes = source.read(at, PIECE).await?;
        if bytes.is_empty() {
            break;
        }
        digest.update(&bytes);
        at += bytes.len() as u64;
        breathe().await;
        if !wanted() {
            return Err(Trouble::cancelled());
        }
    }
    Ok(digest.finish())
}
