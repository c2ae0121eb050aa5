//! Pairs of points that somebody has made by hand, with a way back and forth again. Tested natively.

use serde::{Deserialize, Serialize};

/// A point of X and a point of Y that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Row numbers, from 0.
    pub x: u32,
    pub y: u32,
    /// What they are called; empty where that is not known.
    pub names: [String; 2],
}

impl Pair {
    pub fn rows(&self) -> (u32, u32) {
        (self.x, self.y)
    }
}

/// All pairs, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub struct PairList {
    made: Vec<Pair>,
    past: Vec<Vec<Pair>>,
    future: Vec<Vec<Pair>>,
}

impl PairList {
    pub fn all(&self) -> &[Pair] {
        &self.made
    }

    pub fn rows(&self) -> Vec<(u32, u32)> {
        self.made.iter().map(Pair::rows).collect()
    }

    pub fn holds(&self, x: u32, y: u32) -> bool {
        self.made.iter().any(|pair| pair.rows() == (x, y))
    }

    /// Adds a pair, unless it is there. A point may be in several: data sets need not be one to one.
    pub fn add(&mut self, pair: Pair) {
        if !self.holds(pair.x, pair.y) {
            let mut made = self.made.clone();
            made.push(pair);
            self.replace(made);
        }
    }

    pub fn remove(&mut self, x: u32, y: u32) {
        let made = self.made.iter().filter(|pair| pair.rows() != (x, y)).cloned().collect();
        self.replace(made);
    }

    /// Takes other pairs in place of all; this can be undone.
    pub fn replace(&mut self, made: Vec<Pair>) {
        if self.made != made {
            self.past.push(std::mem::replace(&mut self.made, made));
            self.future.clear();
        }
    }

    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }

    pub fn undo(&mut self) {
        if let Some(before) = self.past.pop() {
            self.future.push(std::mem::replace(&mut self.made, before));
        }
    }

    pub fn redo(&mut self) {
        if let Some(after) = self.future.pop() {
            self.past.push(std::mem::replace(&mut self.made, after));
        }
    }

    /// Forgets everything, the way back included: the rows mean something else now. Returns how many there were.
    pub fn forget(&mut self) -> usize {
        std::mem::take(self).made.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(x: u32, y: u32) -> Pair {
        Pair { x, y, names: [format!("x{x}"), String::new()] }
    }

    #[test]
    fn every_change_can_be_taken_back_and_made_again() {
        let mut list = PairList::default();
        list.add(pair(1, 2));
        list.add(pair(3, 4));
        list.add(pair(1, 2));
        assert_eq!(list.rows(), [(1, 2), (3, 4)], "no pair is made twice");
        list.remove(1, 2);
        list.remove(8, 8);
        assert_eq!(list.rows(), [(3, 4)]);
        list.undo();
        assert_eq!(list.rows(), [(1, 2), (3, 4)]);
        list.undo();
        assert_eq!(list.rows(), [(1, 2)]);
        list.redo();
        list.redo();
        assert_eq!(list.rows(), [(3, 4)]);
        assert!(!list.can_redo());
        list.replace(Vec::new());
        list.undo();
        assert_eq!(list.all(), [pair(3, 4)], "names and all");
    }

    #[test]
    fn a_new_pair_ends_what_could_be_made_again() {
        let mut list = PairList::default();
        list.add(pair(1, 2));
        list.undo();
        list.add(pair(5, 6));
        assert!(!list.can_redo());
        list.redo();
        assert_eq!(list.rows(), [(5, 6)]);
    }

    #[test]
    fn what_is_forgotten_does_not_come_back() {
        let mut list = PairList::default();
        list.add(pair(1, 2));
        list.add(pair(1, 3));
        assert_eq!(list.forget(), 2);
        assert!(!list.can_undo());
        list.undo();
        assert!(list.all().is_empty());
    }
}
