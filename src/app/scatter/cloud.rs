//! The points of a view, with what they are coloured by and how they are chosen.

use std::sync::Arc;

use super::linked::Selection;
use super::{Colouring, Frame, Known, Rect};
use crate::app::palette;
use crate::app::state::{Moving, Shown};
use schema::Side;

/// The points of a view.
#[derive(Clone)]
pub(crate) enum Cloud {
    Nothing,
    /// Both sides while a network is trained.
    Moving(Arc<Moving>),
    /// Both sides in the common space.
    Aligned(Arc<Shown>),
    /// One side by itself.
    Alone(Arc<Shown>, Side),
}

impl Cloud {
    pub(crate) fn points(&self, side: Side) -> &[f32] {
        match self {
            Self::Moving(moving) => [&moving.x, &moving.y][side.index()],
            Self::Aligned(shown) => &shown.aligned[side.index()],
            Self::Alone(shown, only) if *only == side => &shown.alone[side.index()],
            _ => &[],
        }
    }

    /// Whether these are the very same points.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nothing, Self::Nothing) => true,
            (Self::Moving(one), Self::Moving(another)) => Arc::ptr_eq(one, another),
            (Self::Aligned(one), Self::Aligned(another)) => Arc::ptr_eq(one, another),
            (Self::Alone(one, side), Self::Alone(another, other)) => {
                side == other && Arc::ptr_eq(one, another)
            }
            _ => false,
        }
    }

    fn labels(&self, side: Side) -> &[f32] {
        match self {
            Self::Moving(moving) => [&moving.x_labels, &moving.y_labels][side.index()],
            Self::Aligned(shown) | Self::Alone(shown, _) => &shown.labels[side.index()],
            Self::Nothing => &[],
        }
    }

    /// The names of labels by their codes, which both sides share.
    pub(crate) fn label_names(&self) -> &[String] {
        let [x, y] = match self {
            Self::Moving(moving) => &*moving.names,
            Self::Aligned(shown) | Self::Alone(shown, _) => &shown.outcome.labels,
            Self::Nothing => return &[],
        };
        if x.names.len() >= y.names.len() { &x.names } else { &y.names }
    }

    /// What colours can mean.
    pub(crate) fn known(&self) -> Known {
        let labels = Side::BOTH.iter().any(|side| !self.labels(*side).is_empty());
        let shown = self.shown();
        let partners = shown.is_some_and(|shown| shown.lonely.iter().any(|side| !side.is_empty()));
        let confidence = shown.is_some_and(|shown| shown.confidence.iter().any(|side| !side.is_empty()));
        Known { labels, share: shown.is_some(), confidence, partners }
    }

    pub(crate) fn shown(&self) -> Option<&Shown> {
        match self {
            Self::Aligned(shown) | Self::Alone(shown, _) => Some(shown),
            _ => None,
        }
    }

    /// The colour of every point of a side; `plain` is that of the side.
    pub(crate) fn colours(
        &self,
        side: Side,
        colouring: Colouring,
        dark: bool,
        plain: palette::Rgb,
    ) -> Vec<palette::Rgb> {
        let count = self.points(side).len() / 2;
        let colouring = colouring.within(self.known());
        let values: &[f32] = match colouring {
            Colouring::Domain => &[],
            Colouring::Label => self.labels(side),
            Colouring::Confidence => self.shown().map_or(&[], |shown| &shown.confidence[side.index()]),
            Colouring::Share => self.shown().map_or(&[], |shown| &shown.share[side.index()]),
            Colouring::Partner => self.shown().map_or(&[], |shown| &shown.lonely[side.index()]),
        };
        if values.len() < count {
            return vec![plain; count];
        }
        let colour = |value: &f32| match colouring {
            Colouring::Confidence | Colouring::Share => palette::confidence(*value, dark),
            Colouring::Partner => palette::partner(*value > 0.0, dark),
            _ => palette::label(*value, dark),
        };
        values.iter().take(count).map(colour).collect()
    }

    /// Points and their matches inside a rectangle of the canvas.
    pub(super) fn select(&self, frame: &Frame, rect: &Rect) -> Option<Selection> {
        let shown = self.shown()?;
        let sizes = [shown.outcome.n as usize, shown.outcome.m as usize];
        let mut chosen = sizes.map(|size| vec![false; size]);
        for side in Side::BOTH {
            let inside = frame.inside(self.points(side), rect);
            for row in inside.iter().enumerate().filter(|(_, inside)| **inside).map(|(row, _)| row) {
                mark(&mut chosen[side.index()], Some(row));
                mark(&mut chosen[1 - side.index()], shown.partner(side, row));
            }
        }
        chosen.iter().flatten().any(|chosen| *chosen).then(|| Arc::new(chosen))
    }
}

fn mark(chosen: &mut [bool], row: Option<usize>) {
    if let Some(place) = row.and_then(|row| chosen.get_mut(row)) {
        *place = true;
    }
}
