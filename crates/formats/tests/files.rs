//! Files as NumPy, pandas and R write them.

mod common;

use common::{fixture, load, load_with};
use formats::{Bytes, Choices, ColumnChoice, Kind, Labels, Loaded, MissingChoice, NoWatch, Role};

fn file(name: &str) -> Loaded {
    load(&fixture(name)).unwrap_or_else(|trouble| panic!("{name}: {trouble}"))
}

fn decision(loaded: &Loaded, what: &str) -> String {
    loaded.preview.decisions.iter().find(|d| d.what == what).map_or(String::new(), |d| d.choice.clone())
}

fn text_labels(labels: &Labels) -> Vec<&str> {
    labels.codes.iter().map(|code| labels.names.get(*code as usize).map_or("", String::as_str)).collect()
}

/// The numbers that every fixture holds.
fn values() -> Vec<f32> {
    file("f4.npy").table.values
}

const NAMES: [&str; 4] = ["height", "width", "depth", "mass"];

#[test]
fn all_texts_hold_the_same_numbers() {
    let want = values();
    assert_eq!(want.get(..2), Some(&[0.001, 0.299][..]));
    for (name, format, columns, first_id) in [
        ("pandas_index.csv", "comma-separated text", Some("height"), Some("cell_00")),
        ("pandas_plain.tsv", "tab-separated text", Some("height"), None),
        ("pandas_counted.csv", "comma-separated text", Some("0"), Some("0")),
        ("pandas_semicolon.csv", "semicolon-separated text", Some("height"), Some("cell_00")),
        ("pandas.csv.gz", "comma-separated text, gzipped", Some("height"), Some("cell_00")),
        ("pandas_utf16.csv", "comma-separated text", Some("height"), Some("cell_00")),
        ("r_table.txt", "space-separated text", Some("height"), Some("cell_00")),
        ("r_csv.csv", "comma-separated text", Some("height"), Some("1")),
        ("savetxt.txt", "space-separated text", Some("height"), None),
        ("savetxt_old_mac.csv", "comma-separated text", None, None),
    ] {
        let Loaded { table, preview } = file(name);
        assert_eq!((table.rows, table.cols), (12, 4), "{name}");
        assert_eq!(table.values, want, "{name}");
        assert_eq!(preview.format, format, "{name}");
        assert_eq!(table.columns.as_ref().map(|c| c[0].as_str()), columns, "{name}");
        assert_eq!(table.ids.as_ref().map(|ids| ids[0].as_str()), first_id, "{name}");
        assert_eq!((preview.rows, preview.cols, preview.missing_total), (12, 4, 0), "{name}");
        assert_eq!(
            (preview.corner.len(), preview.corner[0].len(), preview.corner[0][0].as_str()),
            (8, 4, "0.001")
        );
    }
}

