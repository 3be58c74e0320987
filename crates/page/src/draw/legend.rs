//! The legend: rows under the axes, where it cannot hide data.

use super::super::Series;
use super::super::text::escaped;
use super::look::{Look, outline};
use super::{FONT_SIZE, GROUND, WIDTH, at, cut, text_width};

/// Height of one row.
const ROW: f64 = 20.0;
/// Width of the sample of a line.
pub(super) const SAMPLE: f64 = 34.0;
const SPACE: f64 = 22.0;

/// How many entries stand in a row, and how many rows there are.
fn layout(series: &[Series], room: f64) -> (usize, usize) {
    let longest = series.iter().map(|s| text_width(&s.name, FONT_SIZE)).fold(0.0, f64::max);
    let entry = SAMPLE + 6.0 + longest + SPACE;
    let columns = ((room / entry) as usize).clamp(1, series.len().max(1));
    (columns, series.len().div_ceil(columns))
}

/// Height that the legend takes.
pub(super) fn height(series: &[Series], left: f64) -> f64 {
    match series.len() {
        0 => 0.0,
        _ => layout(series, WIDTH - left).1 as f64 * ROW + 6.0,
    }
}

pub(super) fn draw(series: &[Series], looks: &[Look], left: f64, top: f64) -> String {
    let room = WIDTH - left;
    let (columns, _) = layout(series, room);
    let width = room / columns as f64;
    let mut out = "<g class=\"legend\">\n".to_owned();
    for (i, (one, look)) in series.iter().zip(looks).enumerate() {
        let (x, y) = (left + (i % columns) as f64 * width, top + (i / columns) as f64 * ROW);
        out += &format!(
            "<g transform=\"translate({} {})\">{}<text x=\"{}\" y=\"4.5\">{}</text></g>\n",
            at(x),
            at(y),
            sample(look, one.band),
            at(SAMPLE + 6.0),
            escaped(&cut(&one.name, width - SAMPLE - 10.0, FONT_SIZE)),
        );
    }
    out + "</g>\n"
}

/// A piece of the line with its mark.
pub(super) fn sample(look: &Look, band: bool) -> String {
    let (middle, family, colour) = (at(SAMPLE / 2.0), look.family, look.colour());
    let band = match band {
        true => format!(
            "<rect class=\"band\" y=\"-7\" width=\"{}\" height=\"14\" fill=\"{colour}\" \
             fill-opacity=\"0.18\"/>",
            at(SAMPLE)
        ),
        false => String::new(),
    };
    format!(
        "<g class=\"f{family}\">{band}<path class=\"line\" d=\"M0 0H{}\" fill=\"none\" \
         stroke-width=\"1.8\" {}/><path class=\"shape\" transform=\"translate({middle} 0)\" \
         d=\"{}\" fill=\"{colour}\" stroke=\"{GROUND}\" stroke-width=\"0.8\"/></g>",
        at(SAMPLE),
        look.stroke(),
        outline(look.shape, 4.2),
    )
}

/// The entries of a legend as small drawings of their own, for a list in a page.
pub(in super::super) fn samples(series: &[Series]) -> Vec<String> {
    let one = |(look, series): (Look, &Series)| {
        format!(
            "<svg class=\"sample\" viewBox=\"-1 -9 {} 18\" width=\"{}\" height=\"18\" \
             aria-hidden=\"true\">{}</svg>",
            at(SAMPLE + 2.0),
            at(SAMPLE + 2.0),
            sample(&look, series.band)
        )
    };
    Look::of(series).into_iter().zip(series).map(one).collect()
}
