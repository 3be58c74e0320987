//! Where an axis begins and ends, and its ticks.

use super::Scale;
use super::text::{fixed, significant, superscript};

/// Share of the range that is left free beyond the outermost values.
const MARGIN: f64 = 0.04;

/// The range of an axis; `low < high`, both positive where the scale is logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) scale: Scale,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// A tick with its label; minor ones have none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: Option<String>,
}

impl Range {
    /// Holds all `values` that the scale can show.
    pub(super) fn of(scale: Scale, values: impl Iterator<Item = f64>) -> Range {
        let log = scale == Scale::Log;
        let shown = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
        let (low, high) = shown
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        match (low <= high, log) {
            (false, true) => Range { scale, low: 0.1, high: 10.0 },
            (false, false) => Range { scale, low: 0.0, high: 1.0 },
            (true, true) => Range::log(low, high),
            (true, false) => Range::linear(low, high),
        }
    }

    fn log(low: f64, high: f64) -> Range {
        let (a, b) = (low.log10(), high.log10());
        let room = if b - a < 1e-9 { 0.3 } else { MARGIN * (b - a) };
        // A positive number of ordinary size stays one after a margin.
        let power = |x: f64| 10f64.powf(x.clamp(-300.0, 300.0));
        Range { scale: Scale::Log, low: power(a - room), high: power(b + room) }
    }

    fn linear(low: f64, high: f64) -> Range {
        let scale = Scale::Linear;
        let width = high - low;
        if width <= 1e-12 * low.abs().max(high.abs()) {
            let room = if high == 0.0 { 1.0 } else { 0.05 * high.abs() };
            return Range { scale, low: low - room, high: high + room };
        }
        let room = MARGIN * width;
        // An axis that comes near zero begins there.
        let low = if low >= 0.0 && low <= 0.3 * high { 0.0 } else { low - room };
        Range { scale, low, high: high + room }
    }

    /// Where `value` lies: 0 at the low end, 1 at the high one. Values that the scale cannot show
    /// (zero on a logarithmic axis) lie at the low end.
    pub(super) fn share(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log if value > 0.0 => {
                (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
            }
            Scale::Log => 0.0,
        }
    }

    /// Whether the axis can show `value` where it is.
    pub(super) fn holds(&self, value: f64) -> bool {
        value.is_finite() && value >= self.low && value <= self.high
    }

    /// Ticks within the range, about `wanted` of them labelled.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => linear_ticks(self.low, self.high, wanted),
            Scale::Log => log_ticks(self.low, self.high, wanted),
        }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let rough = (high - low) / wanted.max(1) as f64;
    let power = rough.log10().floor();
    let unit = 10f64.powf(power);
    let (factor, power) = match rough / unit {
        m if m < 1.5 => (1.0, power),
        m if m < 3.5 => (2.0, power),
        m if m < 7.5 => (5.0, power),
        _ => (1.0, power + 1.0),
    };
    // Multiples of the step, computed so that 0.3 is not 0.30000000000000004.
    let at = |k: f64| match power < 0.0 {
        true => k * factor / 10f64.powf(-power),
        false => k * factor * 10f64.powf(power),
    };
    let step = at(1.0);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    let label = |value: f64| match low.abs().max(high.abs()) {
        most if !(1e-4..1e6).contains(&most) => {
            let digits = (most.log10().floor() - power + 1.0).clamp(1.0, 15.0);
            significant(value, digits as usize)
        }
        _ => fixed(value, (-power).clamp(0.0, 15.0) as usize),
    };
    let count = (last - first).clamp(0.0, 100.0) as usize;
    (0..=count)
        .map(|k| at(first + k as f64))
        .map(|value| Tick { at: value, label: Some(label(value)) })
        .collect()
}

/// Decades, and 2 to 9 times these; in a short range some of these are labelled too.
fn log_ticks(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let within = |v: f64| v >= low * (1.0 - 1e-9) && v <= high * (1.0 + 1e-9);
    let decades: Vec<i32> = (first..=last).filter(|&k| within(10f64.powi(k))).collect();
    if decades.len() < 2 {
        return short_log_ticks(low, high, wanted, first..=last);
    }
    let every = decades.len().div_ceil(wanted.max(2)) as i32;
    let plain = decades.iter().all(|k| (-3..=4).contains(k));
    let label = |k: i32| match plain {
        true => significant(10f64.powi(k), 1),
        false => format!("10{}", superscript(k)),
    };
    // Two decades alone say little: 2 and 5 times these are labelled too.
    let few = decades.len() == 2 && plain;
    let mut ticks = Vec::new();
    for k in first..=last {
        for m in 1..10 {
            let at = scaled(m, k);
            if within(at) && (m == 1 || every == 1) {
                let label = match m {
                    1 if k.rem_euclid(every) == 0 => Some(label(k)),
                    2 | 5 if few => Some(significant(at, 1)),
                    _ => None,
                };
                ticks.push(Tick { at, label });
            }
        }
    }
    ticks
}

