//! First guesses for the rows of an ellipsoid, from a state that is updated before the others.
//!
//! Where most of its rows are lifted, the rows of other states are taken to be like them. Those without
//! multipliers begin with its mean sums over active sets: the closed form then gives every row a
//! multiplier that knows its own cost, and the state's value. Those with multipliers of the last sweep
//! move as its own have moved, t ↦ a + bt and ν ↦ c + dν. What follows reads rows where they are, so
//! that a wrong guess costs a pass and nothing else. Where few rows are lifted, those without multipliers
//! begin as a typical row would in their place ([`super::typical`]).

use super::active::{Active, RowMemory};
use super::ball::{Ball, Moved};
use super::ellipsoid::Ellipsoid;
use super::outlook::Outlook;
use super::sums::Sums;
use super::{Exact, Worker};

/// Where rows may begin.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pilot {
    /// n, Sy, Sw, Sww, Syw and Off of a row, in the mean.
    Sums([f64; 6]),
    /// Those of a typical row, at the level that it foretells.
    Typical,
    /// (a, b) and (c, d).
    Moves([(f64, f64); 2]),
}

/// Steps that drop rows.
const STEPS: usize = 4;
/// Where this share of the rows seems to be lifted, all are taken to be.
const MOST: f64 = 0.8;
/// The share of the mean multiplier for rows that seem to need none.
const LITTLE: f64 = 0.1;

impl Exact<'_> {
    /// Updates state `s`, with a copy of what its rows remember, for others to follow; `None` where
    /// few of its rows are lifted, or rows have values of their own.
    pub(crate) fn pilot(
        &self,
        s: usize,
        ahead: &mut Outlook,
        tolerance: f64,
        memory: RowMemory<'_>,
        x: &mut [f64],
        worker: &mut Worker,
    ) -> Option<Pilot> {
        let radius = self.set.radius_at(s, self.model.rows_of(s).start);
        if !self.has_typical_rows() || radius == 0.0 {
            return None;
        }
        let lifted = |t: &f64| *t > 0.0 && *t < f64::INFINITY;
        let is_new = memory.t.iter().all(|t| *t == 0.0);
        let likely = match is_new {
            true => self.below_the_ceiling(s, ahead).count(),
            false => memory.t.iter().filter(|t| lifted(t)).count(),
        };
        if 2 * likely < memory.t.len() {
            return (is_new && self.make_typical(s, ahead)).then_some(Pilot::Typical);
        }
        let (t, nu) = (memory.t.to_vec(), memory.nu.to_vec());
        let RowMemory { t: new_t, nu: new_nu, floor } = memory;
        let memory = RowMemory { t: &mut *new_t, nu: &mut *new_nu, floor };
        self.update(s, ahead, tolerance, memory, x, worker, None);
        if is_new {
            let lifted = new_t.iter().filter(|t| lifted(t)).count();
            return means(&worker.scratch.sums, lifted).filter(|_| 2 * lifted >= t.len());
        }
        let kept = (0..t.len()).filter(|&k| lifted(&t[k]) && lifted(&new_t[k]));
        if 2 * kept.clone().count() < t.len() {
            return None;
        }
        let t = line(kept.clone().map(|k| (t[k], new_t[k])))?;
        let nu = line(kept.map(|k| (nu[k], new_nu[k])))?;
        Some(Pilot::Moves([t, nu]))
    }
}

/// Sums of the rows under work, in the mean; `None` where these are not the rows that were lifted, as
/// after the nested search.
fn means(sums: &Sums, lifted: usize) -> Option<Pilot> {
    if sums.len() != lifted {
        return None;
    }
    let mean = |x: &Vec<f64>| x[..lifted].iter().sum::<f64>() / lifted as f64;
    let all = [&sums.n, &sums.sy, &sums.sw, &sums.sww, &sums.syw, &sums.off].map(mean);
    all.iter().all(|x| x.is_finite()).then_some(Pilot::Sums(all))
}

/// The line through these points, by least squares.
fn line(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<(f64, f64)> {
    let n = points.clone().count() as f64;
    let (x, y) = points.clone().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let (mut square, mut product) = (0.0, 0.0);
    for p in points {
        square += (p.0 - x) * (p.0 - x);
        product += (p.0 - x) * (p.1 - y);
    }
    let slope = product / square;
    slope.is_finite().then_some((y - slope * x, slope))
}

impl Ellipsoid<'_> {
    /// Puts rows below the ceiling to work at the pilot's sums; false, and none at work, if that leads
    /// nowhere.
    pub(super) fn begin_like(&mut self, pilot: Pilot, ceiling: f64) -> bool {
        self.active.list_below(ceiling - self.ahead.drift);
        let pending = std::mem::take(&mut self.active.pending);
        let mut bases = std::mem::take(&mut self.active.value);
        bases.clear();
        bases.extend(pending.iter().map(|&k| self.rows.base[k as usize]));
        let typical = &self.ahead.typical;
        let level = match pilot {
            Pilot::Typical => typical.level(&bases, self.radius, ceiling),
            _ => None,
        };
        for (&k, &base) in pending.iter().zip(&bases) {
            let sums = match pilot {
                Pilot::Sums(sums) => Some(sums),
                _ => level.and_then(|level| typical.sums_at(level - base)),
            };
            if let Some([n, sy, sw, sww, syw, off]) = sums {
                let j = self.active.len();
                self.active.push(k as usize, base, 0.0, 0.0);
                self.sums.resize(j + 1);
                // Without a margin all have to be read.
                self.sums.set(j, [n, sy, sw, sww, syw, off, -1.0], 0.0, 0.0);
            }
        }
        let found = self.begin_together(ceiling);
        let nearly_all = MOST * pending.len() as f64 <= self.active.len() as f64;
        if found && nearly_all && matches!(pilot, Pilot::Sums(_)) {
            self.keep_all(&pending);
        }
        (self.active.pending, self.active.value) = (pending, bases);
        found
    }

    /// Moves the rows under work to the value that they reach together; false, and none at work, if there
    /// is none.
    fn begin_together(&mut self, ceiling: f64) -> bool {
        for _ in 0..STEPS {
            let mu = if self.active.len() > 0 { self.assess(false).mu } else { f64::NAN };
            let moved = if mu < ceiling { self.raise(mu) } else { Moved::Stuck };
            match moved {
                Moved::All => return true,
                Moved::Dropped => {}
                Moved::Stuck => break,
            }
        }
        self.active.truncate(0);
        self.sums.clear();
        false
    }

    /// Puts those of the rows to work again that sums in the mean would leave where they are: most of them
    /// turn out to be lifted a little, and all are read in order.
    fn keep_all(&mut self, rows: &[u32]) {
        let used = self.active.len();
        let mean = |x: &[f64]| LITTLE * x[..used].iter().sum::<f64>() / used as f64;
        let (t, nu) = (mean(&self.active.t), mean(&self.active.nu));
        for k in rows.iter().map(|&k| k as usize) {
            if !self.active.is_at_work(k) {
                self.active.push(k, self.rows.base[k], t, nu);
            }
        }
        self.sums.resize(self.active.len());
    }

    /// Moves the multipliers of the last sweep as the pilot's have moved.
    pub(super) fn move_like(&mut self, [(a, b), (c, d)]: [(f64, f64); 2]) {
        let used = self.active.len();
        let Active { t, nu, .. } = &mut *self.active;
        for (t, nu) in t[..used].iter_mut().zip(&mut nu[..used]) {
            let moved = a + b * *t;
            if moved > 0.0 {
                (*t, *nu) = (moved, c + d * *nu);
            }
        }
    }
}
