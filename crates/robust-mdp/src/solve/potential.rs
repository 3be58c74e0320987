//! Bounds over all policies where some may never end, of models whose steps never cost anything but bring something
//! (reaching a goal, say): c ≤ 0, and v* ≥ L for any L ≤ 0 with F(L) ≥ L, since every policy then pays at least
//! L − E L(s_T) ≥ L in T steps. With policies that maximise too (c ≥ 0, U ≥ 0 with F(U) ≤ U) it is the same the other way
//! round.
//!
//! Near values v, all rows that fall behind v by rounding only, v − b_a(v) ≤ ε, are a danger:
//! L = v − 2εh needs h ≥ ½ + ⟨y_a, h⟩ there, for nature's answer y_a at v. No h satisfies this where a policy may stay in a
//! set of states without end. But in such a set v is constant, as it is harmonic there. So states are put into
//! classes of one value, by rows that cost nothing and lead to states of the same value alone ("flat" ones). With L
//! constant on classes flat rows need nothing, and the other rows near v lead out of every set sooner or later: they make a
//! model of the classes, and h is the largest mean number of their steps.

use std::ops::ControlFlow;

use super::total::{Inner, proper};
use crate::error::Error;
use crate::loops::bellman::{Bellman, Player};
use crate::model::{Model, ModelBuilder};
use crate::sets::{Rectangularity, UncertaintySet};

/// Values no farther apart than one of these shares of the largest are taken to be the same, the first that serves:
/// what is lost is about as much.
const SAME: [f64; 7] = [1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8];
/// Rows that fall behind by more than this part of it are out of the question.
const BEHIND: f64 = 1e-2;

/// h, and the first state of each state's class.
pub(super) struct Potential {
    pub(super) h: Vec<f64>,
    class: Vec<usize>,
}

