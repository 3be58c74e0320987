//! Arrays of NumPy and SciPy read row by row into a model builder, without copies.

use numpy::ndarray::ArrayView3;
use robust_mdp::{Interrupt, ModelBuilder, Objective};

/// Indices of either width.
#[derive(Clone, Copy)]
pub(crate) enum Indices<'a> {
    Short(&'a [i32]),
    Long(&'a [i64]),
}

impl Indices<'_> {
    #[inline]
    pub(crate) fn at(&self, k: usize) -> i64 {
        match self {
            Indices::Short(all) => i64::from(all[k]),
            Indices::Long(all) => all[k],
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Indices::Short(all) => all.len(),
            Indices::Long(all) => all.len(),
        }
    }

    /// Whether these are ascending starts of `rows` rows within `entries` entries.
    pub(crate) fn are_starts(&self, rows: usize, entries: usize) -> bool {
        self.len() == rows + 1
            && self.at(0) == 0
            && self.at(rows) == entries as i64
            && (0..rows).all(|r| self.at(r) <= self.at(r + 1))
    }
}

/// One compressed sparse matrix.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    pub(crate) starts: Indices<'a>,
    pub(crate) next: Indices<'a>,
    pub(crate) prob: &'a [f64],
    /// Further costs of the same entries.
    pub(crate) further: Option<&'a [f64]>,
    pub(crate) bounds: Option<Bounds<&'a [f64]>>,
}

/// Least and largest probabilities of the same entries.
#[derive(Clone, Copy)]
pub(crate) struct Bounds<T> {
    pub(crate) lower: T,
    pub(crate) upper: T,
    /// Nominal probabilities are chosen within them, and those that are there mean nothing.
    pub(crate) chooses: bool,
}

impl<T> Bounds<T> {
    fn entry(&self, of: impl Fn(&T) -> f64) -> Bounds<f64> {
        Bounds { lower: of(&self.lower), upper: of(&self.upper), chooses: self.chooses }
    }
}

/// Where the rows of a model are.
pub(crate) enum Source<'a> {
    /// All rows in one matrix, those of a state together.
    Rows { states: Indices<'a>, rows: Matrix<'a> },
    /// One matrix an action.
    Actions(Vec<Matrix<'a>>),
    /// `[state, action, next]`.
    Dense {
        prob: ArrayView3<'a, f64>,
        further: Option<ArrayView3<'a, f64>>,
        bounds: Option<Bounds<ArrayView3<'a, f64>>>,
    },
}

/// Everything else about a model.
pub(crate) struct About {
    pub(crate) discount: f64,
    pub(crate) objective: Objective,
    pub(crate) initial: Option<Vec<f64>>,
    pub(crate) state_names: Option<Vec<String>>,
    pub(crate) action_names: Option<Vec<String>>,
}

/// Why there is no model.
pub(crate) enum Wrong {
    /// A negative next state, which the builder cannot be told of.
    Negative { state: usize, action: usize, next: i64 },
    /// Somebody does not want one any more.
    Interrupted,
}

impl<'a> Source<'a> {
    fn states(&self) -> usize {
        match self {
            Source::Rows { states, .. } => states.len() - 1,
            Source::Actions(matrices) => matrices.first().map_or(0, |m| m.starts.len() - 1),
            Source::Dense { prob, .. } => prob.dim().0,
        }
    }

    fn actions(&self, s: usize) -> usize {
        match self {
            Source::Rows { states, .. } => (states.at(s + 1) - states.at(s)) as usize,
            Source::Actions(matrices) => matrices.len(),
            Source::Dense { prob, .. } => prob.dim().1,
        }
    }

    /// All rows in a builder, which has the last word; `cost` has one entry a row.
    pub(crate) fn builder(
        &self,
        cost: &[f64],
        about: About,
        interrupt: &Interrupt,
    ) -> Result<ModelBuilder, Wrong> {
        let mut builder = ModelBuilder::new(about.discount).objective(about.objective);
        builder.set_initial(about.initial);
        let mut row = 0;
        for s in 0..self.states() {
            if interrupt.is_raised() {
                return Err(Wrong::Interrupted);
            }
            builder.add_state(about.state_names.as_ref().map(|names| names[s].as_str()));
            let actions = self.actions(s);
            if actions == 0 {
                builder.mark_terminal();
            }
            for a in 0..actions {
                let name = about.action_names.as_ref().map(|names| names[row].as_str());
                builder.add_action(name, cost[row]);
                self.add_row(&mut builder, s, a, row)?;
                row += 1;
                if builder.error().is_some() {
                    return Ok(builder);
                }
            }
        }
        Ok(builder)
    }

    fn add_row(&self, to: &mut ModelBuilder, s: usize, a: usize, row: usize) -> Result<(), Wrong> {
        let (matrix, r) = match self {
            Source::Rows { rows, .. } => (rows, row),
            Source::Actions(matrices) => (&matrices[a], s),
            Source::Dense { prob, further, bounds } => {
                for i in 0..prob.dim().2 {
                    let cost = further.as_ref().map_or(0.0, |f| f[[s, a, i]]);
                    let bounds = bounds.as_ref().map(|b| b.entry(|array| array[[s, a, i]]));
                    add(to, i, prob[[s, a, i]], bounds, cost);
                }
                return Ok(());
            }
        };
        for k in matrix.starts.at(r) as usize..matrix.starts.at(r + 1) as usize {
            let next = matrix.next.at(k);
            if next < 0 {
                return Err(Wrong::Negative { state: s, action: a, next });
            }
            let cost = matrix.further.map_or(0.0, |f| f[k]);
            let bounds = matrix.bounds.as_ref().map(|b| b.entry(|all| all[k]));
            add(to, next as usize, matrix.prob[k], bounds, cost);
        }
        Ok(())
    }
}

fn add(to: &mut ModelBuilder, next: usize, prob: f64, bounds: Option<Bounds<f64>>, cost: f64) {
    match bounds {
        Some(Bounds { lower, upper, chooses }) => {
            to.add_interval(next, (!chooses).then_some(prob), [lower, upper], cost);
        }
        None => to.add_transition(next, prob, cost),
    }
}
