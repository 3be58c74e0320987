//! The arithmetic against more digits than doubles have.

use super::exponential::{EXP_ERROR, exp, ln_above};
use super::interval::{Interval, UNIT};
use super::sums::{Entries, Nominal};
use super::tail::{Doubtful, Ranking};
use crate::instances::Xoshiro256;

/// A number of about 200 bits in a sum of doubles, by plain schoolbook rules: slow, and independent of
/// what it checks.
#[derive(Clone, Debug)]
struct Wide(Vec<f64>);

impl Wide {
    fn from(x: f64) -> Wide {
        Wide(vec![x])
    }

    fn plus(&self, other: &Wide) -> Wide {
        let mut parts: Vec<f64> = Vec::new();
        // Shewchuk's expansions: every partial sum is exact.
        for &x in self.0.iter().chain(&other.0) {
            let mut x = x;
            let mut kept = Vec::new();
            for &y in &parts {
                let (big, small) = if x.abs() < y.abs() { (y, x) } else { (x, y) };
                let sum = big + small;
                let lost = small - (sum - big);
                if lost != 0.0 {
                    kept.push(lost);
                }
                x = sum;
            }
            kept.push(x);
            parts = kept;
        }
        let skip = parts.len().saturating_sub(6);
        Wide(parts.split_off(skip))
    }

    fn times(&self, x: f64) -> Wide {
        let mut total = Wide::from(0.0);
        for &part in &self.0 {
            let high = part * x;
            total = total.plus(&Wide(vec![part.mul_add(x, -high), high]));
        }
        total
    }

    fn over(&self, x: f64) -> Wide {
        let (mut rest, mut total) = (self.clone(), Wide::from(0.0));
        for _ in 0..5 {
            let digit = rest.value() / x;
            total = total.plus(&Wide::from(digit));
            rest = rest.plus(&Wide::from(x).times(-digit));
        }
        total
    }

    fn value(&self) -> f64 {
        self.0.iter().sum()
    }
}

/// e^a − 1: Taylor's series at a/2^k, then (1 + m)² − 1 = m(2 + m) k times.
fn exact_exp_m1(a: f64) -> Wide {
    let halvings = (a.abs().log2().ceil().max(0.0) as i32 + 6).min(20);
    let small = a * 0.5f64.powi(halvings);
    let (mut term, mut m) = (Wide::from(1.0), Wide::from(0.0));
    for j in 1..40 {
        term = term.times(small).over(f64::from(j));
        m = m.plus(&term);
    }
    for _ in 0..halvings {
        let mut square = Wide::from(0.0);
        for &part in &m.0 {
            square = square.plus(&m.times(part));
        }
        m = m.times(2.0).plus(&square);
    }
    m
}

fn samples() -> Vec<f64> {
    let mut random = Xoshiro256::new(11);
    let mut all =
        vec![-1e-300, -1e-20, -0.3465, -0.3466, -0.35, -std::f64::consts::LN_2, -1.0, -40.0];
    for _ in 0..400 {
        all.push(-(10f64.powf(-10.0 + 12.5 * random.uniform())));
    }
    all.extend((1..200).map(|k| -f64::from(k) * 0.34657359));
    all
}

#[test]
fn the_exponential_keeps_its_promise_with_room_to_spare() {
    let mut worst = 0.0_f64;
    let both = samples().into_iter().flat_map(|a| [a, -a]);
    for a in both.filter(|a| a.abs() < 300.0) {
        let (m, e) = exp(a);
        let exact = exact_exp_m1(a);
        let off = exact.plus(&Wide::from(-m)).value().abs() / exact.value().abs();
        let power = exact.plus(&Wide::from(1.0));
        let off_power = power.plus(&Wide::from(-e)).value().abs() / power.value();
        // Below e^-80 the reference itself has lost the digits that cancel.
        let off_power = if a > -80.0 { off_power } else { 0.0 };
        worst = worst.max(off).max(off_power);
    }
    assert!(worst < 0.25 * EXP_ERROR * UNIT, "{} units", worst / UNIT);
    assert_eq!(exp(0.0), (0.0, 1.0));
    assert_eq!(exp(-0.0).1, 1.0);
    assert_eq!((exp(-700.1), exp(f64::NEG_INFINITY)), (exp(-700.0), exp(-700.0)));
    assert!(exp(-700.0).0 == -1.0 && exp(-700.0).1 < 1e-304);
    assert!(exp(f64::NAN).1.is_nan());
    assert_eq!((exp(701.0), exp(f64::INFINITY)), (exp(700.0), exp(700.0)));
    // Known digits: e^-1 and e^-600.
    assert!((exp(-1.0).1 - 0.36787944117144233).abs() <= 1e-16);
    assert!((exp(-600.0).1 / 2.6503965530043108e-261 - 1.0).abs() < 1e-15);
}

