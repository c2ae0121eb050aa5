//! What lies between a person's files and the solver: settings by their names, tables made ready, results made fit to be
//! looked at and taken away. The same on every platform, so that it is tested natively; the worker only adds messages.

pub mod compare;
pub mod estimate;
mod evidence;
pub mod figures;
pub mod findings;
pub mod labels;
pub mod model;
pub mod new_rows;
pub mod options;
pub mod outcome;
pub mod pace;
pub mod prepare;
mod readme;
pub mod recall;
pub mod room;
pub mod rows;
mod strangers;
pub mod subject;
pub mod take_away;
pub mod view;
