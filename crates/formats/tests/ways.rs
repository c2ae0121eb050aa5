//! Files that cannot be read as they are, and the ways round that: each is a change of choices that makes them readable.

mod common;

use common::{load, load_with};
use formats::{Choices, Kind, Loaded, Trouble};

/// The file read in the first way that has this name.
fn round(text: &str, key: &str) -> Result<Loaded, Trouble> {
    let trouble = load(text.as_bytes()).expect_err("not readable as it is");
    let way = trouble.ways.iter().find(|way| way.key() == key);
    let way = way.unwrap_or_else(|| panic!("{key} is not among {:?}", trouble.ways));
    let mut choices = Choices::default();
    way.take(&mut choices);
    load_with(text.as_bytes(), &choices)
}

fn rows(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn text_among_numbers_can_be_left_out_or_taken_as_labels() {
    let text = format!(
        "name,type,a,b,c\n{}",
        rows(40, |i| {
            let b = if i == 17 { "many".to_owned() } else { (i % 3).to_string() };
            format!("r{i},t{},{}.5,{b},{i}\n", i % 2, i * 2)
        })
    );
    let trouble = load(text.as_bytes()).expect_err("many is no number");
    assert_eq!((trouble.kind, trouble.place.as_str()), (Kind::NotANumber, "row 18, column 'b'"));
    let table = round(&text, "leave-out").expect("readable").table;
    assert_eq!((table.cols, table.labels.len()), (2, 1));
    let table = round(&text, "labels").expect("readable").table;
    assert_eq!((table.cols, table.ids.map(|ids| ids.len())), (2, Some(40)), "ids stay ids");
    let names: Vec<&str> = table.labels.iter().map(|labels| labels.name.as_str()).collect();
    assert_eq!(names, ["type", "b"], "labels stay labels");
}

#[test]
fn ids_that_are_there_twice_need_not_be_ids() {
    let text = format!("id,a,b\n{}", rows(30, |i| format!("c{},{i},{}.5\n", i.min(28), i * i)));
    assert_eq!(load(text.as_bytes()).expect_err("c28 is there twice").kind, Kind::Duplicate);
    let left_out = round(&text, "leave-out").expect("readable").table;
    assert_eq!((left_out.rows, left_out.cols, left_out.ids, left_out.labels.len()), (30, 2, None, 0));
    let kept = round(&text, "no-ids").expect("readable").table;
    assert_eq!((kept.rows, kept.cols, kept.ids), (30, 2, None));
}

#[test]
fn a_row_of_labels_says_that_the_table_lies_on_its_side() {
    let head: String = (0..12).map(|j| format!(",cell{j}")).collect();
    let types: String = (0..12).map(|j| if j % 3 == 0 { ",B" } else { ",T" }).collect();
    let genes = rows(5, |i| {
        let values: String = (0..12).map(|j| format!(",{}", i * 100 + j)).collect();
        format!("GENE{i}{values}\n")
    });
    for text in
        [format!("gene{head}\ncelltype{types}\n{genes}"), format!("gene{head}\n{genes}celltype{types}\n")]
    {
        let trouble = load(text.as_bytes()).expect_err("T and B are no numbers");
        assert!(trouble.fix.contains("swap rows and columns"), "{trouble}");
        let Loaded { table, .. } = round(&text, "transpose").expect("readable");
        assert_eq!((table.rows, table.cols), (12, 5));
        assert_eq!(table.values[..5], [0.0, 100.0, 200.0, 300.0, 400.0]);
        assert_eq!(table.columns.expect("genes")[4], "GENE4");
        assert_eq!(table.ids.expect("cells")[11], "cell11");
        assert_eq!(table.labels.len(), 1);
        assert_eq!(
            (table.labels[0].name.as_str(), &table.labels[0].codes[..4]),
            ("celltype", &[0, 1, 1, 0][..])
        );
    }
}

#[test]
fn a_value_beyond_all_others_is_named_with_its_place() {
    let value = |i: usize, j: usize| match (i, j) {
        (16, 1) => "1e30".to_owned(),
        _ => format!("{}", 0.25 + (i * 7 + j * 3) as f32 % 5.0),
    };
    let text = |odd: bool| {
        let lines = rows(50, |i| {
            let i = if odd || i != 16 { i } else { 15 };
            format!("{},{},{}\n", value(i, 0), value(i, 1), value(i, 2))
        });
        format!("GENE4,GENE5,GENE6\n{lines}")
    };
    let notices = load(text(true).as_bytes()).expect("usable").preview.notices;
    let said = notices.iter().find(|notice| notice.starts_with("Row 17, column 'GENE5': 1e30 is"));
    assert!(said.is_some_and(|said| said.contains("times larger")), "{notices:?}");
    let notices = load(text(false).as_bytes()).expect("usable").preview.notices;
    assert!(!notices.iter().any(|notice| notice.contains("times larger")), "{notices:?}");
    // Columns of different units are none.
    let units = rows(50, |i| format!("{},{},{}\n", 1e-4 * (i + 1) as f32, 1e7 + i as f32, i % 4));
    let notices = load(units.as_bytes()).expect("usable").preview.notices;
    assert!(!notices.iter().any(|notice| notice.contains("times larger")), "{notices:?}");
}
