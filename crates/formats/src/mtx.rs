//! MatrixMarket: numbers as lines of text, sparse ("coordinate") or dense ("array"). What scipy, R and 10x write.

use crate::remainder::narrow;
use crate::{Kind, Source, Table, Trouble, Watch};

const PIECE: usize = 1 << 18;
/// Longer than any line of numbers; what is longer is another kind of file.
const LONGEST: usize = 1 << 16;

/// Reads the whole file. Entries that are given twice are summed, as the format demands.
pub async fn read(source: &impl Source, watch: &mut impl Watch) -> Result<Table, Trouble> {
    if source.is_empty() {
        return Err(Trouble::new(Kind::Empty, "The file is empty.", "Choose a file with data in it."));
    }
    let mut reader = Reader::default();
    let mut left: Vec<u8> = Vec::new();
    let mut at = 0;
    while at < source.len() {
        let piece = source.read(at, PIECE).await?;
        if piece.is_empty() {
            break;
        }
        at += piece.len() as u64;
        left.extend_from_slice(&piece);
        let complete = left.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        for line in left.get(..complete).unwrap_or_default().split_inclusive(|&byte| byte == b'\n') {
            reader.line(line, watch)?;
        }
        left.drain(..complete);
        if left.len() > LONGEST {
            reader.lines += 1;
            return Err(reader.wrong(Kind::Format, "The line is too long for a MatrixMarket file."));
        }
        watch.passed(at, source.len()).await?;
    }
    reader.line(&left, watch)?;
    reader.finish()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// What the first line says.
#[derive(Clone, Copy)]
struct Header {
    sparse: bool,
    /// Entries have no values: each is a one.
    pattern: bool,
    symmetry: Symmetry,
}

#[derive(Default)]
struct Reader {
    /// The lines so far.
    lines: u64,
    header: Option<Header>,
    /// The table, from the line of sizes on.
    table: Option<Table>,
    /// How many entries there should be, and how many there were.
    promised: u64,
    entries: u64,
    /// The place of the next entry of a dense file, which goes column by column.
    next: (usize, usize),
}

impl Reader {
    fn line<W: Watch>(&mut self, line: &[u8], watch: &W) -> Result<(), Trouble> {
        self.lines += 1;
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if self.header.is_none() {
            // An empty rest after the last line end is no line.
            self.header = Some(self.header(line)?);
        } else if !line.is_empty() && !line.starts_with('%') {
            match (self.header, self.table.take()) {
                (Some(header), None) => self.table = Some(self.sizes(header, line, watch)?),
                (Some(header), Some(mut table)) => {
                    self.entry(header, &mut table, line)?;
                    self.table = Some(table);
                }
                (None, _) => {}
            }
        }
        Ok(())
    }

    fn header(&self, line: &str) -> Result<Header, Trouble> {
        let lower = line.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let unsupported =
            |what: &str, fix: &str| Err(Trouble::new(Kind::Unsupported, what, fix).at("line 1"));
        let [mark, object, format, field, symmetry] = *words.as_slice() else { return Err(self.no_header()) };
        if mark.trim_start_matches('\u{feff}') != "%%matrixmarket" || object != "matrix" {
            return Err(self.no_header());
        }
        let sparse = match format {
            "coordinate" => true,
            "array" => false,
            _ => return Err(self.no_header()),
        };
        let pattern = match field {
            "real" | "double" | "integer" | "unsigned-integer" => false,
            "pattern" if sparse => true,
            "complex" => {
                return unsupported(
                    "The numbers are complex.",
                    "Store their real parts or their sizes instead.",
                );
            }
            _ => return Err(self.no_header()),
        };
        let symmetry = match symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" if !pattern => Symmetry::Skew,
            "hermitian" => {
                return unsupported("The matrix is Hermitian, so complex.", "Store it as a real one.");
            }
            _ => return Err(self.no_header()),
        };
        Ok(Header { sparse, pattern, symmetry })
    }

    fn no_header(&self) -> Trouble {
        Trouble::new(
            Kind::Format,
            "The first line is not that of a MatrixMarket file.",
            "Let it begin with a line such as `%%MatrixMarket matrix coordinate real general`.",
        )
        .at("line 1")
    }

    fn wrong(&self, kind: Kind, what: impl Into<String>) -> Trouble {
        let fix = "Correct the line, or write the file again, for example with `scipy.io.mmwrite`.";
        Trouble::new(kind, what, fix).at(format!("line {}", self.lines))
    }

    fn sizes<W: Watch>(&mut self, header: Header, line: &str, watch: &W) -> Result<Table, Trouble> {
        let sizes: Option<Vec<u64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
        let (rows, cols, promised) = match (sizes.as_deref(), header.sparse) {
            (Some(&[rows, cols, entries]), true) => (rows, cols, Some(entries)),
            (Some(&[rows, cols]), false) => {
                let triangle = |below: u64| rows.checked_mul(rows.checked_add(1)?).map(|all| all / 2 - below);
                let entries = match header.symmetry {
                    Symmetry::General => rows.checked_mul(cols),
                    Symmetry::Symmetric => triangle(0),
                    Symmetry::Skew => triangle(rows),
                };
                (rows, cols, entries)
            }
            _ => {
                let what = if header.sparse { "rows, columns and entries" } else { "rows and columns" };
                return Err(self.wrong(Kind::Broken, format!("The numbers of {what} should be here.")));
            }
        };
        if header.symmetry != Symmetry::General && rows != cols {
            return Err(self.wrong(Kind::Broken, "A symmetric matrix must have as many rows as columns."));
        }
        let bytes = rows.checked_mul(cols).and_then(|count| count.checked_mul(4)).unwrap_or(u64::MAX);
        watch.room(bytes)?;
        let sizes = (usize::try_from(rows), usize::try_from(cols), usize::try_from(bytes), promised);
        let (Ok(rows), Ok(cols), Ok(bytes), Some(promised)) = sizes else {
            return Err(self.wrong(Kind::TooLarge, "The matrix is too large."));
        };
        self.promised = promised;
        self.next = (usize::from(header.symmetry == Symmetry::Skew), 0);
        Ok(Table { rows, cols, values: vec![0.0; bytes / 4], ..Table::default() })
    }

    fn entry(&mut self, header: Header, table: &mut Table, line: &str) -> Result<(), Trouble> {
        if self.entries == self.promised {
            return Err(self.wrong(
                Kind::Broken,
                format!("There are more than the promised {} entries.", self.promised),
            ));
        }
        self.entries += 1;
        let mut words = line.split_whitespace();
        let (row, col) = if header.sparse {
            let row = self.index(words.next(), table.rows, "row")?;
            (row, self.index(words.next(), table.cols, "column")?)
        } else {
            self.advance(header.symmetry, table.rows)
        };
        let value = if header.pattern { 1.0 } else { self.value(words.next())? };
        if words.next().is_some() {
            return Err(self.wrong(Kind::Broken, "There are more words than an entry has."));
        }
        let mut add = |row: usize, col: usize, value: f64| {
            if let Some(slot) = table.values.get_mut(row * table.cols + col) {
                *slot = narrow(f64::from(*slot) + value);
            }
        };
        add(row, col, value);
        if row != col {
            match header.symmetry {
                Symmetry::General => {}
                Symmetry::Symmetric => add(col, row, value),
                Symmetry::Skew => add(col, row, -value),
            }
        }
        Ok(())
    }

    /// The place of a dense file's entry; the next is below it, or at the top of the next column.
    fn advance(&mut self, symmetry: Symmetry, rows: usize) -> (usize, usize) {
        let (row, col) = self.next;
        self.next = match symmetry {
            _ if row + 1 < rows => (row + 1, col),
            Symmetry::General => (0, col + 1),
            Symmetry::Symmetric => (col + 1, col + 1),
            Symmetry::Skew => (col + 2, col + 1),
        };
        (row, col)
    }

    /// A row or column, which the file counts from 1.
    fn index(&self, word: Option<&str>, length: usize, what: &str) -> Result<usize, Trouble> {
        let Some(word) = word else {
            return Err(self.wrong(Kind::Broken, format!("The {what} is missing.")));
        };
        match word.parse::<usize>() {
            Ok(number) if (1..=length).contains(&number) => Ok(number - 1),
            Ok(number) => Err(self
                .wrong(Kind::Mismatch, format!("There is no {what} {number}; they run from 1 to {length}."))),
            Err(_) => Err(self.wrong(Kind::NotANumber, format!("'{}' is no {what} number.", short(word)))),
        }
    }

    fn value(&self, word: Option<&str>) -> Result<f64, Trouble> {
        let Some(word) = word else { return Err(self.wrong(Kind::Broken, "The value is missing.")) };
        // Fortran writes 1.5D+3.
        let parsed = word.parse().or_else(|_| word.replace(['d', 'D'], "e").parse());
        parsed.map_err(|_| self.wrong(Kind::NotANumber, format!("'{}' is not a number.", short(word))))
    }

    fn finish(self) -> Result<Table, Trouble> {
        let truncated = |what: String| {
            let fix = "Copy or download the file again: it is incomplete.";
            Err(Trouble::new(Kind::Truncated, what, fix))
        };
        match self.table {
            None => truncated("The file ends before the line of sizes.".to_owned()),
            Some(_) if self.entries < self.promised => {
                truncated(format!("The file ends after {} of {} entries.", self.entries, self.promised))
            }
            Some(table) => Ok(table),
        }
    }
}

/// The beginning of a word, for messages.
fn short(word: &str) -> String {
    word.chars().take(20).collect()
}
