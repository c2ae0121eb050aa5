//! How Sinkhorn's steps are lengthened and carried on, judged from how the last ones went.
//!
//! Near its end Sinkhorn's iteration is linear in the potential of the columns: the error in direction k shrinks by
//! some `0 ≤ μ_k ≤ λ < 1`. For such iterations the heavy ball with
//!
//! `α = 4/(1 + √(1−λ))²,  β = ((1 − √(1−λ))/(1 + √(1−λ)))²`
//!
//! shrinks everything by `√β`, which no other choice betters: at λ = 0.99 by 0.82. λ is read off the error: what shrinks
//! by r while α and β are in force has `1 − μ = (1 + β − r − β/r)/α`, as long as `r > √β`. An estimate that is too low
//! only leaves something to gain and shows in the next one. One that is too high, or an iteration not yet linear, shows
//! in a dual value that falls; then the steps count as not taken, and the next ones are Sinkhorn's own, which never
//! lower it.

use super::streamed::{Look, Stride};

/// The largest λ that is acted on.
const MOST: f32 = 0.9995;
/// How much the dual value may fall by rounding.
const SLACK: f32 = 1e-5;
/// How much the error may grow over a stretch: the heavy ball swings before it settles.
const SWING: f32 = 1.5;

/// What becomes of the stretch that was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    GoOn,
    /// As if it had not been: from where it began.
    GoBack,
}

/// The step lengths at one ε.
#[derive(Clone, Debug)]
pub struct Momentum {
    stride: Stride,
    /// λ as estimated.
    slowest: f32,
    /// The largest λ that is acted on, less after every step back.
    most: f32,
}

impl Momentum {
    /// Starts with Sinkhorn's own steps.
    pub fn new(eps: f32) -> Self {
        Self { stride: Stride::plain(eps), slowest: 0.0, most: MOST }
    }

    /// For the next stretch.
    pub fn stride(&self) -> Stride {
        self.stride
    }

    /// Judges a stretch of iterations that began at `before` and chooses the next stride.
    pub fn learn(&mut self, before: Option<Look>, looks: &[Look]) -> Verdict {
        let Some(now) = looks.last() else { return Verdict::GoOn };
        let worse = |before: Look| {
            !(now.dual >= before.dual - SLACK * before.dual.abs().max(1.0)
                && now.error <= SWING * before.error)
        };
        if self.stride.beta > 0.0 && before.is_some_and(worse) {
            self.most = (1.0 - 4.0 * (1.0 - self.slowest.min(self.most))).max(0.0);
            self.stride = Stride::plain(self.stride.eps);
            return Verdict::GoBack;
        }
        // The first half of a stretch still swings from the change of stride.
        let settled = &looks[looks.len() / 2..];
        if let (Some(first), true) = (settled.first(), settled.len() > 1) {
            let rate = (now.error / first.error).powf(1.0 / (settled.len() - 1) as f32);
            self.slowest = self.slowest_from(rate).unwrap_or(self.slowest);
        }
        let root = (1.0 - self.slowest.min(self.most)).sqrt();
        self.stride.alpha = 4.0 / (1.0 + root).powi(2);
        self.stride.beta = ((1.0 - root) / (1.0 + root)).powi(2);
        Verdict::GoOn
    }

    /// λ from the rate at which the error shrinks, where that tells it.
    fn slowest_from(&self, rate: f32) -> Option<f32> {
        let Stride { alpha, beta, .. } = self.stride;
        if !(rate < 1.0 && rate > beta.sqrt()) {
            return None;
        }
        let slowest = 1.0 - (1.0 + beta - rate - beta / rate) / alpha;
        (slowest > 0.0 && slowest < 1.0).then_some(slowest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRETCH: usize = 8;

    /// Plays a linear iteration whose directions shrink by these factors; returns the iterations it took.
    fn play(factors: &[f32], accelerated: bool) -> usize {
        let mut momentum = Momentum::new(1.0);
        let mut at = vec![1.0f32; factors.len()];
        let mut velocity = vec![0.0; factors.len()];
        let mut before = None;
        for stretch in 1..1000 {
            let (kept, stride) = (at.clone(), momentum.stride());
            let mut looks = Vec::new();
            for _ in 0..STRETCH {
                for ((at, v), factor) in at.iter_mut().zip(&mut velocity).zip(factors) {
                    *v = stride.beta * *v - stride.alpha * (1.0 - factor) * *at;
                    *at += *v;
                }
                let error = at.iter().map(|a| a.abs()).sum();
                let dual = -at.iter().zip(factors).map(|(a, factor)| (1.0 - factor) * a * a).sum::<f32>();
                looks.push(Look { error, dual });
            }
            if looks.last().is_some_and(|look| look.error < 1e-4) {
                return stretch * STRETCH;
            }
            if accelerated {
                match momentum.learn(before, &looks) {
                    Verdict::GoOn => before = looks.last().copied(),
                    Verdict::GoBack => at = kept,
                }
            }
        }
        usize::MAX
    }

    #[test]
    fn slow_directions_are_sped_up_as_the_theory_says() {
        // Plain: ln 1e-4 / ln 0.99 = 916. With √β = 0.82: 46, and some to find out.
        let factors = [0.99, 0.9, 0.5, 0.1, 0.0];
        let (plain, fast) = (play(&factors, false), play(&factors, true));
        assert!(plain > 900, "{plain}");
        assert!(fast < 130, "{fast}");
    }

    #[test]
    fn a_fall_of_the_dual_value_is_taken_back() {
        let look = |error, dual| Look { error, dual };
        let mut momentum = Momentum::new(0.1);
        let falling: Vec<Look> = (0..8).map(|k| look(0.98f32.powi(k), -0.5)).collect();
        assert_eq!(momentum.learn(None, &falling), Verdict::GoOn);
        let fast = momentum.stride();
        assert!(fast.beta > 0.3 && fast.alpha > 1.5, "{fast:?}");
        // Also what is not a number.
        for bad in [look(0.5, -0.6), look(5.0, -0.5), look(f32::NAN, -0.5)] {
            let mut momentum = momentum.clone();
            assert_eq!(momentum.learn(falling.last().copied(), &[bad; 8]), Verdict::GoBack);
            assert_eq!(momentum.stride(), Stride::plain(0.1));
            assert_eq!(momentum.learn(falling.last().copied(), &falling), Verdict::GoOn);
            assert!(momentum.stride().beta < fast.beta, "less bold than before");
        }
    }
}
