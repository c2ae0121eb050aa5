//! What a person takes away: matches, plans, embeddings, models and the record of the run, as files.

use formats::write::csv::{self, Cell};
use formats::write::model::Model;
use formats::write::record::Record;
use formats::write::zip::Zip;
use formats::write::{npy, onnx};
use formats::{Trouble, Watch};

use super::readme::readme;
use super::rows::Rows;
use super::subject::{Looked, Subject, VOTES};
use align::geometry::Dense;
use align::metrics::report::predicted;
use schema::{Export, Side};

/// A plan with more entries than this is not written densely into the archive.
const DENSE: u64 = 25_000_000;

/// Cells of a table, or entries of a plan, that are written between two looks at who is watching.
const PATIENCE: usize = 1 << 17;

/// Everything files are made from.
pub struct Goods<'a> {
    pub subject: &'a Subject,
    pub looked: &'a Looked,
    pub model: Option<&'a Model>,
    pub record: &'a Record,
}

/// A file by its name and its bytes.
pub async fn file(
    what: Export,
    goods: &Goods<'_>,
    watch: &mut impl Watch,
) -> Result<(String, Vec<u8>), Trouble> {
    let bytes = match single(what, goods, watch).await? {
        Some(bytes) => bytes,
        None => everything(goods, watch).await?,
    };
    Ok((name(what).to_owned(), bytes))
}

/// The bytes of one file; none for that which holds all others.
async fn single(what: Export, goods: &Goods<'_>, watch: &mut impl Watch) -> Result<Option<Vec<u8>>, Trouble> {
    Ok(Some(match what {
        Export::Matches => matches(goods, Side::X, watch).await?,
        Export::PlanTop => plan_top(goods, watch).await?,
        Export::PlanDense => whole_plan(goods.looked, watch).await?,
        Export::Embeddings(side) => dense(embedded(goods, side)?)?,
        Export::Projection => dense(&goods.looked.readout.projected)?,
        Export::Model => model(goods)?.save()?,
        Export::Onnx(side) => onnx::encoder(model(goods)?, side.index())?,
        Export::Record => goods.record.write()?,
        Export::Everything => return Ok(None),
    }))
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

/// Entries of a plan, which may be more than a tab can count in its own numbers.
fn entries([n, m]: [u32; 2]) -> u64 {
    u64::from(n) * u64::from(m)
}

/// Refuses a plan of so many rows and columns that no file of it would be of use.
fn writable([n, m]: [u32; 2]) -> Result<(), Trouble> {
    let entries = entries([n, m]);
    if entries <= DENSE {
        return Ok(());
    }
    Err(Trouble::new(
        formats::Kind::TooLarge,
        format!("The whole plan between {n} and {m} points would be {:.1} GB.", 4e-9 * entries as f64),
        "Save the strongest entries of each row instead, or the matches.",
    ))
}

/// Rows and columns of a plan.
fn size(looked: &Looked) -> [u32; 2] {
    let plan = &looked.coupling.plan;
    [plan.rows(), plan.cols()].map(|count| count as u32)
}

/// Every entry of the plan, where it is not too large for a file to be of use.
async fn whole_plan(looked: &Looked, watch: &mut impl Watch) -> Result<Vec<u8>, Trouble> {
    writable(size(looked))?;
    let plan = &looked.coupling.plan;
    let [rows, cols] = size(looked).map(|count| (0..count).collect::<Vec<u32>>());
    let mut values = Vec::with_capacity(rows.len() * cols.len());
    for some in rows.chunks((plan.between_looks() / cols.len().max(1)).max(1)) {
        values.extend_from_slice(plan.part(some, &cols).data());
        watch.passed(values.len() as u64, entries(size(looked))).await?;
    }
    npy::matrix(rows.len(), cols.len(), &values)
}

fn dense(values: &Dense) -> Result<Vec<u8>, Trouble> {
    npy::matrix(values.rows(), values.cols(), values.data())
}

/// A text where there is one.
fn text(text: &str) -> Cell<'_> {
    if text.is_empty() { Cell::Missing } else { Cell::Text(text) }
}

