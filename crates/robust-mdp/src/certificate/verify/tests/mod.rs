//! The arithmetic against more digits than doubles have.

mod moves;
mod readings;
mod truth;
mod wide;

use std::cell::Cell;

use pulp::{Scalar, Simd, WithSimd};

use self::wide::{Wide, exact_exp_m1};
use super::interval::{Interval, Level, UNIT, above};
use super::lane::Lane;
use super::proof::ProofRow;
use super::state::{Check, Excess, Hand};
use super::sums::{Mean, steps};
use super::tail::{Ranking, Unlisted};
use super::values::{RowScratch, VerifiedValues};
use crate::certificate::Multipliers;
use crate::instances::{Costs, Garnet, Xoshiro256};
use crate::sets::UncertaintySet;
use crate::sets::exponential::{self, EXP_ERROR};
use crate::sets::unlisted::UnlistedSums;
use crate::{Model, ModelBuilder, Options, Rejection, certify, solve, verify};

thread_local! {
    /// Which instruction set sums are made with.
    static MACHINE: Cell<Machine> = const { Cell::new(Machine::Native) };
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Machine {
    Native,
    Portable,
    Avx2,
    Avx512,
}

pub(crate) fn dispatch<K: WithSimd>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    match MACHINE.get() {
        Machine::Avx2 => return Simd::vectorize(pulp::x86::V3::try_new().expect("AVX2"), kernel),
        Machine::Avx512 => {
            return Simd::vectorize(pulp::x86::V4::try_new().expect("AVX-512"), kernel);
        }
        _ => {}
    }
    match MACHINE.get() {
        Machine::Portable => Simd::vectorize(Scalar::new(), kernel),
        _ => crate::lanes::dispatch(kernel),
    }
}

/// Those that this machine has.
fn machines() -> Vec<Machine> {
    let mut found = vec![Machine::Native];
    #[cfg(target_arch = "x86_64")]
    {
        found.extend(pulp::x86::V3::try_new().map(|_| Machine::Avx2));
        found.extend(pulp::x86::V4::try_new().map(|_| Machine::Avx512));
    }
    found
}

fn exp(a: f64) -> (f64, f64) {
    let (m, e, _) =
        exponential::exp(Lane { simd: Scalar::new(), x: 1.0 }, Lane { simd: Scalar::new(), x: a });
    (m.x, e.x)
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
    assert_eq!((exp(701.0), exp(f64::INFINITY)), (exp(700.0), exp(700.0)));
    // Known digits: e^-1 and e^-600.
    assert!((exp(-1.0).1 - 0.36787944117144233).abs() <= 1e-16);
    assert!((exp(-600.0).1 / 2.6503965530043108e-261 - 1.0).abs() < 1e-15);
}

/// Whether the interval contains the exact number.
fn inside(x: Interval, exact: &Wide) -> bool {
    let off = |end: f64| exact.plus(&Wide::from(-end)).value();
    off(x.lo()) >= 0.0 && off(x.hi()) <= 0.0
}

#[test]
fn intervals_contain_what_exact_arithmetic_gives() {
    let mut random = Xoshiro256::new(5);
    let mut draw = || {
        let size = 10f64.powf(20.0 * random.uniform() - 10.0);
        size * (2.0 * random.uniform() - 1.0)
    };
    for _ in 0..2000 {
        let (a, b, c, d, e) = (draw(), draw(), draw(), draw(), draw().abs());
        let (x, y) = (Interval::from(a), Interval::from(b.abs()));
        assert!(inside(x + b, &Wide::from(a).plus(&Wide::from(b))));
        assert!(inside(x * b, &Wide::from(a).times(b)));
        assert!(inside(x / y, &Wide::from(a).over(b.abs())));
        assert!(inside(x / b.abs(), &Wide::from(a).over(b.abs())));
        // Ends of intervals lead to numbers in the result.
        let (x, y) = (Interval { mid: a, rad: 0.1 * c.abs() }, Interval { mid: e, rad: 0.3 * e });
        for (end, by) in [(x.mid + 0.999 * x.rad, 0.701 * e), (x.mid - 0.999 * x.rad, 1.299 * e)] {
            assert!(inside(x + y, &Wide::from(end).plus(&Wide::from(by))));
            assert!(inside(x * b, &Wide::from(end).times(b)));
            assert!(inside(x / y, &Wide::from(end).over(by)));
            assert!(inside(x / b.abs(), &Wide::from(end).over(b.abs())));
        }
        let (mean, _) = Interval { mid: 1.0 + e, rad: 0.1 }.tilted_mean(x, f64::MAX, e, c);
        let exact = Wide::from(a).over(1.0 + e).plus(&Wide::from(c)).over(e);
        assert!(inside(mean, &exact));
        let exact =
            [a, b, c, d, e].iter().fold(Wide::from(0.0), |sum, x| sum.plus(&Wide::from(*x)));
        let level = Level::new(a, b, c);
        assert!(exact.plus(&Wide::from(-level.above(d, e))).value() <= 0.0);
        let below = Wide::from(level.below(d, e)).plus(&Wide::from(-2.0 * e));
        assert!(exact.plus(&below).value() >= 0.0);
        assert!(inside(Interval::sum([a, b, c, d, e], 0.0), &exact));
        let fine = Interval::fine_sum([a, b, c, d, e]);
        assert!(inside(fine, &exact) && fine.rad <= 1.1 * UNIT * fine.mid.abs() + 1e-21);
        let pairs = [(a, b), (b, c), (c, d), (d, -e)];
        let exact =
            pairs.iter().fold(Wide::from(0.0), |sum, (x, y)| sum.plus(&Wide::from(*x).times(*y)));
        let fine = Interval::dot(pairs);
        assert!(inside(fine, &exact) && fine.rad <= 1.1 * UNIT * fine.mid.abs() + 1e-10);
        assert!(Wide::from(above(a.abs().sqrt())).times(above(a.abs().sqrt())).value() >= a.abs());
    }
}

