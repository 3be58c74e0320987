//! Numbers as people read them. Bounds are rounded outwards, so that what is shown, read back as a
//! double, still bounds.

use crate::text::{thousands, trimmed};

/// Bounds that are all smaller are shown with exponents.
pub const TINY: f64 = 1e-9;

/// More decimals are shown as a number with an exponent.
const PLAIN_DECIMALS: usize = 15;

/// How many decimals show bounds that are `gap` apart: one more than the gap's first digit.
pub fn decimals(gap: f64, largest: f64) -> usize {
    if largest > 0.0 && largest < TINY {
        return tiny_decimals(gap, largest);
    }
    let wanted = if gap > 0.0 { 1.0 - gap.log10().floor() } else { 15.0 };
    // A double has about 16 digits; those before the point leave the rest.
    let before = if largest >= 1.0 { largest.log10().floor() + 1.0 } else { 1.0 };
    wanted.min(16.0 - before).clamp(0.0, PLAIN_DECIMALS as f64) as usize
}

/// As [`decimals`], for bounds that need more than are shown without an exponent.
fn tiny_decimals(gap: f64, largest: f64) -> usize {
    let all = 15.0 - largest.log10().floor();
    let wanted = if gap > 0.0 { 1.0 - gap.log10().floor() } else { all };
    wanted.min(all).max(PLAIN_DECIMALS as f64 + 1.0) as usize
}

/// The largest number of that many decimals that is at most `value`.
pub fn rounded_down(value: f64, decimals: usize) -> String {
    outwards(value, decimals, -1.0)
}

/// The smallest number of that many decimals that is at least `value`.
pub fn rounded_up(value: f64, decimals: usize) -> String {
    outwards(value, decimals, 1.0)
}

fn outwards(value: f64, decimals: usize, side: f64) -> String {
    if !value.is_finite() || value.abs() >= 1e15 {
        return format!("{value:e}");
    }
    if decimals > PLAIN_DECIMALS {
        return outwards_with_exponent(value, decimals, side);
    }
    let nearest = format!("{value:.decimals$}");
    let inside = match nearest.parse::<f64>() {
        Ok(shown) => side * (shown - value) < 0.0,
        Err(_) => false,
    };
    let text = match inside {
        true => format!("{:.decimals$}", value + side * 10f64.powi(-(decimals as i32))),
        false => nearest,
    };
    without_negative_zero(text)
}

/// As many digits as end at that decimal, and one at least.
fn outwards_with_exponent(value: f64, decimals: usize, side: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let power = value.abs().log10().floor() as i32;
    let digits = (decimals as i32 + power).clamp(0, 16);
    let bounds = |text: &String| text.parse::<f64>().is_ok_and(|t| side * (t - value) >= 0.0);
    let text = |value: f64| format!("{value:.*e}", digits as usize);
    let next = value + side * 10f64.powi(power - digits);
    // The number itself, where a step is too small for a double.
    let exact = format!("{value:e}");
    [text(value), text(next)].into_iter().find(bounds).unwrap_or(exact)
}

fn without_negative_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

/// A gap to three digits, rounded up: the certified one is at most this.
pub fn gap_text(gap: f64) -> String {
    if !gap.is_finite() || gap == 0.0 {
        return format!("{gap}");
    }
    let power = gap.abs().log10().floor() as i32;
    let unit = 10f64.powi(power - 2);
    let nearest = format!("{gap:.2e}");
    let short_by = nearest.parse::<f64>().map_or(0.0, |shown| gap - shown);
    let gap = if short_by > 0.0 { gap + unit } else { gap };
    plain(gap, 3)
}

/// A setting as short as it reads back, at most six digits long where it is not round. Of discount
/// factors and probabilities close to 1 what is left to 1 is what counts: it keeps three digits.
pub fn short(value: f64) -> String {
    let exact = format!("{value}");
    if exact.len() <= 8 {
        return exact;
    }
    if (0.5..1.0).contains(&value) {
        let decimals = (2.0 - (1.0 - value).log10().floor()).max(6.0) as usize;
        return trimmed(&format!("{value:.decimals$}")).to_owned();
    }
    plain(value, 6)
}

/// A probability to so many decimals, never 0 or 1 where it is not: “0.250”, “>0.999”, “<0.001”.
pub fn probability(p: f64, decimals: usize) -> String {
    let unit = 10f64.powi(-(decimals as i32));
    let shown = format!("{p:.decimals$}");
    match shown.parse::<f64>() {
        Ok(round) if round == 0.0 && p > 0.0 => format!("<{unit:.decimals$}"),
        Ok(round) if round == 1.0 && p < 1.0 => format!(">{:.decimals$}", 1.0 - unit),
        _ => shown,
    }
}

/// So many significant digits, without trailing zeros, and an exponent only for extreme sizes.
pub fn plain(value: f64, digits: usize) -> String {
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    if (-4..9).contains(&power) {
        let decimals = (digits as i32 - 1 - power).max(0) as usize;
        return trimmed(&format!("{value:.decimals$}")).to_owned();
    }
    format!("{}e{power}", trimmed(mantissa))
}

