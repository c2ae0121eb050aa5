//! Texts as people and programs lay them out.

mod common;

use common::{gzip, load, load_with, npy, zip};
use formats::{Choices, Loaded, Looks, Step};

fn table(text: &str) -> formats::Table {
    load(text.as_bytes()).unwrap_or_else(|trouble| panic!("{trouble} in {text:?}")).table
}

#[test]
fn delimiters_headers_and_endings() {
    for text in [
        "1,2\n3,4.5\n",
        "1,2\n3,4.5",
        "1\t2\r\n3\t4.5\r\n",
        "1;2\r3;4.5\r",
        "1|2\n3|4.5\n",
        "  1   2\n  3 4.5  \n",
        "1, 2\n3, 4.5\n",
        "1 ,2 \n3 ,4.5 \n",
        "1;2\n3;4,5\n",
        "1\t2\n3\t4,5\n",
        "1 2\n3 4,5\n",
        "\"1\",\"2\"\n\"3\",\"4.5\"\n",
        "1,2,\n3,4.5,\n",
        "# about\n1,2\n# more\n\n3,4.5\n",
        "% about\n1,2\n3,4.5\n",
        "sep=;\n1;2\n3;4.5\n",
        "\u{feff}1,2\n3,4.5\n",
        "1,2\n,\n3,4.5\n,\n",
        "+1,2e0\n0.3E1,45e-1\n",
        "True,2\n3,4.5\n",
        "a,b\n1,2\n3,4.5\n",
        "a,b,\n1,2,\n3,4.5,\n",
        "a,b\n1,2,\n3,4.5,\n",
        "a,b,\n1,2\n3,4.5\n",
        "sep=;\na;b\n1;2\n3;4.5\n",
        "# a b\n1 2\n3 4.5\n",
        "#a\tb\n1\t2\n3\t4.5\n",
        "a b\nr1 1 2\nr2 3 4.5\n",
        "id,a,b\n7,1,2\n8,3,4.5\n",
        ",a,b\nx,1,2\ny,3,4.5\n",
        ",0,1\n0,1,2\n1,3,4.5\n",
        ",2001,2002\nr1,1,2\nr2,3,4.5\n",
        "Unnamed: 0,a,b\n0,1,2\n1,3,4.5\n",
        "r1;1;2\nr2;3;4,5\n",
        "a,cluster,b\n1,5,2\n3,6,4.5\n",
        "a,b,cell_type\n1,2,T cell\n3,4.5,T cell\n",
        "1,2,setosa\n3,4.5,setosa\n",
    ] {
        let table = table(text);
        assert_eq!(
            (table.rows, table.cols, &table.values[..]),
            (2, 2, &[1.0, 2.0, 3.0, 4.5][..]),
            "{text:?}"
        );
        let letters = text.contains('a') && !text.contains("about") && !text.contains("setosa");
        assert!(!letters || table.columns.is_some(), "{text:?}");
    }
    // One column of numbers behind row names: the comma belongs to the numbers.
    assert_eq!(table(";a\nx;1,5\ny;2,5\n").values, [1.5, 2.5]);
    assert_eq!(table("x;1,5\ny;2,5\nz;3,5\n").values, [1.5, 2.5, 3.5]);
    assert_eq!(table("x\n1\n2\n").values, [1.0, 2.0]);
    // pandas numbers columns without names.
    let counted = table("0,1,2\n0.5,0.25,1\n1.5,2,3\n");
    assert_eq!((counted.rows, counted.columns.unwrap().join(" ").as_str()), (2, "0 1 2"));
}

#[test]
fn very_long_lines_and_large_files_are_read() {
    // Longer than the sample, and longer than what is read at a time.
    let cols = 150_000;
    let header: Vec<String> = (0..cols).map(|col| format!("gene{col}")).collect();
    let row: Vec<String> = (0..cols).map(|col| format!("{}.5", col % 10)).collect();
    let text = format!("{}\n{}\n{}\n", header.join(","), row.join(","), row.join(","));
    let wide = table(&text);
    assert_eq!((wide.rows, wide.cols, wide.values[cols + 13]), (2, cols, 3.5));

    let mut text = String::from("id,x,kind,y\n");
    for row in 0..200_000 {
        text.push_str(&format!("\"cell, {row}\",{row}.25,{},-{row}\n", ["T", "B"][row % 2]));
    }
    for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes()), zip(&[("table.csv", text.as_bytes())])] {
        let table = load(&bytes).unwrap().table;
        assert_eq!((table.rows, table.cols), (200_000, 2));
        assert_eq!(table.values[399_998..], [199_999.25, -199_999.0]);
        assert_eq!(table.ids.unwrap()[123_456], "cell, 123456");
        assert_eq!(table.labels[0].codes[..4], [0, 1, 0, 1]);
    }
}

