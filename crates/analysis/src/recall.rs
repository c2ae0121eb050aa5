//! Encoders that were trained before, applied to the data they were trained on: an alignment without the training.

use formats::write::model::Model;

use super::model::{embed_raw, embedded, relaxed};
use super::options::{saved, settings};
use super::outcome::Study;
use super::prepare::Raw;
use super::rows::Rows;
use super::subject::Subject;
use align::geometry::Dense;
use align::procedure::{self, Control, Coupling, Failure, Sides, Watching};
use compute::exec::Device;

/// Encoders of another run, and where they put the points of both sides.
pub struct Saved {
    pub model: Model,
    embedded: [Dense; 2],
}

/// What is aligned: the sides, what is known about their rows, and the tables as they were before any preparation,
/// which is part of the model.
pub struct Data {
    pub sides: Sides,
    pub rows: [Rows; 2],
    pub truth: Vec<(usize, usize)>,
    pub tables: [Raw; 2],
}

/// The study that a model makes of the data, with the settings it was trained with.
pub async fn recall(
    device: &Device,
    data: Data,
    model: Model,
    control: &mut impl Control,
) -> Result<Study, Failure> {
    let options = serde_json::from_str(&model.about.settings)
        .and_then(|own| saved(&own))
        .map_err(|error| Failure::Input(format!("The settings of the model cannot be used: {error}.")))?;
    let settings = settings(&options).map_err(Failure::Input)?;
    let Data { sides, rows, truth, tables } = data;
    let encoders = embedded(&model).map_err(Failure::Input)?;
    let watch = &mut Watching::new(control, "embedding");
    let [x, y] = tables;
    let points = [embed_raw(&model, 0, x, watch).await?, embed_raw(&model, 1, y, watch).await?];
    let [x, y] = &points;
    let relaxation = relaxed(&model, &settings);
    let coupling = procedure::matched(device, &encoders, [x, y], &settings, relaxation, control).await?;
    let alignment = procedure::recalled(&sides, &settings, encoders, &coupling, control).await?;
    let trained = Some(Saved { model, embedded: points });
    let subject = Subject { sides, rows, truth, settings };
    let looked = subject.look(coupling, control).await?;
    Ok(Study {
        subject,
        looked,
        options,
        alignment,
        shown: 0,
        chance: None,
        fits: None,
        saved: trained,
        train_s: None,
        infer_s: 0.0,
    })
}

impl Study {
    /// The plan of one of its candidates between all points, with the confidence that fresh fits give its matches, where
    /// there are some. They need not be of the candidate's kind: what is asked is whether they agree.
    pub async fn couple(
        &self,
        device: &Device,
        candidate: usize,
        control: &mut impl Control,
    ) -> Result<Coupling, Failure> {
        let (candidate, settings) = (&self.alignment.candidates[candidate], &self.subject.settings);
        let mut coupling = match &self.saved {
            Some(Saved { model, embedded: [x, y] }) => {
                let relaxation = relaxed(model, settings);
                procedure::matched(device, &candidate.encoders, [x, y], settings, relaxation, control).await?
            }
            None => procedure::infer(device, &self.subject.sides, candidate, settings, control).await?,
        };
        if let Some(fits) = &self.fits {
            let sides = &self.subject.sides;
            let sure = fits.confidence(device, sides, settings, candidate, &coupling, control).await?;
            coupling.confidence = Some(sure);
        }
        Ok(coupling)
    }
}
