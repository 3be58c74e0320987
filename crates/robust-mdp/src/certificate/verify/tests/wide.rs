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