impl Potential {
    /// `None` if policies that fall behind by next to nothing may go on without end.
    pub(super) fn new(
        model: &Model,
        set: &UncertaintySet,
        over: &[bool],
        cooperative: bool,
        v: &[f64],
        inner: &mut Inner<'_, '_>,
    ) -> Result<Option<Potential>, Error> {
        let scale = v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        for same in SAME.map(|share| share * scale) {
            let found = Potential::of_same(model, set, over, cooperative, v, same, inner)?;
            if found.is_some() || inner.run.stopped().is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn of_same(
        model: &Model,
        set: &UncertaintySet,
        over: &[bool],
        cooperative: bool,
        v: &[f64],
        same: f64,
        inner: &mut Inner<'_, '_>,
    ) -> Result<Option<Potential>, Error> {
        let behind = BEHIND * same;
        let flat = flat_rows(model, set, v, same);
        let class = classes(model, &flat);
        // Rows that lead from a class to states of slightly other values fall behind now.
        let mut base = v.to_vec();
        join(&class, &mut base, outward(cooperative));
        let answers = Answers::new(model, set, cooperative, &base);
        let near = |s: usize, r: usize| match cooperative {
            true => answers.value[r] >= base[s] - behind,
            false => answers.value[r] <= base[s] + behind,
        };
        let firsts: Vec<usize> = (0..v.len()).filter(|&s| class[s] == s).collect();
        let mut place = vec![0; v.len()];
        firsts.iter().enumerate().for_each(|(k, &s)| place[s] = k);
        let mut rows = vec![Vec::new(); firsts.len()];
        for s in (0..v.len()).filter(|&s| !over[s]) {
            rows[place[class[s]]].extend(model.rows_of(s).filter(|&r| !flat[r] && near(s, r)));
        }
        // Costs of −1, so that the least value is the largest number of steps.
        let mut builder = ModelBuilder::new(1.0);
        for rows in &rows {
            builder.add_state(None);
            if rows.is_empty() {
                builder.mark_terminal();
            }
            for &r in rows {
                builder.add_action(None, -1.0);
                for &(next, p) in &answers.kernel[r] {
                    builder.add_transition(place[class[next]], p, 0.0);
                }
            }
        }
        let steps = builder.build()?;
        let none = UncertaintySet::none();
        let near = inner.at_discount(&steps, &none, false, 1.0)?;
        let ends: Vec<bool> = rows.iter().map(Vec::is_empty).collect();
        let longest: Vec<f64> = near.lower.iter().map(|l| -l).collect();
        let h = proper(&ends, &longest, |tau| {
            let mut bellman = Bellman::new(&steps, &none);
            let costs: Vec<f64> = tau.iter().map(|t| -t).collect();
            bellman.sweep(&costs, Player::Both, 0.0);
            bellman.lower.iter().map(|l| -l).collect()
        });
        Ok(h.map(|h| Potential { h: class.iter().map(|&s| h[place[s]]).collect(), class }))
    }

    /// Makes values the same in all states of a class, those of the best.
    pub(super) fn join(&self, v: &mut [f64], cooperative: bool) {
        join(&self.class, v, outward(cooperative));
    }
}

/// The better of two values.
fn outward(cooperative: bool) -> fn(f64, f64) -> f64 {
    if cooperative { f64::max } else { f64::min }
}

fn join(class: &[usize], v: &mut [f64], of: fn(f64, f64) -> f64) {
    for s in 0..v.len() {
        v[class[s]] = of(v[class[s]], v[s]);
    }
    for s in 0..v.len() {
        v[s] = v[class[s]];
    }
}

/// Nature's answers at v, and what rows are worth; rows that she need not move are worth no less.
struct Answers {
    value: Vec<f64>,
    kernel: Vec<Vec<(usize, f64)>>,
}

impl Answers {
    fn new(model: &Model, set: &UncertaintySet, cooperative: bool, v: &[f64]) -> Answers {
        let nominal = |r: usize| {
            let entries = model.row(r).entries();
            entries.filter(|e| e.1 > 0.0).map(|(next, p, _)| (next, p)).collect()
        };
        let mut answers = Answers {
            value: vec![0.0; model.rows()],
            kernel: (0..model.rows()).map(nominal).collect(),
        };
        let none = UncertaintySet::none();
        let own = set.rectangularity == Rectangularity::StateAction;
        let mut bellman = Bellman::new(model, if own { set } else { &none });
        let actions = (0..model.states()).map(|s| model.rows_of(s).len()).max().unwrap_or(0);
        for a in 0..actions {
            let row = |s: usize| {
                Some(model.rows_of(s).start + a).filter(|r| model.rows_of(s).contains(r))
            };
            // States with fewer actions take their first one again.
            let any = |s: usize| row(s).or_else(|| model.rows_of(s).next());
            let mut x = vec![0.0; model.rows()];
            (0..model.states()).filter_map(any).for_each(|r| x[r] = 1.0);
            bellman.sweep(v, Player::Nature(&x), 0.0);
            for (s, r) in (0..model.states()).filter_map(|s| Some((s, row(s)?))) {
                answers.value[r] = if cooperative { bellman.upper[s] } else { bellman.lower[s] };
            }
            if own {
                answers.replace(&bellman, &x);
            }
        }
        if !own {
            // The policy of an update has weight on just those rows that nature moves.
            let mut bellman = Bellman::new(model, set);
            bellman.sweep(v, Player::Both, 0.0);
            let x = bellman.policy.clone();
            answers.replace(&bellman, &x);
        }
        answers
    }

    fn replace(&mut self, bellman: &Bellman<'_>, x: &[f64]) {
        let used = x.iter().enumerate().filter(|(_, x)| **x > 0.0);
        used.for_each(|(r, _)| self.kernel[r].clear());
        let _ = bellman.kernel(x, |r, next, p| {
            if x[r] > 0.0 {
                self.kernel[r].push((next, p));
            }
            ControlFlow::Continue(())
        });
    }
}

/// Rows that cost nothing and lead to states of the same value as their own alone, under every kernel.
fn flat_rows(model: &Model, set: &UncertaintySet, v: &[f64], same: f64) -> Vec<bool> {
    let (everywhere, states) = (set.leaves_support(), model.states());
    let is_flat = |s: usize, r: usize| {
        let row = model.row(r);
        let level = |(k, (next, ..)): (usize, (usize, f64, f64))| {
            !row.is_open(k) || (v[next] - v[s]).abs() <= same
        };
        !everywhere
            && row.cost_range(false, states) == (0.0, 0.0)
            && row.entries().enumerate().all(level)
    };
    (0..states)
        .flat_map(|s| model.rows_of(s).map(move |r| (s, r)))
        .map(|(s, r)| is_flat(s, r))
        .collect()
}

/// States that flat rows join, by their first one.
fn classes(model: &Model, flat: &[bool]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..model.states()).collect();
    fn root(first: &mut [usize], mut s: usize) -> usize {
        while first[s] != s {
            first[s] = first[first[s]];
            s = first[s];
        }
        s
    }
    for s in 0..model.states() {
        for r in model.rows_of(s).filter(|&r| flat[r]) {
            let row = model.row(r);
            for (_, (next, ..)) in row.entries().enumerate().filter(|(k, _)| row.is_open(*k)) {
                let (a, b) = (root(&mut first, s), root(&mut first, next));
                first[a.max(b)] = a.min(b);
            }
        }
    }
    (0..model.states()).map(|s| root(&mut first, s)).collect()
}
