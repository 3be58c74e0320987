//! Values over rows and columns: the stronger the colour, the further from zero (or from the least
//! value). Positive ones are blue, negative ones vermilion; numbers stand in the cells.

use super::super::HeatMap;
use super::super::text::{escaped, significant, slug};
use super::{FONT_SIZE, SOFT, WIDTH, at, cut, heading, open, text_width};

const TOP: f64 = 40.0;
const CELL_HEIGHT: f64 = 24.0;
const ROW_NAMES: f64 = 210.0;
/// Shares of the full colour from which letters change their colour, on white and on black.
const STRONG: f64 = 0.92;
const HALF: f64 = 0.6;
const POSITIVE: &str = "#0072b2";
const NEGATIVE: &str = "#d55e00";

/// How values become colours.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shade {
    from: f64,
    span: f64,
    /// Whether some values are below zero.
    signed: bool,
}

impl Shade {
    fn of(map: &HeatMap) -> Shade {
        let values = map.values.iter().flatten().flatten().copied().filter(|v| v.is_finite());
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        match low <= high {
            false => Shade { from: 0.0, span: 1.0, signed: false },
            // All far above zero: what differs is what counts.
            true if low > 0.5 * high && high > low => {
                Shade { from: low, span: high - low, signed: false }
            }
            true => Shade { from: 0.0, span: low.abs().max(high.abs()), signed: low < 0.0 },
        }
    }

    /// From −1 to 1.
    fn at(&self, value: f64) -> f64 {
        match self.span > 0.0 {
            true => ((value - self.from) / self.span).clamp(-1.0, 1.0),
            false => 0.0,
        }
    }
}

/// The map as a document of its own.
pub(in super::super) fn svg(map: &HeatMap) -> String {
    drawn(map, true)
}

/// The map as a part of a page that has its title elsewhere.
pub(in super::super) fn inline(map: &HeatMap) -> String {
    drawn(map, false)
}

fn drawn(map: &HeatMap, headed: bool) -> String {
    let shade = Shade::of(map);
    let names = map.rows.iter().map(|n| text_width(n, FONT_SIZE)).fold(30.0, f64::max);
    let left = names.min(ROW_NAMES) + 16.0;
    let columns = map.columns.len().max(1) as f64;
    let cell = ((WIDTH - left - 12.0) / columns).min(96.0);
    let longest = map.columns.iter().map(|n| text_width(n, FONT_SIZE)).fold(0.0, f64::max);
    // Names that do not fit above their columns are turned.
    let turned = longest > cell - 4.0;
    let above = if turned { longest.min(120.0) + 12.0 } else { 22.0 };
    let top = above + if headed { TOP } else { 4.0 };
    let bottom = top + CELL_HEIGHT * map.rows.len() as f64;
    let key_end = left + if shade.signed { 350.0 } else { 250.0 };
    let headline = if headed { text_width(&map.title, 15.0) + 24.0 } else { 0.0 };
    let width = (left + cell * columns + 12.0).max(key_end).max(headline).min(WIDTH);
    let size = (width, bottom + 36.0);
    let about = format!(
        "{} {} rows and {} columns; each cell has its value.",
        map.caption,
        map.rows.len(),
        map.columns.len()
    );
    let mut out = open("heat", &slug(&map.id), size, "", &map.title, &about);
    if headed {
        out += &heading(&map.title, width);
    }
    for (k, name) in map.columns.iter().enumerate() {
        let x = left + cell * (k as f64 + 0.5);
        let (place, anchor) = match turned {
            true => (format!("translate({} {}) rotate(-90)", at(x + 4.5), at(top - 7.0)), "start"),
            false => (format!("translate({} {})", at(x), at(top - 7.0)), "middle"),
        };
        let name = cut(name, if turned { 120.0 } else { cell }, FONT_SIZE);
        out += &format!(
            "<text transform=\"{place}\" text-anchor=\"{anchor}\">{}</text>\n",
            escaped(&name)
        );
    }
    // Among many columns only what is not zero is written.
    let zeros = map.columns.len() <= 6;
    for (r, (name, values)) in map.rows.iter().zip(&map.values).enumerate() {
        let y = top + CELL_HEIGHT * r as f64;
        out += &format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n",
            at(left - 8.0),
            at(y + 16.5),
            escaped(&cut(name, ROW_NAMES, FONT_SIZE))
        );
        for (k, value) in values.iter().enumerate() {
            let told = format!(
                "{name}\n{}: {}",
                map.columns.get(k).map_or("", String::as_str),
                value.map_or("nothing".into(), |v| significant(v, 4))
            );
            out += &drawn_cell(*value, shade, (left + cell * k as f64, y), cell, zeros, &told);
        }
    }
    out += &key(shade, left, bottom + 14.0);
    out + "</svg>\n"
}