/// A whole number in groups of three: 12 345.
pub fn grouped(n: u64) -> String {
    thousands(&n.to_string(), ' ')
}

/// “1.2 ms”, “3.4 s”, “2 min 5 s”.
pub fn time_text(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.1} ms", 1e3 * s),
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{} min {:.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
        s => format!("{} h {:.0} min", (s / 3600.0).floor(), (s % 3600.0 / 60.0).floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_rounded_outwards() {
        assert_eq!(rounded_down(1.26, 1), "1.2");
        assert_eq!(rounded_up(1.21, 1), "1.3");
        assert_eq!(rounded_down(-1.21, 1), "-1.3");
        assert_eq!(rounded_up(-1.26, 1), "-1.2");
        assert_eq!(rounded_down(0.5, 1), "0.5");
        assert_eq!(rounded_up(-0.01, 1), "0.0");
        assert_eq!(rounded_down(f64::NEG_INFINITY, 1), "-inf");
        assert_eq!(rounded_up(1e300, 3), "1e300");
        for value in [12.345_678_912_345, 1e-9, 7.0, 123_456.789] {
            for decimals in 0..10 {
                let (low, high) = (rounded_down(value, decimals), rounded_up(value, decimals));
                assert!(low.parse::<f64>().unwrap() <= value, "{low}");
                assert!(high.parse::<f64>().unwrap() >= value, "{high}");
            }
        }
    }

    #[test]
    fn tiny_bounds_have_exponents() {
        let digits = decimals(7e-31, 1e-17);
        assert_eq!(rounded_down(1e-17, digits), "1.000000000000000e-17");
        assert_eq!(rounded_up(1.234_567_891_234_567_8e-17, digits), "1.234567891234568e-17");
        assert_eq!(rounded_up(-1.26e-12, decimals(1e-13, 2e-12)), "-1.2600e-12");
        assert_eq!(rounded_down(-2e-40, digits), "-2e-40");
        assert_eq!(rounded_up(0.0, digits), "0");
        assert_eq!(rounded_down(0.0, decimals(0.0, 0.0)), "0.000000000000000");
        assert_eq!(decimals(1e-12, 1e-9), 13);
        for value in [1e-10_f64, 9.999_999_999e-12, 1.0 / 3e15, 7.7e-200, 2.3e-308, 5e-324] {
            for value in [value, -value] {
                for gap in [0.0, 1e-3 * value.abs(), value.abs()] {
                    let digits = decimals(gap, value.abs());
                    let (low, high) = (rounded_down(value, digits), rounded_up(value, digits));
                    assert!(low.contains('e') && high.contains('e'), "{low} {high}");
                    let [low, high] = [low, high].map(|t| t.parse::<f64>().unwrap());
                    assert!(low <= value && value <= high, "{low} {value} {high}");
                    assert!(high - low <= 0.2 * gap.max(1e-14 * value.abs()), "{low} {high}");
                }
            }
        }
    }

    #[test]
    fn decimals_follow_the_gap() {
        assert_eq!(decimals(1.3e-5, 40.0), 6); // 4.0000131 vs 4.000000
        assert_eq!(decimals(0.1, 40.0), 2);
        assert_eq!(decimals(30.0, 40.0), 0);
        assert_eq!(decimals(0.0, 40.0), 14);
        assert_eq!(decimals(1e-9, 1e12), 3);
        assert_eq!(decimals(f64::INFINITY, 1.0), 0);
    }

    #[test]
    fn gaps_settings_and_counts() {
        assert_eq!(gap_text(1.2301e-6), "1.24e-6");
        assert_eq!(gap_text(2e-5), "2e-5");
        assert_eq!(gap_text(0.05), "0.05");
        assert_eq!(gap_text(f64::INFINITY), "inf");
        assert_eq!(short(0.8), "0.8");
        assert_eq!(short(0.004_512_345_678), "0.00451235");
        assert_eq!(short(1e-9), "1e-9");
        assert_eq!(short(1e300), "1e300");
        assert_eq!(short(0.999_999_999_9), "0.9999999999");
        assert_eq!(short(1.0 - 1e-12), "0.999999999999");
        assert_eq!(short(0.999_991_234_567), "0.99999123");
        assert_eq!(short(1.0 - f64::EPSILON / 2.0), "0.999999999999999889");
        assert_eq!(short(0.712_345_678_9), "0.712346");
        assert_eq!((probability(0.25, 3), probability(0.0, 3)), ("0.250".into(), "0.000".into()));
        assert_eq!((probability(1.0, 3), probability(1e-9, 3)), ("1.000".into(), "<0.001".into()));
        assert_eq!(probability(1.0 - 1e-12, 3), ">0.999");
        assert_eq!(
            (grouped(1234), grouped(12_345), grouped(1_234_567)),
            ("1234".into(), "12 345".into(), "1 234 567".into())
        );
        assert_eq!((time_text(0.0123), time_text(125.9)), ("12.3 ms".into(), "2 min 5 s".into()));
    }
}
