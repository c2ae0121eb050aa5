//! What a figure is put down with. A figure says what is where; a pen makes vectors or pixels of it.

use crate::app::palette::Rgb;
use crate::app::scatter::Rect;
use crate::app::scatter::raster::Raster;

/// A place on the sheet; the second axis points downwards.
pub type Place = (f64, f64);

/// Which end of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text; its place is on the base line.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    pub text: &'a str,
    pub at: Place,
    pub size: f64,
    pub colour: Rgb,
    pub anchor: Anchor,
    pub bold: bool,
}

/// The shape of a point, or of what a legend explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Disc,
    /// A square on its corner: the sides can be told apart whatever the colours mean.
    Diamond,
    Line,
    Dashes,
}

/// Points that look the same.
#[derive(Clone, Copy, Debug)]
pub struct Dots<'a> {
    pub places: &'a [Place],
    pub shape: Shape,
    pub radius: f64,
    pub colour: Rgb,
    pub opacity: f64,
}

/// A line through some places.
#[derive(Clone, Copy, Debug)]
pub struct Stroke<'a> {
    pub places: &'a [Place],
    pub colour: Rgb,
    pub width: f64,
    pub dashed: bool,
}

pub trait Pen {
    /// What follows belongs together and is called so; nothing of it is seen outside of the area.
    fn begin(&mut self, part: &str, clip: Option<&Rect>);
    fn end(&mut self);
    fn fill(&mut self, areas: &[Rect], colour: Rgb);
    fn stroke(&mut self, stroke: &Stroke);
    fn dots(&mut self, dots: &Dots);
    fn words(&mut self, words: &Words);
    /// A picture made of pixels, to fill an area.
    fn picture(&mut self, area: &Rect, picture: &Raster);
}

/// A diamond that covers as much as a disc of the radius 1 reaches so far.
pub const DIAMOND: f64 = 1.25;
