//! The generator xoshiro256++ of Blackman and Vigna (ACM Transactions on Mathematical Software
//! 47, 2021), seeded through SplitMix64. The same numbers on every platform.

/// A seeded stream of random numbers; not for cryptography.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xoshiro256 {
    state: [u64; 4],
}

impl Xoshiro256 {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        let mut x = seed;
        Xoshiro256 { state: std::array::from_fn(|_| split_mix(&mut x)) }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform on the multiples of 2⁻⁵³ in [0,1).
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform on 0..n without bias: the high half of a 128-bit product, redrawn while its low
    /// half falls in the short remainder (Lemire, ACM Transactions on Modeling and Computer
    /// Simulation 29, 2019).
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "there is no number below 0 to draw");
        let remainder = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            if product as u64 >= remainder {
                return (product >> 64) as u64;
            }
        }
    }
}

fn split_mix(x: &mut u64) -> u64 {
    *x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *x;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        let mut random = Xoshiro256 { state: [1, 2, 3, 4] };
        let expected = [
            41943041,
            58720359,
            3588806011781223,
            3591011842654386,
            9228616714210784205,
            9973669472204895162,
        ];
        assert_eq!(expected.map(|_| random.next_u64()), expected);
        let mut x = 1477776061723855037;
        let expected = [1985237415132408290, 2979275885539914483, 13511426838097143398u64];
        assert_eq!(expected.map(|_| split_mix(&mut x)), expected);
    }

    #[test]
    fn ranges() {
        let mut random = Xoshiro256::new(7);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[random.below(6) as usize] += 1;
            assert!((0.0..1.0).contains(&random.uniform()));
        }
        // Mean 10000, standard deviation about 91.
        assert!(counts.iter().all(|&c| (9500..10500).contains(&c)), "{counts:?}");
        assert_eq!(random.below(1), 0);
    }
}
