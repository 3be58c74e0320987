//! Exponentials from a table against more digits than doubles have.

use pulp::Scalar;

use super::super::exponential::EXP_ERROR;
use super::super::powers::{MOST_ROWS, Powers, STEP};
use super::super::rounding::{Ball, UNIT, roundings};
use super::super::row::{Ahead, Row, Scratch};
use super::super::sums::Entries;
use super::wide::{Wide, exact_exp};
use crate::instances::{Garnet, Xoshiro256};
use crate::uncertainty::UncertaintySet;

#[test]
fn powers_from_a_table_keep_their_promise() {
    let mut random = Xoshiro256::new(3);
    let mut worst = 0.0_f64;
    for case in 0..20 {
        let range = 10f64.powf(40.0 * random.uniform() - 20.0);
        let w: Vec<f64> =
            (0..11).map(|i| -range * random.uniform() * f64::from(i.min(1))).collect();
        let w = [w, vec![-range]].concat();
        let powers = Powers::new(&w, range, MOST_ROWS).expect("a table");
        for _ in 0..20 {
            // At times just between two rows of the table.
            let place = if case % 3 == 0 {
                (random.below(512) as f64 + 0.5) * STEP
            } else {
                32.0 * random.uniform()
            };
            let t = place / range;
            let (e, series) = powers.near(t).expect("a row of the table");
            for i in 0..w.len() {
                let [p, w, e] = [vec![1.0], vec![w[i]], vec![e[i]]];
                let entries = Entries { p: &p, w: &w, e: &e, top: 0.0 };
                let [_, power, slope] = entries.sums(Scalar::new(), series);
                let exact = exact_exp(&Wide::from(t).times(w[0]));
                let off = exact.plus(&Wide::from(-power)).value().abs() / exact.value();
                worst = worst.max(off);
                assert!((slope - power * w[0]).abs() <= UNIT * slope.abs());
            }
        }
        assert!(powers.near(32.05 / range).is_none() && powers.near(1e300).is_none());
    }
    // 12 of the exponential, 32 of Tw, 58 of the series, 4 roundings.
    assert!(worst < 106.0 * UNIT && worst > 20.0 * UNIT, "{} units", worst / UNIT);
    for range in [0.0, 1e-40, 1e40, f64::INFINITY, f64::NAN] {
        assert!(Powers::new(&[0.0, -range], range, 10).is_none());
    }
    assert!(Powers::new(&[0.0, -1.0], 1.0, 0).is_none());
}

#[test]
fn sums_from_a_table_lie_within_what_readings_allow_for() {
    let mut random = Xoshiro256::new(4);
    let mut quick = 0;
    for case in 0..16 {
        let states = 3 + random.below(40) as usize;
        let garnet = Garnet { states, actions: 2, branching: 0.6, seed: case, ..Garnet::default() };
        let model = garnet.model().expect("a model");
        let spread = 10f64.powf(8.0 * random.uniform() - 4.0);
        let v: Vec<f64> = (0..states).map(|_| spread * random.uniform()).collect();
        let ahead = Ahead::new(&model, &UncertaintySet::kl(1.0), &v, MOST_ROWS);
        for r in 0..model.rows() {
            let scratch = &mut Scratch::default();
            let row = Row::new(&model, &UncertaintySet::kl(1.0), &ahead, r, scratch);
            let Entries { p, w, top, .. } = row.entries;
            let steepness = [0.05, 1.0, 1e-6, 1.0][case as usize % 4];
            let t = 33.0 * random.uniform() / spread * steepness;
            // About where the mass is one, or not.
            let mean: f64 = p.iter().zip(w).map(|(p, w)| p * (t * (w - top)).exp()).sum();
            let nu = mean.ln() + if case % 4 < 2 { 0.0 } else { random.uniform() - 0.5 };
            let pass = row.pass(Scalar::new(), t, nu);
            let [mass, excess, size, tilted] = pass.sums;
            let [mut m, mut x, mut y, mut z, mut of_w] = [(); 5].map(|()| Wide::from(0.0));
            for (p, w) in p.iter().zip(w).filter(|e| *e.0 > 0.0) {
                let a = Wide::from(*w).plus(&Wide::from(-top)).times(t).plus(&Wide::from(-nu));
                let e = exact_exp(&a).times(*p);
                m = m.plus(&Wide::from(*p));
                x = x.plus(&e).plus(&Wide::from(-*p));
                a.0.iter().for_each(|part| y = y.plus(&e.times(*part)));
                (z, of_w) = (z.plus(&e), of_w.plus(&e.times(*w)).plus(&e.times(-top)));
            }
            let allowed = roundings(p.len() as f64, EXP_ERROR + 14.0) * size;
            let off = |exact: &Wide, found: f64| exact.plus(&Wide::from(-found)).value().abs();
            assert!(off(&m, mass) <= 1e-13 && off(&x, excess) <= allowed, "{excess:e} {size:e}");
            assert!(off(&y, tilted) <= allowed, "{tilted:e} {size:e}");
            if !pass.tail.mass.rad.is_nan() {
                quick += 1;
                assert!(size >= 5.0 * mass);
                // However flat the tilt: no division by t makes more of the errors.
                let Ball { mid, rad } = pass.tail.mass;
                assert!(rad <= 300.0 * UNIT * spread, "{rad:e}");
                let value = of_w.plus(&z.times(-mid)).value().abs() / z.value();
                assert!(value <= rad, "{value:e} {rad:e}");
            }
        }
    }
    assert!(quick > 500, "{quick}");
}
