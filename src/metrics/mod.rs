//! How good an alignment is: with the truth ([`truth`]), and without it ([`plan`]); [`report`] has
//! all of it.
//!
//! Nothing here is seen by the solver. A figure means little without its null, the value of an alignment
//! at random, so each says what that is.

pub mod plan;
pub mod report;
pub mod truth;