#[test]
fn logarithms_are_bounded_tightly() {
    for a in samples().into_iter().filter(|a| *a > -8.0) {
        // ln(1 + (e^a − 1)) = a, for the double next to e^a − 1.
        let exact = exact_exp_m1(a);
        let x = exact.value();
        // d ln(1 + x) = dx/(1 + x) leaves a little around a.
        let shift = -exact.plus(&Wide::from(-x)).value() / (1.0 + x);
        let bound = ln_above((Interval::from(1.0) + x).hi, x);
        assert!(bound >= a + shift, "{a}: {bound} {shift:e}");
        let allowed = 200.0 * UNIT * (a.abs() + x.abs() / (1.0 + x)) + 1e-299;
        assert!(bound <= a + allowed, "{a}: {bound}");
    }
    // Far from 1 the number itself counts: ln 1e-250.
    let far = ln_above(1e-250, -1.0);
    assert!((-575.6462732485114..-575.6462732485114 + 1e-12).contains(&far));
    let whole = ln_above(1.0, 0.0);
    assert!((0.0..1e-290).contains(&whole));
    // What is no number may be any.
    assert!(ln_above(f64::NAN, f64::NAN) >= 0.0 && ln_above(f64::INFINITY, -0.9) >= 0.0);
}

#[test]
fn intervals_contain_what_exact_arithmetic_gives() {
    let mut random = Xoshiro256::new(5);
    let mut draw = || {
        let size = 10f64.powf(20.0 * random.uniform() - 10.0);
        size * (2.0 * random.uniform() - 1.0)
    };
    for _ in 0..2000 {
        let (a, b) = (draw(), draw());
        let inside = |x: Interval, exact: Wide| {
            assert!(exact.plus(&Wide::from(-x.lo)).value() >= 0.0, "{x:?} {exact:?}");
            assert!(exact.plus(&Wide::from(-x.hi)).value() <= 0.0, "{x:?} {exact:?}");
        };
        let (x, y) = (Interval::from(a), Interval::from(b));
        inside(x + y, Wide::from(a).plus(&Wide::from(b)));
        inside(x - y, Wide::from(a).plus(&Wide::from(-b)));
        inside(x * y, Wide::from(a).times(b));
        inside(x / y.magnitude(), Wide::from(a).over(b.abs()));
        let root = Interval::from(a.abs()).sqrt();
        assert!(Wide::from(root.lo).times(root.lo).plus(&Wide::from(-a.abs())).value() <= 0.0);
        assert!(Wide::from(root.hi).times(root.hi).plus(&Wide::from(-a.abs())).value() >= 0.0);
    }
}

#[test]
fn what_is_no_number_proves_nothing() {
    let whole = |x: Interval| x.lo == f64::NEG_INFINITY && x.hi == f64::INFINITY;
    let (one, all) = (Interval::from(1.0), Interval::from(f64::NAN));
    assert!(whole(all) && whole(all + 1.0) && whole(one * all) && whole(one / 0.0));
    assert!(whole(one / Interval { lo: -1.0, hi: 1.0 }));
    assert!(whole(Interval::around(f64::INFINITY, 1.0) - f64::INFINITY));
    assert!(whole(Interval::ZERO * all));
    assert!(whole(Interval::around(1.0, f64::NAN)) && whole(Interval::of_sum(f64::NAN, 3, 1.0)));
}

