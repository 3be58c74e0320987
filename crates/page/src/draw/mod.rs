//! Figures as SVG that stands alone. Colours are attributes, which the style of a page overrides by
//! class: one drawing serves both, in light and in dark.

pub(super) mod heat;
mod legend;
mod look;
pub(super) mod plot;

use super::text::{escaped, slug};

/// Width of a drawing.
const WIDTH: f64 = 720.0;
const FONT: &str = "system-ui,-apple-system,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif";
const FONT_SIZE: f64 = 13.0;
const INK: &str = "#1b1b1b";
const SOFT: &str = "#555555";
const RULE: &str = "#dddddd";
const GROUND: &str = "#ffffff";

/// About how wide a text is.
fn text_width(text: &str, size: f64) -> f64 {
    0.58 * size * text.chars().count() as f64
}

/// A coordinate: two decimals, none where they are zero.
fn at(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// A text cut to about `width`.
fn cut(text: &str, width: f64, size: f64) -> String {
    let most = (width / (0.58 * size)).max(2.0) as usize;
    match text.chars().count() <= most {
        true => text.to_owned(),
        false => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

/// The opening tag with title and description for those who cannot see the drawing.
fn open(kind: &str, id: &str, size: (f64, f64), data: &str, title: &str, about: &str) -> String {
    let (id, (w, h)) = (slug(id), (at(size.0), at(size.1)));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{kind}\" viewBox=\"0 0 {w} {h}\" \
         width=\"{w}\" height=\"{h}\" role=\"img\" aria-labelledby=\"{id}-title {id}-about\" \
         font-family=\"{FONT}\" font-size=\"{FONT_SIZE}\" fill=\"{INK}\"{data}>\n\
         <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-about\">{}</desc>\n\
         <rect class=\"ground\" width=\"{w}\" height=\"{h}\" fill=\"{GROUND}\"/>\n",
        escaped(title),
        escaped(about)
    )
}

/// The title over a drawing, in letters as large as there is room for.
fn heading(title: &str, width: f64) -> String {
    let room = width - 20.0;
    let size = (room / (0.58 * title.chars().count().max(1) as f64)).clamp(10.0, 15.0);
    format!(
        "<text class=\"heading\" x=\"{}\" y=\"22\" font-size=\"{}\" font-weight=\"600\" \
         text-anchor=\"middle\">{}</text>\n",
        at(width / 2.0),
        at(size),
        escaped(&cut(title, room + 0.58, size))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!((at(1.0), at(0.125), at(-0.001)), ("1".into(), "0.12".into(), "0".into()));
        assert_eq!(cut("abcdefgh", 3.5 * 0.58, 1.0), "ab…");
    }
}
