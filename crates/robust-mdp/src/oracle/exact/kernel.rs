//! The kernel that the multipliers of a state stand for, entry by entry, brought into the set where
//! rounding has put it outside.

use super::active::RowMemory;
use super::emit::STEEPEST;
use super::outlook::Outlook;
use super::rows::Rows;
use super::{Exact, Worker};
use crate::model::Row;
use crate::uncertainty::{Distance, Rectangularity};

/// A row of a kernel: (next state, y, y⁰).
type Entries = Vec<(usize, f64, f64)>;

/// Entries of a row whose next states it lists at several costs, with these.
fn repeated(row: Row<'_>) -> impl Iterator<Item = (usize, usize)> + '_ {
    let last = row.prob.len().saturating_sub(1);
    let shared = move |k: &usize| row.is_repeated(*k) || *k < last && row.is_repeated(*k + 1);
    let next = row.next.filter(|_| row.transition_cost.is_some()).unwrap_or(&[]);
    (0..next.len()).filter(shared).map(|k| (k, next[k] as usize))
}

impl Exact<'_> {
    /// Visits nature's answer to the policy `x` in state s as (action, next state, probability), where
    /// that is positive; rows without weight stay nominal. A next state that a row lists at several
    /// costs is visited as often, in the order of the row, with probabilities that may be 0.
    pub(crate) fn kernel(
        &self,
        s: usize,
        ahead: &Outlook,
        memory: RowMemory<'_>,
        x: &[f64],
        worker: &mut Worker,
        mut visit: impl FnMut(usize, usize, f64),
    ) {
        let rows = Rows::load(self.model, self.reading, s, ahead, &mut worker.rows);
        let first_row = self.model.rows_of(s).start;
        let mut kernel: Vec<Entries> = Vec::with_capacity(rows.len());
        for k in 0..rows.len() {
            let radius = self.set.radius_at(s, first_row + k);
            let t = if x[k] > 0.0 && radius > 0.0 { memory.t[k].abs() } else { 0.0 };
            kernel.push(self.row(&rows, ahead, k, t, memory.nu[k]));
        }
        let used: Vec<f64> = kernel.iter().map(|row| self.distance(row)).collect();
        let total: f64 = used.iter().sum();
        for (k, row) in kernel.iter().enumerate() {
            let used = match self.set.rectangularity {
                Rectangularity::State => total,
                Rectangularity::StateAction => used[k],
            };
            let radius = self.set.radius_at(s, first_row + k);
            let share = match self.set.distance {
                _ if used <= radius => 1.0,
                Distance::Kl => radius / used,
                Distance::Ellipsoid | Distance::None => (radius / used).sqrt(),
            };
            let within = |y: f64, y0: f64| match share < 1.0 {
                true => share * y + (1.0 - share) * y0,
                false => y,
            };
            let mut known = row.iter().map(|&(next, y, y0)| (next, within(y, y0))).peekable();
            let own = self.model.row(first_row + k);
            for (j, next) in repeated(own) {
                // Before it, all that leads elsewhere.
                while let Some((next, y)) = known.next_if(|e| e.0 < next) {
                    if y > 0.0 {
                        visit(k, next, y);
                    }
                }
                let read = self.reading.lists(own, j);
                let y = known.next_if(|_| read).map_or(0.0, |e| e.1);
                visit(k, next, y);
            }
            known.filter(|e| e.1 > 0.0).for_each(|(next, y)| visit(k, next, y));
        }
    }

    fn distance(&self, row: &Entries) -> f64 {
        let entry = |&(_, y, y0): &(usize, f64, f64)| match self.set.distance {
            Distance::Kl if y > 0.0 => y * (y / y0).ln(),
            Distance::Kl => 0.0,
            Distance::Ellipsoid | Distance::None => 0.5 * (y - y0) * (y - y0),
        };
        row.iter().map(entry).sum::<f64>().max(0.0)
    }

    /// Row k at (t, ν), with mass one.
    fn row(&self, rows: &Rows<'_>, ahead: &Outlook, k: usize, t: f64, nu: f64) -> Entries {
        let (nominal, gain) = rows.row(k);
        let columns = rows.next_states(k);
        let kl = self.set.distance == Distance::Kl;
        let t = if !kl && t * rows.range > STEEPEST { f64::INFINITY } else { t };
        // (next state, w, y⁰) wherever the row may have mass.
        let mut row: Entries = nominal
            .iter()
            .zip(gain)
            .enumerate()
            .filter(|(_, (y0, _))| **y0 > 0.0 || !kl)
            .map(|(i, (&y0, &w))| (columns.map_or(i, |c| c[i] as usize), w, y0))
            .collect();
        if t > 0.0 && !rows.level.is_empty() {
            let shift = rows.shift[k];
            let ranking = ahead.ranking.as_ref().expect("tails need a ranking");
            for (&i, &level) in ranking.order.iter().zip(&ranking.level) {
                let w = level - shift;
                if t.is_finite() && t * w - nu <= 0.0 || t.is_infinite() && w < 0.0 {
                    break;
                }
                if columns.is_none_or(|c| c.binary_search(&i).is_err()) {
                    row.push((i as usize, w, 0.0));
                }
            }
        }
        let top = row.iter().fold(f64::NEG_INFINITY, |m, e| m.max(e.1));
        let at_top = row.iter().filter(|e| e.1 == top);
        let (mass, count) = at_top.fold((0.0, 0.0), |(m, n), e| (m + e.2, n + 1.0));
        for entry in &mut row {
            let (w, y0) = (entry.1, entry.2);
            entry.1 = if t == 0.0 {
                y0
            } else if t.is_infinite() && w < top {
                0.0
            } else if t.is_infinite() && !kl {
                y0 + (1.0 - mass) / count
            } else if kl {
                if t.is_infinite() { y0 } else { y0 * (t * (w - top)).exp() }
            } else {
                (y0 + t * w - nu).max(0.0)
            };
        }
        let total: f64 = row.iter().map(|e| e.1).sum();
        row.iter_mut().for_each(|e| e.1 /= total);
        row
    }
}
