//! HDF5 files that real libraries wrote, compared with what was put into them.

mod common;

use common::{Small, abuse, fixture, names, table};
use formats::h5ad::{self, H5ad, PartKind};
use formats::{Bytes, Kind, Labels, Source, Trouble, Watch};
use std::cell::Cell;

const ROWS: usize = 13;
const COLS: usize = 7;

fn read(name: &str, part: Option<&str>) -> Result<H5ad, Trouble> {
    let bytes = fixture(name);
    pollster::block_on(h5ad::read(&Bytes::new(name, &bytes), part, &mut Small))
}

fn good(name: &str, part: Option<&str>) -> H5ad {
    read(name, part).unwrap_or_else(|trouble| panic!("{name}: {trouble}"))
}

fn labels<'a>(file: &'a H5ad, name: &str) -> &'a Labels {
    file.table.labels.iter().find(|labels| labels.name == name).unwrap_or_else(|| panic!("no {name}"))
}

fn kinds(missing: Option<usize>) -> Vec<u32> {
    (0..ROWS).map(|i| if Some(i) == missing { Labels::MISSING } else { (i % 3) as u32 }).collect()
}

#[test]
fn x_is_read_however_it_is_stored() {
    for name in ["dense.h5ad", "csr.h5ad", "csc.h5ad", "half.h5ad", "old06.h5ad", "old07.h5ad"] {
        let file = good(name, None);
        assert_eq!(file.chosen, "X", "{name}");
        assert_eq!((file.table.rows, file.table.cols), (ROWS, COLS), "{name}");
        assert_eq!(file.table.values, table(ROWS, COLS), "{name}");
        assert_eq!(file.table.ids, names("cell", ROWS), "{name}");
        assert_eq!(file.table.columns, names("gene", COLS), "{name}");
        let kind = labels(&file, "kind");
        assert_eq!(kind.names, ["B cell", "NK", "Zelle é"], "{name}");
        assert_eq!(kind.codes, kinds((name != "old06.h5ad").then_some(4)), "{name}");
    }
}

#[test]
fn integers_are_numbers_and_lzf_is_unpacked() {
    let file = good("int64.h5ad", None);
    let rounded: Vec<f32> = table(ROWS, COLS).iter().map(|value| value.round_ties_even()).collect();
    assert_eq!(file.table.values, rounded);
}

#[test]
fn obs_columns_become_labels_when_they_group_rows() {
    let file = good("int64.h5ad", None);
    let found: Vec<&str> = file.table.labels.iter().map(|labels| labels.name.as_str()).collect();
    assert_eq!(found, ["kind", "text", "leiden", "good", "maybe", "batch"]);
    assert_eq!(labels(&file, "leiden").names, ["0", "1", "2", "3"]);
    assert_eq!(labels(&file, "text").codes, (0..ROWS as u32).map(|i| i % 2).collect::<Vec<_>>());
    assert_eq!(labels(&file, "good").names, ["False", "True"]);
    assert_eq!(labels(&file, "maybe").codes[..4], [1, 0, Labels::MISSING, 1]);
    assert_eq!(labels(&file, "batch").codes[..5], [0, 1, 0, Labels::MISSING, 0]);
}

