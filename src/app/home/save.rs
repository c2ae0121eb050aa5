//! Pictures to take away: every view, chart and plan as SVG or PNG, made in the page of what it shows.
#![allow(unreachable_pub)] // The component macro makes public items.

use std::sync::Arc;

use js_sys::{Array, Uint8Array};
use leptos::prelude::*;
use web_sys::{Blob, BlobPropertyBag, Url};

use super::told;
use super::toolbar::coded;
use super::training::Curve;
use crate::app::axis::Axis;
use crate::app::canvas::{is_dark, theme_rgb};
use crate::app::figure::pen::Shape;
use crate::app::figure::{self, Content, Curves, Figure, Mark, Plan, Points, Scheme, file_name, svg::svg};
use crate::app::palette;
use crate::app::scatter::{Cloud, Colouring, Linked};
use crate::app::state::{Shown, State};
use schema::{Failure, Recovery, Side};

/// What can be taken away as a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Picture {
    Alone(Side),
    Aligned,
    Compared,
    Curve(Curve),
    Plan,
    Closer,
}

const ALL: [Picture; 10] = [
    Picture::Alone(Side::X),
    Picture::Alone(Side::Y),
    Picture::Aligned,
    Picture::Compared,
    Picture::Curve(Curve::Loss),
    Picture::Curve(Curve::Eps),
    Picture::Curve(Curve::Marginal),
    Picture::Curve(Curve::Entropy),
    Picture::Plan,
    Picture::Closer,
];

/// At most so many lines between matches, as on the page.
const LINES: usize = 300;

impl Picture {
    /// Its name for automation, and at the end of the names of files.
    fn name(self) -> &'static str {
        match self {
            Self::Alone(Side::X) => "x",
            Self::Alone(Side::Y) => "y",
            Self::Aligned => "aligned",
            Self::Compared => "compared",
            Self::Curve(curve) => curve.name(),
            Self::Plan => "plan",
            Self::Closer => "closer",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Alone(Side::X) => "X by itself",
            Self::Alone(Side::Y) => "Y by itself",
            Self::Aligned => "X and Y aligned",
            Self::Compared => "X and Y by entropic Gromov-Wasserstein",
            Self::Curve(curve) => curve.title(),
            Self::Plan => "The transport plan",
            Self::Closer => "Closer than the true match",
        }
    }

    /// The figure as things are; nothing where there is nothing to show.
    fn figure(self, state: State, linked: Linked) -> Option<Figure> {
        let scheme = scheme(linked);
        let of = state.results.made.with_untracked(|made| made.of.clone());
        let title = self.title().to_owned();
        let shown = || untrack(|| state.results.shown());
        match self {
            Self::Alone(side) => {
                let shown = shown()?;
                let summary = told::alone(&shown, side);
                Some(view(self, Cloud::Alone(shown, side), (of, summary), linked, scheme))
            }
            Self::Aligned => {
                let shown = shown()?;
                let summary = told::aligned(&shown);
                Some(view(self, Cloud::Aligned(shown), (of, summary), linked, scheme))
            }
            Self::Compared => {
                let shown = state.results.compared.get_untracked()?;
                let summary = told::aligned(&shown);
                Some(view(self, Cloud::Aligned(shown), (of, summary), linked, scheme))
            }
            Self::Curve(curve) => state.run.history.with_untracked(|history| {
                let named = curve.named(history);
                let colour = |at: usize| palette::label(at as f32, scheme.dark);
                let lines = named.iter().enumerate().map(|(at, (_, values))| figure::Curve {
                    values: values.to_vec(),
                    colour: colour(at),
                    dashed: false,
                });
                let legend = named.iter().enumerate().map(|(at, (name, _))| Mark {
                    shape: Shape::Line,
                    colour: colour(at),
                    name: (*name).to_owned(),
                });
                (!named.is_empty()).then(|| Figure {
                    title,
                    about: format!("Training of the networks on {of}"),
                    summary: told::curve(history, curve),
                    legend: legend.collect(),
                    notes: String::new(),
                    content: Content::Curves(Curves {
                        lines: lines.collect(),
                        steps: history.steps,
                        across: "training step",
                        axis: curve.axis(),
                    }),
                    scheme,
                })
            }),
            Self::Plan => {
                let shown = shown().filter(|shown| !shown.plan.is_empty())?;
                let (n, m) = (shown.outcome.n, shown.outcome.m);
                Some(Figure {
                    title,
                    about: format!(
                        "{of}: rows are {n} points of X, columns {m} points of Y, both in the order of the aligned view"
                    ),
                    summary: told::plan(&shown),
                    legend: Vec::new(),
                    notes: told::figures(&shown),
                    content: Content::Plan(Plan {
                        side: shown.outcome.picture as usize,
                        values: shown.plan.clone(),
                    }),
                    scheme,
                })
            }
            Self::Closer => {
                let shown = shown().filter(|shown| !shown.curve.is_empty())?;
                Some(closer(&shown, state.results.compared.get_untracked(), title, of, scheme))
            }
        }
    }
}

