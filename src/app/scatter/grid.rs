//! Finds the point under the pointer among many: points lie in the cells of a grid, and few cells are looked at.

use super::Frame;

/// Points of one side by the cell they lie in.
#[derive(Clone, Debug)]
pub struct Grid {
    low: (f64, f64),
    /// Cells for each unit of length, along both axes.
    per: (f64, f64),
    /// Cells along each axis.
    side: usize,
    /// Where the rows of each cell begin in `rows`, and one more.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

/// Points in a cell, about.
const CROWD: usize = 4;

impl Grid {
    /// Sorts points (rows of two) into cells; those that are not finite are nowhere.
    pub fn new(points: &[f32]) -> Self {
        let finite = |point: &&[f32]| point[0].is_finite() && point[1].is_finite();
        let bounds = [0, 1].map(|axis| {
            points
                .chunks_exact(2)
                .filter(finite)
                .map(|point| f64::from(point[axis]))
                .fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)))
        });
        let side = ((points.len() / 2 / CROWD) as f64).sqrt().ceil().max(1.0) as usize;
        let per = bounds.map(|(low, high)| side as f64 / (high - low).max(1e-12));
        let mut grid = Self {
            low: (bounds[0].0, bounds[1].0),
            per: (per[0], per[1]),
            side,
            starts: vec![0; side * side + 1],
            rows: Vec::new(),
        };
        // Counted, then placed: no list of lists.
        let cells: Vec<Option<usize>> = points
            .chunks_exact(2)
            .map(|point| {
                let cell = grid.cell(f64::from(point[0]), f64::from(point[1]));
                finite(&point).then(|| cell.1 * side + cell.0)
            })
            .collect();
        cells.iter().flatten().for_each(|cell| grid.starts[cell + 1] += 1);
        for cell in 0..side * side {
            grid.starts[cell + 1] += grid.starts[cell];
        }
        let mut next = grid.starts.clone();
        grid.rows = vec![0; grid.starts[side * side] as usize];
        for (row, cell) in cells.iter().enumerate() {
            if let Some(cell) = cell {
                grid.rows[next[*cell] as usize] = row as u32;
                next[*cell] += 1;
            }
        }
        grid
    }

    /// The column and the row of the cell at a point; the outermost one for points beyond.
    fn cell(&self, x: f64, y: f64) -> (usize, usize) {
        // A negative or undefined number becomes 0.
        let along = |v: f64, low: f64, per: f64| (((v - low) * per) as usize).min(self.side - 1);
        (along(x, self.low.0, self.per.0), along(y, self.low.1, self.per.1))
    }

    /// The point nearest to a place on the canvas, and how far it is; none beyond the reach.
    pub fn nearest(&self, frame: &Frame, points: &[f32], at: (f64, f64), reach: f64) -> Option<(usize, f64)> {
        let ((x, y), far) = (frame.point(at), frame.length(reach));
        let (left, low) = self.cell(x - far, y - far);
        let (right, high) = self.cell(x + far, y + far);
        let mut best: Option<(usize, f64)> = None;
        for line in low..=high {
            let cells = line * self.side + left..line * self.side + right + 1;
            let rows = self.starts[cells.start] as usize..self.starts[cells.end] as usize;
            for &row in &self.rows[rows] {
                let row = row as usize;
                let Some(point) = points.get(2 * row..2 * row + 2) else { continue };
                let (x, y) = frame.place(point[0], point[1]);
                let distance = (x - at.0).hypot(y - at.1);
                if distance <= best.map_or(reach, |(_, nearest)| nearest) {
                    best = Some((row, distance));
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::scatter::{Span, Zoom};

    /// Looks at every point.
    fn plainly(frame: &Frame, points: &[f32], at: (f64, f64), reach: f64) -> Option<f64> {
        let far = points.chunks_exact(2).map(|point| {
            let (x, y) = frame.place(point[0], point[1]);
            (x - at.0).hypot(y - at.1)
        });
        far.filter(|far| *far <= reach).min_by(f64::total_cmp)
    }

    #[test]
    fn the_same_point_is_found_as_by_looking_at_all() {
        // A low-discrepancy cloud with two points far out and one nowhere.
        let mut points: Vec<f32> =
            (0..997).flat_map(|i| [0.618_034, 0.754_878].map(|step| (i as f32 * step).fract())).collect();
        points.extend([-40.0, 7.0, 90.0, -3.0, f32::NAN, 0.5]);
        let (grid, whole) = (Grid::new(&points), Frame::around(&Span::of(&[&points]), 300.0, 200.0, 16.0));
        for zoom in
            [Zoom::default(), Zoom::default().about((0.7, 0.4), 9.0), Zoom::default().about((0.1, 0.1), 0.2)]
        {
            let frame = whole.zoomed(&zoom);
            for i in 0..400 {
                let at = (f64::from(i % 20) * 17.0 - 20.0, f64::from(i / 20) * 13.0 - 30.0);
                for reach in [3.0, 12.0] {
                    let found = grid.nearest(&frame, &points, at, reach);
                    let expected = plainly(&frame, &points, at, reach);
                    assert_eq!(found.map(|(_, far)| far), expected, "{at:?} {reach} {zoom:?}");
                    if let Some((row, far)) = found {
                        let (x, y) = frame.place(points[2 * row], points[2 * row + 1]);
                        assert_eq!((x - at.0).hypot(y - at.1), far);
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_and_equal_points_are_no_trouble() {
        let frame = Frame::around(&Span::of(&[&[]]), 100.0, 60.0, 10.0);
        assert_eq!(Grid::new(&[]).nearest(&frame, &[], (50.0, 30.0), 12.0), None);
        assert_eq!(Grid::new(&[f32::NAN; 2]).nearest(&frame, &[f32::NAN; 2], (50.0, 30.0), 12.0), None);
        let same = [1.5f32; 20];
        let frame = Frame::around(&Span::of(&[&same]), 100.0, 60.0, 10.0);
        assert!(Grid::new(&same).nearest(&frame, &same, (50.0, 30.0), 12.0).is_some());
    }
}
