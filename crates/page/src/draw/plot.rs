//! Lines and marks over two axes.

use super::super::axis::{Range, Tick};
use super::super::text::{escaped, significant, slug, trimmed};
use super::super::{Axis, Figure, Point, Scale, Series};
use super::look::{Look, outline};
use super::{FONT_SIZE, GROUND, RULE, SOFT, WIDTH, at, cut, heading, legend, open, text_width};

use crate::number::{decimals, rounded_down, rounded_up};

pub(in super::super) use super::legend::samples;

/// Height of the area of data.
const HEIGHT: f64 = 320.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = 18.0;
/// Significant digits of a hover text.
const DIGITS: usize = 6;
/// Marks that a series shows; the others can be hovered over.
const SHOWN: usize = 40;

/// The drawing and how data lie in it.
struct Plot<'a> {
    figure: &'a Figure,
    x: Range,
    y: Range,
    left: f64,
    width: f64,
}

/// The figure as a document of its own, or as a part of a page.
pub(in super::super) fn svg(figure: &Figure) -> String {
    Plot::new(figure).draw()
}

/// What is said about a point: series, x, y with its bounds, and its note, one a line.
pub(in super::super) fn told(figure: &Figure, series: &Series, point: &Point) -> String {
    let mut lines = vec![series.name.clone()];
    lines.push(format!("{}: {}", figure.x.label, significant(point.x, DIGITS)));
    let least = if point.stopped { "more than " } else { "" };
    lines.push(format!("{}: {least}{}", figure.y.label, significant(point.y, DIGITS)));
    if let Some(between) = bounds(point) {
        lines.push(format!("between {between}"));
    }
    if point.stopped {
        lines.push("stopped by its limit".into());
    }
    if !point.note.is_empty() {
        lines.push(point.note.clone());
    }
    lines.join("\n")
}

/// “1.2 and 1.3”, rounded outwards, where the point has bounds or quartiles.
pub(in super::super) fn bounds(point: &Point) -> Option<String> {
    let (low, high) = (point.low?, point.high?);
    let largest = low.abs().max(high.abs());
    if !(1e-3..1e9).contains(&largest) {
        return Some(format!("{} and {}", significant(low, DIGITS), significant(high, DIGITS)));
    }
    let usual = (DIGITS as f64 - 1.0 - largest.log10().floor()).max(0.0) as usize;
    let apart = if high > low { decimals(high - low, largest) } else { usual };
    let digits = usual.max(apart);
    let (low, high) = (rounded_down(low, digits), rounded_up(high, digits));
    Some(format!("{} and {}", trimmed(&low), trimmed(&high)).replace('-', "−"))
}