#[test]
fn characters_of_utf16_may_be_cut_in_two() {
    // Each of these takes two units, and pieces of a file end after any unit.
    let faces = "😀".repeat(600_000);
    for name in ["x", "xy"] {
        let text = format!("\u{feff}id,{name}\n\"{faces}\",1\nb,2\n");
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let table = load(&bytes).unwrap().table;
        assert!(table.ids.is_some_and(|ids| ids[0] == faces));
    }
}

#[test]
fn numbers_are_recognised_and_steps_suggested() {
    let rows = |f: &dyn Fn(usize, usize) -> f64, rows: usize, cols: usize| {
        let line = |row| (0..cols).map(|col| f(row, col).to_string()).collect::<Vec<_>>().join(",");
        (0..rows).map(line).collect::<Vec<_>>().join("\n")
    };
    let mix = |row: usize, col: usize| (row * 31 + col * 17) % 23;
    let looks = |text: String| {
        let Loaded { preview, .. } = load(text.as_bytes()).unwrap();
        (preview.looks, preview.suggestions.first().map(|suggestion| suggestion.kind))
    };
    let counts = |row: usize, col: usize| if mix(row, col) < 12 { 0.0 } else { mix(row, col) as f64 };
    assert_eq!(looks(rows(&counts, 30, 9)), (Looks::Counts, Some(Step::Log1pNormalise)));
    let pixels = |row: usize, col: usize| if mix(row, col) < 12 { 0.0 } else { 255.0 };
    assert_eq!(looks(rows(&pixels, 30, 9)), (Looks::General, None));
    let logged = |row: usize, col: usize| counts(row, col).ln_1p();
    assert_eq!(looks(rows(&logged, 30, 9)), (Looks::Logged, None));
    let total = |row: usize| (0..9).map(|col| 1 + mix(row, col)).sum::<usize>() as f64;
    let shares = |row: usize, col: usize| (1 + mix(row, col)) as f64 / total(row);
    assert_eq!(looks(rows(&shares, 30, 9)), (Looks::Proportions, Some(Step::SqrtShares)));
    let length = |row: usize| (0..9).map(|col| (mix(row, col) as f64 - 9.0).powi(2)).sum::<f64>().sqrt();
    let unit = |row: usize, col: usize| (mix(row, col) as f64 - 9.0) / length(row);
    assert_eq!(looks(rows(&unit, 30, 9)), (Looks::UnitRows, None));
    let distance = |row: usize, col: usize| row.abs_diff(col) as f64 * 0.5;
    assert_eq!(looks(rows(&distance, 20, 20)), (Looks::Distances, Some(Step::UseAsDistances)));
    let scales = |row: usize, col: usize| (mix(row, col) as f64 - 9.5) * [1.0, 100.0, 0.5][col % 3];
    assert_eq!(looks(rows(&scales, 30, 9)), (Looks::General, Some(Step::ZScore)));
    let wide = |row: usize, col: usize| mix(row, col) as f64 - 9.5;
    assert_eq!(looks(rows(&wide, 60, 300)), (Looks::General, Some(Step::Pca(50))));
    let standard = |row: usize, col: usize| if (row + col).is_multiple_of(2) { 1.0 } else { -1.0 };
    assert_eq!(looks(rows(&standard, 30, 2)).0, Looks::Standardised);

    let barcodes = ["AAACCTGAGAAGGCCT-1", "AAACCTGAGACAGACC-1", "AAACCTGAGATAGTCA-1"].join("\t");
    let genes = load(format!("gene\t{barcodes}\nTP53\t1\t0\t2\nGAPDH\t9\t8\t7\nACTB\t3\t0\t1\n").as_bytes());
    assert_eq!(genes.unwrap().preview.suggestions[0].kind, Step::Transpose);
}

#[test]
fn columns_that_are_empty_at_first_do_not_stop_a_file() {
    let mut text = String::from("x,remark,y\n");
    for row in 0..30_000 {
        text.push_str(&format!("{row}.5,{},-{row}\n", if row > 25_000 { "seen twice" } else { "" }));
    }
    let Loaded { table, preview } = load(text.as_bytes()).unwrap();
    assert_eq!((table.rows, table.cols), (30_000, 2));
    assert!(preview.notices.iter().any(|notice| notice.contains("'remark'")), "{:?}", preview.notices);
}