/// The strongest partner of every row of a side. Columns are named by the sides that they are of.
async fn matches(goods: &Goods<'_>, side: Side, watch: &mut impl Watch) -> Result<Vec<u8>, Trouble> {
    let (own, other) = (side.index(), 1 - side.index());
    let [x, y] = [own, other].map(|at| &goods.subject.rows[at]);
    let Looked { readout, coupling, .. } = goods.looked;
    let retained = coupling.retained.as_ref().map(|both| &both[own]);
    let partners = &readout.partners[own];
    let labels = [x, y].map(|rows| rows.labels.is_some());
    let predicted = y.labels.as_ref().map(|labels| predicted(partners, &labels.codes, VOTES));
    // Rows come first, and what came later last, so that the place of a column stays.
    let [a, b] = [own, other].map(|at| Side::BOTH[at].letter());
    let mut head = vec![format!("{a}_row"), format!("{a}_id"), format!("{b}_row"), format!("{b}_id")];
    head.extend(["confidence".to_owned(), format!("second_{b}_row"), format!("second_{b}_id")]);
    let of_labels = [format!("label_{a}"), format!("label_{b}"), format!("predicted_label_{a}")];
    head.extend(
        of_labels.into_iter().zip([labels[0], labels[1], labels[1]]).filter_map(|(n, is)| is.then_some(n)),
    );
    if retained.is_some() {
        head.extend(["retained_mass", "no_partner"].map(str::to_owned));
    }
    head.push("share".to_owned());
    let mut out = Vec::new();
    csv::row(&mut out, head.iter().map(|name| Cell::Text(name)));
    let (confidence, share) = (goods.looked.confidence(own), goods.looked.share(own));
    for (i, first) in partners.first().into_iter().enumerate() {
        let second = partners.second(i).unwrap_or(first);
        let mut cells = vec![
            Cell::Whole(i as u64),
            text(x.id(i)),
            Cell::Whole(first as u64),
            text(y.id(first)),
            confidence.get(i).map_or(Cell::Missing, |sure| Cell::Number(*sure)),
            Cell::Whole(second as u64),
            text(y.id(second)),
        ];
        cells.extend(labels[0].then(|| text(x.label(i))));
        cells.extend(labels[1].then(|| text(y.label(first))));
        cells.extend(predicted.as_ref().map(|codes| {
            let names = y.labels.as_ref().map(|labels| labels.names.as_slice()).unwrap_or_default();
            codes[i].and_then(|code| names.get(code as usize)).map_or(Cell::Missing, |name| text(name))
        }));
        if let Some(retained) = retained {
            cells.extend([Cell::Number(retained.mass[i]), Cell::Whole(retained.alone(i).into())]);
        }
        cells.push(Cell::Number(share[i]));
        let every = PATIENCE / cells.len();
        csv::row(&mut out, cells);
        if (i + 1) % every == 0 {
            watch.passed(i as u64 + 1, share.len() as u64).await?;
        }
    }
    Ok(out)
}

/// The strongest entries of every row of the plan.
async fn plan_top(goods: &Goods<'_>, watch: &mut impl Watch) -> Result<Vec<u8>, Trouble> {
    let partners = &goods.looked.readout.partners[0];
    let [x, y] = &goods.subject.rows;
    let ids = [x, y].map(|rows| rows.ids.is_some());
    let mut out = Vec::new();
    let mut head = vec!["x_row", "y_row", "mass"];
    head.extend(ids[0].then_some("x_id"));
    head.extend(ids[1].then_some("y_id"));
    csv::row(&mut out, head.into_iter().map(Cell::Text));
    let rows = goods.looked.coupling.plan.rows();
    let mut written = 0;
    for i in 0..rows {
        let (others, masses) = partners.get(i);
        written += 5 * others.len();
        if written >= PATIENCE {
            written = 0;
            watch.passed(i as u64, rows as u64).await?;
        }
        for (j, mass) in others.iter().zip(masses) {
            let numbers = [Cell::Whole(i as u64), Cell::Whole(u64::from(*j)), Cell::Number(*mass)];
            let names = [ids[0].then(|| text(x.id(i))), ids[1].then(|| text(y.id(*j as usize)))];
            csv::row(&mut out, numbers.into_iter().chain(names.into_iter().flatten()));
        }
    }
    Ok(out)
}

