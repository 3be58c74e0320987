//! What a set's [`Proof`] says of one row, against points of its price curve; roundings are the proof's to count.

use super::Violation;
use super::draw::{DrawnRow, drawn_rows, mixed};
use crate::certificate::{Proof, ProofRow};
use crate::instances::Xoshiro256;
use crate::sets::{Curve, Priced};

/// Rows that bounds are compared with.
const OTHERS: usize = 10;
/// Wrong multipliers for every right one.
const WRONG: usize = 6;
/// What rounding may leave, of numbers of the order of one.
const ROUNDING: f64 = 1e-9;

pub(super) fn check(set: &dyn Curve) -> Result<(), Violation> {
    let (Some(proof), mut random) = (set.proof(), Xoshiro256::new(4)) else { return Ok(()) };
    for drawn in drawn_rows(set) {
        let row = drawn.row();
        let unit = if row.range > 0.0 { 1.0 / row.range } else { 1.0 };
        let curve = (-4..=4).map(|k| set.at(row, unit * 10f64.powi(k), None));
        let curve: Vec<Priced> = curve.collect();
        let mut others: Vec<Vec<f64>> =
            (0..OTHERS).map(|_| drawn.distribution(&mut random)).collect();
        others.push(mixed(&drawn.p, &others[0], 1e-3));
        let of = ProofCheck { set, proof, drawn: &drawn, curve: &curve, others: &others };
        for at in &curve {
            of.reading(at.t, at.nu, Some(at))?;
            for _ in 0..WRONG {
                let off = |random: &mut Xoshiro256| {
                    (2.0 * random.uniform() - 1.0) * 10f64.powf(-6.0 * random.uniform())
                };
                let (t, nu) = (1.0 + off(&mut random), off(&mut random));
                of.reading(at.t * t, at.nu * (1.0 + off(&mut random)) + nu, None)?;
            }
        }
    }
    Ok(())
}

struct ProofCheck<'a> {
    set: &'a dyn Curve,
    proof: &'a dyn Proof,
    drawn: &'a DrawnRow,
    curve: &'a [Priced],
    others: &'a [Vec<f64>],
}

impl ProofCheck<'_> {
    fn violation(&self, law: &'static str, place: String) -> Violation {
        Violation { law, place }
    }

    /// What (t, ν) prove is true, and next to the best that is true where they are those of a point.
    fn reading(&self, t: f64, nu: f64, right: Option<&Priced>) -> Result<(), Violation> {
        let (DrawnRow { p, w, open, own }, row) = (self.drawn, self.drawn.row());
        let kept: Vec<usize> = (0..p.len()).filter(|&j| open[j]).collect();
        let [p, w] = [p, w].map(|x| kept.iter().map(|&j| x[j]).collect::<Vec<f64>>());
        let own = own.of(&kept);
        let found = self.proof.read(&ProofRow { data: own.get(), ..ProofRow::new(&p, &w) }, t, nu);
        let place = || {
            format!("{found:?} from t = {t:e}, ν = {nu:e} on p = {p:?}, w = {w:?}, {:?}", own.get())
        };
        let size = |t: f64| ROUNDING * (1e-3 + t * row.range);
        for y in self.others {
            let (value, spent) =
                (self.drawn.value(y), self.set.distance(&self.drawn.p, y, row.data));
            let least = t * value - spent;
            let above = found.dual.is_nan() || found.dual >= least - size(t) - ROUNDING * spent;
            law!(self, "a proof's dual is above ψ(t)", above, "{least:e} at {y:?}, {}", place());
        }
        for at in self.curve {
            // Whatever row it is about, g(u) ≥ t'u − ψ(t') for all t'.
            let least = at.t * found.value.lo() - (at.t * at.value - at.price);
            let above = found.spent.is_nan() || least.is_nan() || found.spent >= least - size(at.t);
            let law = "a proof's row costs what its value does";
            law!(self, law, above, "at least {least:e} by {at:?}, {}", place());
        }
        if let Some(at) = right.filter(|at| row.range > 0.0 && at.t * row.range <= 1e3) {
            let best = at.t * at.value - at.price;
            let near = found.dual <= best + size(t)
                && found.value.lo() >= at.value - ROUNDING * row.range
                && found.spent <= at.price + size(t);
            law!(self, "a proof loses nothing", near, "{at:?}, {}", place());
        }
        Ok(())
    }
}
