//! Buffers and the matrices that live in them.

use super::Elem;

/// Names a buffer of the plan that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufId(pub(super) usize);

impl BufId {
    pub fn index(self) -> usize {
        self.0
    }
}

/// What an executor needs to know to allocate a buffer.
#[derive(Clone, Debug)]
pub struct BufferDesc {
    pub label: &'static str,
    pub elem: Elem,
    /// Number of 32-bit elements.
    pub len: u64,
    /// First contents; empty means zeros.
    pub initial: Vec<f32>,
}

impl BufferDesc {
    pub fn bytes(&self) -> u64 {
        self.len * 4
    }
}

/// A `Copy` handle on a stack of row-major matrices inside one buffer.
///
/// Matrix `b` of the stack starts at element `offset + b·stride`. So the same handle type covers a
/// plain matrix, a weight inside a flat parameter arena, and the same weight of several fits that are
/// trained together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mat {
    pub buf: BufId,
    pub offset: u32,
    pub rows: u32,
    pub cols: u32,
    pub batch: u32,
    pub stride: u32,
}

impl Mat {
    /// Elements of one matrix of the stack.
    pub fn len(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.cols)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same elements of every matrix in the stack, seen with another shape.
    pub fn reshaped(self, rows: u32, cols: u32) -> Mat {
        assert_eq!(self.len(), u64::from(rows) * u64::from(cols), "reshape keeps the number of elements");
        Mat { rows, cols, ..self }
    }
}
