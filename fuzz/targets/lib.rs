//! What the targets share.

use formats::{Kind, Trouble, Watch};

/// A small machine that loses patience: no more than 64 MB for anything, and an end after many pieces.
#[derive(Default)]
pub struct Small {
    passed: u32,
}

impl Watch for Small {
    async fn passed(&mut self, done: u64, of: u64) -> Result<(), Trouble> {
        assert!(done <= of, "more was done than there is");
        self.passed += 1;
        if self.passed > 100_000 { Err(Trouble::cancelled()) } else { Ok(()) }
    }

    fn room(&self, bytes: u64) -> Result<(), Trouble> {
        if bytes <= 64 << 20 {
            return Ok(());
        }
        Err(Trouble::new(Kind::TooLarge, "Too large.", "Take less."))
    }
}

/// What every table must be, whatever the file was.
pub fn check(table: &formats::Table) {
    assert_eq!(table.values.len(), table.rows * table.cols);
    assert!(table.ids.as_ref().is_none_or(|ids| ids.len() == table.rows));
    assert!(table.columns.as_ref().is_none_or(|columns| columns.len() == table.cols));
    for labels in &table.labels {
        assert_eq!(labels.codes.len(), table.rows);
        let known = |&code: &u32| code == formats::Labels::MISSING || (code as usize) < labels.names.len();
        assert!(labels.codes.iter().all(known));
    }
}
