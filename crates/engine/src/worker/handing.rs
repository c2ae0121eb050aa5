//! Data and results that go from memory to memory, without any file between: for the JavaScript API.

use formats::write::model::Model;
use formats::write::record::Input;
use formats::write::sha256::Sha256;
use formats::{Kind, Labels, Listed, MissingChoice, Remainder, Table, Trouble};

use super::aligning::{Refusal, Task, looked_at, nothing_yet, trained};
use super::desk::{Filling, Prepared};
use super::scope::post;
use align::geometry::Dense;
use analysis::prepare;
use schema::{Event, Slot, as_bulk, from_bulk};

/// Something that was given, before it lies on the desk.
pub(super) struct Given {
    pub(super) slot: Slot,
    /// Rows of a table, or bytes of a model.
    pub(super) count: u32,
    /// What the codes of labels stand for.
    pub(super) names: Vec<String>,
    pub(super) values: Vec<f32>,
    /// What 32 bits leave over of some columns of a table.
    pub(super) remainders: Vec<Remainder>,
}

impl Task<'_> {
    /// Puts on the desk what was given.
    pub(super) fn give(&self, given: Given) -> Result<(), Refusal> {
        let slot = given.slot;
        let mut digest = Sha256::new();
        digest.update(bytemuck::cast_slice(&given.values));
        let count = given.count as usize;
        let cols = given.values.len() / count.max(1);
        let input = Input {
            name: format!("{slot:?}"),
            used_as: slot.words(),
            bytes: 4 * given.values.len() as u64,
            sha256: digest.finish(),
            rows: count as u64,
            cols: cols as u64,
            choices: serde_json::Value::Null,
            found: serde_json::Value::Null,
        };
        if matches!(slot, Slot::Features(_) | Slot::New(_)) {
            self.desk.borrow().room().preparing(count, cols, &[])?;
        }
        let filling = filling(given, count, cols)?;
        self.desk.borrow_mut().put(slot, filling, input);
        Ok(())
    }

    /// Hands over what is on show.
    pub(super) fn take(&self) -> Result<(), Refusal> {
        let desk = self.desk.borrow();
        let (subject, looked) = looked_at(&desk).ok_or_else(nothing_yet)?;
        let [x, y] = match &looked.coupling.embedded {
            Some(both) => both.each_ref(),
            None => subject.sides.points(),
        };
        let readout = &looked.readout;
        let partners = &readout.partners[0];
        let top = (0..x.rows()).map(|row| partners.get(row).0.len()).max().unwrap_or(0);
        let (mut others, mut shares) = (vec![-1.0; x.rows() * top], vec![0.0; x.rows() * top]);
        for row in 0..x.rows() {
            let (own, masses) = partners.get(row);
            let whole = readout.sums[0][row].max(f64::MIN_POSITIVE);
            for (at, (other, mass)) in own.iter().zip(masses).enumerate() {
                others[row * top + at] = *other as f32;
                shares[row * top + at] = (f64::from(*mass) / whole) as f32;
            }
        }
        let model = match &desk.applied {
            Some(applied) => Some(applied.model.save()?),
            None => trained(&desk).map(|model| model.save()).transpose()?,
        };
        let model = model.unwrap_or_default();
        let event = Event::Taken { dim: y.cols() as u32, top: top as u32, model: model.len() as u32 };
        let copied = |points: &Dense| points.data().to_vec();
        let bulk = vec![copied(x), copied(y), copied(&readout.projected), others, shares, as_bulk(&model)];
        post(self.run, event, bulk);
        Ok(())
    }
}

/// What a slot is filled with. The API has looked at the shapes; only a mixed-up deployment gives other ones.
fn filling(given: Given, count: usize, cols: usize) -> Result<Filling, Trouble> {
    let Given { slot, names, values, remainders, .. } = given;
    let filling = match slot {
        Slot::Features(_) | Slot::New(_)
            if count * cols == values.len()
                && cols > 0
                && remainders.iter().all(|left| left.column < cols && left.values.len() == count) =>
        {
            let table = Table { rows: count, cols, values, remainders, ..Table::default() };
            let (chain, points) = prepare::begin(&table);
            Filling::Table(Prepared { table, chain, points, missing: MissingChoice::Keep })
        }
        Slot::Labels(_) | Slot::NewLabels(_) => {
            let code = |code: &f32| if *code < 0.0 { Labels::MISSING } else { *code as u32 };
            let codes = values.iter().map(code).collect();
            let labels = vec![Labels { name: "label".to_owned(), names, codes }];
            Filling::Labels(Listed { labels, ids: None })
        }
        Slot::Truth | Slot::NewTruth => {
            Filling::Pairs(values.chunks_exact(2).map(|pair| (pair[0] as usize, pair[1] as usize)).collect())
        }
        Slot::Model => Filling::Model(Box::new(Model::load(&from_bulk(&values, count))?)),
        _ => {
            let what = format!("What was given for {slot:?} cannot be used.");
            return Err(Trouble::new(Kind::Mismatch, what, "Load the newest version of the page."));
        }
    };
    Ok(filling)
}
