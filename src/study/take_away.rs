//! What a person takes away: matches, plans, embeddings, models and the record of the run, as files.

use formats::Trouble;
use formats::write::csv::{self, Cell};
use formats::write::model::Model;
use formats::write::record::Record;
use formats::write::zip::Zip;
use formats::write::{npy, onnx};

use super::readme::readme;
use super::rows::Rows;
use super::subject::{Looked, Subject, VOTES};
use crate::geometry::Dense;
use crate::metrics::report::predicted;
use crate::protocol::{Export, Side};

/// A plan with more entries than this is not written densely into the archive.
const DENSE: usize = 25_000_000;

/// Everything files are made from.
pub struct Goods<'a> {
    pub subject: &'a Subject,
    pub looked: &'a Looked,
    pub model: Option<&'a Model>,
    pub record: &'a Record,
}

/// A file by its name and its bytes.
pub fn file(what: Export, goods: &Goods<'_>) -> Result<(String, Vec<u8>), Trouble> {
    let name = name(what).to_owned();
    let bytes = match what {
        Export::Matches => matches(goods),
        Export::PlanTop => plan_top(goods),
        Export::PlanDense => whole_plan(goods.looked)?,
        Export::Embeddings(side) => dense(embedded(goods, side)?)?,
        Export::Projection => dense(&goods.looked.readout.projected)?,
        Export::Model => model(goods)?.save()?,
        Export::Onnx(side) => onnx::encoder(model(goods)?, side.index())?,
        Export::Record => goods.record.write()?,
        Export::Everything => everything(goods)?,
    };
    Ok((name, bytes))
}

fn name(what: Export) -> &'static str {
    match what {
        Export::Matches => "matches.csv",
        Export::PlanTop => "plan.csv",
        Export::PlanDense => "plan.npy",
        Export::Embeddings(Side::X) => "embedding_x.npy",
        Export::Embeddings(Side::Y) => "embedding_y.npy",
        Export::Projection => "projection_x.npy",
        Export::Model => "model.safetensors",
        Export::Onnx(Side::X) => "encoder_x.onnx",
        Export::Onnx(Side::Y) => "encoder_y.onnx",
        Export::Record => "run.json",
        Export::Everything => "concord.zip",
    }
}

fn without_encoders() -> Trouble {
    Trouble::new(
        formats::Kind::Mismatch,
        "This alignment was made without encoders, so there is no model and no embedding to save.",
        "Save the matches or the plan, or align with networks or linear maps.",
    )
}

fn model<'a>(goods: &Goods<'a>) -> Result<&'a Model, Trouble> {
    goods.model.ok_or_else(without_encoders)
}

fn embedded<'a>(goods: &Goods<'a>, side: Side) -> Result<&'a Dense, Trouble> {
    goods.looked.coupling.embedded.as_ref().map(|both| &both[side.index()]).ok_or_else(without_encoders)
}

/// Every entry of the plan, where it is not too large for a file to be of use.
fn whole_plan(looked: &Looked) -> Result<Vec<u8>, Trouble> {
    let plan = &looked.coupling.plan;
    let (n, m) = (plan.rows(), plan.cols());
    if n * m > DENSE {
        return Err(Trouble::new(
            formats::Kind::TooLarge,
            format!("The whole plan between {n} and {m} points would be {:.1} GB.", (4 * n * m) as f64 / 1e9),
            "Save the strongest entries of each row instead, or the matches.",
        ));
    }
    dense(&plan.whole())
}

fn dense(values: &Dense) -> Result<Vec<u8>, Trouble> {
    npy::matrix(values.rows(), values.cols(), values.data())
}

/// A text where there is one.
fn text(text: &str) -> Cell<'_> {
    if text.is_empty() { Cell::Missing } else { Cell::Text(text) }
}

