//! A range of radii as the command line gives it: `a:b:n`, `a:b:n:log` or `a:b:n:linear`.

use std::str::FromStr;

use robust_mdp_page::Scale;

/// Radii at most.
const MOST: usize = 1000;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Radii {
    pub(super) scale: Scale,
    pub(super) values: Vec<f64>,
}

impl FromStr for Radii {
    type Err = String;

    fn from_str(text: &str) -> Result<Radii, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let (ends, scale) = match parts[..] {
            [a, b, n] => ([a, b, n], None),
            [a, b, n, "log"] => ([a, b, n], Some(Scale::Log)),
            [a, b, n, "linear"] => ([a, b, n], Some(Scale::Linear)),
            _ => return Err("expected a:b:n, a:b:n:log or a:b:n:linear".into()),
        };
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let (Some(a), Some(b)) = (number(ends[0]), number(ends[1])) else {
            return Err("expected two numbers and a count, such as 0.001:0.1:9".into());
        };
        if !(a >= 0.0 && b > a) {
            return Err(format!("expected 0 ≤ a < b, not {a} and {b}"));
        }
        let count = match ends[2].trim().parse() {
            Ok(n) if (2..=MOST).contains(&n) => n,
            _ => return Err(format!("expected a whole number of radii from 2 to {MOST}")),
        };
        let usual = if a > 0.0 && b >= 10.0 * a { Scale::Log } else { Scale::Linear };
        let scale = scale.unwrap_or(usual);
        if scale == Scale::Log && a == 0.0 {
            return Err("a logarithmic range begins above 0".into());
        }
        let at = |k: usize| {
            let share = k as f64 / (count - 1) as f64;
            match (k, scale) {
                (0, _) => a,
                (k, _) if k + 1 == count => b,
                (_, Scale::Linear) => a + share * (b - a),
                (_, Scale::Log) => (a.ln() + share * (b / a).ln()).exp(),
            }
        };
        Ok(Radii { scale, values: (0..count).map(at).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let linear: Radii = "0:0.4:5".parse().unwrap();
        assert_eq!(
            linear,
            Radii { scale: Scale::Linear, values: vec![0.0, 0.1, 0.2, 0.3 + 5e-17, 0.4] }
        );
        let log: Radii = "0.01:1:3".parse().unwrap();
        assert_eq!(log.scale, Scale::Log);
        assert!((log.values[1] - 0.1).abs() < 1e-15 && log.values[2] == 1.0);
        assert_eq!("0.01:1:3:linear".parse::<Radii>().unwrap().scale, Scale::Linear);
        for bad in [
            "",
            "1:2",
            "1:0:3",
            "-1:2:3",
            "0:1:1",
            "0:1:3:log",
            "0:1:x",
            "a:1:3",
            "1:2:3:4",
            "0:inf:3",
            "0:1:1001",
        ] {
            assert!(bad.parse::<Radii>().is_err(), "{bad}");
        }
    }
}
