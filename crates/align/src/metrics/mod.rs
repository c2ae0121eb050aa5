//! How good an alignment is: with the truth ([`truth`]), and without it ([`plan`]); [`report`] has
//! all of it, from what [`readout`] has gathered in one pass over a plan. [`exactness`] is about how the plan was found.
//!
//! Nothing here is seen by the solver. A figure means little without its null, the value of an alignment
//! at random, so each says what that is.

pub mod exactness;
pub mod plan;
pub mod readout;
pub mod report;
pub mod retained;
pub mod truth;
