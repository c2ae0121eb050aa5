//! The loss curve.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters_canvas::CanvasBackend;
use web_sys::HtmlCanvasElement;

use super::canvas::{context, fit_to_screen, theme_colour};

/// Draws losses on a logarithmic axis against steps `0..steps`.
pub(super) fn draw_losses(canvas: &HtmlCanvasElement, losses: &[f32], steps: u32) {
    let Some(ratio) = fit_to_screen(canvas) else { return };
    if let Some(context) = context(canvas) {
        context.clear_rect(0.0, 0.0, canvas.width().into(), canvas.height().into());
    }
    let Some(backend) = CanvasBackend::with_canvas_object(canvas.clone()) else { return };
    // A canvas accepts every drawing command; there is no error to show.
    let _ = draw(backend, losses, steps.max(1), ratio);
}

fn draw(
    backend: CanvasBackend,
    losses: &[f32],
    steps: u32,
    ratio: f64,
) -> Result<(), Box<dyn std::error::Error>> {
    let px = |css: f64| (css * ratio).round() as u32;
    let [ink, grid, accent] = ["--ink-soft", "--line", "--accent"].map(theme_colour);
    let area = backend.into_drawing_area();
    let (low, high) = decades(losses);
    let label = |pos| ("sans-serif", px(12.0)).into_font().color(&ink).pos(pos);

    let mut chart = ChartBuilder::on(&area)
        .margin_top(px(8.0))
        .margin_right(px(14.0))
        .margin_bottom(px(2.0))
        .x_label_area_size(px(26.0))
        .y_label_area_size(px(50.0))
        .build_cartesian_2d(0u32..steps, (low..high).log_scale())?;
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
        .y_label_formatter(&|v| format_decade(*v))
        .draw()?;
    let points = losses.iter().enumerate().map(|(i, l)| (i as u32, l.max(low)));
    chart.draw_series(LineSeries::new(points, accent.stroke_width(px(2.0))))?;
    area.present()?;
    Ok(())
}

/// Whole decades around all values.
fn decades(losses: &[f32]) -> (f32, f32) {
    let seen = losses.iter().copied().filter(|l| l.is_finite() && *l > 0.0);
    let (low, high) = seen.fold((1e-2f32, 1f32), |(low, high), l| (low.min(l), high.max(l)));
    // A little beyond, so that rounding does not push the outermost labels out of sight.
    (0.98 * 10f32.powf(low.log10().floor()), 1.02 * 10f32.powf(high.log10().ceil()))
}

fn format_decade(value: f32) -> String {
    if value >= 1e-3 { format!("{}", (value * 1e4).round() / 1e4) } else { format!("{value:.0e}") }
}