#[test]
fn labels_missing_values_and_encodings_are_found() {
    let loaded = file("pandas_index.csv");
    assert_eq!(loaded.table.columns.as_deref(), Some(&NAMES.map(String::from)[..]));
    let [labels] = &loaded.table.labels[..] else { panic!("{:?}", loaded.table.labels) };
    assert_eq!(labels.name, "cell_type");
    assert_eq!(text_labels(labels)[..4], ["T cell", "B cell", "NK, other", "T cell"]);
    let roles: Vec<Role> = loaded.preview.fields.iter().map(|field| field.role).collect();
    assert_eq!(roles, [Role::Ids, Role::Numbers, Role::Numbers, Role::Numbers, Role::Numbers, Role::Labels]);

    let loaded = file("pandas_gaps.csv");
    assert_eq!(loaded.preview.missing_total, 2);
    assert_eq!(loaded.preview.columns.iter().map(|c| c.missing).collect::<Vec<_>>(), [0, 1, 0, 1]);
    assert!(loaded.table.values[9].is_nan() && loaded.table.values[23].is_nan());
    assert_eq!(text_labels(&loaded.table.labels[0])[..4], ["0", "1", "2", "0"]);

    let loaded = file("latin1.csv");
    assert_eq!(loaded.table.columns, Some(vec!["größe".into()]));
    assert_eq!(loaded.table.values, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
    assert_eq!(text_labels(&loaded.table.labels[0])[..2], ["naïf0", "naïf1"]);
    assert_eq!(
        (decision(&loaded, "encoding").as_str(), decision(&loaded, "decimal").as_str()),
        ("Latin-1", "comma")
    );
    assert_eq!(decision(&file("pandas_utf16.csv"), "encoding"), "UTF-16");
}

#[test]
fn arrays_of_all_types_are_read() {
    let want = values();
    for name in ["f8_big_fortran.npy", "f4.npy.gz"] {
        assert_eq!(file(name).table.values, want, "{name}");
    }
    let near = |a: &f32, b: &f32| (a - b).abs() < 2e-3;
    assert!(file("f2.npy").table.values.iter().zip(&want).all(|(a, b)| near(a, b)));
    let whole = file("i8.npy").table;
    assert_eq!((whole.rows, whole.cols, whole.values[0], whole.values[11]), (4, 3, -6.0, 5.0));
    let yes: Vec<f32> = want.iter().map(|v| f32::from(u8::from(*v > 0.0))).collect();
    assert_eq!(file("bool.npy").table.values, yes);
    let vector = file("vector.npy").table;
    assert_eq!((vector.rows, vector.cols, vector.values[1]), (12, 1, want[4]));

    let one = file("one.npz");
    assert_eq!((one.table.values.as_slice(), one.preview.parts.len()), (want.as_slice(), 4));
    assert_eq!(one.table.ids.as_ref().map(|ids| ids[11].as_str()), Some("cell_11"));
    assert_eq!(text_labels(&one.table.labels[0])[2], "NK, other");
    let packed = file("packed.npz");
    assert_eq!((packed.table.rows, packed.table.cols, packed.preview.constant_columns), (40, 30, 30));
    assert_eq!(text_labels(&packed.table.labels[0])[..4], ["0", "1", "2", "0"]);
}

#[test]
fn arrays_that_cannot_be_read_say_why() {
    for (name, kind, words) in [
        ("object.npy", Kind::Unsupported, "allow_pickle=False"),
        ("complex.npy", Kind::Unsupported, "complex numbers"),
        ("structured.npy", Kind::Unsupported, "records with named fields"),
        ("cube.npy", Kind::Unsupported, "3 dimensions [2, 3, 4]"),
        ("text.npy", Kind::NotANumber, "where labels are asked for"),
        ("several.npz", Kind::Ambiguous, "'X' (12 × 4), 'Y' (6 × 4)"),
    ] {
        let (found, _, message) = common::trouble(&fixture(name));
        assert_eq!(found, kind, "{name}");
        assert!(message.contains(words), "{name}: {message}");
    }
    let several = fixture("several.npz");
    let parts = pollster::block_on(formats::parts(&Bytes::new("file", &several), &mut NoWatch)).unwrap();
    assert_eq!(
        parts.iter().map(|part| (part.name.as_str(), part.rows)).collect::<Vec<_>>(),
        [("X", 12), ("Y", 6)]
    );
    assert_eq!(parts[0].kind, "float64");
    let choice = |part: &str| Choices { part: Some(part.into()), ..Choices::default() };
    assert_eq!(load_with(&fixture("several.npz"), &choice("Y")).unwrap().table.rows, 6);
    assert_eq!(load_with(&fixture("several.npz"), &choice("Z")).unwrap_err().kind, Kind::Mismatch);
}

#[test]
fn choices_are_followed() {
    let bytes = fixture("pandas_gaps.csv");
    let with = |choices: Choices| load_with(&bytes, &choices).unwrap();
    let missing = |missing| with(Choices { missing, ..Choices::default() }).table;
    assert_eq!(missing(MissingChoice::Zero).values[9], 0.0);
    let mean = missing(MissingChoice::Mean);
    let others = (0..12).filter(|row| *row != 2).map(|row| mean.values[row * 4 + 1]).sum::<f32>() / 11.0;
    assert!((mean.values[9] - others).abs() < 1e-6);
    let rows = missing(MissingChoice::DropRows);
    assert_eq!(
        (rows.rows, rows.ids.unwrap().len(), rows.labels[0].codes.len(), rows.values.len()),
        (10, 10, 10, 40)
    );
    let columns = missing(MissingChoice::DropColumns);
    assert_eq!((columns.cols, columns.columns), (2, Some(vec!["height".into(), "depth".into()])));

    let turned = with(Choices { transpose: true, ..Choices::default() }).table;
    assert_eq!(
        (turned.rows, turned.cols, turned.ids.as_deref()),
        (4, 12, Some(&NAMES.map(String::from)[..]))
    );
    assert_eq!(turned.values[1], missing(MissingChoice::Keep).values[4]);
    assert!(turned.labels.is_empty());

    let ignoring = with(Choices { ignore: vec![0, 2], ..Choices::default() }).table;
    assert_eq!((ignoring.cols, ignoring.ids), (3, None));
    let chosen =
        with(Choices { labels: Some(vec![0]), ids: Some(ColumnChoice::None), ..Choices::default() }).table;
    assert_eq!((chosen.cols, chosen.labels.len(), chosen.labels[0].names.len()), (5, 1, 12));
    let plain = Choices {
        header: Some(false),
        delimiter: Some(';'),
        decimal_comma: Some(true),
        ..Choices::default()
    };
    let loaded = load_with(b"1,5;2\n2,5;3\n", &plain).unwrap();
    assert_eq!(loaded.table.values, [1.5, 2.0, 2.5, 3.0]);
    let far = Choices { ignore: vec![99], ..Choices::default() };
    assert_eq!(load_with(&bytes, &far).unwrap_err().kind, Kind::Mismatch);
    assert_eq!(load_with(&fixture("f4.npy"), &far).unwrap_err().kind, Kind::Mismatch);
    let first = Choices { ignore: vec![0], ..Choices::default() };
    assert_eq!(load_with(&fixture("f4.npy"), &first).unwrap().table.cols, 3);
}

#[test]
fn lists_of_labels_and_pairs_are_read() {
    let all = |bytes: &[u8], ids: Option<&[String]>, rows| {
        pollster::block_on(formats::labels(&Bytes::new("list", bytes), ids, rows, &mut NoWatch))
    };
    let labels = |bytes: &[u8], ids: Option<&[String]>, rows| {
        all(bytes, ids, rows).map(|mut listed| listed.labels.remove(0))
    };
    for text in
        ["T cell\nB cell\nT cell\n", "label\nT cell\nB cell\nT cell", "whatever\nT cell\nB cell\nT cell\n"]
    {
        assert_eq!(
            text_labels(&labels(text.as_bytes(), None, 3).unwrap()),
            ["T cell", "B cell", "T cell"],
            "{text}"
        );
    }
    assert_eq!(text_labels(&labels(b"cluster\n2\n1\n2\n", None, 3).unwrap()), ["2", "1", "2"]);
    assert_eq!(text_labels(&labels(b"2\n1\n2\n", None, 3).unwrap()), ["2", "1", "2"]);
    assert_eq!(text_labels(&labels(&fixture("text.npy"), None, 12).unwrap())[2], "NK, other");
    assert_eq!(text_labels(&labels(&fixture("bytes.npy"), None, 12).unwrap())[2], "NK, other");
    let ids = ["a".to_owned(), "b".to_owned()];
    assert_eq!(text_labels(&labels(b"id,kind\nb,2\na,1\nc,3\n", Some(&ids), 2).unwrap()), ["1", "2"]);
    let several = all(b"cell,kind,batch\nb,T,2\na,B,1\n", Some(&ids), 2).unwrap().labels;
    assert_eq!(several.iter().map(|labels| labels.name.as_str()).collect::<Vec<_>>(), ["kind", "batch"]);
    assert_eq!((text_labels(&several[0]), text_labels(&several[1])), (vec!["B", "T"], vec!["1", "2"]));
    let named = all(b"p,T\nq,B\nr,T\n", None, 3).unwrap();
    assert_eq!(text_labels(&named.labels[0]), ["T", "B", "T"]);
    assert_eq!(named.ids.as_deref(), Some(&["p", "q", "r"].map(String::from)[..]), "they name the rows");
    assert_eq!(all(b"1,T\n2,B\n3,T\n", None, 3).unwrap().ids, None, "row numbers are no names");
    assert_eq!(all(b"id,kind\nb,2\nb,1\na,1\n", Some(&ids), 2).unwrap_err().kind, Kind::Duplicate);
    let wrong = labels(b"x\ny\n", None, 4).unwrap_err();
    assert_eq!((wrong.kind, wrong.file.as_str()), (Kind::Mismatch, "list"));
    assert_eq!(labels(b"id,kind\nb,2\n", Some(&ids), 2).unwrap_err().kind, Kind::Mismatch);

    let pairs = |text: &str, ids: Option<&[String]>, n, m| {
        pollster::block_on(formats::pairs(
            &Bytes::new("list", text.as_bytes()),
            ids,
            None,
            n,
            m,
            &mut NoWatch,
        ))
    };
    assert_eq!(pairs("0,2\n1,0\n", None, 3, 3).unwrap().pairs, [(0, 2), (1, 0)]);
    assert_eq!(pairs("x,y\n1,3\n3,1\n", None, 3, 3).unwrap().pairs, [(0, 2), (2, 0)], "counted from 1");
    let guessed = pairs("1 2\n2 1\n", None, 5, 5).unwrap();
    assert_eq!((guessed.pairs, guessed.notes.len()), (vec![(1, 2), (2, 1)], 2));
    assert_eq!(pairs("a,0\nb,1\n", Some(&ids), 2, 2).unwrap().pairs, [(0, 0), (1, 1)]);
    assert_eq!(pairs("first,second\nb,1\na,0\n", Some(&ids), 2, 2).unwrap().pairs, [(1, 1), (0, 0)]);
    for (text, kind, place) in [
        ("0,9\n", Kind::Mismatch, "pair 1"),
        ("0,1\n0,1\n", Kind::Duplicate, "pair 2"),
        ("0,1,2\n1,2,3\n", Kind::Format, ""),
        ("0,1\n-1,2\n", Kind::Mismatch, "pair 2"),
        ("0,1\nq,2\n", Kind::Mismatch, "pair 2"),
    ] {
        let trouble = pairs(text, None, 5, 5).unwrap_err();
        assert_eq!((trouble.kind, trouble.place.as_str()), (kind, place), "{text}");
    }
}

#[test]
fn columns_of_arrays_can_be_labels_or_ids() {
    let bytes = fixture("i8.npy");
    let choices = Choices { labels: Some(vec![2]), ids: Some(ColumnChoice::Column(0)), ..Choices::default() };
    let Loaded { table, preview } = load_with(&bytes, &choices).unwrap();
    assert_eq!((table.cols, table.values), (1, vec![-5.0, -2.0, 1.0, 4.0]));
    assert_eq!(table.ids.unwrap(), ["-6", "-3", "0", "3"]);
    assert_eq!(text_labels(&table.labels[0]), ["-4", "-1", "2", "5"]);
    assert_eq!(
        preview.fields.iter().map(|f| f.role).collect::<Vec<_>>(),
        [Role::Ids, Role::Numbers, Role::Labels]
    );
}

#[test]
fn later_versions_of_arrays_have_longer_lengths() {
    let first = fixture("f4.npy");
    for version in [2, 3] {
        let mut later = first.clone();
        later[6] = version;
        later.splice(10..10, [0, 0]);
        assert_eq!(load(&later).unwrap().table.values, values());
    }
}
