//! How a series looks: colour by family, dash and mark by its place within the family.

use super::super::Series;
use super::at;

/// The colours of Okabe and Ito, which people with any colour vision tell apart; the yellow is
/// darkened to be seen on white. The page's style has lighter ones for dark screens.
pub(super) const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#a39500"];

const DASHES: [&str; 5] = ["", "7 3", "2 3", "9 3 2 3", "4 2"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// Index of the colour, and number of the class `f…`.
    pub(super) family: usize,
    pub(super) dash: &'static str,
    pub(super) shape: usize,
}

impl Look {
    /// The looks of all series of a figure.
    pub(super) fn of(series: &[Series]) -> Vec<Look> {
        let look = |(i, one): (usize, &Series)| {
            let place = series[..i].iter().filter(|s| s.family == one.family).count();
            // Families beyond the eighth take their colours again, with other dashes.
            let round = one.family / COLOURS.len();
            Look {
                family: one.family % COLOURS.len(),
                dash: DASHES[(place + 2 * round) % DASHES.len()],
                shape: (one.family + 3 * place + 5 * round) % SHAPES,
            }
        };
        series.iter().enumerate().map(look).collect()
    }

    pub(super) fn colour(&self) -> &'static str {
        COLOURS[self.family]
    }

    /// Attributes of the line.
    pub(super) fn stroke(&self) -> String {
        let dash = match self.dash {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        format!("stroke=\"{}\"{dash}", self.colour())
    }
}

const SHAPES: usize = 8;

/// The outline of a mark around the origin.
pub(super) fn outline(shape: usize, size: f64) -> String {
    let polygon = |points: &[(f64, f64)]| {
        let corner = |(x, y): &(f64, f64)| format!("{} {}", at(size * x), at(size * y));
        format!("M{}Z", points.iter().map(corner).collect::<Vec<_>>().join("L"))
    };
    match shape % SHAPES {
        0 => {
            let r = at(size);
            let d = at(2.0 * size);
            format!("M-{r} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z")
        }
        1 => polygon(&[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)]),
        2 => polygon(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        3 => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        4 => polygon(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        5 => {
            let (a, b) = (0.4, 1.2);
            polygon(&[
                (-a, -b),
                (a, -b),
                (a, -a),
                (b, -a),
                (b, a),
                (a, a),
                (a, b),
                (-a, b),
                (-a, a),
                (-b, a),
                (-b, -a),
                (-a, -a),
            ])
        }
        6 => polygon(&[(0.0, -1.2), (1.15, -0.35), (0.7, 1.0), (-0.7, 1.0), (-1.15, -0.35)]),
        _ => polygon(&[(-1.2, -0.6), (1.2, -0.6), (1.2, 0.6), (-1.2, 0.6)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(family: usize) -> Series {
        Series { name: String::new(), family, points: Vec::new(), band: false }
    }

    #[test]
    fn no_two_series_look_alike() {
        let all: Vec<Series> = [0, 0, 0, 1, 1, 2, 3, 8, 8, 9, 7].map(series).into();
        let looks = Look::of(&all);
        for (i, a) in looks.iter().enumerate() {
            assert!(looks[..i].iter().all(|b| a != b), "{a:?} twice");
        }
        assert_eq!(looks[0].colour(), looks[2].colour());
        assert!(looks[0].dash != looks[1].dash && looks[1].dash != looks[2].dash);
    }
}
