//! A row-major matrix in ordinary memory.

/// Points (one a row), distances, plans.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    rows: usize,
    cols: usize,
    data: Vec<f32>,
}

impl Dense {
    /// Panics if `data` does not hold `rows · cols` values.
    pub fn new(rows: usize, cols: usize, data: Vec<f32>) -> Self {
        assert_eq!(data.len(), rows * cols, "a {rows}×{cols} matrix");
        Self { rows, cols, data }
    }

    pub fn from_fn(rows: usize, cols: usize, mut value: impl FnMut(usize, usize) -> f32) -> Self {
        let data = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))).map(|(i, j)| value(i, j)).collect();
        Self { rows, cols, data }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn cols(&self) -> usize {
        self.cols
    }

    pub fn at(&self, i: usize, j: usize) -> f32 {
        self.data[i * self.cols + j]
    }

    pub fn row(&self, i: usize) -> &[f32] {
        &self.data[i * self.cols..][..self.cols]
    }

    pub fn row_mut(&mut self, i: usize) -> &mut [f32] {
        &mut self.data[i * self.cols..][..self.cols]
    }

    /// The chosen rows.
    pub fn picked(&self, rows: &[usize]) -> Self {
        let data = rows.iter().flat_map(|&i| self.row(i)).copied().collect();
        Self { rows: rows.len(), cols: self.cols, data }
    }

    pub fn transposed(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self.at(j, i))
    }

    pub fn data(&self) -> &[f32] {
        &self.data
    }
}
