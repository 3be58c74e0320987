//! Rows of the chain P^{x,y} = Σ_a x_a·y_a as sweeps fill them: plain slices, cut at state boundaries.

use std::ops::Range;

use super::tail::Tail;

/// Rows of the collapsed chain P^{x,y}; empty in sweeps that build none.
#[derive(Default)]
pub(crate) struct ChainRows<'a> {
    pub(crate) entries: &'a mut [f64],
    /// Where rows are neither dense nor a band.
    pub(crate) columns: &'a mut [u32],
    /// Room for one tail a row of the state; empty in chains without tails.
    pub(crate) tails: &'a mut [Tail],
    /// How many states on either side rows have, where they are a band.
    pub(crate) band: Option<usize>,
}

impl ChainRows<'_> {
    /// Starts one state's row anew.
    pub(crate) fn clear(&mut self) {
        self.entries.fill(0.0);
        self.tails.fill(Tail::default());
    }

    /// Whether rows have an entry for every state.
    pub(crate) fn is_dense(&self) -> bool {
        self.columns.is_empty() && self.band.is_none()
    }

    /// Adds p to the row of `s`: in place when dense or a band, else as its `at`-th entry.
    pub(crate) fn add(&mut self, s: usize, at: &mut usize, next: usize, p: f64) {
        if self.is_dense() {
            self.entries[next] += p;
            return;
        }
        if let Some(reach) = self.band {
            self.entries[next + reach - s] += p;
            return;
        }
        self.entries[*at] = p;
        self.columns[*at] = next as u32;
        *at += 1;
    }
}

impl<'a> ChainRows<'a> {
    /// Rows by where their entries lie, tails left out.
    #[cfg(test)]
    pub(crate) fn part(&mut self, entries: Range<usize>) -> ChainRows<'_> {
        fn of<T>(array: &mut [T], part: Range<usize>) -> &mut [T] {
            if array.is_empty() { array } else { &mut array[part] }
        }
        ChainRows {
            entries: of(self.entries, entries.clone()),
            columns: of(self.columns, entries),
            tails: &mut [],
            band: self.band,
        }
    }

    /// Cut after so many entries and tails; arrays that the chain does without are empty.
    pub(crate) fn split(self, entries: usize, tails: usize) -> (ChainRows<'a>, ChainRows<'a>) {
        fn cut<T>(array: &mut [T], at: usize) -> (&mut [T], &mut [T]) {
            array.split_at_mut(at.min(array.len()))
        }
        let (columns, tails) = (cut(self.columns, entries), cut(self.tails, tails));
        let (entries, band) = (cut(self.entries, entries), self.band);
        (
            ChainRows { entries: entries.0, columns: columns.0, tails: tails.0, band },
            ChainRows { entries: entries.1, columns: columns.1, tails: tails.1, band },
        )
    }
}

/// How the rows of the chain are stored.
#[derive(Clone, Copy)]
pub(crate) enum ChainShape<'a> {
    None,
    Dense(usize),
    Sparse(&'a [usize]),
    /// As many states on either side.
    Band(usize),
}

impl ChainShape<'_> {
    pub(crate) fn entries(self, states: Range<usize>) -> usize {
        match self {
            ChainShape::None => 0,
            ChainShape::Dense(width) => states.len() * width,
            ChainShape::Sparse(pointers) => pointers[states.end] - pointers[states.start],
            ChainShape::Band(reach) => states.len() * (2 * reach + 1),
        }
    }
}