/// The colours of the page, or those for paper.
fn scheme(linked: Linked) -> Scheme {
    if !linked.as_shown.get_untracked() {
        return Scheme::PRINT;
    }
    Scheme {
        ground: theme_rgb("--ground"),
        ink: theme_rgb("--ink"),
        soft: theme_rgb("--ink-soft"),
        line: theme_rgb("--line"),
        accent: theme_rgb("--accent"),
        sides: ["--x", "--y"].map(theme_rgb),
        dark: is_dark(),
    }
}

fn view(
    picture: Picture,
    cloud: Cloud,
    (of, summary): (String, String),
    linked: Linked,
    scheme: Scheme,
) -> Figure {
    let colouring = linked.colouring.get_untracked().within(cloud.known());
    let colours =
        Side::BOTH.map(|side| cloud.colours(side, colouring, scheme.dark, scheme.sides[side.index()]));
    let counts = Side::BOTH.map(|side| cloud.points(side).len() / 2);
    let points = match counts {
        [n, 0] => format!("{n} points of X along its two principal axes"),
        [0, m] => format!("{m} points of Y along its two principal axes"),
        [n, m] => format!("{n} points of X and {m} of Y in the common space"),
    };
    let meaning = match colouring {
        Colouring::Domain => "the data set",
        Colouring::Label => "the label",
        Colouring::Confidence => "how sure the match is",
        Colouring::Share => "the part of the mass that the match gets",
        Colouring::Partner => "whether there is a partner",
    };
    let both = matches!(cloud, Cloud::Aligned(_));
    let joined = match cloud.shown() {
        Some(shown) if both && linked.lines.get_untracked() => {
            let every = shown.matches[0].len().div_ceil(LINES).max(1);
            let rows = (0..shown.matches[0].len()).step_by(every);
            rows.filter_map(|row| Some((row, shown.partner(Side::X, row)?))).collect()
        }
        _ => Vec::new(),
    };
    let selected = linked.selection.get_untracked().map(|chosen| (*chosen).clone()).unwrap_or_default();
    let testid = match picture {
        Picture::Alone(Side::X) => "view-x",
        Picture::Alone(Side::Y) => "view-y",
        Picture::Compared => "view-compared",
        _ => "view-aligned",
    };
    Figure {
        title: picture.title().to_owned(),
        about: format!("{of}: {points}; colours tell {meaning}"),
        summary,
        legend: legend(&cloud, colouring, both, &scheme),
        notes: cloud.shown().filter(|_| both).map(told::figures).unwrap_or_default(),
        content: Content::Points(Points {
            sides: Side::BOTH.map(|side| cloud.points(side).to_vec()),
            colours,
            selected,
            joined,
            zoom: linked.zooms.with_value(|zooms| zooms.get(testid).copied().unwrap_or_default()),
        }),
        scheme,
    }
}

fn legend(cloud: &Cloud, colouring: Colouring, both: bool, scheme: &Scheme) -> Vec<Mark> {
    let mark = |shape, colour, name: &str| Mark { shape, colour, name: name.to_owned() };
    let scale = |names: [&str; 3]| -> Vec<Mark> {
        let colour = |value: f32| palette::confidence(value, scheme.dark);
        let marks = [0.05, 0.5, 0.95].into_iter().zip(names);
        marks.map(|(value, name)| mark(Shape::Disc, colour(value), name)).collect()
    };
    let mut marks: Vec<Mark> = match colouring {
        Colouring::Domain => Vec::new(),
        Colouring::Label => {
            let (named, more) = coded(cloud.label_names().to_vec());
            let colour = |code: usize| palette::label(code as f32, scheme.dark);
            let marks = named.iter().map(|(code, name)| mark(Shape::Disc, colour(*code), name));
            let rest = (more > 0)
                .then(|| mark(Shape::Disc, scheme.ground, &format!("and {more} more, in the same colours")));
            marks.chain(rest).collect()
        }
        Colouring::Partner => [(false, "has a partner"), (true, "no partner")]
            .map(|(none, name)| mark(Shape::Disc, palette::partner(none, scheme.dark), name))
            .to_vec(),
        Colouring::Confidence => scale(["unsure", "in between", "sure"]),
        Colouring::Share => scale(["small", "in between", "large"]),
    };
    let own =
        |side: Side| if colouring == Colouring::Domain { scheme.sides[side.index()] } else { scheme.soft };
    if both || colouring == Colouring::Domain {
        for (side, shape) in [(Side::X, Shape::Disc), (Side::Y, Shape::Diamond)] {
            if !cloud.points(side).is_empty() {
                marks.push(mark(shape, own(side), &format!("data set {}", side.letter().to_uppercase())));
            }
        }
    }
    marks
}

