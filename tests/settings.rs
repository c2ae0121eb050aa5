//! What the form and links take, the worker takes as well: nobody should hear only at the start that a value is refused.
#![cfg(not(target_arch = "wasm32"))]

use analysis::options::{defaults, settings};
use concord::app::options::{FIELDS, Kind, set};
use schema::AlignOptions;

#[test]
fn both_ends_of_every_range_can_be_used() {
    let mut tried = 0;
    for field in FIELDS {
        let ends = match field.kind {
            Kind::Whole(low, high) => [low.to_string(), high.to_string()],
            Kind::Number(low, high) => [low.to_string(), high.to_string()],
            Kind::Choice(_) => continue,
        };
        for end in ends {
            let mut options = AlignOptions { annealing: "constant".into(), ..defaults() };
            assert_eq!(set(&mut options, field.name, &end), Ok(()), "{} {end}", field.name);
            let used = settings(&options);
            assert!(used.is_ok(), "{} {end}: {:?}", field.name, used.err());
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried} values were tried");
}