impl Plot<'_> {
    fn new(figure: &Figure) -> Plot<'_> {
        let points = || figure.series.iter().flat_map(|s| &s.points);
        let x = Range::of(figure.x.scale, points().map(|p| p.x));
        let values = |p: &Point| [Some(p.y), p.low, p.high];
        let y = Range::of(figure.y.scale, points().flat_map(values).flatten());
        let widest = y
            .ticks(labels(figure.y.scale))
            .iter()
            .filter_map(|t| t.label.as_deref())
            .map(|l| text_width(l, FONT_SIZE))
            .fold(20.0, f64::max);
        let left = (widest + 42.0).ceil();
        Plot { figure, x, y, left, width: WIDTH - left - RIGHT }
    }

    fn draw(&self) -> String {
        let figure = self.figure;
        let legend_top = TOP + HEIGHT + 64.0;
        let height = legend_top + legend::height(&figure.series, self.left);
        let looks = Look::of(&figure.series);
        let id = slug(&figure.id);
        let (left, w, h) = (at(self.left), at(self.width), at(HEIGHT));
        let data = format!(
            " data-box=\"{left} {} {w} {h}\" data-x=\"{}\" data-y=\"{}\"",
            at(TOP),
            range_data(&self.x),
            range_data(&self.y)
        );
        let mut out = open("plot", &id, (WIDTH, height), &data, &figure.title, &self.about());
        out += &heading(&figure.title, WIDTH);
        out += &self.axes();
        out += &format!(
            "<clipPath id=\"{id}-clip\"><rect x=\"{left}\" y=\"{}\" width=\"{w}\" \
             height=\"{h}\"/></clipPath>\n<g clip-path=\"url(#{id}-clip)\"><g class=\"lines\" \
             fill=\"none\" stroke-width=\"1.8\" stroke-linejoin=\"round\">\n",
            at(TOP)
        );
        for (series, look) in figure.series.iter().zip(&looks) {
            out += &self.lines(series, look);
        }
        out += "</g></g>\n<g class=\"marks\">\n";
        for (series, look) in figure.series.iter().zip(&looks) {
            out += &self.marks(series, look);
        }
        out += "</g>\n";
        out += &legend::draw(&figure.series, &looks, self.left, legend_top);
        out + "</svg>\n"
    }

    fn about(&self) -> String {
        let figure = self.figure;
        let names: Vec<&str> = figure.series.iter().map(|s| s.name.as_str()).collect();
        let log = |axis: &Axis| if axis.scale == Scale::Log { " (logarithmic)" } else { "" };
        format!(
            "{} {}{} against {}{}; {} lines: {}.",
            figure.caption,
            figure.y.label,
            log(&figure.y),
            figure.x.label,
            log(&figure.x),
            names.len(),
            names.join("; ")
        )
    }

    fn px(&self, x: f64) -> f64 {
        self.left + self.width * self.x.share(x)
    }

    fn py(&self, y: f64) -> f64 {
        let share = if y.is_finite() { self.y.share(y) } else { f64::from(u8::from(y > 0.0)) };
        TOP + HEIGHT * (1.0 - share.clamp(-0.02, 1.02))
    }

    fn axes(&self) -> String {
        let (bottom, middle) = (TOP + HEIGHT, self.left + self.width / 2.0);
        let figure = self.figure;
        let (x, y) = (self.x.ticks(7), self.y.ticks(labels(figure.y.scale)));
        let mut grid = String::new();
        for (ticks, across) in [(&x, false), (&y, true)] {
            for tick in ticks.iter().filter(|t| t.label.is_some()) {
                grid += &match across {
                    true => {
                        format!("M{} {}h{}", at(self.left), at(self.py(tick.at)), at(self.width))
                    }
                    false => format!("M{} {}v{}", at(self.px(tick.at)), at(TOP), at(HEIGHT)),
                };
            }
        }
        format!(
            "<path class=\"grid\" d=\"{grid}\" fill=\"none\" stroke=\"{RULE}\"/>\n\
             <rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" \
             stroke=\"{SOFT}\"/>\n<g class=\"ticks\" stroke=\"none\">\n{}{}</g>\n\
             <text class=\"label-x\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text class=\"label-y\" transform=\"translate(16 {}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text>\n",
            at(self.left),
            at(TOP),
            at(self.width),
            at(HEIGHT),
            self.ticks_below(&x),
            self.ticks_beside(&y),
            at(middle),
            at(bottom + 40.0),
            escaped(&cut(&figure.x.label, self.width, FONT_SIZE)),
            at(TOP + HEIGHT / 2.0),
            escaped(&cut(&figure.y.label, HEIGHT + 30.0, FONT_SIZE)),
        )
    }

    fn ticks_below(&self, ticks: &[Tick]) -> String {
        let bottom = TOP + HEIGHT;
        let (mut strokes, mut labels) = (String::new(), String::new());
        for tick in ticks {
            let x = at(self.px(tick.at));
            let long = if tick.label.is_some() { 6 } else { 3 };
            strokes += &format!("M{x} {}v-{long}", at(bottom));
            if let Some(label) = &tick.label {
                labels += &format!(
                    "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{label}</text>\n",
                    at(bottom + 18.0)
                );
            }
        }
        format!("<path d=\"{strokes}\" fill=\"none\" stroke=\"{SOFT}\"/>\n{labels}")
    }

    fn ticks_beside(&self, ticks: &[Tick]) -> String {
        let (mut strokes, mut labels) = (String::new(), String::new());
        for tick in ticks {
            let y = self.py(tick.at);
            let long = if tick.label.is_some() { 6 } else { 3 };
            strokes += &format!("M{} {}h{long}", at(self.left), at(y));
            if let Some(label) = &tick.label {
                labels += &format!(
                    "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{label}</text>\n",
                    at(self.left - 7.0),
                    at(y + 4.5)
                );
            }
        }
        format!("<path d=\"{strokes}\" fill=\"none\" stroke=\"{SOFT}\"/>\n{labels}")
    }

    /// The band or whiskers, then the line; towards a run that was stopped it is thin.
    fn lines(&self, series: &Series, look: &Look) -> String {
        let place = |p: &Point, y: f64| format!("{} {}", at(self.px(p.x)), at(self.py(y)));
        let mut out = format!("<g class=\"f{}\">\n", look.family);
        let bounded = || {
            series
                .points
                .iter()
                .filter_map(|p| Some((p, p.low?, p.high?)))
                .filter(|(p, ..)| p.x.is_finite())
        };
        if series.band {
            let there: Vec<String> = bounded().map(|(p, _, high)| place(p, high)).collect();
            let back = bounded().map(|(p, low, _)| place(p, low));
            let back: Vec<String> = back.collect::<Vec<_>>().into_iter().rev().collect();
            let round = [there, back].concat().join("L");
            if !round.is_empty() {
                out += &format!(
                    "<path class=\"band\" d=\"M{round}Z\" fill=\"{}\" fill-opacity=\"0.18\"/>\n",
                    look.colour()
                );
            }
        } else {
            let whiskers: String = bounded()
                .map(|(p, low, high)| format!("M{}V{}", place(p, low), at(self.py(high))))
                .collect();
            if !whiskers.is_empty() {
                out += &format!(
                    "<path class=\"line whisker\" d=\"{whiskers}\" stroke=\"{}\" \
                     stroke-width=\"1.2\" vector-effect=\"non-scaling-stroke\"/>\n",
                    look.colour()
                );
            }
        }
        for faint in [false, true] {
            let mut path = String::new();
            let mut end = None;
            for pair in series.points.windows(2) {
                let [a, b] = pair else { continue };
                let shown = a.x.is_finite() && b.x.is_finite() && !a.y.is_nan() && !b.y.is_nan();
                if !shown || (a.stopped || b.stopped) != faint {
                    continue;
                }
                let (from, to) = (place(a, a.y), place(b, b.y));
                if end.as_ref() != Some(&from) {
                    path += &format!("M{from}");
                }
                path += &format!("L{to}");
                end = Some(to);
            }
            if !path.is_empty() {
                let opacity = if faint { " stroke-opacity=\"0.45\"" } else { "" };
                out += &format!(
                    "<path class=\"line\" d=\"{path}\" {}{opacity} \
                     vector-effect=\"non-scaling-stroke\"/>\n",
                    look.stroke()
                );
            }
        }
        out + "</g>\n"
    }

    fn marks(&self, series: &Series, look: &Look) -> String {
        let count = series.points.len();
        let every = count.div_ceil(SHOWN).max(1);
        let mut out = String::new();
        for (i, point) in series.points.iter().enumerate() {
            let shown = i.is_multiple_of(every) || i + 1 == count || point.stopped;
            out += &self.mark(series, point, look, shown);
        }
        out
    }

    fn mark(&self, series: &Series, point: &Point, look: &Look, shown: bool) -> String {
        let (family, colour) = (look.family, look.colour());
        let below = !self.y.holds(point.y) && point.y < self.y.high;
        let mut shape = String::new();
        if shown {
            let (class, fill, stroke) = match point.stopped || below {
                true => ("shape open", GROUND, colour),
                false => ("shape", colour, GROUND),
            };
            let width = if point.stopped || below { 1.6 } else { 0.8 };
            shape = format!(
                "<path class=\"{class}\" d=\"{}\" fill=\"{fill}\" stroke=\"{stroke}\" \
                 stroke-width=\"{width}\"/>",
                outline(look.shape, 4.2)
            );
        }
        let arrow = match (point.stopped, below) {
            (true, _) => "M0 -6V-17M-3.5 -13L0 -17L3.5 -13",
            (_, true) => "M0 6V17M-3.5 13L0 17L3.5 13",
            _ => "",
        };
        if !arrow.is_empty() {
            shape += &format!(
                "<path class=\"line\" d=\"{arrow}\" fill=\"none\" stroke=\"{colour}\" \
                 stroke-width=\"1.6\"/>"
            );
        }
        let stopped = if point.stopped { " stopped" } else { "" };
        let x = if point.x.is_finite() { self.px(point.x) } else { self.left };
        format!(
            "<g class=\"mark f{family}{stopped}\" transform=\"translate({} {})\">\
             <title>{}</title>{shape}</g>\n",
            at(x),
            at(self.py(point.y).clamp(TOP, TOP + HEIGHT)),
            escaped(&told(self.figure, series, point))
        )
    }
}

/// About how many labels the upright axis has.
fn labels(scale: Scale) -> usize {
    if scale == Scale::Log { 9 } else { 6 }
}

/// “log 0.1 100”, for the script.
fn range_data(range: &Range) -> String {
    let scale = if range.scale == Scale::Log { "log" } else { "linear" };
    format!("{scale} {:?} {:?}", range.low, range.high)
}
