//! A folder with two data sets, and what is known about their rows. It is read strictly: what does not fit is an error
//! that names the file.
//!
//! | file | content |
//! |---|---|
//! | `x.npy`, `y.npy` | one row a point |
//! | `dist_x.npy`, `dist_y.npy` | distances within each side, beside the points or instead of them |
//! | `truth.txt` | for each row of X its row of Y, or −1 where it has no partner |
//! | `pairs.csv` | pairs of rows; rows that are not in it have no partner |
//! | `labels.txt` | a label a row; the rows of both sides correspond |
//! | `labels_x.csv` or `.txt`, `labels_y.csv` or `.txt` | labels of each side, or of one |

use std::collections::BTreeSet;
use std::path::Path;

use align::geometry::Dense;
use align::metrics::report::UNKNOWN;

use crate::npy;

/// What was read.
pub struct Data {
    pub points: [Dense; 2],
    pub distances: Option<[Dense; 2]>,
    /// The label of every row; [`UNKNOWN`] where it has none. None: nobody has given this side labels.
    pub labels: [Option<Vec<u32>>; 2],
    /// How many different labels there are.
    pub kinds: u32,
    /// The true pairs, no row twice. None: the two sides have no rows in common, and only labels count.
    pub pairs: Option<Vec<(usize, usize)>>,
}

/// The names of a side's files.
const POINTS: [&str; 2] = ["x.npy", "y.npy"];
const DISTANCES: [&str; 2] = ["dist_x.npy", "dist_y.npy"];
const LABELS: [&str; 2] = ["labels_x", "labels_y"];

/// Whether a folder holds two data sets.
pub fn is_set(folder: &Path) -> bool {
    folder.join(POINTS[0]).is_file() || folder.join(DISTANCES[0]).is_file()
}

impl Data {
    pub fn read(folder: &Path) -> Result<Self, String> {
        let wrong = |what: String| format!("{}: {what}", folder.display());
        let has = |name: &str| folder.join(name).is_file();
        let table = |name: &str| if has(name) { npy::read(&folder.join(name)).map(Some) } else { Ok(None) };
        let distances = match [table(DISTANCES[0])?, table(DISTANCES[1])?] {
            [Some(x), Some(y)] => Some([x, y]),
            [None, None] => None,
            _ => return Err(wrong("there is one of dist_x.npy and dist_y.npy; give both or neither".into())),
        };
        let rows = |name: &str| {
            if has(name) { npy::points(&folder.join(name)).map(Some) } else { Ok(None) }
        };
        let points = [0, 1].map(|side| match (rows(POINTS[side])?, &distances) {
            (Some(points), _) => Ok(points),
            // As the page does: a row of distances says where a point is, seen from all others.
            (None, Some(distances)) => Ok(distances[side].clone()),
            (None, None) => Err(wrong(format!("{} is missing, and there are no distances", POINTS[side]))),
        });
        let [x, y] = points;
        let points = [x?, y?];
        for (side, distances) in distances.iter().flatten().enumerate() {
            let (rows, cols, want) = (distances.rows(), distances.cols(), points[side].rows());
            if rows != want || cols != want {
                return Err(wrong(format!(
                    "{} has {rows} rows and {cols} columns; it needs {want} of both",
                    DISTANCES[side]
                )));
            }
        }
        let sizes = points.each_ref().map(Dense::rows);
        let text = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let own = |side: usize| -> Result<Option<Vec<String>>, String> {
            let [csv, txt] = ["csv", "txt"].map(|end| format!("{}.{end}", LABELS[side]));
            let (name, words) = match (has(&csv), has(&txt)) {
                (true, _) => (csv.clone(), category(&text(&csv)?)),
                (false, true) => (txt.clone(), lines(&text(&txt)?, sizes[side])),
                (false, false) => return Ok(None),
            };
            fits(&name, words.len(), sizes[side]).map_err(wrong)?;
            Ok(Some(words))
        };
        let mut words = [own(0)?, own(1)?];
        let common = has("labels.txt").then(|| text("labels.txt")).transpose()?;
        let pairs = if has("truth.txt") {
            Some(truth(&text("truth.txt")?, sizes).map_err(wrong)?)
        } else if has("pairs.csv") {
            Some(pairs(&text("pairs.csv")?, sizes).map_err(wrong)?)
        } else if common.is_some() {
            if sizes[0] != sizes[1] {
                return Err(wrong(format!(
                    "labels.txt says that rows correspond, but there are {} and {} rows; name the partners in truth.txt, or \
                     give labels_x.txt and labels_y.txt",
                    sizes[0], sizes[1]
                )));
            }
            Some((0..sizes[0]).map(|i| (i, i)).collect())
        } else {
            None
        };
        if let Some(common) = common {
            for side in 0..2 {
                if words[side].is_none() && sizes[0] == sizes[1] {
                    let common = lines(&common, sizes[side]);
                    fits("labels.txt", common.len(), sizes[side]).map_err(wrong)?;
                    words[side] = Some(common);
                }
            }
        }
        let pairs = pairs.filter(|pairs| !pairs.is_empty());
        let several = pairs.as_ref().is_some_and(|pairs| !one_to_one(pairs));
        let labelled = words.iter().all(Option::is_some);
        if !labelled && (several || pairs.is_none()) {
            let why = if several { "a row is in several pairs" } else { "no partners are named" };
            return Err(wrong(format!("{why}, and there are no labels on both sides: nothing to score by")));
        }
        let (labels, kinds) = numbered(words);
        // Pairs in which a row comes twice say what kinds belong together, not which rows.
        Ok(Self { points, distances, labels, kinds, pairs: pairs.filter(|_| !several) })
    }

