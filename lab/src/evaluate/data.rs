//! A data set whose truth is known: `x.npy` and `y.npy` with either `labels.txt`, when their rows correspond, or
//! `pairs.csv`, `labels_x.csv` and `labels_y.csv`.

use std::path::Path;

use concord::geometry::Dense;
use concord::procedure::Sides;
use concord::rng::Rng;

use crate::npy;

pub struct Data {
    x: Dense,
    y: Dense,
    labels: [Vec<u32>; 2],
    /// The true pairs of rows.
    pairs: Vec<(usize, usize)>,
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
        let (x, y) = (npy::read(&folder.join("x.npy"))?, npy::read(&folder.join("y.npy"))?);
        let text = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let (words, pairs) = if folder.join("pairs.csv").is_file() {
            let cells = |line: &str| -> Option<(usize, usize)> {
                let (i, j) = line.split_once(',')?;
                Some((i.trim().parse().ok()?, j.trim().parse().ok()?))
            };
            let pairs: Vec<_> = text("pairs.csv")?.lines().filter_map(cells).collect();
            ([category(&text("labels_x.csv")?), category(&text("labels_y.csv")?)], pairs)
        } else {
            let words: Vec<String> = text("labels.txt")?
                .lines()
                .map(|line| line.trim().to_owned())
                .filter(|line| !line.is_empty())
                .collect();
            ([words.clone(), words], (0..x.rows()).map(|i| (i, i)).collect())
        };
        let mut kinds: Vec<&String> = words.iter().flatten().collect();
        kinds.sort_unstable();
        kinds.dedup();
        let number = |word: &String| kinds.binary_search(&word).unwrap_or(0) as u32;
        let labels = words.each_ref().map(|words| words.iter().map(number).collect::<Vec<u32>>());
        let fits = labels[0].len() == x.rows() && labels[1].len() == y.rows();
        if !fits || pairs.is_empty() || pairs.iter().any(|(i, j)| *i >= x.rows() || *j >= y.rows()) {
            return Err(format!(
                "{}: {} and {} rows, {} and {} labels, {} pairs; there has to be a label for every row and a row for every pair",
                folder.display(),
                x.rows(),
                y.rows(),
                labels[0].len(),
                labels[1].len(),
                pairs.len()
            ));
        }
        Ok(Self { x, y, labels, pairs })
    }

    /// At most `most` rows a side, both in orders of their own, so that nothing can be learned from the order.
    pub fn case(&self, seed: u64, most: usize) -> Result<Case, String> {
        let mut rng = Rng::new(seed ^ 0x0065_7661_6c75);
        // Pairs first, so that a part of the rows keeps as many as it can; then rows without one.
        let count = self.pairs.len();
        let order = rng.sample(count, count);
        let rows = |all: usize, of: fn(&(usize, usize)) -> usize| -> Vec<usize> {
            let paired = order.iter().map(|&p| of(&self.pairs[p]));
            let mut seen = vec![false; all];
            let mut rows: Vec<usize> =
                paired.chain(0..all).filter(|&i| !std::mem::replace(&mut seen[i], true)).collect();
            rows.truncate(most);
            rows
        };
        let shuffled = |rows: Vec<usize>, rng: &mut Rng| -> Vec<usize> {
            rng.sample(rows.len(), rows.len()).into_iter().map(|i| rows[i]).collect()
        };
        let (ix, iy) = (rows(self.x.rows(), |p| p.0), rows(self.y.rows(), |p| p.1));
        let (ix, iy) = (shuffled(ix, &mut rng), shuffled(iy, &mut rng));
        let place = |rows: &[usize], all: usize| {
            let mut place = vec![None; all];
            rows.iter().enumerate().for_each(|(at, &i)| place[i] = Some(at));
            place
        };
        let (px, py) = (place(&ix, self.x.rows()), place(&iy, self.y.rows()));
        let pairs = self.pairs.iter().filter_map(|&(i, j)| px[i].zip(py[j])).collect();
        let sides = Sides::new(self.x.picked(&ix), self.y.picked(&iy)).map_err(|e| e.to_string())?;
        let labels = [(&self.labels[0], ix), (&self.labels[1], iy)]
            .map(|(labels, rows)| rows.iter().map(|&i| labels[i]).collect());
        Ok(Case { sides, pairs, labels })
    }
}

/// The column of a table that names kinds: the one with the fewest different values.
fn category(text: &str) -> Vec<String> {
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let columns = rows.first().map_or(0, Vec::len);
    let column =
        |c: usize| -> Vec<String> { rows.iter().map(|r| r.get(c).unwrap_or(&"").to_string()).collect() };
    let kinds = |c: usize| column(c).into_iter().collect::<std::collections::BTreeSet<String>>().len();
    (0..columns).min_by_key(|&c| kinds(c)).map(column).unwrap_or_default()
}
