//! What colours mean, and what they can mean where not everything is known.

/// What colours mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colouring {
    Domain,
    /// What a visitor sees who has chosen nothing, wherever there are labels.
    #[default]
    Label,
    Confidence,
    /// How much of its row's mass a match gets.
    Share,
    /// Whether a point has a partner.
    Partner,
}

/// What is known of the points of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    pub labels: bool,
    /// What matches get of their rows' mass; not before there is a result.
    pub share: bool,
    /// How sure matches are; not of every result.
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
            Self::Share if !known.share => Self::Label.within(known),
            Self::Partner if !known.partners => Self::Label.within(known),
            Self::Label if !known.labels => Self::Domain,
            shown => shown,
        }
    }

    /// Why it cannot be shown.
    pub fn lacks(self, known: Known) -> Option<&'static str> {
        match self {
            Self::Confidence if !known.share => Some("How sure matches are is known when the run is done"),
            Self::Confidence if !known.confidence => {
                Some("Confidence is measured when a run has trained on these data")
            }
            Self::Share if !known.share => Some("What matches get is known when the run is done"),
            Self::Partner if !known.share => Some("Who has no partner is known when the run is done"),
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
        use Colouring::{Confidence, Domain, Label, Partner, Share};
        let known = |labels, result| Known { labels, share: result, confidence: result, partners: result };
        // A result, and a run under way.
        for (known, shown) in [
            (known(true, true), [Domain, Label, Confidence, Share, Partner]),
            (known(true, false), [Domain, Label, Label, Label, Label]),
            (known(false, true), [Domain, Domain, Confidence, Share, Partner]),
            (known(false, false), [Domain, Domain, Domain, Domain, Domain]),
            (Known { partners: false, ..known(true, true) }, [Domain, Label, Confidence, Share, Label]),
            // A result of encoders that were trained in another run.
            (Known { confidence: false, ..known(true, true) }, [Domain, Label, Label, Share, Partner]),
        ] {
            for (asked, shown) in [Domain, Label, Confidence, Share, Partner].into_iter().zip(shown) {
                assert_eq!(asked.within(known), shown, "{asked:?} with {known:?}");
                assert_eq!(asked.lacks(known).is_some(), asked != shown, "and it is said why");
            }
        }
    }

    #[test]
    fn a_result_without_confidence_says_what_it_takes() {
        let result = Known { labels: true, share: true, ..Known::default() };
        assert!(Colouring::Confidence.lacks(result).is_some_and(|why| why.contains("trained on these data")));
        let before = Colouring::Confidence.lacks(Known::default());
        assert!(before.is_some_and(|why| why.contains("when the run is done")));
    }
}