    pub fn sizes(&self) -> [usize; 2] {
        self.points.each_ref().map(Dense::rows)
    }
}

fn fits(name: &str, lines: usize, rows: usize) -> Result<(), String> {
    if lines == rows { Ok(()) } else { Err(format!("{name} has {lines} labels for {rows} rows")) }
}

/// A word a line; an empty line is a row without a label. Empty lines after the last row do not count.
fn lines(text: &str, rows: usize) -> Vec<String> {
    let mut words: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    while words.len() > rows && words.last().is_some_and(String::is_empty) {
        words.pop();
    }
    words
}

/// The column of a table that names kinds: the one with the fewest different values.
fn category(text: &str) -> Vec<String> {
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let columns = rows.first().map_or(0, Vec::len);
    let column = |c: usize| -> Vec<String> {
        rows.iter().map(|r| r.get(c).unwrap_or(&"").trim().to_owned()).collect()
    };
    let kinds = |c: usize| column(c).into_iter().collect::<BTreeSet<String>>().len();
    (0..columns).min_by_key(|&c| kinds(c)).map(column).unwrap_or_default()
}

/// One numbering of both sides' labels, in the order of their names.
fn numbered(words: [Option<Vec<String>>; 2]) -> ([Option<Vec<u32>>; 2], u32) {
    let mut kinds: Vec<String> =
        words.iter().flatten().flatten().filter(|w| !w.is_empty()).cloned().collect();
    kinds.sort_unstable();
    kinds.dedup();
    let number = |word: &String| kinds.binary_search(word).map_or(UNKNOWN, |at| at as u32);
    let labels = words.each_ref().map(|words| words.as_ref().map(|words| words.iter().map(number).collect()));
    (labels, kinds.len() as u32)
}

/// For each row of X its row of Y, or −1.
fn truth(text: &str, [n, m]: [usize; 2]) -> Result<Vec<(usize, usize)>, String> {
    let lines: Vec<&str> = text.split_whitespace().collect();
    if lines.len() != n {
        return Err(format!("truth.txt has {} lines for {n} rows of X", lines.len()));
    }
    let mut pairs = Vec::new();
    for (i, word) in lines.into_iter().enumerate() {
        match word.parse::<i64>() {
            Ok(-1) => {}
            Ok(j) if (0..m as i64).contains(&j) => pairs.push((i, j as usize)),
            _ => {
                return Err(format!(
                    "truth.txt, line {}: '{word}' is neither −1 nor a row of Y (0 to {})",
                    i + 1,
                    m.saturating_sub(1)
                ));
            }
        }
    }
    Ok(pairs)
}

/// Two row numbers a line, below a line of names if there is one.
fn pairs(text: &str, [n, m]: [usize; 2]) -> Result<Vec<(usize, usize)>, String> {
    let mut pairs = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let cells = line.split_once(',').map(|(i, j)| (i.trim().parse(), j.trim().parse()));
        match cells {
            Some((Ok(i), Ok(j))) if i < n && j < m => pairs.push((i, j)),
            Some((Err(_), Err(_))) if at == 0 => {}
            _ => {
                return Err(format!(
                    "pairs.csv, line {}: '{line}' is not a row of X (0 to {}) and a row of Y (0 to {})",
                    at + 1,
                    n.saturating_sub(1),
                    m.saturating_sub(1)
                ));
            }
        }
    }
    Ok(pairs)
}