/// The curve behind FOSCTTM, beside chance and the comparison.
fn closer(shown: &Shown, compared: Option<Arc<Shown>>, title: String, of: String, scheme: Scheme) -> Figure {
    let count = shown.curve.len();
    let chance: Vec<f32> = (0..count).map(|at| at as f32 / count as f32).collect();
    let mut lines = vec![
        (chance, scheme.soft, true, "chance"),
        (shown.curve.clone(), scheme.accent, false, "this alignment"),
    ];
    if let Some(other) = compared.filter(|other| !other.curve.is_empty()) {
        lines.push((other.curve.clone(), scheme.sides[1], false, "entropic Gromov-Wasserstein"));
    }
    let shape = |dashed: bool| if dashed { Shape::Dashes } else { Shape::Line };
    Figure {
        title,
        about: format!(
            "{of}: for every true pair the share of points that are closer than its partner, sorted"
        ),
        summary: told::closer(shown),
        legend: lines
            .iter()
            .map(|(_, colour, dashed, name)| Mark {
                shape: shape(*dashed),
                colour: *colour,
                name: (*name).to_owned(),
            })
            .collect(),
        notes: told::figures(shown),
        content: Content::Curves(Curves {
            lines: lines
                .into_iter()
                .map(|(values, colour, dashed, _)| figure::Curve { values, colour, dashed })
                .collect(),
            steps: count as u32,
            across: "true pairs",
            axis: Axis::Linear,
        }),
        scheme,
    }
}

/// Hands a file to the browser.
fn hand_over(state: State, name: String, blob: Option<Blob>) {
    match blob.and_then(|blob| Url::create_object_url_with_blob(&blob).ok()) {
        Some(url) => state.saved(name, url),
        None => state.notice.set(Some(Failure {
            message: format!("The browser could not make {name}."),
            hint: "Try the other format, or fewer points.".into(),
            details: String::new(),
            recovery: Recovery::None,
            ways: Vec::new(),
        })),
    }
}

fn blob(bytes: &[u8], kind: &str) -> Option<Blob> {
    let about = BlobPropertyBag::new();
    about.set_type(kind);
    Blob::new_with_u8_array_sequence_and_options(&Array::of1(&Uint8Array::from(bytes)), &about).ok()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Svg,
    Png,
}

fn save(state: State, linked: Linked, picture: Picture, kind: Kind) {
    let Some(figure) = picture.figure(state, linked) else { return };
    let of = state.results.made.with_untracked(|made| made.of.clone());
    match kind {
        Kind::Svg => {
            let name = file_name(&of, picture.name(), "svg");
            hand_over(state, name, blob(svg(&figure).as_bytes(), "image/svg+xml"));
        }
        Kind::Png => {
            let name = file_name(&of, picture.name(), "png");
            figure::canvas::png(&figure, move |blob| hand_over(state, name, blob));
        }
    }
}

/// Every picture that there is, as SVG files in an archive.
pub(super) fn save_all(state: State, linked: Linked) {
    let of = state.results.made.with_untracked(|made| made.of.clone());
    let mut zip = formats::write::zip::Zip::new();
    for picture in ALL {
        if let Some(figure) = picture.figure(state, linked) {
            // Fails only for two files of one name.
            let _ = zip.add(&file_name(&of, picture.name(), "svg"), svg(&figure).as_bytes());
        }
    }
    let bytes = zip.finish().ok();
    hand_over(
        state,
        file_name(&of, "figures", "zip"),
        bytes.and_then(|bytes| blob(&bytes, "application/zip")),
    );
}

/// Two small buttons beside a picture.
#[component]
pub(super) fn Save(state: State, linked: Linked, picture: Picture) -> impl IntoView {
    let button = |kind: Kind, word: &'static str, ending: &'static str| {
        view! {
            <button
                type="button"
                class="quiet tiny"
                data-testid=format!("save-{ending}-{}", picture.name())
                aria-label=format!("Save as {word}: {}", picture.title())
                title=format!("Save this picture as {word}")
                on:click=move |_| save(state, linked, picture, kind)
            >
                {word}
            </button>
        }
    };
    let both = || (button(Kind::Svg, "SVG", "svg"), button(Kind::Png, "PNG", "png"));
    let shown = state.shows("downloads").then(both);
    view! { <span class="save">{shown}</span> }
}