/// An embedding as a text with the ids of its rows, or with their numbers.
async fn embedding_table(points: &Dense, rows: &Rows, watch: &mut impl Watch) -> Result<Vec<u8>, Trouble> {
    let mut out = Vec::new();
    let names: Vec<String> = (0..points.cols()).map(|j| format!("e{j}")).collect();
    let head = if rows.ids.is_some() { "id" } else { "row" };
    csv::row(&mut out, std::iter::once(head).chain(names.iter().map(String::as_str)).map(Cell::Text));
    let every = PATIENCE / (points.cols() + 1) + 1;
    for i in 0..points.rows() {
        let id = if rows.ids.is_some() { text(rows.id(i)) } else { Cell::Whole(i as u64) };
        csv::row(&mut out, std::iter::once(id).chain(points.row(i).iter().copied().map(Cell::Number)));
        if (i + 1) % every == 0 {
            watch.passed(i as u64 + 1, points.rows() as u64).await?;
        }
    }
    Ok(out)
}

async fn everything(goods: &Goods<'_>, watch: &mut impl Watch) -> Result<Vec<u8>, Trouble> {
    let mut zip = Zip::new();
    let mut parts = vec![Export::Matches, Export::PlanTop, Export::Projection, Export::Record];
    let (Subject { rows, .. }, Looked { coupling, readout, .. }) = (goods.subject, goods.looked);
    if writable(size(goods.looked)).is_ok() {
        parts.push(Export::PlanDense);
    }
    if goods.model.is_some() {
        parts.extend([Export::Model, Export::Onnx(Side::X), Export::Onnx(Side::Y)]);
    }
    if let Some(both) = &coupling.embedded {
        parts.extend([Export::Embeddings(Side::X), Export::Embeddings(Side::Y)]);
        for (side, points) in Side::BOTH.into_iter().zip(both) {
            let table = embedding_table(points, &rows[side.index()], watch).await?;
            zip.add_watched(&format!("embedding_{}.csv", side.letter()), &table, watch).await?;
        }
    }
    let table = embedding_table(&readout.projected, &rows[0], watch).await?;
    zip.add_watched("projection_x.csv", &table, watch).await?;
    zip.add_watched("matches_y.csv", &matches(goods, Side::Y, watch).await?, watch).await?;
    let mut held = vec!["projection_x.csv", "matches_y.csv"];
    if coupling.embedded.is_some() {
        held.extend(["embedding_x.csv", "embedding_y.csv"]);
    }
    for part in parts {
        if let Some(bytes) = single(part, goods, watch).await? {
            zip.add_watched(name(part), &bytes, watch).await?;
            held.push(name(part));
        }
    }
    zip.add("README.txt", readme(&held).as_bytes())?;
    zip.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products that have no place in 32 bits, some of which come out small there.
    #[test]
    fn plans_too_large_for_a_file_are_refused_with_their_size() {
        for (n, gigabytes) in [(65_536, "17.2"), (65_700, "17.3"), (92_700, "34.4"), (1_000_000, "4000.0")] {
            let words = writable([n, n]).expect_err("far too large").to_string();
            assert!(words.contains(&format!("{gigabytes} GB")), "{words}");
        }
        assert!(writable([5000, 5000]).is_ok() && writable([5000, 5001]).is_err());
    }
}
