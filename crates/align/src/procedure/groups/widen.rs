//! From a map between the rows that are left to one between all rows that have a partner: the group that was left out is
//! only a first guess at who has none.

use super::rest::Rest;
use crate::geometry::Dense;
use crate::procedure::Settings;
use crate::procedure::control::{Control, Failure};
use crate::procedure::linear::{REFINE_STEPS, encoders, leading, means};
use crate::procedure::partners::partnered;
use crate::procedure::selection::Scorer;
use compute::exec::Device;

/// The map, refined once on those judged rows that keep their mass in a relaxed transport between all of them.
pub(super) async fn widened(
    device: &Device,
    settings: &Settings,
    scorer: &Scorer<'_>,
    (rest, map): (&Rest<'_>, Dense),
    control: &mut impl Control,
) -> Result<Dense, Failure> {
    let dims = rest.dims();
    // A relaxed transport feels where the middle is: it is that of the rows that are left.
    let [x, y] = [0, 1].map(|side| {
        let all = leading(&scorer.prepared()[side], dims[side]);
        let middle = means(&all.picked(&rest.places[side]));
        Dense::from_fn(all.rows(), all.cols(), |i, j| all.at(i, j) - middle[j])
    });
    let places = partnered(device, &encoders(&map), [&x, &y], settings, control).await?;
    let kept =
        Rest::new(device, scorer, places, dims[0].max(dims[1]), "rows that keep their mass".to_owned());
    Ok(kept.refined("last", map, REFINE_STEPS, control).await?.map)
}
