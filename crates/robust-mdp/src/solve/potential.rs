//! Bounds over all policies where some may never end, of models whose steps never cost anything but bring something
//! (reaching a goal, say): c ≤ 0, and v* ≥ L for any L ≤ 0 with F(L) ≥ L, since every policy then pays at least
//! L − E L(s_T) ≥ L in T steps. With policies that maximise too (c ≥ 0, U ≥ 0 with F(U) ≤ U) it is the same the other way
//! round.
//!
//! Near values v, all rows that fall behind v by rounding only, v − b_a(v) ≤ ε, are a danger:
//! L = v − 4εh needs h ≥ ¼ + ⟨y_a, h⟩ there, for nature's answer y_a at v. No h satisfies this where a policy may stay in a
//! set of states without end. But in such a set v is constant, as it is harmonic there. So states are put into
//! classes of one value, by rows that cost nothing and lead to states of the same value alone ("flat" ones). With L
//! constant on classes flat rows need nothing, and the other rows near v lead out of every set sooner or later: they make a
//! model of the classes, and h is the largest mean number of their steps.

use std::ops::ControlFlow;

use super::total::{Inner, proper};
use crate::error::Error;
use crate::loops::bellman::{Bellman, Player};
use crate::loops::bounds::rounding;
use crate::model::{Leads, Model, ModelBuilder};
use crate::sets::{DataSource, Rectangularity, UncertaintySet};

/// Values no farther apart than one of these shares of the largest are taken to be the same, the first that serves:
/// what is lost is about as much.
const SAME: [f64; 7] = [1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8];
/// Bounds leave so many times the room that exact arithmetic needs.
const ROOM: f64 = 4.0;
/// Rows that fall behind by more than this part of it are out of the question.
const BEHIND: f64 = 1e-2;

/// Sweeps that carry what classes have gained to the states before them.
const SWEEPS: usize = 10_000;

/// h, and the values that bounds are counted from, the same in all states of a class.
pub(super) struct Potential {
    h: Vec<f64>,
    pub(super) base: Vec<f64>,
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
            if inner.run.stopped().is_some() {
                return Ok(None);
            }
            let holds = |found: &Potential| found.holds(model, set, over, cooperative);
            if let Some(found) = found.filter(holds) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// How far the bound of state s lies from its value, where values fall behind by `excess`.
    pub(super) fn far(&self, s: usize, excess: f64) -> f64 {
        ROOM * excess * self.h[s]
    }

    /// Whether the bounds near v hold, give or take roundings: rows that were out of the question, or other answers of
    /// nature, may say more.
    fn holds(&self, model: &Model, set: &UncertaintySet, over: &[bool], cooperative: bool) -> bool {
        let mut bellman = Bellman::new(model, set).cooperative(cooperative);
        let (behind, slack) = excess(&mut bellman, &self.base, cooperative);
        let mut bound = self.base.clone();
        let sign = if cooperative { 1.0 } else { -1.0 };
        for s in (0..bound.len()).filter(|&s| !over[s]) {
            bound[s] += sign * self.far(s, behind + slack);
        }
        let (behind, slack) = excess(&mut bellman, &bound, cooperative);
        behind <= slack
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
        let scale = v.iter().fold(model.largest_term(), |m, v| m.max(v.abs()));
        let behind = (BEHIND * same).max(4.0 * rounding(scale, 0.0, model.width()));
        let flat = flat_rows(model, set, v, same);
        let class = classes(model, set, &flat);
        let base = settled(model, set, &class, cooperative, v);
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
        Ok(h.map(|h| Potential { h: class.iter().map(|&s| h[place[s]]).collect(), base }))
    }
}

/// How far values fall behind F, and what of it may be rounding.
fn excess(bellman: &mut Bellman<'_>, v: &[f64], cooperative: bool) -> (f64, f64) {
    bellman.sweep(v, Player::Both, 0.0);
    let bounds = bellman.lower.iter().zip(&bellman.upper);
    let width = bounds.clone().fold(0.0_f64, |m, (l, u)| m.max(u - l));
    let behind = bounds.zip(v).map(|((l, u), v)| if cooperative { u - v } else { v - l });
    let scale = v.iter().fold(bellman.model.largest_term(), |m, v| m.max(v.abs()));
    let slack = rounding(scale, 0.0, bellman.width());
    (behind.fold(0.0_f64, f64::max), slack + width)
}

/// v with the best value of a class in all of its states, and no better ones before them than that makes. Rows that
/// lead from a class to states of slightly other values fall behind there.
fn settled(
    model: &Model,
    set: &UncertaintySet,
    class: &[usize],
    cooperative: bool,
    v: &[f64],
) -> Vec<f64> {
    let best: fn(f64, f64) -> f64 = if cooperative { f64::max } else { f64::min };
    let mut base = v.to_vec();
    join(class, &mut base, best);
    let mut bellman = Bellman::new(model, set).cooperative(cooperative);
    for _ in 0..SWEEPS {
        let (behind, slack) = excess(&mut bellman, &base, cooperative);
        if behind <= slack {
            break;
        }
        let image = if cooperative { &bellman.upper } else { &bellman.lower };
        base.iter_mut().zip(image).for_each(|(v, f)| *v = best(*v, *f));
        join(class, &mut base, best);
    }
    base
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
    let (states, data) = (model.states(), DataSource::new(model, set));
    // Rows that may lead anywhere are not flat.
    let leads = if set.scenarios.is_some() { Leads::Listed } else { Leads::Open };
    let is_flat = |s: usize, r: usize| {
        let everywhere = set.leaves_support() && set.radius_at(s, r) > 0.0;
        let row = model.row(r);
        let level = |(k, (next, ..)): (usize, (usize, f64, f64))| {
            let open = row.is_open(k) || data.opens(row, k);
            !open || (v[next] - v[s]).abs() <= same
        };
        !everywhere
            && row.cost_range(leads, states) == (0.0, 0.0)
            && row.entries().enumerate().all(level)
    };
    (0..states)
        .flat_map(|s| model.rows_of(s).map(move |r| (s, r)))
        .map(|(s, r)| is_flat(s, r))
        .collect()
}

/// States that flat rows join, by their first one.
fn classes(model: &Model, set: &UncertaintySet, flat: &[bool]) -> Vec<usize> {
    let data = DataSource::new(model, set);
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
            let open = |k: usize| row.is_open(k) || data.opens(row, k);
            for (_, (next, ..)) in row.entries().enumerate().filter(|(k, _)| open(*k)) {
                let (a, b) = (root(&mut first, s), root(&mut first, next));
                first[a.max(b)] = a.min(b);
            }
        }
    }
    (0..model.states()).map(|s| root(&mut first, s)).collect()
}
