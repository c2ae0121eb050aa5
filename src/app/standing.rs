//! What is said about a result that is not, or not quite, that of what is loaded and set now.

use schema::{AlignOptions, Early, Ending};

/// What a result was made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Made {
    /// The data in words, as by [`data`].
    pub of: String,
    /// The settings at the time.
    pub options: AlignOptions,
}

/// What is loaded, in words: a sample, or files by their names.
pub fn data(sample: Option<&str>, files: [Option<String>; 2]) -> String {
    if let Some(title) = sample {
        return format!("the {title} sample");
    }
    match files {
        [Some(x), Some(y)] => format!("{x} and {y}"),
        [Some(one), None] | [None, Some(one)] => one,
        [None, None] => "other data".into(),
    }
}

/// What is going on beside a result that is on show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside<'a> {
    /// A run is under way that will replace it.
    pub running: bool,
    /// The data has changed since.
    pub changed: bool,
    /// What is loaded now, in words.
    pub now: &'a str,
}

/// Why a result is not to be taken for that of what is loaded now.
pub fn remark(of: &str, beside: Beside) -> Option<String> {
    if beside.running {
        return Some(format!(
            "This result is of an earlier run, on {of}. The run under way will replace it when it is done."
        ));
    }
    if !beside.changed {
        return None;
    }
    Some(if of == beside.now {
        format!("This result is of {of} as they were before something was changed. Align to replace it.")
    } else {
        format!("This result is of {of}, not of the files now loaded. Align to replace it.")
    })
}

/// The state of a run that is done, in words.
pub fn done(ending: Option<Ending>) -> String {
    match ending {
        Some(Ending { of: 0, early: Some(Early::Stopped), .. }) => "Stopped early".into(),
        Some(Ending { step, of, early: Some(Early::Stopped) }) => {
            format!("Stopped early, at step {step} of {of}")
        }
        Some(Ending { step, of, early: Some(Early::Converged) }) => {
            format!("Aligned, converged at step {step} of {of}")
        }
        _ => "Aligned".into(),
    }
}

/// What stands before the number of a step.
pub fn before_step(ending: Option<Ending>) -> &'static str {
    match ending.and_then(|ending| ending.early) {
        Some(Early::Stopped) => "stopped at step ",
        Some(Early::Converged) => "converged at step ",
        None => "step ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_of_something_else_says_of_what() {
        let now = data(None, [Some("a.csv".into()), Some("b.npy".into())]);
        assert_eq!(now, "a.csv and b.npy");
        let beside = |running, changed| Beside { running, changed, now: &now };
        let words = data(Some("Words"), [Some("x".into()), None]);
        assert_eq!(remark(&words, beside(false, false)), None);
        assert_eq!(
            remark(&words, beside(false, true)).as_deref(),
            Some("This result is of the Words sample, not of the files now loaded. Align to replace it.")
        );
        let running = remark(&words, beside(true, true)).unwrap_or_default();
        assert!(running.contains("earlier run, on the Words sample"), "{running}");
        let same = remark(&now, beside(false, true)).unwrap_or_default();
        assert!(same.contains("a.csv and b.npy as they were before"), "{same}");
    }

    #[test]
    fn the_end_of_a_training_is_told() {
        let ended = |step, of, asked| done(Some(Ending::new(step, of, asked)));
        assert_eq!(ended(140, 300, true), "Stopped early, at step 140 of 300");
        assert_eq!(ended(288, 300, false), "Aligned, converged at step 288 of 300");
        assert_eq!(ended(300, 300, false), "Aligned");
        assert_eq!((ended(0, 0, true), done(None)), ("Stopped early".into(), "Aligned".into()));
        assert_eq!(before_step(Some(Ending::new(288, 300, false))), "converged at step ");
        assert_eq!(before_step(None), "step ");
    }
}
