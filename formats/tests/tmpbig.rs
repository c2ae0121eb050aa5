use formats::*;
#[test]
fn big() {
    for n in 1..=6 {
        let b = std::fs::read(format!("/tmp/b{n}.h5")).unwrap();
        let t = std::time::Instant::now();
        match pollster::block_on(h5ad::read(&Bytes::new("x", &b), None, &mut NoWatch)) {
            Ok(r) => {
                let bad = r.table.values.iter().enumerate().filter(|(i, v)| **v != (i % 251) as f32).count();
                eprintln!("{n} {} rows bad {bad} {:?}", r.table.rows, t.elapsed());
            }
            Err(e) => eprintln!("{n} {e}"),
        }
    }
    let b = std::fs::read("/tmp/b7.h5ad").unwrap();
    let t = std::time::Instant::now();
    let r = pollster::block_on(h5ad::read(&Bytes::new("x", &b), None, &mut NoWatch)).unwrap();
    eprintln!(
        "{} {} sum {} {:?} {}",
        r.table.rows,
        r.table.cols,
        r.table.values.iter().map(|v| *v as f64).sum::<f64>(),
        t.elapsed(),
        r.why
    );
}
