//! How long a view of very many points takes, on this machine: drawn, moved, pointed at.

use std::sync::Arc;

use leptos::prelude::*;
use web_sys::HtmlCanvasElement;

use super::cloud::Cloud;
use super::grid::Grid;
use super::linked::Linked;
use super::scene::Scene;
use super::{Colouring, Frame, Span, Zoom};
use crate::app::canvas::{finish, fit_to_screen};
use crate::app::meter::now;
use crate::app::state::Moving;
use crate::app::tally::Tally;

/// Milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// Once, with colours and extent to be found out.
    pub(crate) first: f64,
    /// Moved and zoomed.
    pub(crate) moved: Tally,
    /// Finding the point under the pointer; the first one sorts all points into a grid.
    pub(crate) pointed: Tally,
}

/// How often each is done.
const TIMES: u32 = 20;

/// Draws this many made-up points, half of them on each side.
pub(crate) fn measure(canvas: &HtmlCanvasElement, points: usize) -> Option<Measured> {
    let ratio = fit_to_screen(canvas)?;
    let linked = Linked::new();
    linked.colouring.set(Colouring::Label);
    let moving = Arc::new(made_up(points / 2));
    let mut measured = Measured::default();
    let start = now();
    let mut scene = Scene::new(Cloud::Moving(moving.clone()));
    scene.draw(canvas, &Zoom::default(), linked, ratio);
    finish(canvas);
    measured.first = now() - start;
    for step in 0..TIMES {
        let start = now();
        let zoom = Zoom::default().about((0.4, 0.6), 1.0 + 0.02 * f64::from(step)).moved((0.01, 0.0));
        scene.draw(canvas, &zoom, linked, ratio);
        finish(canvas);
        measured.moved.add(now() - start);
    }
    let span = Span::of(&[&moving.x, &moving.y]);
    let frame = Frame::around(&span, canvas.width().into(), canvas.height().into(), 0.0);
    let mut grid = None;
    for step in 0..TIMES {
        let start = now();
        let grid = grid.get_or_insert_with(|| Grid::new(&moving.x));
        let at = (f64::from(canvas.width() * step / TIMES), f64::from(canvas.height()) / 2.0);
        std::hint::black_box(grid.nearest(&frame, &moving.x, at, 12.0 * ratio));
        measured.pointed.add(now() - start);
    }
    Some(measured)
}

/// Lumps along a spiral, the same every time.
fn made_up(each: usize) -> Moving {
    let share = |i: usize, step: f64| (i as f64 * step).fract() as f32;
    let cloud = |shift: f32| -> Vec<f32> {
        (0..each)
            .flat_map(|i| {
                let (turn, spread) = (9.0 * share(i, 0.618_034), share(i, 0.754_878) + share(i, 0.569_840));
                let radius = 1.0 + turn + spread;
                [radius * (turn + shift).cos(), radius * (turn + shift).sin()]
            })
            .collect()
    };
    let labels: Vec<f32> = (0..each).map(|i| (36.0 * share(i, 0.618_034)).floor()).collect();
    Moving { x: cloud(0.0), y: cloud(0.2), x_labels: labels.clone(), y_labels: labels, ..Moving::default() }
}
