/// One state–action pair: a nominal distribution over next states and its costs.
#[derive(Clone, Copy, Debug)]
pub struct NominalRow<'m> {
    /// Nominal probabilities; they sum to one.
    pub prob: &'m [f64],
    /// Next states in order, again where one has several costs; `None` means entry `i` leads to state
    /// `i`.
    pub next: Option<&'m [u32]>,
    /// Immediate cost c(s,a).
    pub cost: f64,
    /// Further cost c(s,a,s') of each stored transition.
    pub transition_cost: Option<&'m [f64]>,
    /// Where each probability may lie, of models with intervals.
    pub bounds: Option<Bounds<'m>>,
    /// Where its entries begin among all transitions of the model.
    pub(crate) first: usize,
}

/// Bounds of the probabilities of a row, l ≤ y ≤ u; the nominal ones lie within.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds<'m> {
    /// l.
    pub lower: &'m [f64],
    /// u.
    pub upper: &'m [f64],
}

/// Where a row may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leads {
    /// To next states that may have probability in the model.
    Open,
    /// To all that it lists.
    Listed,
    /// To any state.
    Anywhere,
}

impl<'m> NominalRow<'m> {
    /// Stored entries as (next state, probability, further cost).
    pub fn entries(self) -> impl Iterator<Item = (usize, f64, f64)> + Clone + 'm {
        (0..self.prob.len()).map(move |k| {
            (
                self.next.map_or(k, |n| n[k] as usize),
                self.prob[k],
                self.transition_cost.map_or(0.0, |c| c[k]),
            )
        })
    }

    /// Whether entry `k` leads where the one before it does, at another cost.
    #[inline(always)]
    pub(crate) fn is_repeated(&self, k: usize) -> bool {
        k > 0 && self.next.is_some_and(|next| next[k - 1] == next[k])
    }

    /// Whether entry `k` has positive probability, or may have within its interval.
    #[inline(always)]
    pub(crate) fn is_open(&self, k: usize) -> bool {
        self.prob[k] > 0.0 || self.bounds.is_some_and(|bounds| bounds.upper[k] > 0.0)
    }

    /// Whether entry `k` says something of its own: it has positive probability (or may have, within its
    /// interval) or a further cost, or is one of several costs of its next state. Any other next state is
    /// unlisted: it has probability 0 and costs what the action costs.
    pub fn lists(&self, k: usize) -> bool {
        let again = |k: usize| k < self.prob.len() && self.is_repeated(k);
        self.is_open(k)
            || self.transition_cost.is_some_and(|cost| cost[k] != 0.0)
            || again(k)
            || again(k + 1)
    }

    /// Visits every of so many states in order, and again where it is listed again, with its place among the
    /// entries if there is one.
    pub(crate) fn visit_all(&self, states: usize, mut visit: impl FnMut(usize, Option<usize>)) {
        let Some(next) = self.next else {
            return (0..states).for_each(|i| visit(i, Some(i)));
        };
        let mut j = 0;
        for i in 0..states {
            if next.get(j).is_none_or(|&listed| listed as usize != i) {
                visit(i, None);
            }
            while next.get(j).is_some_and(|&listed| listed as usize == i) {
                visit(i, Some(j));
                j += 1;
            }
        }
    }

    /// The entries that a file lists, see above.
    pub fn listed(self) -> impl Iterator<Item = (usize, f64, f64)> + Clone + 'm {
        self.entries().enumerate().filter(move |(k, _)| self.lists(*k)).map(|(_, entry)| entry)
    }

    /// Least and largest cost of a step to where it may lead, of so many states.
    pub(crate) fn cost_range(&self, leads: Leads, states: usize) -> (f64, f64) {
        if self.transition_cost.is_none() {
            return (self.cost, self.cost);
        }
        // Next states that are not listed cost what the action costs.
        let start = match leads == Leads::Anywhere && self.first_unlisted(states).is_some() {
            true => (self.cost, self.cost),
            false => (f64::INFINITY, f64::NEG_INFINITY),
        };
        let open = |k: &usize| leads != Leads::Open || self.is_open(*k);
        let costs =
            self.entries().enumerate().filter(|(k, _)| open(k)).map(|(_, e)| self.cost + e.2);
        costs.fold(start, |(low, high), c| (low.min(c), high.max(c)))
    }

    /// The largest |cost| on a stored transition.
    pub fn largest_cost(&self) -> f64 {
        match self.transition_cost {
            None => self.cost.abs(),
            Some(_) => self.entries().map(|(_, _, c)| (self.cost + c).abs()).fold(0.0, f64::max),
        }
    }
}
