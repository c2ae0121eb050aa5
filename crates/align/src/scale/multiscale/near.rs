//! What a solved plan holds, read in one pass over the blocks that matter.

use std::f32::consts::LOG2_E;

use super::blocks::Blocks;
use super::side::Side;
use super::strip::Strip;
use crate::scale::Implicit;

/// For every row of a plan the columns that matter to it. All other entries together hold at most
/// [`Found::left_out`](super::Found::left_out) of the mass.
pub struct Near {
    pub(super) sides: [Side; 2],
    /// The points' numbers in the order of either side.
    pub(super) orders: [Vec<u32>; 2],
    pub(super) blocks: Blocks,
}

/// Some rows of a plan over all columns that matter to them.
pub struct Rows<'a> {
    pub rows: &'a [u32],
    pub cols: &'a [u32],
    /// `log Π`, row by row.
    pub log_mass: &'a [f32],
}

impl Near {
    /// Entries of the plan that are visited.
    pub fn pairs(&self) -> usize {
        self.blocks.pairs(&self.sides[0], &self.sides[1])
    }

    /// Starts a pass over the plan this was found with.
    pub fn visit<'a>(&'a self, plan: &'a Implicit) -> Visit<'a> {
        let [own, offsets] = [0, 1].map(|s| {
            let potential = [&plan.f, &plan.g][s];
            let places = self.orders[s].iter().zip(&self.sides[s].squares);
            places.map(|(&i, square)| (potential[i as usize] - square) * (LOG2_E / plan.eps)).collect()
        });
        Visit {
            near: self,
            eps: plan.eps,
            own,
            offsets,
            leaf: 0,
            done: 0,
            strip: Strip::default(),
            cols: Vec::new(),
            band: Vec::new(),
        }
    }
}

/// A pass over a plan, a few rows at a time, so that whoever reads may look up in between.
pub struct Visit<'a> {
    near: &'a Near,
    eps: f32,
    own: Vec<f32>,
    offsets: Vec<f32>,
    leaf: usize,
    /// Rows that were given.
    done: usize,
    strip: Strip,
    cols: Vec<u32>,
    band: Vec<f32>,
}

impl Visit<'_> {
    /// The next rows; every row comes once, in the order of the tree.
    pub fn next_rows(&mut self) -> Option<Rows<'_>> {
        let [rows, cols] = &self.near.sides;
        if self.done >= rows.len() {
            return None;
        }
        let runs = self.near.blocks.of(self.leaf);
        let range = rows.leaf(self.leaf);
        if self.done == range.start {
            let order = &self.near.orders[1];
            self.cols.clear();
            for run in runs {
                self.cols.extend_from_slice(&order[cols.range(run[0] as usize..run[1] as usize)]);
            }
        }
        let columns = self.strip.gather(cols, &self.offsets, runs);
        let part = self.done..range.end.min(self.done + columns.band(rows.dim));
        columns.products(rows.rows(part.clone()), rows.dim, self.eps, &mut self.band);
        for (row, i) in self.band.chunks_exact_mut(columns.len().max(1)).zip(part.clone()) {
            columns.exponents(row, self.own[i]);
        }
        self.done = part.end;
        self.leaf += usize::from(part.end == range.end);
        Some(Rows { rows: &self.near.orders[0][part], cols: &self.cols, log_mass: &self.band })
    }
}
