//! Numbers of about 200 bits, and exponentials of them.

/// A number of about 200 bits in a sum of doubles, by plain schoolbook rules: slow, and independent of
/// what it checks.
#[derive(Clone, Debug)]
pub(super) struct Wide(pub(super) Vec<f64>);

impl Wide {
    pub(super) fn from(x: f64) -> Wide {
        Wide(vec![x])
    }

    pub(super) fn plus(&self, other: &Wide) -> Wide {
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

    pub(super) fn times(&self, x: f64) -> Wide {
        let mut total = Wide::from(0.0);
        for &part in &self.0 {
            let high = part * x;
            total = total.plus(&Wide(vec![part.mul_add(x, -high), high]));
        }
        total
    }

    pub(super) fn by(&self, other: &Wide) -> Wide {
        other.0.iter().fold(Wide::from(0.0), |sum, part| sum.plus(&self.times(*part)))
    }

    pub(super) fn over(&self, x: f64) -> Wide {
        let (mut rest, mut total) = (self.clone(), Wide::from(0.0));
        for _ in 0..5 {
            let digit = rest.value() / x;
            total = total.plus(&Wide::from(digit));
            rest = rest.plus(&Wide::from(x).times(-digit));
        }
        total
    }

    pub(super) fn value(&self) -> f64 {
        self.0.iter().sum()
    }
}

/// e^a − 1: Taylor's series at a/2^k, then (1 + m)² − 1 = m(2 + m) k times.
pub(super) fn exact_exp_m1(a: f64) -> Wide {
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

/// e^a for a number that no double may be.
pub(super) fn exact_exp(a: &Wide) -> Wide {
    let near = a.value();
    let rest = a.plus(&Wide::from(-near));
    let power = exact_exp_m1(near).plus(&Wide::from(1.0));
    power.plus(&power.by(&rest)).plus(&power.by(&rest).by(&rest).times(0.5))
}

/// ln x from a logarithm that is nearly right: with r = xe^{−near} − 1, near + r − r²/2 + r³/3 − r⁴/4.
pub(super) fn exact_ln(x: &Wide, near: f64) -> Wide {
    let r = x.by(&exact_exp(&Wide::from(-near))).plus(&Wide::from(-1.0));
    let r2 = r.by(&r);
    let more = [r2.times(-0.5), r2.by(&r).over(3.0), r2.by(&r2).times(-0.25)];
    more.iter().fold(Wide::from(near).plus(&r), |sum, term| sum.plus(term))
}
