//! What a person takes away: matches, plans, embeddings, models and the record of the run, as files.

use formats::Trouble;
use formats::write::csv::{self, Cell};
use formats::write::model::Model;
use formats::write::record::Record;
use formats::write::zip::Zip;
use formats::write::{npy, onnx};

use super::outcome::two_strongest;
use super::rows::Rows;
use crate::geometry::Dense;
use crate::metrics::plan::barycentric;
use crate::procedure::Coupling;
use crate::protocol::{Export, Side};

/// Partners of a row that are listed in the sparse plan.
const PARTNERS: usize = 10;
/// A plan with more entries than this is not written densely into the archive.
const DENSE: usize = 25_000_000;

/// Everything files are made from.
pub struct Goods<'a> {
    pub coupling: &'a Coupling,
    pub rows: &'a [Rows; 2],
    /// Y's features, where nothing was embedded.
    pub points_y: &'a Dense,
    pub model: Option<&'a Model>,
    pub record: &'a Record,
}

/// A file by its name and its bytes.
pub fn file(what: Export, goods: &Goods<'_>) -> Result<(String, Vec<u8>), Trouble> {
    let name = name(what).to_owned();
    let bytes = match what {
        Export::Matches => matches(goods),
        Export::PlanTop => plan_top(goods),
        Export::PlanDense => dense(&goods.coupling.plan)?,
        Export::Embeddings(side) => dense(embedded(goods, side)?)?,
        Export::Projection => dense(&projection(goods))?,
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
    goods.coupling.embedded.as_ref().map(|both| &both[side.index()]).ok_or_else(without_encoders)
}

/// Where the plan sends X, among the embeddings of Y or, without any, its features.
fn projection(goods: &Goods<'_>) -> Dense {
    let there = goods.coupling.embedded.as_ref().map_or(goods.points_y, |both| &both[1]);
    barycentric(&goods.coupling.plan, there)
}

fn dense(values: &Dense) -> Result<Vec<u8>, Trouble> {
    npy::matrix(values.rows(), values.cols(), values.data())
}

fn matches(goods: &Goods<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let head = ["x_row", "x_id", "y_row", "y_id", "confidence", "second_y_row", "second_y_id"];
    csv::row(&mut out, head.map(Cell::Text));
    let [x, y] = goods.rows;
    for i in 0..goods.coupling.plan.rows() {
        let ([first, second], confidence) = two_strongest(goods.coupling.plan.row(i));
        let (x_id, y_id, second_id) = (x.id(i), y.id(first), y.id(second));
        csv::row(
            &mut out,
            [
                Cell::Whole(i as u64),
                Cell::Text(&x_id),
                Cell::Whole(first as u64),
                Cell::Text(&y_id),
                Cell::Number(confidence),
                Cell::Whole(second as u64),
                Cell::Text(&second_id),
            ],
        );
    }
    out
}

/// The strongest entries of every row of the plan.
fn plan_top(goods: &Goods<'_>) -> Vec<u8> {
    let plan = &goods.coupling.plan;
    let mut out = Vec::new();
    csv::row(&mut out, ["x_row", "y_row", "mass"].map(Cell::Text));
    let mut order: Vec<usize> = (0..plan.cols()).collect();
    for i in 0..plan.rows() {
        let row = plan.row(i);
        let kept = PARTNERS.min(order.len());
        if kept < order.len() {
            order.select_nth_unstable_by(kept, |a, b| row[*b].total_cmp(&row[*a]).then(a.cmp(b)));
        }
        let mut top = order[..kept].to_vec();
        top.sort_by(|a, b| row[*b].total_cmp(&row[*a]).then(a.cmp(b)));
        for j in top {
            csv::row(&mut out, [Cell::Whole(i as u64), Cell::Whole(j as u64), Cell::Number(row[j])]);
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
    if goods.coupling.plan.data().len() <= DENSE {
        parts.push(Export::PlanDense);
    }
    if goods.model.is_some() {
        parts.extend([Export::Model, Export::Onnx(Side::X), Export::Onnx(Side::Y)]);
    }
    if let Some(both) = &goods.coupling.embedded {
        parts.extend([Export::Embeddings(Side::X), Export::Embeddings(Side::Y)]);
        for (side, points) in Side::BOTH.into_iter().zip(both) {
            let table = embedding_table(points, &goods.rows[side.index()]);
            zip.add(&format!("embedding_{}.csv", side.letter()), &table)?;
        }
    }
    zip.add("projection_x.csv", &embedding_table(&projection(goods), &goods.rows[0]))?;
    for part in parts {
        let (name, bytes) = file(part, goods)?;
        zip.add(&name, &bytes)?;
    }
    zip.finish()
}
