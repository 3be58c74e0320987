//! Sixteen bytes that tell models apart, so that a certificate or a checkpoint of another one is named as such,
//! and checksums by the same steps. They tell accidents; they are no defence against forgery.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{Model, Objective, Storage};
use crate::lanes::dispatch;

/// Independent streams of multiply–rotate steps: each is one-to-one in the word it takes in, so that
/// a single changed word of a piece never goes unseen there. There are enough of them to keep up with memory.
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

    /// Streams are taken into each other in pairs, a half into the other, down to two.
    fn finish(mut self) -> u128 {
        let mut half = LANES / 2;
        while half > 1 {
            let (into, from) = self.lanes.split_at_mut(half);
            for (into, from) in into.iter_mut().zip(from) {
                *into = Mixer::step(*into ^ *into >> 31, *from);
            }
            half /= 2;
        }
        let [one, other] = [self.lanes[0], self.lanes[1]].map(|h| h ^ h >> 29);
        let [high, low] = [Mixer::step(one, other), Mixer::step(other, one)].map(|h| h ^ h >> 31);
        u128::from(high) << 64 | u128::from(low)
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

/// Entries of a piece, about: they stay in the caches for whoever reads them next.
const ENTRIES: usize = 1 << 15;

impl Model {
    /// A number that depends on all that the model says but names; different models have the same one
    /// by accident only.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint_at(self.discount)
    }

    /// Of the same model with this discount factor.
    pub(crate) fn fingerprint_at(&self, discount: f64) -> u128 {
        let pieces: Vec<u128> = self.pieces().map(|states| self.fingerprint_of(states)).collect();
        self.whole_fingerprint(&pieces, discount)
    }

    /// Runs of states whose rows have fingerprints of their own.
    pub(crate) fn pieces(&self) -> impl ExactSizeIterator<Item = Range<usize>> + Clone + use<> {
        let states = self.states();
        let each = (ENTRIES as f64 * states as f64 / self.transitions().max(1) as f64) as usize;
        let each = each.clamp(1, states.max(1));
        (0..states.div_ceil(each)).map(move |k| k * each..states.min((k + 1) * each))
    }

    /// Of the transitions of some states.
    pub(crate) fn fingerprint_of(&self, states: Range<usize>) -> u128 {
        let mut mixer = Mixer::new();
        let rows = self.state_ptr[states.start]..self.state_ptr[states.end];
        let span = match rows.is_empty() {
            true => 0..0,
            false => self.span(rows.start).start..self.span(rows.end - 1).end,
        };
        if let Storage::Sparse { next, .. } = &self.storage {
            let lengths: Vec<usize> = rows.map(|r| self.span(r).len()).collect();
            mixer.words(&lengths, |x| x as u64);
            mixer.words(&next[span.clone()], u64::from);
        }
        mixer.numbers(&self.prob[span.clone()]);
        mixer.numbers(self.transition_cost.as_ref().map_or(&[], |more| &more[span.clone()]));
        for bound in self.bounds.iter().flatten() {
            mixer.numbers(&bound[span.clone()]);
        }
        mixer.finish()
    }

    /// From those of all pieces, with this discount factor.
    pub(crate) fn whole_fingerprint(&self, pieces: &[u128], discount: f64) -> u128 {
        let mut mixer = Mixer::new();
        mixer.numbers(&[discount]);
        mixer.words(&[self.objective == Objective::MaxReward], u64::from);
        mixer.words(&[matches!(self.storage, Storage::Sparse { .. })], u64::from);
        mixer.words(&self.state_ptr, |x| x as u64);
        mixer.words(pieces, |x| x as u64);
        mixer.words(pieces, |x| (x >> 64) as u64);
        mixer.numbers(&self.cost);
        mixer.words(&[self.transition_cost.is_some(), self.initial.is_some()], u64::from);
        mixer.numbers(self.initial.as_deref().unwrap_or(&[]));
        mixer.finish()
    }
}

/// A checksum of bytes by the same steps.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let mut mixer = Mixer::new();
    let (words, last) = bytes.as_chunks::<8>();
    mixer.words(words, u64::from_le_bytes);
    mixer.words(last, u64::from);
    mixer.finish() as u64
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn every_bit_and_length_counts() {
        let bytes: Vec<u8> = (0..29).collect();
        for i in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[i / 8] ^= 1 << (i % 8);
            assert_ne!(checksum(&other), checksum(&bytes), "bit {i}");
        }
        assert!((0..29).all(|n| checksum(&bytes[..n]) != checksum(&bytes)));
    }
}