#[test]
fn what_is_no_number_proves_nothing() {
    let nothing = |x: Interval| !x.hi().is_finite() && !x.lo().is_finite();
    let (one, none) = (Interval::from(1.0), Interval::from(f64::NAN));
    assert!(nothing(none) && nothing(none + 1.0) && nothing(none * 0.0) && nothing(none / one));
    assert!(nothing(one / Interval::from(0.0)) && nothing(one / Interval { mid: 0.5, rad: 1.0 }));
    assert!(nothing(one / none) && nothing(Interval::from(f64::INFINITY) + -f64::INFINITY));
    assert!(nothing(Interval::of_sum(f64::NAN, 3.0)));
    let level = Level::new(1.0, f64::INFINITY, 0.0);
    assert!(!level.above(f64::NEG_INFINITY, 0.0).is_finite() && !level.below(0.0, 0.0).is_finite());
    assert!(!Level::new(1.0, 0.0, 0.0).above(0.0, f64::NAN).is_finite());
}

#[test]
fn sums_lie_within_their_error() {
    let mut random = Xoshiro256::new(2);
    for n in [0, 1, 7, 8, 9, 100, 1001] {
        let draw = |random: &mut Xoshiro256| random.uniform() * 10f64.powf(6.0 * random.uniform());
        let a: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
        let b: Vec<f64> = (0..n).map(|_| -draw(&mut random)).collect();
        let sums =
            |p: &[f64]| ProofRow { maximum: 0.0, ..ProofRow::new(p, &b) }.sums(-1.0, 0.0, Mean);
        let [mass, sum] = sums(&a);
        let ones = vec![1.0; n];
        let [count, _] = sums(&ones);
        assert_eq!(count, n as f64);
        assert!((mass - a.iter().sum::<f64>()).abs() <= 1e-12 * mass);
        let mut exact = Wide::from(0.0);
        for (a, b) in a.iter().zip(&b) {
            exact = exact.plus(&Wide::from(*a).times(*b));
        }
        assert!(inside(Interval::of_sum(sum, steps(n)), &exact));
    }
}

