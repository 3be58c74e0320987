//! Double-double numbers: an operation is off by 2⁻¹⁰² of the magnitudes in it.

/// A number in two parts, |low| ≤ ulp(high).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Double {
    pub(crate) high: f64,
    low: f64,
}

impl Double {
    #[inline(always)]
    pub(crate) fn sum(a: f64, b: f64) -> Double {
        let high = a + b;
        let part = high - a;
        Double { high, low: (a - (high - part)) + (b - part) }
    }

    #[inline(always)]
    pub(crate) fn product(a: f64, b: f64) -> Double {
        let high = a * b;
        Double { high, low: a.mul_add(b, -high) }
    }

    #[inline(always)]
    pub(crate) fn plus(self, other: Double) -> Double {
        let (s, t) = (Double::sum(self.high, other.high), Double::sum(self.low, other.low));
        let s = Double::sum(s.high, s.low + t.high);
        Double::sum(s.high, s.low + t.low)
    }

    #[inline(always)]
    pub(crate) fn times(self, x: f64) -> Double {
        let p = Double::product(self.high, x);
        Double::sum(p.high, p.low + self.low * x)
    }
}
