//! What all views have in common: where the pointer is, what is selected, what colours mean.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::prelude::*;

use super::{Colouring, Zoom};
use schema::Side;

/// Which points of X and of Y are selected.
pub(crate) type Selection = Arc<[Vec<bool>; 2]>;

/// What all views have in common.
#[derive(Clone, Copy)]
pub(crate) struct Linked {
    pub(crate) hover: RwSignal<Option<(Side, usize)>>,
    pub(crate) selection: RwSignal<Option<Selection>>,
    /// What colours are to mean, where that is known.
    pub(crate) colouring: RwSignal<Colouring>,
    /// Whether matched pairs are joined by lines.
    pub(crate) lines: RwSignal<bool>,
    /// How near each view is, by its name.
    pub(crate) zooms: StoredValue<BTreeMap<&'static str, Zoom>>,
    /// Whether pictures are saved in the colours of the page, instead of those for paper.
    pub(crate) as_shown: RwSignal<bool>,
}

impl Linked {
    pub(crate) fn new() -> Self {
        Self {
            hover: RwSignal::new(None),
            selection: RwSignal::new(None),
            colouring: RwSignal::default(),
            lines: RwSignal::new(false),
            zooms: StoredValue::default(),
            as_shown: RwSignal::new(false),
        }
    }
}