#[test]
fn sums_of_listed_rows_lie_within_their_error() {
    let lengths = [1usize, 2, 31, 32, 33, 100, 1025, 2500];
    let mut random = Xoshiro256::new(6);
    for case in 0..6 {
        let mut builder = ModelBuilder::new(0.9);
        for s in 0..2500 {
            builder.add_state(None);
            for n in if s == 0 { &lengths[..] } else { &lengths[..1] } {
                builder.add_action(None, 0.0);
                let p: Vec<f64> = (0..*n).map(|_| random.uniform() + 1e-3).collect();
                let sum: f64 = p.iter().sum();
                for (i, p) in p.iter().enumerate() {
                    let toll = if case % 2 == 0 { 0.0 } else { random.uniform() };
                    builder.add_transition(if s == 0 { i } else { s }, p / sum, toll);
                }
            }
        }
        let model = builder.build().expect("a model");
        assert!(!model.is_dense());
        let v: Vec<f64> = (0..2500).map(|_| random.uniform()).collect();
        let set = UncertaintySet::kl(0.1);
        let values = VerifiedValues::new(&model, &set, &v);
        let mut scratch = RowScratch::default();
        for (r, n) in lengths.into_iter().enumerate() {
            let (row, _) = values.row(r, &mut scratch);
            let [mut mass, mut value] = [(); 2].map(|()| Wide::from(0.0));
            for (i, p, toll) in model.row(r).entries() {
                mass = mass.plus(&Wide::from(p));
                value = value.plus(&Wide::from(p).times((values.w[i] + toll) - row.maximum));
            }
            assert!(row.p.len() == n && row.w.len() == n && row.unlisted.is_none());
            assert!(row.w.iter().all(|w| *w <= row.maximum && row.maximum - w <= row.depth));
            let [one, two] = row.sums(-1.0, 0.0, Mean);
            assert!(inside(Interval::of_sum(one, steps(n)), &mass));
            assert!(inside(Interval::of_sum(two, steps(n)), &value));
            // The mean, whatever it is counted from.
            let found = values.nominal(r, &mut scratch);
            let exact =
                value.value() / mass.value() + (values.row(r, &mut scratch).0.maximum - found[0]);
            assert!((found[1] - exact).abs() <= found[2] && found[2] < 1e-12, "{case} {r}");
        }
    }
}

/// Rows that may have mass everywhere: what they list, and what they do not.
#[test]
fn rows_that_list_little_have_the_rest_in_their_tails() {
    let lengths = [1usize, 900, 1024, 1025, 1500, 2048, 2049, 2500];
    let mut random = Xoshiro256::new(9);
    for tolls in [0.0, 0.2] {
        let mut builder = ModelBuilder::new(0.9);
        for s in 0..3000 {
            builder.add_state(None);
            for n in if s == 0 { &lengths[..] } else { &lengths[..1] } {
                builder.add_action(None, 0.0);
                for i in 0..*n {
                    let toll = tolls * random.uniform();
                    builder.add_transition(if s == 0 { i } else { s }, 1.0 / *n as f64, toll);
                }
            }
        }
        let model = builder.build().expect("a model");
        let v: Vec<f64> = (0..3000).map(|_| random.uniform()).collect();
        let set = UncertaintySet::ellipsoid(0.1);
        let values = VerifiedValues::new(&model, &set, &v);
        let (mut scratch, t, nu) = (RowScratch::default(), 1e-3, -4e-4);
        for (r, n) in lengths.into_iter().enumerate() {
            let (mut w, mut p) = (values.w.clone(), vec![0.0; 3000]);
            for (i, y, toll) in model.row(r).entries() {
                (w[i], p[i]) = (w[i] + toll, y);
            }
            let (row, _) = values.row(r, &mut scratch);
            let maximum = w.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!((row.maximum, row.p.len()), (maximum, n));
            assert!(w.iter().all(|w| maximum - w <= row.depth));
            let rest = (n..3000).map(|i| (t * (w[i] - maximum) - nu).max(0.0));
            let (mass, square) = rest.fold((0.0, 0.0), |(m, s), h| (m + h, s + h * h));
            let tail = UnlistedSums::new(row.unlisted.expect("a tail"), t, nu);
            assert!(mass > 0.01 && (tail.mass.mid - mass).abs() <= 1e-12 * mass, "{r}");
            assert!((tail.square.mid - square).abs() <= 1e-12 * square, "{r}");
        }
    }
}

