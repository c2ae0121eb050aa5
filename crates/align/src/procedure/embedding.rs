//! Encoders applied to any number of points, some thousands at a time.

use super::control::{Control, Failure, Progress};
use crate::geometry::Dense;
use crate::solver::infer::{Embedding, Encoders};
use compute::exec::{Device, Executor};

/// Points that are embedded together: what the layers hold of them has to fit, and a cancel is to be felt.
const TOGETHER: usize = 4096;

/// Where the encoder of a side puts its points.
pub(super) async fn embed(
    device: &Device,
    encoders: &Encoders,
    side: usize,
    points: &Dense,
    control: &mut impl Control,
) -> Result<Dense, Failure> {
    if encoders.keeps(side) {
        return Ok(points.clone());
    }
    let rows = TOGETHER.min(points.rows());
    let embedding = Embedding::record(encoders, side, rows as u32);
    let (inputs, outputs) = (points.cols(), embedding.embedded.cols as usize);
    let mut executor = device.prepare(embedding.plan).await?;
    let mut embedded = Vec::with_capacity(points.rows() * outputs);
    let of = points.rows().div_ceil(rows.max(1)) as u32;
    for (done, part) in points.data().chunks(rows * inputs).enumerate() {
        // The last ones may be fewer; what stands behind them is not read.
        let mut whole = part.to_vec();
        whole.resize(rows * inputs, 0.0);
        executor.write(embedding.points.buf, &whole)?;
        executor.submit(embedding.pass, 1)?;
        let values = executor.read(embedding.embedded.buf).await?;
        embedded.extend_from_slice(&values[..part.len() / inputs * outputs]);
        control.checkpoint(Progress { phase: "embedding", done: done as u32 + 1, of }).await?;
    }
    Ok(Dense::new(points.rows(), outputs, embedded))
}
