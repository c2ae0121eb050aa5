//! Curves over the steps of a training, drawn by plotters.

use plotters::coord::ranged1d::ValueFormatter;
use plotters::coord::types::RangedCoordu32;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters_canvas::CanvasBackend;
use web_sys::HtmlCanvasElement;

use super::axis::Axis;
use super::canvas::{context, fit_to_screen, theme_colour};
use super::meter::{Drawing, timed};
use super::thin::thinned;
use super::ticks::tick;

/// One curve: the value of every step, from step 0 on.
pub(crate) struct Line<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) colour: RGBColor,
}

/// More points than these are not told apart.
const POINTS: usize = 1000;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Draws losses on a logarithmic axis against steps `0..steps`.
pub(crate) fn draw_losses(canvas: &HtmlCanvasElement, losses: &[f32], steps: u32) {
    draw_lines(
        canvas,
        &[Line { values: losses, colour: theme_colour("--accent") }],
        steps,
        Axis::Logarithmic,
    );
}

/// Draws curves against steps `0..steps`.
pub(crate) fn draw_lines(canvas: &HtmlCanvasElement, lines: &[Line], steps: u32, axis: Axis) {
    timed(Drawing::Chart, || redraw(canvas, lines, steps, axis));
}

fn redraw(canvas: &HtmlCanvasElement, lines: &[Line], steps: u32, axis: Axis) {
    let Some(ratio) = fit_to_screen(canvas) else { return };
    if let Some(context) = context(canvas) {
        context.clear_rect(0.0, 0.0, canvas.width().into(), canvas.height().into());
    }
    let Some(backend) = CanvasBackend::with_canvas_object(canvas.clone()) else { return };
    // A canvas accepts every drawing command; there is no error to show.
    let _ = draw(backend, lines, steps.max(1), ratio, axis);
}

fn draw(backend: CanvasBackend, lines: &[Line], steps: u32, ratio: f64, axis: Axis) -> Outcome {
    let px = |css: f64| (css * ratio).round() as u32;
    let area = backend.into_drawing_area();
    let mut builder = ChartBuilder::on(&area);
    builder
        .margin_top(px(8.0))
        .margin_right(px(14.0))
        .margin_bottom(px(2.0))
        .x_label_area_size(px(26.0))
        .y_label_area_size(px(54.0));
    let (low, high) = axis.range(lines.iter().map(|line| line.values));
    match axis {
        Axis::Logarithmic => {
            trace(builder.build_cartesian_2d(0..steps, (low..high).log_scale())?, lines, (low, 0.0), ratio)?;
        }
        Axis::Linear => {
            trace(builder.build_cartesian_2d(0..steps, low..high)?, lines, (low, high - low), ratio)?;
        }
    }
    area.present()?;
    Ok(())
}

fn trace<Y>(
    mut chart: ChartContext<'_, CanvasBackend, Cartesian2d<RangedCoordu32, Y>>,
    lines: &[Line],
    (low, span): (f32, f32),
    ratio: f64,
) -> Outcome
where
    Y: Ranged<ValueType = f32> + ValueFormatter<f32>,
{
    let px = |css: f64| (css * ratio).round() as u32;
    let [ink, grid] = ["--ink-soft", "--line"].map(theme_colour);
    let label = |pos| ("sans-serif", px(12.0)).into_font().color(&ink).pos(pos);
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(grid.stroke_width(px(1.0)))
        .axis_style(grid.stroke_width(px(1.0)))
        .set_all_tick_mark_size(px(4.0))
        .x_labels(4)
        .y_labels(4)
        .x_label_style(label(Pos::new(HPos::Center, VPos::Top)))
        .y_label_style(label(Pos::new(HPos::Right, VPos::Center)))
        .y_label_formatter(&|v| tick(*v, span))
        .draw()?;
    let width = px(if lines.len() > 3 { 1.5 } else { 2.0 });
    for line in lines {
        let points = thinned(line.values, POINTS).into_iter();
        let points = points.map(|(step, value)| (step as u32, value.max(low)));
        chart.draw_series(LineSeries::new(points, line.colour.stroke_width(width)))?;
    }
    Ok(())
}
