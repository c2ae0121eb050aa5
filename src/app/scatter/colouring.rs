//! What colours mean, and what they can mean where not everything is known.

/// What colours mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colouring {
    Domain,
    /// What a visitor sees who has chosen nothing, wherever there are labels.
    #[default]
    Label,
    Confidence,
    /// Whether a point has a partner.
    Partner,
}

/// What is known of the points of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    pub labels: bool,
    /// How sure matches are; not before there is a result.
    pub confidence: bool,
    /// Which points have no partner; not of every result.
    pub partners: bool,
}

impl Colouring {
    /// The nearest to it that can be shown.
    #[must_use]
    pub fn within(self, known: Known) -> Self {
        match self {
            Self::Confidence if !known.confidence => Self::Label.within(known),
            Self::Partner if !known.partners => Self::Label.within(known),
            Self::Label if !known.labels => Self::Domain,
            shown => shown,
        }
    }

    /// Why it cannot be shown.
    pub fn lacks(self, known: Known) -> Option<&'static str> {
        match self {
            Self::Confidence if !known.confidence => {
                Some("How sure matches are is known when the run is done")
            }
            Self::Partner if !known.confidence => Some("Who has no partner is known when the run is done"),
            Self::Partner if !known.partners => Some("With strict marginals every row is matched in full"),
            Self::Label if !known.labels => Some("There are no labels"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_never_claim_what_is_not_known() {
        use Colouring::{Confidence, Domain, Label, Partner};
        let known = |labels, confidence| Known { labels, confidence, partners: confidence };
        // A result, and a run under way.
        for (known, shown) in [
            (known(true, true), [Domain, Label, Confidence, Partner]),
            (known(true, false), [Domain, Label, Label, Label]),
            (known(false, true), [Domain, Domain, Confidence, Partner]),
            (known(false, false), [Domain, Domain, Domain, Domain]),
            (Known { partners: false, ..known(true, true) }, [Domain, Label, Confidence, Label]),
        ] {
            for (asked, shown) in [Domain, Label, Confidence, Partner].into_iter().zip(shown) {
                assert_eq!(asked.within(known), shown, "{asked:?} with {known:?}");
                assert_eq!(asked.lacks(known).is_some(), asked != shown, "and it is said why");
            }
        }
    }
}
