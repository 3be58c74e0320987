/// One state–action pair: a nominal distribution over next states and its costs.
#[derive(Clone, Copy, Debug)]
pub struct Row<'m> {
    /// Nominal probabilities; they sum to one.
    pub prob: &'m [f64],
    /// Next states, increasing; `None` means entry `i` leads to state `i`.
    pub next: Option<&'m [u32]>,
    /// Immediate cost c(s,a).
    pub cost: f64,
    /// Further cost c(s,a,s') of each stored transition.
    pub transition_cost: Option<&'m [f64]>,
}

impl Row<'_> {
    /// Stored entries as (next state, probability, further cost).
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64, f64)> + '_ {
        (0..self.prob.len()).map(|k| {
            (
                self.next.map_or(k, |n| n[k] as usize),
                self.prob[k],
                self.transition_cost.map_or(0.0, |c| c[k]),
            )
        })
    }

    /// The largest |cost| on a stored transition.
    pub fn largest_cost(&self) -> f64 {
        match self.transition_cost {
            None => self.cost.abs(),
            Some(_) => self.entries().map(|(_, _, c)| (self.cost + c).abs()).fold(0.0, f64::max),
        }
    }
}
