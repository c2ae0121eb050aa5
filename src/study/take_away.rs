//! What a person takes away: matches, plans, embeddings, models and the record of the run, as files.

use formats::Trouble;
use formats::write::csv::{self, Cell};
use formats::write::model::Model;
use formats::write::record::Record;
use formats::write::zip::Zip;
use formats::write::{npy, onnx};

use super::rows::Rows;
use super::subject::{Looked, Subject};
use crate::geometry::Dense;
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

fn matches(goods: &Goods<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let head = ["x_row", "x_id", "y_row", "y_id", "confidence", "second_y_row", "second_y_id"];
    csv::row(&mut out, head.map(Cell::Text));
    let (Subject { rows: [x, y], .. }, Looked { readout, .. }) = (goods.subject, goods.looked);
    let confidence = readout.confidence(0);
    for (i, first) in readout.partners[0].first().into_iter().enumerate() {
        let second = readout.partners[0].second(i).unwrap_or(first);
        let (x_id, y_id, second_id) = (x.id(i), y.id(first), y.id(second));
        csv::row(
            &mut out,
            [
                Cell::Whole(i as u64),
                Cell::Text(&x_id),
                Cell::Whole(first as u64),
                Cell::Text(&y_id),
                Cell::Number(confidence[i]),
                Cell::Whole(second as u64),
                Cell::Text(&second_id),
            ],
        );
    }
    out
}

/// The strongest entries of every row of the plan.
fn plan_top(goods: &Goods<'_>) -> Vec<u8> {
    let partners = &goods.looked.readout.partners[0];
    let mut out = Vec::new();
    csv::row(&mut out, ["x_row", "y_row", "mass"].map(Cell::Text));
    for i in 0..goods.looked.coupling.plan.rows() {
        let (others, masses) = partners.get(i);
        for (j, mass) in others.iter().zip(masses) {
            csv::row(&mut out, [Cell::Whole(i as u64), Cell::Whole(u64::from(*j)), Cell::Number(*mass)]);
        }
    }
    out
}

/// An embedding as a text with the ids of its rows.
fn embedding_table(points: &Dense, rows: &Rows) -> Vec<u8> {
    let mut out = Vec::new();
    let names: Vec<String> = (0..points.cols()).map(|j| format!("e{j}")).collect();
    csv::row(&mut out, std::iter::once("id").chain(names.iter().map(String::as_str)).map(Cell::Text));
    for i in 0..points.rows() {
        let id = rows.id(i);
        csv::row(
            &mut out,
            std::iter::once(Cell::Text(&id)).chain(points.row(i).iter().copied().map(Cell::Number)),
        );
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
    for part in parts {
        let (name, bytes) = file(part, goods)?;
        zip.add(&name, &bytes)?;
    }
    zip.finish()
}
