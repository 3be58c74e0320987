//! Exponentials from a table against more digits than doubles have.

use pulp::Scalar;

use super::super::duality::{from_series, series_value};
use super::super::exponential::{EXP_ERROR, exp};
use super::super::lane::Lane;
use super::super::powers::{MOST_ROWS, Powers, STEP};
use super::super::rounding::{Ball, UNIT, roundings};
use super::super::sums::{Entries, steps};
use super::wide::{Wide, exact_exp};
use crate::instances::Xoshiro256;

#[test]
fn powers_from_a_table_keep_their_promise() {
    let mut random = Xoshiro256::new(3);
    let mut worst = 0.0_f64;
    for case in 0..20 {
        let range = 10f64.powf(40.0 * random.uniform() - 20.0);
        let w: Vec<f64> =
            (0..11).map(|i| -range * random.uniform() * f64::from(i.min(1))).collect();
        let w = [w, vec![-range]].concat();
        let powers = Powers::new(&w, range, MOST_ROWS);
        for _ in 0..20 {
            // At times just between two rows of the table.
            let place = if case % 3 == 0 {
                (random.below(1024) as f64 + 0.5) * STEP
            } else {
                32.0 * random.uniform()
            };
            let t = place / range;
            let (e, series) = powers.at(&powers.near(&[t; 8]), 7).expect("a row of the table");
            for i in 0..w.len() {
                let [p, w, e] = [vec![1.0], vec![w[i]], vec![e[i]]];
                let entries = Entries { p: &p, w: &w, e: &e };
                let [_, power, slope] = entries.sums(Scalar::new(), series);
                let exact = exact_exp(&Wide::from(t).times(w[0]));
                let off = exact.plus(&Wide::from(-power)).value().abs() / exact.value();
                worst = worst.max(off);
                assert!((slope - power * w[0]).abs() <= UNIT * slope.abs());
            }
        }
        for beyond in [32.05 / range, 1e300, f64::INFINITY] {
            assert!(powers.at(&powers.near(&[beyond; 8]), 0).is_none(), "{beyond}");
        }
    }
    // 57 of the table, 141 of the series, 5 roundings.
    assert!(worst < 203.0 * UNIT && worst > 100.0 * UNIT, "{} units", worst / UNIT);
    for range in [0.0, 1e-40, 1e40, f64::INFINITY, f64::NAN] {
        let none = Powers::new(&[0.0, -range], range, 10);
        assert!(none.at(&none.near(&[0.0; 8]), 0).is_none());
    }
}

#[test]
fn sums_from_a_table_lie_within_what_readings_allow_for() {
    let mut random = Xoshiro256::new(4);
    let mut quick = 0;
    for case in 0..800 {
        let states = 3 + random.below(40) as usize;
        let spread = 10f64.powf(8.0 * random.uniform() - 4.0);
        let mut w: Vec<f64> = (0..states).map(|_| -spread * random.uniform()).collect();
        w[random.below(states as u64) as usize] = 0.0;
        let range = w.iter().fold(0.0, |m: f64, w| m.max(-w));
        // Some have no mass, and some rows none where w is large.
        let lowest = if case % 5 == 0 { 0.3 * spread } else { 0.0 };
        let mut p: Vec<f64> = w
            .iter()
            .map(|w| if -w < lowest { 0.0 } else { random.uniform() * random.below(2) as f64 })
            .collect();
        let last = w.iter().position(|w| -w == range).expect("a state");
        p[last] += 0.01;
        let sum: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= sum);
        let powers = Powers::new(&w, range, MOST_ROWS);
        let steepness = [0.05, 1.0, 1e-6, 1.0][case % 4];
        let t = 33.0 * random.uniform() / spread * steepness;
        // About where the mass is one, or not.
        let mean: f64 = p.iter().zip(&w).map(|(p, w)| p * (t * w).exp()).sum();
        let nu = mean.ln() + if case % 4 < 2 { 0.0 } else { random.uniform() - 0.5 };
        let Some((e, series)) = powers.at(&powers.near(&[t; 8]), 0) else { continue };
        quick += 1;
        let [mass, power, slope] = Entries { p: &p, w: &w, e }.sums(Scalar::new(), series);
        let sums = [mass, power, slope, 0.0];
        let factor = exp(Lane { simd: Scalar::new(), x: -nu }).1.x;
        let [mass, excess, size, tilted] = from_series(t, nu, sums, factor);
        let [mut m, mut x, mut y, mut z, mut of_w] = [(); 5].map(|()| Wide::from(0.0));
        let mut least = 0.0;
        for (p, w) in p.iter().zip(&w).filter(|e| *e.0 > 0.0) {
            let a = Wide::from(*w).times(t).plus(&Wide::from(-nu));
            let e = exact_exp(&a).times(*p);
            m = m.plus(&Wide::from(*p));
            x = x.plus(&e).plus(&Wide::from(-*p));
            least += e.plus(&Wide::from(-*p)).value().abs();
            a.0.iter().for_each(|part| y = y.plus(&e.times(*part)));
            (z, of_w) = (z.plus(&e), of_w.plus(&e.times(*w)));
        }
        let allowed = roundings(steps(states) + EXP_ERROR + 14.0) * size;
        let off = |exact: &Wide, found: f64| exact.plus(&Wide::from(-found)).value().abs();
        assert!(off(&m, mass) <= 1e-13 && off(&x, excess) <= allowed, "{excess:e} {size:e}");
        assert!(off(&y, tilted) <= allowed, "{tilted:e} {size:e}");
        assert!(size >= 8.0 * mass && size >= least);
        // However flat the tilt: no division by t makes more of the errors.
        let Ball { mid, rad } = series_value(steps(states), sums, range);
        assert!(rad <= 500.0 * UNIT * spread, "{rad:e}");
        let value = of_w.plus(&z.times(-mid)).value().abs() / z.value();
        assert!(value <= rad, "{value:e} {rad:e}");
    }
    assert!(quick > 500, "{quick}");
}