fn drawn_cell(
    value: Option<f64>,
    shade: Shade,
    place: (f64, f64),
    cell: f64,
    zeros: bool,
    told: &str,
) -> String {
    let (w, h) = (cell - 2.0, CELL_HEIGHT - 2.0);
    let (x, y) = (at(place.0 + 1.0), at(place.1 + 1.0));
    let told = escaped(told);
    let Some(value) = value else {
        return format!(
            "<g class=\"cell none\" transform=\"translate({x} {y})\"><title>{told}</title>\
             <circle cx=\"{}\" cy=\"{}\" r=\"1.5\" fill=\"{SOFT}\"/></g>\n",
            at(w / 2.0),
            at(h / 2.0)
        );
    };
    let strength = shade.at(value);
    let (class, colour) = if strength < 0.0 { ("n", NEGATIVE) } else { ("p", POSITIVE) };
    // Light letters only on what is dark enough: full blue on white, nothing in the style for dark
    // screens, where strong cells are the light ones.
    let mut classes = Vec::new();
    if strength > STRONG {
        classes.push("strong");
    }
    if strength.abs() > HALF {
        classes.push("half");
    }
    let class_of_text = match classes.join(" ") {
        none if none.is_empty() => none,
        some => format!(" class=\"{some}\""),
    };
    let light = if strength > STRONG { "#ffffff" } else { "#000000" };
    let shown = if value == 0.0 && !zeros { String::new() } else { significant(value, 2) };
    let text = match text_width(&shown, 12.0) <= w {
        true if !shown.is_empty() => format!(
            "<text{class_of_text} x=\"{}\" y=\"{}\" font-size=\"12\" \
             text-anchor=\"middle\" fill=\"{light}\">{shown}</text>",
            at(w / 2.0),
            at(h / 2.0 + 4.2),
        ),
        _ => String::new(),
    };
    format!(
        "<g class=\"cell\" transform=\"translate({x} {y})\"><title>{told}</title>\
         <rect class=\"{class}\" width=\"{}\" height=\"{}\" rx=\"2\" fill=\"{colour}\" \
         fill-opacity=\"{:.3}\"/>{text}</g>\n",
        at(w),
        at(h),
        0.04 + 0.96 * strength.abs(),
    )
}

/// What the colours mean.
fn key(shade: Shade, left: f64, top: f64) -> String {
    let (from, to) = (shade.from, shade.from + shade.span);
    let steps = if shade.signed { -4..=4 } else { 0..=4 };
    let first = *steps.start();
    let step = |k: i32| {
        let (class, colour) = if k < 0 { ("n", NEGATIVE) } else { ("p", POSITIVE) };
        format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"22\" height=\"12\" \
             fill=\"{colour}\" fill-opacity=\"{:.2}\"/>",
            at(left + 22.0 * f64::from(k - first)),
            at(top),
            0.04 + 0.24 * f64::from(k.abs())
        )
    };
    let end = left + 22.0 * f64::from(5 - first) + 8.0;
    let from = if shade.signed { -to } else { from };
    format!(
        "<g class=\"key\" font-size=\"12\">{}<text x=\"{}\" y=\"{}\">{} to {}</text></g>\n",
        steps.map(step).collect::<String>(),
        at(end),
        at(top + 10.5),
        significant(from, 3),
        significant(to, 3)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(values: &[Option<f64>]) -> HeatMap {
        HeatMap {
            id: "h".into(),
            title: "t".into(),
            caption: "c".into(),
            rows: vec!["r<".into()],
            columns: (0..values.len()).map(|k| k.to_string()).collect(),
            values: vec![values.to_vec()],
        }
    }

    #[test]
    fn shades_tell_values_apart() {
        let shade = Shade::of(&map(&[Some(0.0), Some(2.0), None, Some(-1.0)]));
        assert_eq!((shade.at(2.0), shade.at(-1.0), shade.at(0.0)), (1.0, -0.5, 0.0));
        let shade = Shade::of(&map(&[Some(100.0), Some(101.0)]));
        assert_eq!((shade.at(100.0), shade.at(101.0)), (0.0, 1.0));
        assert_eq!(Shade::of(&map(&[Some(0.0)])).at(0.0), 0.0);
        assert_eq!(Shade::of(&map(&[None])).at(0.0), 0.0);
    }

    #[test]
    fn every_cell_is_there_and_told() {
        let text = svg(&map(&[Some(0.25), None, Some(1.0)]));
        assert_eq!(text.matches("class=\"cell").count(), 3);
        assert!(text.contains("<title>r&lt;\n0: 0.25</title>"), "{text}");
        assert!(text.contains("1: nothing"));
        assert!(!text.contains("r<"));
    }
}
