//! A 64-bit digest that tells accidental changes: every step is one to one in the state and in the
//! word, so that no change of a single word can go unseen. It is no defence against forgery.

#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn new() -> Digest {
        Digest(0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn word(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
        self.0 = mixed ^ mixed >> 32;
    }

    pub(crate) fn numbers(&mut self, numbers: &[f64]) {
        self.word(numbers.len() as u64);
        numbers.iter().for_each(|x| self.word(x.to_bits()));
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.word(u64::from(*byte)));
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn every_bit_and_length_counts() {
        let of = |bytes: &[u8]| {
            let mut digest = Digest::new();
            digest.bytes(bytes);
            digest.value()
        };
        let bytes: Vec<u8> = (0..29).collect();
        for i in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[i / 8] ^= 1 << (i % 8);
            assert_ne!(of(&other), of(&bytes), "bit {i}");
        }
        assert!((0..29).all(|n| of(&bytes[..n]) != of(&bytes)));
    }
}