fn one_to_one(pairs: &[(usize, usize)]) -> bool {
    let different = |of: fn(&(usize, usize)) -> usize| pairs.iter().map(of).collect::<BTreeSet<_>>().len();
    different(|p| p.0) == pairs.len() && different(|p| p.1) == pairs.len()
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A folder that goes away with its test.
    pub struct Folder(PathBuf);

    impl Folder {
        /// Points of these sizes, and files of text.
        pub fn new(sizes: [usize; 2], texts: &[(&str, &str)]) -> Self {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let next = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("concord-evaluate-{}-{next}", std::process::id()));
            std::fs::create_dir_all(&path).expect("a folder");
            let folder = Self(path);
            for (name, rows) in POINTS.into_iter().zip(sizes).filter(|(_, rows)| *rows > 0) {
                folder.table(name, &Dense::from_fn(rows, 3, |i, j| (i * i + 7 * j) as f32));
            }
            for (name, text) in texts {
                std::fs::write(folder.0.join(name), text).expect("written");
            }
            folder
        }

        pub fn table(&self, name: &str, table: &Dense) {
            npy::write(&self.0.join(name), table).expect("written");
        }

        pub fn read(&self) -> Result<Data, String> {
            Data::read(&self.0)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn refused(sizes: [usize; 2], texts: &[(&str, &str)]) -> String {
        Folder::new(sizes, texts).read().err().unwrap_or_default()
    }

    #[test]
    fn labels_of_both_sides_say_that_rows_correspond() {
        let data = Folder::new([4, 4], &[("labels.txt", "b\na\n\nb\n")]).read().expect("read");
        assert_eq!(data.pairs, Some(vec![(0, 0), (1, 1), (2, 2), (3, 3)]));
        assert_eq!(data.labels, [Some(vec![1, 0, UNKNOWN, 1]), Some(vec![1, 0, UNKNOWN, 1])]);
        assert!(refused([4, 5], &[("labels.txt", "a\nb\nc\nd\n")]).contains("there are 4 and 5 rows"));
        assert!(refused([4, 4], &[("labels.txt", "a\nb\nc\n")]).contains("labels.txt has 3 labels for 4"));
    }

    #[test]
    fn rows_without_a_partner_are_named_by_the_truth() {
        let files = [("truth.txt", "2\n-1\n0\n4\n"), ("labels_x.txt", "a\nb\na\nb\n")];
        let data = Folder::new([4, 5], &files).read().expect("read");
        assert_eq!(data.pairs, Some(vec![(0, 2), (2, 0), (3, 4)]));
        assert_eq!((data.labels[0].is_some(), data.labels[1].is_some(), data.kinds), (true, false, 2));
        assert!(refused([4, 5], &[("truth.txt", "2\n-1\n0\n")]).contains("3 lines for 4 rows of X"));
        assert!(refused([4, 5], &[("truth.txt", "2\n-1\n0\n5\n")]).contains("line 4: '5' is neither −1"));
        assert!(refused([4, 5], &[("truth.txt", "2\n-2\n0\n1\n")]).contains("line 2: '-2'"));
    }

    #[test]
    fn pairs_are_read_below_their_names_and_refused_by_line() {
        let data = Folder::new([4, 5], &[("pairs.csv", "x,y\n1,4\n3,0\n")]).read().expect("read");
        assert_eq!(data.pairs, Some(vec![(1, 4), (3, 0)]));
        assert!(refused([4, 5], &[("pairs.csv", "x,y\n1,4\n4,0\n")]).contains("line 3: '4,0'"));
        assert!(refused([4, 5], &[("pairs.csv", "1,4\nx,y\n")]).contains("line 2"));
    }

    #[test]
    fn pairs_that_repeat_a_row_leave_the_score_to_the_labels() {
        let twice = ("pairs.csv", "x,y\n0,1\n1,1\n");
        assert!(refused([4, 5], &[twice]).contains("a row is in several pairs, and there are no labels"));
        let (x, y) = (("labels_x.csv", "id,kind\n1,a\n2,a\n3,b\n4,b\n"), "a\na\nb\nb\nb\n");
        let data = Folder::new([4, 5], &[twice, x, ("labels_y.txt", y)]).read().expect("read");
        assert_eq!(data.pairs, None);
        assert_eq!(data.labels, [Some(vec![0, 0, 1, 1]), Some(vec![0, 0, 1, 1, 1])]);
        assert!(refused([4, 5], &[x]).contains("no partners are named"));
    }

    #[test]
    fn distances_stand_for_points_where_there_are_none() {
        let near = |n: usize| Dense::from_fn(n, n, |i, j| i.abs_diff(j) as f32);
        let folder = Folder::new([0, 5], &[("truth.txt", "0\n1\n-1\n4\n")]);
        folder.table("dist_x.npy", &near(4));
        assert!(folder.read().err().is_some_and(|why| why.contains("one of dist_x.npy and dist_y.npy")));
        folder.table("dist_y.npy", &near(5));
        let data = folder.read().expect("read");
        assert_eq!(data.distances, Some([near(4), near(5)]));
        assert_eq!((&data.points[0], data.points[1].cols()), (&near(4), 3));
        folder.table("dist_y.npy", &near(4));
        assert!(folder.read().err().is_some_and(|why| why.contains("dist_y.npy has 4 rows and 4 columns")));
        assert!(refused([4, 0], &[("truth.txt", "0\n0\n0\n0\n")]).contains("y.npy is missing"));
    }
}