/// Ticks of a range with fewer than two decades in it.
fn short_log_ticks(
    low: f64,
    high: f64,
    wanted: usize,
    powers: std::ops::RangeInclusive<i32>,
) -> Vec<Tick> {
    let all = powers.flat_map(|k| (1..10).map(move |m| (m, scaled(m, k))));
    let ticks: Vec<(u32, f64)> = all.filter(|(_, at)| *at >= low && *at <= high).collect();
    let named = |of: &[u32]| ticks.iter().filter(|(m, _)| of.contains(m)).count();
    let choices: [&[u32]; 3] = [&[1, 2, 5], &[1, 2, 3, 5, 7], &[1, 2, 3, 4, 5, 6, 7, 8, 9]];
    match choices.into_iter().find(|of| named(of) >= 3) {
        Some(of) => ticks
            .into_iter()
            .map(|(m, at)| Tick { at, label: of.contains(&m).then(|| significant(at, 1)) })
            .collect(),
        // Less than a factor of two or so: as good as linear.
        None => linear_ticks(low, high, wanted).into_iter().filter(|t| t.at > 0.0).collect(),
    }
}

/// m·10^k, rounded once.
fn scaled(m: u32, k: i32) -> f64 {
    let (m, power) = (f64::from(m), 10f64.powi(k.abs()));
    if k < 0 { m / power } else { m * power }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(range: Range, wanted: usize) -> Vec<String> {
        range.ticks(wanted).into_iter().filter_map(|t| t.label).collect()
    }

    fn range(scale: Scale, low: f64, high: f64) -> Range {
        Range { scale, low, high }
    }

    #[test]
    fn linear_ticks_are_round() {
        let of = |low, high| labels(range(Scale::Linear, low, high), 5);
        assert_eq!(of(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(of(0.0, 10_400.0), ["0", "2000", "4000", "6000", "8000", "10\u{202f}000"]);
        assert_eq!(of(-3.1, 2.2), ["−3", "−2", "−1", "0", "1", "2"]);
        assert_eq!(
            of(37.001, 37.004),
            ["37.0010", "37.0015", "37.0020", "37.0025", "37.0030", "37.0035", "37.0040"]
        );
        assert_eq!(of(0.0, 2e-6), ["0", "5×10⁻⁷", "1×10⁻⁶", "1.5×10⁻⁶", "2×10⁻⁶"]);
    }

    #[test]
    fn log_ticks_are_decades_with_minor_ones() {
        let of = |low, high| labels(range(Scale::Log, low, high), 6);
        assert_eq!(of(0.5, 2000.0), ["1", "10", "100", "1000"]);
        assert_eq!(of(1e-6, 1.0), ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]);
        assert_eq!(of(1e-5, 1.0), ["10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰"]);
        assert_eq!(of(9.0, 260.0), ["10", "20", "50", "100", "200"]);
        assert_eq!(of(30.0, 400.0), ["50", "100", "200"]);
        assert_eq!(of(2.9, 9.2), ["3", "5", "7"]);
        assert_eq!(of(100.0, 105.0), ["100", "101", "102", "103", "104", "105"]);
        let ticks = range(Scale::Log, 1.0, 100.0).ticks(6);
        assert_eq!(ticks.len(), 19); // 1, 2, …, 9, 10, 20, …, 90, 100
        assert_eq!(ticks.iter().filter(|t| t.label.is_some()).count(), 3);
    }

    #[test]
    fn ranges_hold_their_values() {
        let of = |scale, values: &[f64]| Range::of(scale, values.iter().copied());
        let near_zero = of(Scale::Linear, &[1.0, 10.0]);
        assert_eq!(near_zero.low, 0.0);
        let far = of(Scale::Linear, &[100.0, 101.0]);
        assert!(far.low > 99.0 && far.low < 100.0 && far.high > 101.0);
        let log = of(Scale::Log, &[0.0, -1.0, f64::NAN, f64::INFINITY, 1e-3, 1e3]);
        assert!(log.low < 1e-3 && log.low > 1e-4 && log.high > 1e3 && log.high < 1e4);
        assert_eq!(log.share(0.0), 0.0);
        assert!((log.share(1.0) - 0.5).abs() < 1e-12);
        assert!(!log.holds(0.0) && log.holds(1.0));
        for scale in [Scale::Linear, Scale::Log] {
            for values in [&[][..], &[5.0], &[f64::NAN]] {
                let range = of(scale, values);
                assert!(range.low < range.high);
                assert!(range.ticks(5).iter().any(|t| t.label.is_some()), "{range:?}");
            }
        }
    }
}
