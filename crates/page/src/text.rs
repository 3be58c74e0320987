//! Text in markup, and numbers as figures show them.

/// `text` as the content of an element or of a quoted attribute. Characters that no document may
/// hold become U+FFFD.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A name that is safe in links, identifiers and file names: lower case, digits and hyphens.
pub(crate) fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' => out.push(c),
            _ if !out.is_empty() && !out.ends_with('-') => out.push('-'),
            _ => {}
        }
    }
    let out = out.trim_end_matches('-');
    if out.is_empty() { "figure".into() } else { out.into() }
}

/// A value to so many significant digits, as hover texts and cells show it: 0.00123, 12.5,
/// 12 300, 1.2×10⁻⁷.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return match value {
            v if v.is_nan() => "not a number".into(),
            v if v > 0.0 => "∞".into(),
            _ => "−∞".into(),
        };
    }
    if value == 0.0 {
        return "0".into();
    }
    let scientific = format!("{value:.*e}", digits.max(1) - 1);
    let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    if (-4..6).contains(&power) {
        let decimals = (digits as i32 - 1 - power).max(0) as usize;
        // Digits beyond the asked ones are zeros, as in 12 300.
        let rounded = format!("{mantissa}e{power}").parse().unwrap_or(value);
        return grouped(trimmed(&format!("{rounded:.decimals$}")));
    }
    format!("{}×10{}", minus(trimmed(mantissa)), superscript(power))
}

/// A number with that many decimals, its thousands apart.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    grouped(&format!("{value:.decimals$}"))
}

/// ⁻¹²³.
pub(crate) fn superscript(power: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let of = |c: char| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize]);
    power.to_string().chars().map(of).collect()
}

/// Without zeros at the end of the decimals.
pub(crate) fn trimmed(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

fn minus(text: &str) -> String {
    text.replacen('-', "−", 1)
}

/// Narrow spaces between thousands where there are five digits or more before the point.
fn grouped(text: &str) -> String {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => ("", rest),
        Some(rest) => ("−", rest),
        None => ("", text),
    };
    let (whole, part) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    format!("{sign}{}{part}", thousands(whole, '\u{202f}'))
}

/// Digits in groups of three, where there are five or more.
pub(crate) fn thousands(digits: &str, space: char) -> String {
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if digits.len() > 4 && i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(space);
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_cannot_be_broken_out_of() {
        assert_eq!(escaped("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
        assert_eq!(escaped("x\u{0}\u{1b}y\nz"), "x\u{fffd}\u{fffd}y\nz");
    }

    #[test]
    fn names_become_links() {
        assert_eq!(slug("Time, S = 100 (λ=0.6)"), "time-s-100-0-6");
        assert_eq!(slug("<script>"), "script");
        assert_eq!(slug("…"), "figure");
    }

    #[test]
    fn numbers_are_short_and_plain() {
        let of = |value| significant(value, 3);
        assert_eq!(
            (of(0.001_234), of(12.34), of(0.0)),
            ("0.00123".into(), "12.3".into(), "0".into())
        );
        assert_eq!((of(1234.5), of(12_345.0)), ("1230".into(), "12\u{202f}300".into()));
        assert_eq!((of(1.2e-7), of(-3e9)), ("1.2×10⁻⁷".into(), "−3×10⁹".into()));
        assert_eq!((of(999_999.0), of(f64::INFINITY)), ("1×10⁶".into(), "∞".into()));
        assert_eq!((fixed(-0.0, 1), fixed(-1234.25, 1)), ("0.0".into(), "−1234.2".into()));
        assert_eq!(fixed(-12_345.6, 1), "−12\u{202f}345.6");
    }
}