fn tail(ranking: &Ranking, t: f64, nu: f64, maximum: f64, listed: &[f64]) -> UnlistedSums {
    UnlistedSums::new(Unlisted { ranking, listed, maximum }, t, nu)
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
        let own: Vec<f64> = listed.iter().map(|&i| w[i]).collect();
        let ranking = Ranking::new(&w);
        let outside: Vec<f64> = (0..states).filter(|i| !listed.contains(i)).map(|i| w[i]).collect();
        let numbers: Vec<u32> = listed.iter().map(|&i| i as u32).collect();
        let highest = ranking.best(|i| !numbers.contains(&i));
        assert_eq!(highest, outside.iter().copied().reduce(f64::max));
        let maximum = highest.unwrap_or(0.0).max(if case % 2 == 0 { 0.0 } else { spread });
        let t = 10f64.powf(6.0 * random.uniform() - 3.0) / spread;
        let nu = (t * spread * (0.5 - random.uniform())).min(0.7);
        let tail = tail(&ranking, t, nu, maximum, &own);
        let [mut mass, mut square] = [(); 2].map(|()| Wide::from(0.0));
        for &w in &outside {
            let h = Wide::from(w).plus(&Wide::from(-maximum)).times(t).plus(&Wide::from(-nu));
            if h.value() <= 0.0 {
                continue;
            }
            mass = mass.plus(&h);
            for &part in &h.0 {
                square = square.plus(&h.times(part));
            }
        }
        // Half of the squares is what a bound needs, whether or not they count.
        assert!(0.5 * square.value() <= 0.5 * tail.square.hi() + tail.missed);
        assert!(tail.missed <= 1e-28 * nu * nu);
        for (x, exact) in [(tail.mass, mass), (tail.square, square)] {
            let size = exact.value().abs();
            // What is in doubt is worth next to nothing, but it is not nothing.
            let room = 1e-14 * (size + nu * nu + nu.abs() * (maximum.abs() + spread));
            assert!(x.lo() - room <= exact.value() && exact.value() <= x.hi() + room, "{x:?}");
            assert!(x.hi() - x.lo() <= 1e-12 * size + 1e-20 + 4.0 * room, "{x:?} {size:e}");
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
    let square = tail(&ranking, t, nu, 0.0, &[]).square;
    let h = |w: f64| t * w - nu;
    let exact = h(0.0) * h(0.0) + (states - 1) as f64 * h(-b) * h(-b);
    let (lo, hi) = (square.lo(), square.hi());
    assert!(lo <= exact * (1.0 - 1e-13) && exact * (1.0 + 1e-13) <= hi, "{square:?}");
}

/// Two states that lead to each other at the given costs, after a terminal one.
fn pair(discount: f64, costs: [f64; 2]) -> Model {
    let mut builder = ModelBuilder::new(discount);
    builder.add_state(None);
    builder.mark_terminal();
    for (s, cost) in costs.into_iter().enumerate() {
        builder.add_state(None);
        builder.add_action(None, cost);
        builder.add_transition(2 - s, 1.0, 0.0);
    }
    builder.build().expect("a model")
}

#[test]
fn values_too_far_apart_prove_nothing_even_at_discount_0() {
    let set = UncertaintySet::ellipsoid(0.1);
    for discount in [0.0, 0.5] {
        let model = pair(discount, [1.0, 2.0]);
        let far = VerifiedValues::new(&model, &set, &[0.0, 1.7e308, -1.7e308]);
        assert!(!far.omega.is_finite());
        let near = VerifiedValues::new(&model, &set, &[0.0, 1.7, -1.7]);
        assert!(near.omega < 1e-15);
    }
    let model = pair(0.0, [1.0, 2.0]);
    let solution = solve(&model, &set, &Options::default()).expect("a solution");
    let (mut certificate, _) = certify(&model, &set, &solution, None).expect("a certificate");
    (certificate.upper[1], certificate.upper[2]) = (1.7e308, -1.7e308);
    assert!(matches!(verify(&model, &certificate, None), Err(Rejection::Nothing { .. })));
}

#[test]
fn a_claim_without_room_names_no_state_that_has_none() {
    // Nothing is in excess: v_U is far above, v_L far below, and the first state is terminal.
    let (model, set) = (pair(0.5, [1.0, 1.0]), UncertaintySet::kl(0.1));
    let solution = solve(&model, &set, &Options::default()).expect("a solution");
    let (mut certificate, _) = certify(&model, &set, &solution, None).expect("a certificate");
    certificate.upper[1..].fill(3.0);
    certificate.lower[1..].fill(1.0);
    let Err(Rejection::Claim(shortfall)) = verify(&model, &certificate, None) else {
        panic!("the claim is too narrow");
    };
    assert_eq!((&shortfall.above, &shortfall.below), (&None, &None));
    assert!(!shortfall.to_string().contains("state"), "{shortfall}");
    // An excess has its place.
    certificate.lower[2] = 2.5;
    let Err(Rejection::Claim(shortfall)) = verify(&model, &certificate, None) else {
        panic!("the claim is too narrow");
    };
    assert!(shortfall.above.is_none());
    let below = shortfall.below.expect("an excess");
    assert!((below.0 - 1.0).abs() < 1e-9 && below.1.index == 2 && below.2 == "0");
}

#[test]
fn rows_that_cost_a_little_too_little_are_read() {
    for (set, terminal) in [UncertaintySet::ellipsoid(0.1), UncertaintySet::kl(0.1).per_action()]
        .into_iter()
        .flat_map(|set| [(set.clone(), false), (set, true)])
    {
        let mut builder = ModelBuilder::new(0.5);
        builder.add_state(None);
        for cost in [2.0, 3.0] {
            builder.add_action(None, cost);
            builder.add_transition(0, 1.0, 0.0);
        }
        if terminal {
            builder.add_state(None);
            builder.mark_terminal();
        }
        let mut model = builder.build().expect("a model");
        let set = if terminal { set.on_nominal_support() } else { set };
        let solution = solve(&model, &set, &Options::default()).expect("a solution");
        let (certificate, _) = certify(&model, &set, &solution, None).expect("a certificate");
        for (less, found) in [(1e-6, true), (1e-9, true), (-1e-6, false)] {
            model.cost[1] = 2.0 - less;
            let check = Check::discounted(&model, &certificate);
            let excess = check.run(0..model.states(), &mut Hand::default())[0];
            let expected = if found { less } else { 0.0 };
            assert!((excess.below - expected).abs() < 1e-14, "{excess:?}");
            assert!(excess.row == usize::from(found) || !found, "{excess:?}");
        }
    }
}

#[test]
fn shifts_too_low_for_the_exponential_prove_nothing_wrong() {
    // Nature moves 0.87 of the mass to a next state of probability 1e-300.
    let mut builder = ModelBuilder::new(0.5);
    builder.add_state(None);
    builder.add_action(None, 0.6);
    builder.add_transition(0, 1e-300, 0.0);
    builder.add_transition(1, 1.0, 0.0);
    builder.add_state(None);
    builder.mark_terminal();
    let model = builder.build().expect("a model");
    let set = UncertaintySet::kl(600.0).per_action();
    let solution = solve(&model, &set, &Options::default()).expect("a solution");
    let (mut certificate, proved) = certify(&model, &set, &solution, None).expect("a certificate");
    assert!(proved.gap < 1e-5 && proved.lower[0] > 1.05, "{proved:?}");
    certificate.claim.lower = f64::NEG_INFINITY;
    (certificate.claim.upper, certificate.claim.gap) = (f64::INFINITY, f64::INFINITY);
    // Multipliers too steep for anything: the row's maximum bounds the policy, and the nominal row the kernel.
    certificate.scale[0] = 1e-308;
    let steep = verify(&model, &certificate, None).expect("bounds");
    assert!(steep.upper[0] >= proved.upper[0] && steep.lower[0] <= proved.lower[0]);
    // Here e^{tw' − ν} would be e^1e6 on the maximum and was brought to e^700.
    (certificate.upper[0], certificate.lower[0]) = (1.0, 0.0);
    (certificate.policy[0].nu, certificate.scale[0]) = (-1e6, 1.0 / 2.2e6);
    let wrong = verify(&model, &certificate, None).expect("bounds");
    assert!(wrong.upper[0] >= proved.lower[0], "{wrong:?}");
}

#[test]
fn bounds_have_the_same_bits_on_every_instruction_set() {
    let garnet = Garnet { states: 43, actions: 6, costs: Costs::StateDriven, ..Garnet::default() };
    let [dense, sparse] = [0.6, 0.2].map(|branching| Garnet { branching, ..garnet });
    for garnet in [dense, sparse] {
        let model = garnet.model().expect("a model");
        for set in [
            UncertaintySet::ellipsoid(0.1),
            UncertaintySet::ellipsoid(0.01).on_nominal_support().per_action(),
            UncertaintySet::kl(0.5),
            UncertaintySet::kl(0.05).per_action(),
        ] {
            let solution = solve(&model, &set, &Options::default()).expect("a solution");
            let (mut certificate, _) =
                certify(&model, &set, &solution, None).expect("a certificate");
            assert!(certificate.upper == certificate.lower && !certificate.policy.is_empty());
            // Every other model with halves that have values and multipliers of their own.
            if garnet.branching < 0.5 {
                certificate.lower.iter_mut().for_each(|v| *v -= 1e-6);
                certificate.kernel = (0..model.rows() as u32)
                    .map(|row| Multipliers { row, t: 0.3, nu: -0.1 })
                    .collect();
            }
            let check = Check::discounted(&model, &certificate);
            let on = |machine| {
                MACHINE.set(machine);
                let found = check.run(0..model.states(), &mut Hand::default());
                MACHINE.set(Machine::Native);
                found
            };
            let portable = on(Machine::Portable);
            let bits = |x: &Excess| (x.above.to_bits(), x.below.to_bits(), x.row);
            for machine in machines() {
                for (s, found) in on(machine).iter().enumerate() {
                    let (one, other) = (bits(found), bits(&portable[s]));
                    assert_eq!(one, other, "{machine:?}, {set:?}, state {s}");
                }
            }
        }
    }
}
