//! Where a tooltip is put: beside the point it names, and inside of the view, which cuts off what sticks out.

/// Pixels that are kept to the edge of the view.
const EDGE: f64 = 4.0;

/// The styles `left`, `top` and `transform` of a tooltip for a place in a view of this size. Percentages are of the
/// tooltip's own size, which nobody knows before it is drawn.
pub fn place((x, y): (f64, f64), (width, height): (f64, f64)) -> [String; 3] {
    let along = shift(x, width, 14.0);
    let down = shift(y, height, 11.0);
    [format!("{x}px"), format!("{y}px"), format!("translate({along}, {down})")]
}

/// Away from the nearer edge, and never beyond the other one.
fn shift(at: f64, extent: f64, gap: f64) -> String {
    if at > extent / 2.0 {
        format!("max({:.1}px, calc(-100% - {gap}px))", EDGE - at)
    } else {
        format!("min(calc({:.1}px - 100%), {gap}px)", extent - at - EDGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tooltip_opens_towards_the_middle() {
        let near = place((10.0, 20.0), (300.0, 200.0));
        let inwards = "translate(min(calc(286.0px - 100%), 14px), min(calc(176.0px - 100%), 11px))";
        assert_eq!(near, ["10px", "20px", inwards]);
        let [_, _, far] = place((290.0, 190.0), (300.0, 200.0));
        assert_eq!(far, "translate(max(-286.0px, calc(-100% - 14px)), max(-186.0px, calc(-100% - 11px)))");
    }
}