#[test]
fn sums_lie_within_their_error() {
    let mut random = Xoshiro256::new(2);
    for n in [0, 1, 7, 8, 9, 100, 1001] {
        let draw = |random: &mut Xoshiro256| random.uniform() * 10f64.powf(6.0 * random.uniform());
        let a: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
        let b: Vec<f64> = (0..n).map(|_| -draw(&mut random)).collect();
        let [mass, sum] = Entries { p: &a, w: &b, top: 0.0 }.sums(Nominal, 0.0, 0.0);
        let ones = vec![1.0; n];
        let [count, _] = Entries { p: &ones, w: &b, top: 0.0 }.sums(Nominal, 0.0, 0.0);
        assert_eq!(count, n as f64);
        assert!((mass - a.iter().sum::<f64>()).abs() <= 1e-12 * mass);
        let mut exact = Wide::from(0.0);
        for (a, b) in a.iter().zip(&b) {
            exact = exact.plus(&Wide::from(*a).times(*b));
        }
        let x = Interval::of_sum(sum, n, 1.0);
        assert!(exact.plus(&Wide::from(-x.lo)).value() >= 0.0);
        assert!(exact.plus(&Wide::from(-x.hi)).value() <= 0.0);
    }
}

#[test]
fn tails_are_the_sums_over_states_not_listed() {
    let mut random = Xoshiro256::new(8);
    for case in 0..300 {
        let states = 2 + random.below(60) as usize;
        let spread = 10f64.powf(4.0 * random.uniform() - 2.0);
        let mut w: Vec<f64> = (0..states)
            .map(|_| match case % 3 {
                0 => -spread * random.uniform(),
                1 => -spread * random.below(3) as f64,
                // One state far above the others, which lie close together.
                _ => -spread - 1e-6 * random.uniform(),
            })
            .collect();
        w[0] = 0.0;
        let listed: Vec<usize> = (0..states).filter(|_| random.below(4) == 0).collect();
        let mut own: Vec<f64> = listed.iter().map(|&i| w[i]).collect();
        let ranking = Ranking::new(&w);
        let outside: Vec<f64> = (0..states).filter(|i| !listed.contains(i)).map(|i| w[i]).collect();
        let highest = ranking.highest_outside(&mut own);
        assert_eq!(highest, outside.iter().copied().reduce(f64::max));
        let top = highest.unwrap_or(0.0).max(if case % 2 == 0 { 0.0 } else { spread });
        let t = 10f64.powf(6.0 * random.uniform() - 3.0) / spread;
        let nu = (t * spread * (0.5 - random.uniform())).min(0.7);
        for doubtful in [Doubtful::In, Doubtful::Out] {
            let tail = ranking.tail(t, nu, top, &own, doubtful);
            let [mut mass, mut gain, mut square] = [(); 3].map(|()| Wide::from(0.0));
            for &w in &outside {
                let depth = Wide::from(w).plus(&Wide::from(-top));
                let h = depth.times(t).plus(&Wide::from(-nu));
                if h.value() <= 0.0 {
                    continue;
                }
                mass = mass.plus(&h);
                for &part in &h.0 {
                    gain = gain.plus(&depth.times(part));
                    square = square.plus(&h.times(part));
                }
            }
            for (x, exact) in [(tail.mass, mass), (tail.gain, gain), (tail.square, square)] {
                let size = exact.value().abs();
                // What is in doubt is worth next to nothing, but it is not nothing.
                let room = 1e-14 * (size + nu * nu + nu.abs() * (top.abs() + spread));
                assert!(x.lo - room <= exact.value() && exact.value() <= x.hi + room, "{x:?}");
                assert!(x.hi - x.lo <= 1e-12 * size + 1e-20 + 4.0 * room, "{x:?} {size:e}");
            }
        }
    }
}

#[test]
fn tails_of_tiny_values_know_what_underflow_took() {
    // b² is off by nearly half of the least double in every state, and t² is about 1e308.
    let (b, t, states) = (7.532374430497711e-162, 1.3e154, 1000);
    let mut w = vec![-b; states];
    w[0] = 0.0;
    let ranking = Ranking::new(&w);
    let nu = -(1.0 + (states - 1) as f64 * t * b) / states as f64;
    let square = ranking.tail(t, nu, 0.0, &[], Doubtful::Out).square;
    let h = |w: f64| t * w - nu;
    let exact = h(0.0) * h(0.0) + (states - 1) as f64 * h(-b) * h(-b);
    assert!(square.lo <= exact * (1.0 - 1e-13) && exact * (1.0 + 1e-13) <= square.hi, "{square:?}");
}