#[test]
fn every_part_is_listed_and_read() {
    let file = good("csr.h5ad", None);
    let found: Vec<_> = file.parts.iter().map(|part| (part.name.as_str(), part.cols, part.kind)).collect();
    let expected = [
        ("X", COLS, PartKind::Csr),
        ("raw/X", 9, PartKind::Dense),
        ("layers/counts", COLS, PartKind::Csr),
        ("layers/dense", COLS, PartKind::Dense),
        ("obsm/X_pca", 3, PartKind::Dense),
        ("obsm/frame", 2, PartKind::Frame),
    ];
    assert_eq!(found, expected);
    let scaled = |by: f32| table(ROWS, COLS).iter().map(|value| value * by).collect::<Vec<_>>();
    assert_eq!(good("csr.h5ad", Some("layers/counts")).table.values, scaled(2.0));
    assert_eq!(good("csr.h5ad", Some("layers/dense")).table.values, scaled(4.0));
    assert_eq!(good("csr.h5ad", Some("raw/X")).table.values, table(ROWS, 9));
    assert_eq!(good("csr.h5ad", Some("raw/X")).table.columns, names("gene", 9));
    let reduced = good("csr.h5ad", Some("X_pca")).table;
    assert_eq!((reduced.values, reduced.columns), (table(ROWS, 3), None));
    let frame = good("csr.h5ad", Some("obsm/frame")).table;
    assert_eq!(frame.values[..4], [0.0, 0.0, 1.0, 2.0]);
    assert_eq!(frame.columns, Some(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(good("old06.h5ad", Some("obsm/X_pca")).table.values, table(ROWS, 3));
    let wrong = read("csr.h5ad", Some("obsm/X_none")).expect_err("there is none");
    assert_eq!(wrong.kind, Kind::Mismatch);
    assert!(wrong.fix.contains("'obsm/X_pca'"), "{wrong}");
}

#[test]
fn a_wide_x_gives_way_to_its_components() {
    let file = good("wide.h5ad", None);
    assert_eq!(file.chosen, "obsm/X_pca");
    assert!(file.why.contains("2500"), "{}", file.why);
    assert_eq!(good("wide.h5ad", Some("X")).table.values, vec![0.0; 5 * 2500]);
}

#[test]
fn tenx_and_loom_come_out_as_cells_by_genes() {
    for name in ["tenx.h5", "cells.loom"] {
        let table_read = good(name, None).table;
        assert_eq!((table_read.rows, table_read.cols), (ROWS, COLS), "{name}");
        assert_eq!(table_read.values, table(ROWS, COLS), "{name}");
        assert_eq!(table_read.ids, names("cell", ROWS), "{name}");
        assert_eq!(table_read.columns, names("gene", COLS), "{name}");
    }
    assert_eq!(labels(&good("cells.loom", None), "kind").names, ["t0", "t1"]);
}

#[test]
fn every_layout_and_every_type_reads_the_same() {
    for name in ["layouts.h5", "layouts_latest.h5"] {
        let ambiguous = read(name, None).expect_err("there are many");
        assert_eq!(ambiguous.kind, Kind::Ambiguous);
        let bytes = fixture(name);
        let parts = pollster::block_on(h5ad::parts(&Bytes::new(name, &bytes))).expect("they are listed");
        assert_eq!(parts.len(), 23, "{name}");
        assert!(parts.iter().all(|part| ambiguous.what.contains(&part.name)), "{ambiguous}");
        let all = [
            "contiguous",
            "single",
            "single_gzip",
            "fixed",
            "fixed_gzip",
            "growing",
            "growing_right",
            "tree",
            "tree_gzip",
            "larger_later",
            "implicit",
        ];
        for part in all {
            let found = good(name, Some(part)).table;
            assert_eq!((found.rows, found.cols), (53, 11), "{name} {part}");
            assert_eq!(found.values, table(53, 11), "{name} {part}");
        }
        let hole = good(name, Some("hole")).table.values;
        assert_eq!(hole[..14 * 11], table(14, 11));
        assert!(hole[14 * 11..].iter().all(|&value| value == 2.5), "{name}");
        for part in ["f2", "f4", "big_f4", "big_f8", "i1", "i2", "big_i4", "i8", "u1", "u2", "u8"] {
            let found = good(name, Some(&format!("type_{part}"))).table.values;
            let expected = table(5, 3).into_iter().map(|value| {
                let value = value.round_ties_even();
                if part.starts_with('u') { value.abs() } else { value }
            });
            assert_eq!(found, expected.collect::<Vec<_>>(), "{name} {part}");
        }
    }
}

#[test]
fn more_than_a_thousand_chunks_are_found() {
    for part in ["fixed", "growing", "tree"] {
        let found = good("long_latest.h5", Some(part)).table.values;
        assert_eq!(found, (0..2600).map(|n| (n % 251) as f32).collect::<Vec<_>>(), "{part}");
    }
}

#[test]
fn chunks_that_were_never_written_leave_gaps() {
    for part in ["fixed", "growing"] {
        let found = good("gaps_latest.h5", Some(part)).table.values;
        let places: Vec<usize> = (0..found.len()).filter(|&place| found[place] == 7.0).collect();
        let starts = [0, 1000, 70_000, 150_000, 199_990];
        assert_eq!(places, starts.iter().flat_map(|&start| start..start + 10).collect::<Vec<_>>(), "{part}");
        assert!(found.iter().all(|&value| value == 7.0 || value == 0.0));
    }
}

#[test]
fn the_only_table_is_found_wherever_it_is() {
    for (name, part) in [("many.h5", "group/zz"), ("many_latest.h5", "group/zz"), ("compact.h5", "x")] {
        let file = good(name, None);
        assert_eq!(file.chosen, part);
        assert_eq!(file.table.values, table(5, 3), "{name}");
    }
    assert_eq!(good("compact_latest.h5", None).table.values, table(5, 3));
    assert_eq!(good("userblock.h5", None).table.values, table(ROWS, COLS));
}

#[test]
fn a_compression_that_we_lack_is_named_with_the_way_out() {
    for (name, compression) in [("zstd.h5ad", "Zstandard"), ("blosc.h5", "Blosc")] {
        let trouble = read(name, None).expect_err("it cannot be read");
        assert_eq!(trouble.kind, Kind::Unsupported);
        assert!(trouble.what.contains(compression), "{trouble}");
        assert!(trouble.fix.contains("compression=\"gzip\""), "{trouble}");
    }
}

/// A file that counts what is read of it.
struct Counted<'a> {
    inner: Bytes<'a>,
    read: Cell<usize>,
}

impl Source for Counted<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }

    async fn read(&self, at: u64, length: usize) -> Result<Vec<u8>, Trouble> {
        let bytes = self.inner.read(at, length).await?;
        self.read.set(self.read.get() + bytes.len());
        Ok(bytes)
    }
}

