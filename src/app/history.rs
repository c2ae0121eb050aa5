//! What the training of the networks said, step by step, in the shape that charts draw. Tested natively.

/// The networks that are trained together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The name of each.
    pub fits: Vec<String>,
    /// One list a fit.
    pub losses: Vec<Vec<f32>>,
    pub marginals: Vec<Vec<f32>>,
    pub entropies: Vec<Vec<f32>>,
    pub eps: Vec<f32>,
}

/// All groups of a run, in the order in which they were trained.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub groups: Vec<Group>,
    /// The steps of the longest training.
    pub steps: u32,
}

impl History {
    /// Adds what came. Parts of `bulk` hold step by step and within a step fit by fit; the last is ε.
    pub fn add(&mut self, fits: Vec<String>, first: u32, steps: u32, bulk: Vec<Vec<f32>>) {
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

    pub fn done(&self) -> usize {
        self.groups.last().and_then(|group| group.losses.first()).map_or(0, Vec::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn values_are_sorted_by_fit_and_repeated_steps_replace() {
        let mut history = History::default();
        let part = vec![1.0, 10.0, 2.0, 20.0];
        history.add(names(&["a", "b"]), 0, 8, vec![part.clone(), part.clone(), part, vec![0.5, 0.4]]);
        history.add(names(&["a", "b"]), 1, 8, vec![vec![3.0, 30.0], vec![], vec![], vec![0.3]]);
        assert_eq!(history.groups.len(), 1);
        assert_eq!(history.groups[0].losses, [[1.0, 3.0], [10.0, 30.0]]);
        assert_eq!(history.groups[0].eps, [0.5, 0.3]);
        assert_eq!((history.done(), history.steps), (2, 8));
    }

    #[test]
    fn other_fits_are_another_group_and_missing_parts_are_empty() {
        let mut history = History::default();
        history.add(names(&["a"]), 0, 4, vec![vec![1.0]]);
        history.add(names(&["b"]), 0, 9, vec![]);
        assert_eq!(history.groups.len(), 2);
        assert!(history.groups[1].losses[0].is_empty());
        assert_eq!(history.steps, 9);
    }
}
