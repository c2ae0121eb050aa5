//! What the training of the networks said, step by step, in the shape that charts draw.

/// The networks that are trained together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Group {
    /// The name of each.
    pub(crate) fits: Vec<String>,
    /// One list a fit.
    pub(crate) losses: Vec<Vec<f32>>,
    pub(crate) marginals: Vec<Vec<f32>>,
    pub(crate) entropies: Vec<Vec<f32>>,
    pub(crate) eps: Vec<f32>,
}

/// All groups of a run, in the order in which they were trained.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct History {
    pub(crate) groups: Vec<Group>,
    /// The steps of the longest training.
    pub(crate) steps: u32,
}

impl History {
    /// Adds what came. Parts of `bulk` hold step by step and within a step fit by fit; the last is ε.
    pub(crate) fn add(&mut self, fits: Vec<String>, first: u32, steps: u32, bulk: Vec<Vec<f32>>) {
        self.steps = self.steps.max(steps);
        let count = fits.len().max(1);
        let at = self.groups.iter().position(|group| group.fits == fits).unwrap_or_else(|| {
            let empty = vec![Vec::new(); count];
            self.groups.push(Group {
                fits,
                losses: empty.clone(),
                marginals: empty.clone(),
                entropies: empty,
                eps: Vec::new(),
            });
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        let mut parts = bulk.into_iter();
        for lines in [&mut group.losses, &mut group.marginals, &mut group.entropies] {
            let part = parts.next().unwrap_or_default();
            for (fit, line) in lines.iter_mut().enumerate() {
                line.truncate(first as usize);
                line.extend(part.iter().skip(fit).step_by(count));
            }
        }
        group.eps.truncate(first as usize);
        group.eps.extend(parts.next().unwrap_or_default());
    }

    pub(crate) fn done(&self) -> usize {
        self.groups.last().and_then(|group| group.losses.first()).map_or(0, Vec::len)
    }
}