#[test]
fn only_what_is_needed_is_read() {
    let bytes = fixture("large.h5ad");
    let source = Counted { inner: Bytes::new("large.h5ad", &bytes), read: Cell::new(0) };
    let file = pollster::block_on(h5ad::read(&source, None, &mut Small)).expect("it is readable");
    assert_eq!((file.chosen.as_str(), file.table.values), ("obsm/X_pca", table(200, 3)));
    assert!(source.read.get() < bytes.len() / 3, "{} of {} bytes", source.read.get(), bytes.len());
}

/// Keeps what it was told, and ends the reading after so many calls.
struct Impatient {
    left: usize,
    told: Vec<(u64, u64)>,
}

impl Watch for Impatient {
    async fn passed(&mut self, done: u64, of: u64) -> Result<(), Trouble> {
        self.told.push((done, of));
        self.left = self.left.checked_sub(1).ok_or_else(Trouble::cancelled)?;
        Ok(())
    }
}

#[test]
fn progress_is_told_and_reading_can_be_ended() {
    let bytes = fixture("layouts_latest.h5");
    let read = |left| {
        let mut watch = Impatient { left, told: Vec::new() };
        let source = Bytes::new("layouts", &bytes);
        let outcome = pollster::block_on(h5ad::read(&source, Some("tree_gzip"), &mut watch));
        (outcome.map(|file| file.table.rows), watch.told)
    };
    let (rows, told) = read(usize::MAX);
    assert_eq!(rows, Ok(53));
    assert!(told.len() > 50);
    assert!(told.iter().all(|(done, of)| done <= of));
    assert_eq!(told.last(), Some(&(53 * 11 * 8, 53 * 11 * 8)));
    assert_eq!(read(20).0.expect_err("it was ended").kind, Kind::Cancelled);
}

#[test]
fn a_table_that_is_too_large_is_refused_before_memory_is_taken() {
    let trouble = read("huge.h5ad", None).expect_err("it needs 112 GB");
    assert_eq!(trouble.kind, Kind::TooLarge);
    assert_eq!(trouble.place, "X (sparse, 1000000 × 30000)");
}

#[test]
fn types_with_names_are_followed_and_other_files_are_not() {
    assert_eq!(good("named.h5", None).table.values, table(ROWS, COLS));
    let trouble = read("virtual.h5", None).expect_err("its data are elsewhere");
    assert_eq!(trouble.kind, Kind::Unsupported);
}

#[test]
fn what_is_not_hdf5_is_refused() {
    let wrong = pollster::block_on(h5ad::read(&Bytes::new("a", b"a,b\n1,2\n"), None, &mut Small));
    assert_eq!(wrong.expect_err("it is text").kind, Kind::Format);
    let mut matlab = vec![b' '; 1024];
    matlab[..10].copy_from_slice(b"MATLAB 7.3");
    matlab.extend_from_slice(&fixture("userblock.h5")[1024..]);
    let wrong = pollster::block_on(h5ad::read(&Bytes::new("a.mat", &matlab), None, &mut Small));
    assert!(wrong.expect_err("it is MATLAB's").what.contains("MATLAB"));
}

/// Lets a cut-off file claim that it is complete, so that more than its first bytes is looked at.
fn forget_length(bytes: &mut [u8]) {
    let field = if bytes[8] < 2 { 40..48 } else { 28..36 };
    bytes[field].fill(0);
}

#[test]
fn damaged_files_end_in_trouble_not_in_panic() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let files =
        std::fs::read_dir(folder).expect("the fixtures").map(|file| file.expect("a file").file_name());
    let names = files.filter_map(|name| name.to_str()?.strip_suffix(".gz").map(str::to_owned));
    for name in names {
        let mut bytes = fixture(&name);
        if bytes.starts_with(b"\x89HDF") {
            forget_length(&mut bytes);
        }
        let part = if name.starts_with("l") || name.starts_with("gaps") { Some("fixed") } else { None };
        abuse(&bytes, 200, |bytes| {
            let _ = pollster::block_on(h5ad::read(&Bytes::new(&name, bytes), part, &mut Small));
        });
    }
    let mut bytes = fixture("layouts_latest.h5");
    forget_length(&mut bytes);
    for part in ["fixed_gzip", "growing_right", "tree_gzip", "implicit", "hole"] {
        abuse(&bytes, 200, |bytes| {
            let _ = pollster::block_on(h5ad::read(&Bytes::new("layouts", bytes), Some(part), &mut Small));
        });
    }
}
