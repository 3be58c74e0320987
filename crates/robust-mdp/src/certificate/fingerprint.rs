//! Sixteen bytes that tell models apart, so that a certificate for another one is named as such.

use pulp::{Simd, WithSimd};

use crate::lanes::dispatch;
use crate::model::{Model, Objective, Storage};

/// Independent streams of multiply–rotate steps: each is one-to-one in the word it takes in, so that
/// a single changed word never goes unseen. There are enough of them to keep up with memory.
struct Mixer {
    lanes: [u64; LANES],
}

const LANES: usize = 64;
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Mixer {
    fn new() -> Mixer {
        Mixer { lanes: std::array::from_fn(|l| (l as u64 + 1).wrapping_mul(ODD)) }
    }

    #[inline(always)]
    fn step(lane: u64, word: u64) -> u64 {
        (lane.rotate_left(29) ^ word).wrapping_mul(ODD)
    }

    /// Takes in a length and that many words.
    fn words<T: Copy>(&mut self, all: &[T], word: impl Fn(T) -> u64) {
        self.lanes[0] = Mixer::step(self.lanes[0], all.len() as u64);
        dispatch(Words { lanes: &mut self.lanes, all, word });
    }

    fn numbers(&mut self, all: &[f64]) {
        self.words(all, f64::to_bits);
    }

    fn finish(self) -> u128 {
        let fold = |seed: u64| {
            let mixed = self.lanes.iter().fold(seed, |h, &lane| Mixer::step(h ^ h >> 31, lane));
            mixed ^ mixed >> 29
        };
        u128::from(fold(1)) << 64 | u128::from(fold(2))
    }
}

struct Words<'a, T, W> {
    lanes: &'a mut [u64; LANES],
    all: &'a [T],
    word: W,
}

impl<T: Copy, W: Fn(T) -> u64> WithSimd for Words<'_, T, W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Words { lanes, all, word } = self;
        let (full, last) = all.as_chunks::<LANES>();
        let mut own = *lanes;
        for words in full {
            for l in 0..LANES {
                own[l] = Mixer::step(own[l], word(words[l]));
            }
        }
        for (l, &x) in last.iter().enumerate() {
            own[l] = Mixer::step(own[l], word(x));
        }
        *lanes = own;
    }
}

impl Model {
    /// A number that depends on all that the model says but names; different models have the same one
    /// by accident only.
    pub fn fingerprint(&self) -> u128 {
        let mut mixer = Mixer::new();
        mixer.numbers(&[self.discount]);
        mixer.words(&[self.objective == Objective::MaxReward], u64::from);
        mixer.words(&self.state_ptr, |x| x as u64);
        if let Storage::Sparse { next, .. } = &self.storage {
            let ends: Vec<usize> = (0..self.rows()).map(|r| self.span(r).end).collect();
            mixer.words(&ends, |x| x as u64);
            mixer.words(next, u64::from);
        }
        mixer.numbers(&self.prob);
        mixer.numbers(&self.cost);
        for more in [&self.transition_cost, &self.initial] {
            mixer.words(&[more.is_some()], u64::from);
            mixer.numbers(more.as_deref().unwrap_or(&[]));
        }
        mixer.finish()
    }
}

/// A checksum of bytes by the same steps.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let mut mixer = Mixer::new();
    let (words, last) = bytes.as_chunks::<8>();
    mixer.words(words, u64::from_le_bytes);
    mixer.words(last, u64::from);
    mixer.finish() as u64
}
