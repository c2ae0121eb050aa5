//! The project's one source of randomness: small, seeded, the same on every platform.

/// SplitMix64: 64 bits of state, passes BigCrush, and two lines of code.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1), 24 bits.
    pub fn unit(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// A whole number below `n`, which is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next_u64() % n as u64) as usize
    }

    /// `count` different numbers below `n` in random order; all of them if there are no more.
    pub fn sample(&mut self, n: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        let count = count.min(n);
        for i in 0..count {
            let j = i + self.below(n - i);
            all.swap(i, j);
        }
        all.truncate(count);
        all
    }

    /// `len` uniform values in [low, high).
    pub fn fill(&mut self, len: usize, low: f32, high: f32) -> Vec<f32> {
        (0..len).map(|_| self.uniform(low, high)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    /// The first outputs of the published reference implementation for seed 1234567.
    #[test]
    fn matches_the_reference_sequence() {
        let mut rng = Rng::new(1_234_567);
        let got: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(got, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_sample_has_no_repetitions() {
        let mut rng = Rng::new(3);
        let mut seen = [0; 20];
        for _ in 0..1000 {
            let mut sample = rng.sample(20, 5);
            sample.iter().for_each(|&i| seen[i] += 1);
            sample.sort_unstable();
            sample.dedup();
            assert_eq!(sample.len(), 5);
        }
        assert!(seen.iter().all(|&count| (180..320).contains(&count)), "{seen:?}");
        assert_eq!(rng.sample(3, 9).len(), 3);
    }

    #[test]
    fn unit_is_uniform() {
        let mut rng = Rng::new(7);
        let values = rng.fill(20_000, 0.0, 1.0);
        assert!(values.iter().all(|v| (0.0..1.0).contains(v)));
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
    }
}