fn matches(goods: &Goods<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let (Subject { rows: [x, y], .. }, Looked { readout, .. }) = (goods.subject, goods.looked);
    let partners = &readout.partners[0];
    let labels = [x, y].map(|rows| rows.labels.is_some());
    let predicted = y.labels.as_ref().map(|labels| predicted(partners, &labels.codes, VOTES));
    // Rows come first, and what is not always there last.
    let mut head = vec!["x_row", "x_id", "y_row", "y_id", "confidence", "second_y_row", "second_y_id"];
    for (there, name) in [(labels[0], "label_x"), (labels[1], "label_y"), (labels[1], "predicted_label_x")] {
        head.extend(there.then_some(name));
    }
    csv::row(&mut out, head.into_iter().map(Cell::Text));
    let confidence = readout.confidence(0);
    for (i, first) in partners.first().into_iter().enumerate() {
        let second = partners.second(i).unwrap_or(first);
        let mut cells = vec![
            Cell::Whole(i as u64),
            text(x.id(i)),
            Cell::Whole(first as u64),
            text(y.id(first)),
            Cell::Number(confidence[i]),
            Cell::Whole(second as u64),
            text(y.id(second)),
        ];
        cells.extend(labels[0].then(|| text(x.label(i))));
        cells.extend(labels[1].then(|| text(y.label(first))));
        cells.extend(predicted.as_ref().map(|codes| {
            let names = y.labels.as_ref().map(|labels| labels.names.as_slice()).unwrap_or_default();
            codes[i].and_then(|code| names.get(code as usize)).map_or(Cell::Missing, |name| text(name))
        }));
        csv::row(&mut out, cells);
    }
    out
}

/// The strongest entries of every row of the plan.
fn plan_top(goods: &Goods<'_>) -> Vec<u8> {
    let partners = &goods.looked.readout.partners[0];
    let [x, y] = &goods.subject.rows;
    let ids = [x, y].map(|rows| rows.ids.is_some());
    let mut out = Vec::new();
    let mut head = vec!["x_row", "y_row", "mass"];
    head.extend(ids[0].then_some("x_id"));
    head.extend(ids[1].then_some("y_id"));
    csv::row(&mut out, head.into_iter().map(Cell::Text));
    for i in 0..goods.looked.coupling.plan.rows() {
        let (others, masses) = partners.get(i);
        for (j, mass) in others.iter().zip(masses) {
            let numbers = [Cell::Whole(i as u64), Cell::Whole(u64::from(*j)), Cell::Number(*mass)];
            let names = [ids[0].then(|| text(x.id(i))), ids[1].then(|| text(y.id(*j as usize)))];
            csv::row(&mut out, numbers.into_iter().chain(names.into_iter().flatten()));
        }
    }
    out
}

/// An embedding as a text with the ids of its rows, or with their numbers.
fn embedding_table(points: &Dense, rows: &Rows) -> Vec<u8> {
    let mut out = Vec::new();
    let names: Vec<String> = (0..points.cols()).map(|j| format!("e{j}")).collect();
    let head = if rows.ids.is_some() { "id" } else { "row" };
    csv::row(&mut out, std::iter::once(head).chain(names.iter().map(String::as_str)).map(Cell::Text));
    for i in 0..points.rows() {
        let id = if rows.ids.is_some() { text(rows.id(i)) } else { Cell::Whole(i as u64) };
        csv::row(&mut out, std::iter::once(id).chain(points.row(i).iter().copied().map(Cell::Number)));
    }
    out
}

fn everything(goods: &Goods<'_>) -> Result<Vec<u8>, Trouble> {
    let mut zip = Zip::new();
    let mut parts = vec![Export::Matches, Export::PlanTop, Export::Projection, Export::Record];
    let (Subject { rows, .. }, Looked { coupling, readout, .. }) = (goods.subject, goods.looked);
    if coupling.plan.rows() * coupling.plan.cols() <= DENSE {
        parts.push(Export::PlanDense);
    }
    if goods.model.is_some() {
        parts.extend([Export::Model, Export::Onnx(Side::X), Export::Onnx(Side::Y)]);
    }
    if let Some(both) = &coupling.embedded {
        parts.extend([Export::Embeddings(Side::X), Export::Embeddings(Side::Y)]);
        for (side, points) in Side::BOTH.into_iter().zip(both) {
            let table = embedding_table(points, &rows[side.index()]);
            zip.add(&format!("embedding_{}.csv", side.letter()), &table)?;
        }
    }
    zip.add("projection_x.csv", &embedding_table(&readout.projected, &rows[0]))?;
    let mut held = vec!["projection_x.csv"];
    if coupling.embedded.is_some() {
        held.extend(["embedding_x.csv", "embedding_y.csv"]);
    }
    for part in parts {
        let (name, bytes) = file(part, goods)?;
        zip.add(&name, &bytes)?;
        held.push(self::name(part));
    }
    zip.add("README.txt", readme(&held).as_bytes())?;
    zip.finish()
}
