//! Columns of a plan that are left without mass.
//!
//! A point far out is a column that no row reaches: exponents are bounded, so that a step raises its potential by no more
//! than the bound, and it weighs so little that everything else is solved long before. So whoever solves a transport looks
//! for such columns before it is called solved, and gives each the potential that it has to have.

use crate::scale::{Cancelled, Clouds, Relaxation, Watch};

/// What a column receives, of its weight, if no row reaches it: bounded exponents leave about 1e-30.
const NOTHING: f32 = 1e-20;
/// And if it has too little for a transport to be called solved.
const LITTLE: f32 = 0.01;
/// One column in so many is lifted at once, at most: all pairs are not for the host. Costs have a mean of one, so that no
/// more can be beyond reach.
const FEW: usize = 50;

/// What is missing in some columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Starved {
    /// Those that no row reaches, if they are few.
    pub(super) unreached: Vec<u32>,
    /// Whether any has next to nothing.
    pub(super) any: bool,
}

impl Starved {
    /// Among the columns with these sums, which ought to be all the same. None where they need not be: a column whose
    /// weight is relaxed may rightly be left with nothing.
    pub(super) fn among(sums: &[f32], relaxation: Relaxation) -> Self {
        if relaxation.y.is_some() {
            return Self { unreached: Vec::new(), any: false };
        }
        let weight = 1.0 / sums.len() as f32;
        let below = |share: f32| (0..sums.len() as u32).filter(move |&j| sums[j as usize] < share * weight);
        let unreached: Vec<u32> = below(NOTHING).collect();
        let few = unreached.len() <= sums.len().div_ceil(FEW);
        Self { any: below(LITTLE).next().is_some(), unreached: if few { unreached } else { Vec::new() } }
    }

    /// The potentials with which the columns that no row reaches have their weight, given those of the rows.
    pub(super) async fn lifted(
        &self,
        clouds: &Clouds,
        eps: f32,
        f: &[f32],
        watch: &mut impl Watch,
    ) -> Result<Vec<(usize, f32)>, Cancelled> {
        let updates = clouds.update(1, &self.unreached, eps, f, watch).await?;
        Ok(self.unreached.iter().zip(updates).map(|(&j, update)| (j as usize, update.potential)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_without_mass_are_found() {
        let mut sums = vec![0.01; 100];
        assert_eq!(Starved::among(&sums, Relaxation::STRICT), Starved { unreached: Vec::new(), any: false });
        sums[7] = 5e-5;
        assert_eq!(Starved::among(&sums, Relaxation::STRICT), Starved { unreached: Vec::new(), any: true });
        sums[9] = 1e-31;
        assert_eq!(Starved::among(&sums, Relaxation::STRICT), Starved { unreached: vec![9], any: true });
        sums[20..40].fill(0.0);
        assert_eq!(
            Starved::among(&sums, Relaxation::STRICT),
            Starved { unreached: Vec::new(), any: true },
            "too many to lift"
        );
        let relaxed = Relaxation { x: None, y: Some(0.5) };
        assert!(!Starved::among(&sums, relaxed).any, "nobody is owed anything");
    }
}
