//! Files of figures, read back: well-formed, with every point, text and name.

use super::*;
use crate::app::axis::Axis;
use crate::app::figure::{Content, Curve, Curves, Mark, Plan, Points, Scheme, file_name};

/// Reads just enough XML to know that every tag is closed: all elements with their attributes.
fn elements(file: &str) -> Vec<(String, String)> {
    let (mut open, mut found): (Vec<String>, Vec<(String, String)>) = (Vec::new(), Vec::new());
    for piece in file.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("a tag ends");
        assert!(!text.contains('>'), "{text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed in order");
            continue;
        }
        let whole = tag.trim_end_matches('/');
        assert_eq!(whole.matches('"').count() % 2, 0, "{tag}");
        let name = whole.split_whitespace().next().expect("a name").to_owned();
        found.push((name.clone(), whole.to_owned()));
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} stays open");
    found
}

fn count(file: &str, name: &str) -> usize {
    elements(file).iter().filter(|(found, _)| found == name).count()
}

fn figure(content: Content, legend: Vec<Mark>) -> Figure {
    Figure {
        title: "X & Y, <aligned>".into(),
        about: "the Words sample, 3 + 2 points".into(),
        summary: "Three points \u{7}of X.".into(),
        legend,
        notes: "Plan Spearman 0.82 (by chance 0.30)".into(),
        content,
        scheme: Scheme::PRINT,
    }
}

fn points(n: usize, m: usize) -> Points {
    let place = |i: usize, step: f32| (i as f32 * step).fract();
    let cloud = |count: usize| (0..count).flat_map(|i| [place(i, 0.618_034), place(i, 0.754_878)]).collect();
    Points {
        sides: [cloud(n), cloud(m)],
        colours: [vec![[0, 102, 170]; n], vec![[200, 82, 0]; m]],
        joined: vec![(0, 1)],
        ..Points::default()
    }
}

fn mark(shape: Shape, name: &str) -> Mark {
    Mark { shape, colour: [1, 2, 3], name: name.into() }
}

#[test]
fn every_point_is_a_shape_and_every_text_a_text() {
    let legend = vec![mark(Shape::Disc, "animal"), mark(Shape::Diamond, "a \"quoted\" name")];
    let file = svg(&figure(Content::Points(points(3, 2)), legend));
    assert_eq!(count(&file, "circle"), 3 + 1, "the points of X and one of the legend");
    // The ground is a path as well.
    assert_eq!(count(&file, "path"), 2 + 1 + 1);
    assert_eq!(count(&file, "image"), 0);
    for words in [
        "X &amp; Y, &lt;aligned&gt;",
        "animal",
        "a &quot;quoted&quot; name",
        "Plan Spearman 0.82",
        "Words sample",
    ] {
        assert!(file.contains(words), "{words}");
    }
    assert!(file.contains("<desc id=\"summary\">Three points of X.</desc>"), "what XML forbids is left out");
}

#[test]
fn points_beyond_a_zoom_and_those_that_are_nowhere_are_left_out() {
    let mut some = points(5, 0);
    some.sides[0][2] = f32::NAN;
    assert_eq!(count(&svg(&figure(Content::Points(some.clone()), Vec::new())), "circle"), 4);
    some.zoom = crate::app::scatter::Zoom::default().about((0.0, 0.0), 100.0);
    assert_eq!(count(&svg(&figure(Content::Points(some), Vec::new())), "circle"), 0);
}

#[test]
fn what_is_not_selected_is_faint() {
    let mut some = points(4, 0);
    some.selected[0] = vec![true, false, false, false];
    let file = svg(&figure(Content::Points(some), Vec::new()));
    let groups: Vec<String> = elements(&file)
        .into_iter()
        .filter(|(_, tag)| tag.contains("fill-opacity"))
        .map(|(_, tag)| tag)
        .collect();
    assert!(groups.len() == 2 && groups[0].contains("0.12") && groups[1].contains("0.85"), "{groups:?}");
}

#[test]
fn very_many_points_are_one_picture_with_texts_around_it() {
    let file = svg(&figure(Content::Points(points(12_000, 9_000)), vec![mark(Shape::Disc, "animal")]));
    assert_eq!((count(&file, "image"), count(&file, "circle")), (1, 1));
    assert!(file.contains("data:image/png;base64,iVBORw0KGgo") && file.contains(">animal</text>"));
    assert!(file.len() < 3_000_000, "{}", file.len());
}

#[test]
fn curves_have_axes_and_every_curve() {
    let line = |k: f32| Curve {
        values: (0..300).map(|t| k / (1.0 + t as f32)).collect(),
        colour: [9; 3],
        dashed: k > 1.5,
    };
    let curves =
        Curves { lines: vec![line(1.0), line(2.0)], steps: 300, across: "step", axis: Axis::Logarithmic };
    let file = svg(&figure(Content::Curves(curves), Vec::new()));
    let curves =
        file.split("data-part=\"curves\"").nth(1).expect("the part").split("</g>").next().expect("its end");
    assert_eq!(curves.matches("<polyline").count(), 2);
    assert_eq!(curves.matches("stroke-dasharray").count(), 1);
    for words in [">step</text>", ">300</text>", ">0.1</text>", ">1</text>"] {
        assert!(file.contains(words), "{words}");
    }
    elements(&file);
}

#[test]
fn a_plan_is_squares_of_shades() {
    let values = (0..16).map(|i| if i % 5 == 0 { 1.0 } else { 0.0 }).collect();
    let file = svg(&figure(Content::Plan(Plan { side: 4, values }), Vec::new()));
    let plan =
        file.split("data-part=\"plan\"").nth(1).expect("the part").split("</g>").next().expect("its end");
    assert_eq!(plan.matches("<path").count(), 2, "the ground and one shade");
    assert_eq!(plan.matches('M').count(), 1 + 4, "and four squares of it");
    let odd = svg(&figure(Content::Plan(Plan { side: 3, values: vec![1.0; 4] }), Vec::new()));
    assert!(!odd.contains("data-part=\"plan\""), "nothing where the numbers do not fit");
}

#[test]
fn a_long_legend_and_long_texts_wrap_and_make_room() {
    let few = figure(Content::Points(points(3, 2)), vec![mark(Shape::Line, "one")]);
    let mut many = figure(
        Content::Points(points(3, 2)),
        (0..36).map(|i| mark(Shape::Disc, &format!("label {i}"))).collect(),
    );
    assert!(many.size().1 > few.size().1 + 50.0);
    let before = many.size().1;
    many.notes = "figure 0.123 ".repeat(30);
    assert!(many.size().1 > before + 30.0);
    let places: Vec<f64> = elements(&svg(&many))
        .iter()
        .filter(|(name, _)| name == "text")
        .map(|(_, tag)| {
            tag.split("y=\"").nth(1).and_then(|t| t.split('"').next()?.parse().ok()).expect("a place")
        })
        .collect();
    assert!(places.iter().all(|y| *y < many.size().1), "nothing lies below the sheet");
}

#[test]
fn files_say_what_they_are() {
    assert_eq!(file_name("the Words sample", "aligned", "svg"), "the-words-sample_aligned.svg");
    assert_eq!(
        file_name("cells (1).csv and latent.npy", "loss", "png"),
        "cells-1-csv-and-latent-npy_loss.png"
    );
    assert_eq!(file_name("…", "plan", "svg"), "plan.svg");
}

#[test]
fn letters_are_those_of_rfc_4648() {
    for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
        assert_eq!(base64(bytes.as_bytes()), text);
    }
}
