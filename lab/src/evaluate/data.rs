//! A data set whose truth is known: `x.npy` and `y.npy` whose rows correspond, and `labels.txt`.

use std::path::Path;

use concord::data::npy;
use concord::geometry::Dense;
use concord::procedure::Sides;
use concord::rng::Rng;

pub struct Data {
    x: Dense,
    y: Dense,
    labels: Vec<u32>,
}

/// What the procedure sees of a data set, and what only the scoring sees.
pub struct Case {
    pub sides: Sides,
    /// The true pairs of rows.
    pub pairs: Vec<(usize, usize)>,
    pub labels: [Vec<u32>; 2],
}

impl Data {
    pub fn read(folder: &Path) -> Result<Self, String> {
        let (x, y) = (side(&folder.join("x.npy"))?, side(&folder.join("y.npy"))?);
        let path = folder.join("labels.txt");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let words: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut kinds: Vec<&str> = words.clone();
        kinds.sort_unstable();
        kinds.dedup();
        let labels: Vec<u32> =
            words.iter().map(|word| kinds.binary_search(word).unwrap_or(0) as u32).collect();
        if x.rows() != y.rows() || labels.len() != x.rows() {
            return Err(format!(
                "{}: {} rows in x.npy, {} in y.npy, {} labels; rows have to correspond",
                folder.display(),
                x.rows(),
                y.rows(),
                labels.len()
            ));
        }
        Ok(Self { x, y, labels })
    }

    /// At most `most` rows, both sides in orders of their own, so that nothing can be learned from the order.
    pub fn case(&self, seed: u64, most: usize) -> Result<Case, String> {
        let mut rng = Rng::new(seed ^ 0x0065_7661_6c75);
        let ix = rng.sample(self.x.rows(), most);
        let order = rng.sample(ix.len(), ix.len());
        let iy: Vec<usize> = order.iter().map(|&i| ix[i]).collect();
        let sides = Sides::new(picked(&self.x, &ix), picked(&self.y, &iy)).map_err(|e| e.to_string())?;
        let labels = [ix, iy].map(|rows| rows.iter().map(|&i| self.labels[i]).collect());
        Ok(Case { sides, pairs: order.into_iter().enumerate().map(|(j, i)| (i, j)).collect(), labels })
    }
}

fn side(path: &Path) -> Result<Dense, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let numbers = npy::read(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Dense::new(numbers.rows, numbers.cols, numbers.values))
}

pub fn picked(side: &Dense, rows: &[usize]) -> Dense {
    Dense::from_fn(rows.len(), side.cols(), |i, j| side.at(rows[i], j))
}
