//! The choice among scored candidates, and what speaks against it.

use super::scorer::Scorer;
use super::{Alignment, Candidate};
use crate::procedure::control::Failure;

/// Rank agreements this close, relative to the best, count as nearly the same where there is nothing else to compare.
const CLOSE: f64 = 0.03;
/// What a linear map may score less than networks that it expresses.
const SIMPLER: f64 = 0.05;
/// Networks learn to agree in rank, and agree better than they should. They are taken only if they leave at most this
/// share of the disagreement that the best linear map leaves.
const LEFT: f64 = 0.65;
/// Scores this close count as the same: a symmetry leaves less, and two different alignments seldom meet.
const TIED: f64 = 0.005;
/// Matches that lie this far apart in rank on average are clearly different; unrelated ones are half.
const DIFFERENT: f64 = 0.25;
/// Nuclear norms this close do not decide between two different alignments: of 17 real pairs the 6 with a larger margin
/// were right, of the 11 with a smaller one 2.
const MARGIN: f64 = 0.01;

impl Alignment {
    /// Of a single candidate.
    pub(super) fn only(candidate: Candidate) -> Self {
        Self {
            candidates: vec![candidate],
            rival: None,
            alternatives: Vec::new(),
            skewness: None,
            margin: None,
        }
    }

    pub fn best(&self) -> &Candidate {
        &self.candidates[0]
    }
}

impl Scorer<'_> {
    /// Chooses, and finds what speaks against the choice.
    pub(in crate::procedure) fn choose(&self, mut candidates: Vec<Candidate>) -> Result<Alignment, Failure> {
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
        let Some(chosen) = self.chosen(&candidates) else {
            return Err(Failure::Input("No candidate was asked for: choose at least one encoder.".into()));
        };
        candidates[..=chosen].rotate_right(1);
        for i in 1..candidates.len() {
            candidates[i].difference = self.difference(&candidates[0], &candidates[i]);
        }
        let best = &candidates[0];
        let different = |other: &&Candidate| self.difference(best, other) > DIFFERENT;
        let norm = |other: &Candidate| other.scores.nuclear_norm;
        let margin = norm(best).and_then(|own| {
            let others = candidates.iter().filter(different).filter_map(norm);
            others.max_by(f64::total_cmp).map(|other| own - other)
        });
        let mut alternatives: Vec<usize> = Vec::new();
        for (i, other) in candidates.iter().enumerate().skip(1) {
            let new = alternatives.iter().all(|&a| self.difference(&candidates[a], other) > DIFFERENT);
            if new && different(&other) && self.speaks_against(&candidates, other) {
                alternatives.push(i);
            }
        }
        let rival = alternatives.first().copied();
        Ok(Alignment { candidates, rival, alternatives, skewness: None, margin })
    }

    /// Adds a map that leaves out a group and has shown that it is better for the rest. It takes the place of another map;
    /// beside networks it is offered, if it is clearly different. Scores between all rows do not decide here: rows without a partner count
    /// against whoever leaves them out.
    pub(in crate::procedure) fn beside(&self, mut alignment: Alignment, mut without: Candidate) -> Alignment {
        let best = alignment.best();
        without.difference = self.difference(best, &without);
        let different = without.difference > DIFFERENT;
        // Networks were taken because no map says what they say.
        if best.scores.nuclear_norm.is_none() {
            if different {
                alignment.alternatives.push(alignment.candidates.len());
                alignment.candidates.push(without);
            }
            return alignment;
        }
        let Alignment { mut candidates, skewness, .. } = alignment;
        candidates.iter_mut().for_each(|other| other.difference = self.difference(&without, other));
        without.difference = 0.0;
        candidates.insert(0, without);
        // What all rows speak for is still there to be seen.
        let alternatives = if different { vec![1] } else { Vec::new() };
        let rival = alternatives.first().copied();
        Alignment { candidates, rival, alternatives, skewness, margin: None }
    }

    /// Whether some score prefers another candidate to the first, or nearly.
    fn speaks_against(&self, candidates: &[Candidate], other: &Candidate) -> bool {
        let best = &candidates[0];
        let reaches = |of: fn(&Candidate) -> Option<f64>, less: f64| {
            of(best).zip(of(other)).is_some_and(|(best, other)| other >= best - less)
        };
        let linear = best.scores.nuclear_norm.is_some() && other.scores.nuclear_norm.is_some();
        // A map's score may be of rows that were held back, and a network's is not of the same ones.
        let of = |candidate: &Candidate| match best.origin.encoder() == other.origin.encoder() {
            true => candidate.score,
            false => candidate.fitted,
        };
        // Between maps the nuclear norm tells more than the rank agreement, which then has to prefer the other.
        let less = if linear { 0.0 } else { CLOSE * of(best).abs() };
        let close = of(other) >= of(best) - less;
        // Networks may score higher than any linear map and yet all have come to the same side of a symmetry. So
        // the others are also compared with candidates of their own kind that agree with the best.
        let tied_with_ally = candidates.iter().any(|ally| {
            ally.origin.encoder() == other.origin.encoder()
                && other.score >= ally.score - TIED * ally.score.abs()
                && self.difference(best, ally) <= DIFFERENT
                && self.difference(ally, other) > DIFFERENT
        });
        close
            || tied_with_ally
            || reaches(|c| c.scores.nuclear_norm, MARGIN)
            || reaches(|c| c.scores.third_moment, 0.0)
    }

    /// Whether a map says the same as networks, nearly as well.
    pub(in crate::procedure) fn expresses(&self, map: &Candidate, network: &Candidate) -> bool {
        map.fitted >= network.fitted - SIMPLER * network.fitted.abs()
            && self.difference(network, map) <= DIFFERENT
    }

    /// The place of the candidate that is taken.
    fn chosen(&self, candidates: &[Candidate]) -> Option<usize> {
        let place = |wanted: &dyn Fn(&Candidate) -> Option<f64>| {
            let scored = candidates.iter().enumerate().filter_map(|(i, c)| Some((i, wanted(c)?)));
            scored.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
        };
        let network = place(&|c| c.scores.nuclear_norm.is_none().then_some(c.score));
        let Some(linear) = place(&Candidate::strength) else { return network };
        let Some(network) = network else { return Some(linear) };
        // Networks that a linear map expresses compete through it: it has far fewer parameters to be wrong with.
        let left = |at: usize| 1.0 - candidates[at].fitted;
        let taken = !candidates[network].expressed && left(network) <= LEFT * left(linear);
        Some(if taken { network } else { linear })
    }
}