/// Thousands that are set apart, as spreadsheets write them, are neither fractions nor words.
#[test]
fn thousands_may_be_set_apart() {
    let rows =
        |table: formats::Table| table.values.chunks(table.cols).map(<[f32]>::to_vec).collect::<Vec<_>>();
    for text in [
        "town,people,area\nA,\"4,485\",824\nB,329,\"1,224\"\n",
        "town,people,area\nA,\"4,485.0\",824\nB,329,\"1,224\"\n",
        "town;people;area\nA;4.485,0;824\nB;329;1.224,0\n",
        "town\tpeople\tarea\nA\t4,485.0\t824\nB\t329\t1,224\n",
        "town\tpeople\tarea\nA\t4,485\t824\nB\t329\t\"1,224\"\n",
    ] {
        assert_eq!(rows(table(text)), [[4485.0, 824.0], [329.0, 1224.0]], "{text:?}");
    }
    let read = load(b"a,b\n\"4,485\",1\n329,2\n").expect("is read");
    let said = read.preview.decisions.iter().any(|decision| decision.what == "thousands");
    assert!(said, "{:?}", read.preview.decisions);
    assert!(read.preview.notices.iter().any(|notice| notice.contains("4,485")), "{:?}", read.preview.notices);
    // Where nothing tells, it is said what was taken.
    let read = load(b"a\tb\n4,485\t1.5\n12,345\t2.5\n").expect("is read");
    assert_eq!(read.table.values, [4485.0, 1.5, 12345.0, 2.5], "a point is the decimal sign elsewhere");
    for text in ["a\tb\n4,485\t1\n12,345\t2\n", "a\tb\n4,485\t1\n1200\t2\n"] {
        let read = load(text.as_bytes()).expect("is read");
        assert_eq!(read.table.values[0], 4.485);
        let said = read.preview.notices.iter().any(|notice| notice.contains("4,485 is 4.485"));
        assert!(said, "{:?}", read.preview.notices);
    }
    // Not every comma in quotes is one: here it is the decimal sign.
    assert_eq!(
        rows(table("a,b\n\"4,485\",1\n\"1,5\",2\n821,253\n")),
        [[4.485, 1.0], [1.5, 2.0], [821.0, 253.0]]
    );
    assert_eq!(rows(table("a;b\n1,234;1\n2,345;2\n")), [[1.234, 1.0], [2.345, 2.0]]);
}

/// Columns of which 32 bits do not hold every difference are named, and hold them all the same.
#[test]
fn differences_that_32_bits_lose_are_kept_beside_them() {
    let notices = |text: String| load(text.as_bytes()).expect("is read").preview.notices;
    let column = |value: &dyn Fn(usize) -> String| {
        let rows = (0..50).map(|row| format!("{},{}\n", row % 7, value(row)));
        notices(format!("a,when\n{}", rows.collect::<String>()))
    };
    for said in [
        // A few hours, in seconds since 1970; and values that all become one.
        column(&|row| (1_700_000_000 + 300 * row).to_string()),
        column(&|row| (1_700_000_000 + row).to_string()),
        column(&|row| format!("5400000.{row:02}")),
    ] {
        let named = |notice: &String| notice.contains("'when'") && notice.contains("differences are kept");
        assert!(
            said.iter().any(named) && said.iter().all(|notice| !notice.contains("same value")),
            "{said:?}"
        );
    }
    for said in [
        column(&|row| (5_400_000 + row).to_string()),
        column(&|row| (1_700_000_000 + 86_400 * 30 * row).to_string()),
        column(&|row| format!("{}.5", 1000 + row)),
        column(&|_| "0.25".into()),
        column(&|row| format!("1e-{row}")),
    ] {
        assert!(said.iter().all(|notice| !notice.contains("are kept")), "{said:?}");
    }
    let times = |row: usize| 1.7e9 + 0.25 * row as f64;
    let text = (0..50).map(|row| format!("{},{:.2}\n", row % 7, times(row))).collect::<String>();
    let read = load(format!("a,when\n{text}").as_bytes()).expect("is read").table;
    assert_eq!(read.remainders.len(), 1);
    for row in 0..50 {
        let whole = f64::from(read.values[2 * row + 1]) + f64::from(read.remainders[0].values[row]);
        assert_eq!((whole, read.remainders[0].column), (times(row), 1));
    }
}

/// Arrays of 64 bits keep their differences as well, in either order, and a column that is left out takes its own with it.
#[test]
fn arrays_keep_the_differences_that_32_bits_lose() {
    let times = |row: usize| 1.7e9 + 3.0 * row as f64;
    for fortran in [false, true] {
        let mut data = Vec::new();
        for at in 0..40 {
            let (row, column) = if fortran { (at % 20, at / 20) } else { (at / 2, at % 2) };
            let value = if column == 1 { times(row) } else { row as f64 * 0.3 };
            data.extend(value.to_le_bytes());
        }
        let file = npy("<f8", if fortran { "True" } else { "False" }, "(20, 2)", &data);
        for ignore in [vec![], vec![0]] {
            let choices = Choices { ignore, ..Choices::default() };
            let read = load_with(&file, &choices).expect("is read").table;
            let left = &read.remainders[0];
            assert_eq!((read.remainders.len(), left.column), (1, read.cols - 1));
            for row in 0..20 {
                let value = read.values[row * read.cols + left.column];
                assert_eq!(f64::from(value) + f64::from(left.values[row]), times(row), "{fortran}");
            }
        }
    }
}

/// Values that 32 bits hold with fewer digits, or with none, are counted.
#[test]
fn values_below_the_smallest_normal_number_are_named() {
    let said = load(b"a,b\n1e-30,1\n2e-40,2\n3e-60,3\n0,4\n").expect("is read").preview.notices;
    let named = said.iter().any(|notice| notice.contains("smallest normal number (1.2e-38): 2."));
    assert!(named, "{said:?}");
}
