//! The fields of a run as bytes, in one order for both ways: a structure lists its fields once, and
//! the codec writes them or reads them back.
//!
//! Every number takes eight bytes. Lengths are known from the model before they are read, so that no file
//! can ask for memory. The first thing that does not fit ends the reading; what follows leaves fields as
//! they are, and [`Codec::finish`] tells.

/// Whole numbers above this are not counts of anything.
const LARGEST_COUNT: u64 = 1 << 53;

/// Bytes being written, or read back.
pub(crate) struct Codec<'b> {
    way: Way<'b>,
    wrong: bool,
    /// Sizes of the model that the run is about.
    pub(crate) states: usize,
    pub(crate) rows: usize,
}

enum Way<'b> {
    Out(Vec<u8>),
    In(&'b [u8]),
}

/// A structure that a codec writes and reads back, to the last bit.
pub(crate) trait Snapshot {
    /// Visits all fields that the future depends on.
    fn visit_fields(&mut self, codec: &mut Codec<'_>);
}

impl<'b> Codec<'b> {
    /// A codec that writes behind `bytes`, for a model of this size.
    pub(crate) fn writing(bytes: Vec<u8>, states: usize, rows: usize) -> Codec<'static> {
        Codec { way: Way::Out(bytes), wrong: false, states, rows }
    }

    pub(crate) fn reading(bytes: &'b [u8], states: usize, rows: usize) -> Codec<'b> {
        Codec { way: Way::In(bytes), wrong: false, states, rows }
    }

    pub(crate) fn is_reading(&self) -> bool {
        matches!(self.way, Way::In(_))
    }

    /// Says that what was read does not fit.
    pub(crate) fn refuse(&mut self) {
        self.wrong = true;
    }

    /// What was written.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        match self.way {
            Way::Out(bytes) => bytes,
            Way::In(_) => Vec::new(),
        }
    }

    /// Whether everything fitted and nothing is left.
    pub(crate) fn finish(self) -> bool {
        !self.wrong && matches!(self.way, Way::In([]) | Way::Out(_))
    }

    fn word(&mut self, value: u64) -> Option<u64> {
        match &mut self.way {
            Way::Out(bytes) => {
                bytes.extend_from_slice(&value.to_le_bytes());
                None
            }
            Way::In(bytes) => {
                let word = bytes.split_first_chunk::<8>().filter(|_| !self.wrong);
                if let Some((word, rest)) = word {
                    *bytes = rest;
                    return Some(u64::from_le_bytes(*word));
                }
                self.wrong = true;
                None
            }
        }
    }

    fn whole(&mut self, value: u64, most: u64) -> Option<u64> {
        let read = self.word(value)?;
        if read > most {
            self.wrong = true;
            return None;
        }
        Some(read)
    }

    pub(crate) fn number(&mut self, value: &mut f64) {
        if let Some(bits) = self.word(value.to_bits()) {
            *value = f64::from_bits(bits);
        }
    }

    pub(crate) fn count(&mut self, value: &mut u64) {
        *value = self.whole(*value, LARGEST_COUNT).unwrap_or(*value);
    }

    pub(crate) fn small(&mut self, value: &mut u32) {
        if let Some(read) = self.whole(u64::from(*value), u64::from(u32::MAX)) {
            *value = read as u32;
        }
    }

    /// A size of at most `most`.
    pub(crate) fn size(&mut self, value: &mut usize, most: usize) {
        if let Some(read) = self.whole(*value as u64, most as u64) {
            *value = read as usize;
        }
    }

    pub(crate) fn flag(&mut self, value: &mut bool) {
        if let Some(read) = self.whole(u64::from(*value), 1) {
            *value = read == 1;
        }
    }

    /// As many numbers as there are.
    pub(crate) fn numbers(&mut self, values: &mut [f64]) {
        match &mut self.way {
            Way::Out(bytes) => bytes.extend(values.iter().flat_map(|v| v.to_le_bytes())),
            Way::In(bytes) => {
                let Some((read, rest)) = bytes.split_at_checked(8 * values.len()) else {
                    self.wrong = true;
                    return;
                };
                *bytes = rest;
                let words = read.as_chunks::<8>().0;
                values.iter_mut().zip(words).for_each(|(v, w)| *v = f64::from_le_bytes(*w));
            }
        }
    }

    /// `len` numbers or none.
    pub(crate) fn all_or_none(&mut self, values: &mut Vec<f64>, len: usize) {
        let mut some = !values.is_empty();
        self.flag(&mut some);
        self.resize(values, if some { len } else { 0 });
        self.numbers(values);
    }

    /// At most `most` vectors of `len` numbers.
    pub(crate) fn vectors(&mut self, list: &mut Vec<Vec<f64>>, most: usize, len: usize) {
        let mut count = list.len();
        self.size(&mut count, most);
        if self.is_reading() {
            list.resize_with(count, Vec::new);
        }
        for vector in list {
            self.resize(vector, len);
            self.numbers(vector);
        }
    }

    /// Makes room for what is read, if it can still be there.
    fn resize(&mut self, values: &mut Vec<f64>, len: usize) {
        if let Way::In(bytes) = &self.way {
            match bytes.len() / 8 >= len && !self.wrong {
                true => values.resize(len, 0.0),
                false => self.wrong = true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Fields {
        number: f64,
        count: u64,
        small: u32,
        size: usize,
        flag: bool,
        fixed: [f64; 3],
        optional: Vec<f64>,
        list: Vec<Vec<f64>>,
    }

    impl Snapshot for Fields {
        fn visit_fields(&mut self, codec: &mut Codec<'_>) {
            codec.number(&mut self.number);
            codec.count(&mut self.count);
            codec.small(&mut self.small);
            codec.size(&mut self.size, 9);
            codec.flag(&mut self.flag);
            codec.numbers(&mut self.fixed);
            codec.all_or_none(&mut self.optional, 2);
            codec.vectors(&mut self.list, 3, 2);
        }
    }

    fn written() -> (Fields, Vec<u8>) {
        let mut fields = Fields {
            number: f64::NEG_INFINITY,
            count: 1 << 40,
            small: u32::MAX,
            size: 9,
            flag: true,
            fixed: [-0.0, 1.5, 1e-300],
            optional: vec![1.0, 2.0],
            list: vec![vec![4.0, 5.0], vec![6.0, 7.0]],
        };
        let mut codec = Codec::writing(Vec::new(), 0, 0);
        fields.visit_fields(&mut codec);
        let bytes = codec.into_bytes();
        (fields, bytes)
    }

    #[test]
    fn what_was_written_comes_back() {
        let (fields, bytes) = written();
        let (mut read, mut codec) = (Fields::default(), Codec::reading(&bytes, 0, 0));
        read.visit_fields(&mut codec);
        assert!(codec.finish());
        assert_eq!(read, fields);
        assert!(read.fixed[0].is_sign_negative());
    }

    #[test]
    fn too_little_too_much_and_too_large_are_refused() {
        let (_, bytes) = written();
        let fits = |bytes: &[u8]| {
            let mut codec = Codec::reading(bytes, 0, 0);
            Fields::default().visit_fields(&mut codec);
            codec.finish()
        };
        assert!(fits(&bytes));
        for length in 0..bytes.len() {
            assert!(!fits(&bytes[..length]), "{length}");
        }
        assert!(!fits(&[&bytes[..], &[0]].concat()));
        // The size, the flag, that of `optional` and the length of `list` with their highest byte set.
        for word in [3, 4, 8, 11] {
            let mut large = bytes.clone();
            large[8 * word + 7] = 0x7f;
            assert!(!fits(&large), "{word}");
        }
    }
}