impl Candidate {
    /// By what linear maps are chosen: the nuclear norm, and where pairs are known, as much how well they agree.
    fn strength(&self) -> Option<f64> {
        let norm = self.scores.nuclear_norm?;
        Some(self.scores.known_pairs.map_or(norm, |pairs| 0.5 * (norm + pairs)))
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::super::{Origin, Scores, Start};
    use super::*;
    use crate::geometry::Dense;
    use crate::geometry::panel::{Distance, Measure};
    use crate::procedure::{LossChoice, NoControl, Settings, Sides};
    use crate::solver::cost::CostKind;
    use crate::solver::infer::Encoders;
    use compute::rng::Rng;

    const ROWS: usize = 80;

    fn origin(network: bool) -> Origin {
        if network {
            let measure = Measure::same(Distance::Euclidean);
            Origin::Network { measure, loss: LossChoice::RankGw, subsample: 0 }
        } else {
            Origin::Linear { start: Start::Skew }
        }
    }

    /// A candidate whose matches are moved on by so many rows along a line.
    fn candidate(network: bool, spearman: f64, norm: f64, moved: usize) -> Candidate {
        let scores = Scores {
            spearman,
            nuclear_norm: (!network).then_some(norm),
            third_moment: None,
            known_pairs: None,
        };
        Candidate {
            encoders: Encoders::Embedded { dim: 1, cost: CostKind::Sqm },
            origin: origin(network),
            spearman: vec![spearman],
            score: spearman,
            fitted: spearman,
            expressed: false,
            scores,
            difference: 0.0,
            matches: (0..ROWS).map(|i| (i + moved) % ROWS).collect(),
            error: 0.0,
        }
    }

    fn choose(candidates: Vec<Candidate>) -> Alignment {
        let mut rng = Rng::new(3);
        let mut line = || Dense::from_fn(ROWS, 2, |i, j| if j == 0 { i as f32 } else { rng.unit() });
        let sides = Sides::new(line(), line()).expect("usable");
        let measures = vec![Measure::same(Distance::Euclidean)];
        let settings = Settings { measures, ..Settings::default() };
        let scorer = pollster::block_on(Scorer::new(&sides, &settings, &mut NoControl)).expect("computed");
        scorer.choose(candidates).expect("there are some")
    }

    #[test]
    fn the_nuclear_norm_decides_and_what_ranks_prefer_is_an_alternative() {
        let found = choose(vec![candidate(false, 0.68, 0.71, 40), candidate(false, 0.62, 0.76, 0)]);
        assert_eq!(found.best().scores.spearman, 0.62);
        assert_eq!((found.rival, &found.alternatives[..]), (Some(1), &[1][..]));
        assert!((found.margin.expect("there is another") - 0.05).abs() < 1e-9);
        // The same alignment once more is no alternative, and one that no score prefers is none either.
        let found = choose(vec![
            candidate(false, 0.62, 0.76, 0),
            candidate(false, 0.61, 0.755, 1),
            candidate(false, 0.50, 0.60, 40),
        ]);
        assert_eq!((found.rival, found.alternatives.len()), (None, 0));
        assert!((found.margin.expect("there is another") - 0.16).abs() < 1e-9);
    }

    #[test]
    fn kinds_that_start_from_the_same_confirm_nothing() {
        use Start::{Fused, Noise, Signature, Skew};
        assert!(Fused.is_related(Signature) && Signature.is_related(Fused) && Noise.is_related(Noise));
        assert!(!Fused.is_related(Skew) && !Skew.is_related(Noise) && !Noise.is_related(Signature));
    }

    #[test]
    fn networks_count_where_no_linear_map_says_the_same() {
        let linear = |moved| candidate(false, 0.60, 0.76, moved);
        // A map expresses it, though there is a better one now.
        let expressed = Candidate { expressed: true, ..candidate(true, 0.80, 0.0, 40) };
        let found = choose(vec![expressed, linear(0)]);
        assert_eq!(found.best().scores.nuclear_norm, Some(0.76));
        // Nothing expresses it, and it leaves much less.
        let found = choose(vec![candidate(true, 0.80, 0.0, 40), linear(0)]);
        assert_eq!(found.best().origin.encoder(), "mlp");
        // It leaves hardly less.
        let found = choose(vec![candidate(true, 0.65, 0.0, 40), linear(0)]);
        assert_eq!(found.best().origin.encoder(), "linear");
        assert_eq!(found.rival, Some(1), "and is named");
    }
}
