//! What a page says, apart from how it looks: sections of text, figures, tables and verdicts;
//! and what makes it a file that stands alone. Numbers as people read them are in [`number`].

#![allow(missing_docs, reason = "names of the parts of a page say what they are")]

mod axis;
mod draw;
mod html;
pub mod number;
#[cfg(test)]
mod tests;
mod text;
mod write;

pub use html::html;
pub use write::{write, write_figures};

/// The figure as an SVG file.
pub fn svg(figure: &Figure) -> String {
    draw::plot::svg(figure)
}

/// The heat map as an SVG file.
pub fn heat_svg(map: &HeatMap) -> String {
    draw::heat::svg(map)
}

/// One self-contained page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    pub title: String,
    /// One paragraph under the title.
    pub summary: String,
    pub sections: Vec<Section>,
    /// Machine, version, command and date: name and value, in the page's foot.
    pub provenance: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub struct Section {
    /// Used in links: lower case, digits and hyphens.
    pub id: String,
    pub title: String,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
pub enum Block {
    /// Plain text; blank lines separate paragraphs.
    Text(String),
    /// What a reader should know before trusting the numbers.
    Warning(String),
    Figure(Figure),
    HeatMap(HeatMap),
    Table(Table),
    Verdicts(Vec<Verdict>),
    /// A command line that can be copied.
    Command(String),
    /// Folded until it is opened.
    Group(Group),
}

#[derive(Clone, Debug)]
pub struct Group {
    /// Used in links, different for every group of a page.
    pub id: String,
    pub title: String,
    pub figures: Vec<Figure>,
}

/// Lines and marks over two axes.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Name of its file, without ending; used in links too, and different for every figure.
    pub id: String,
    pub title: String,
    pub caption: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// What makes this figure again.
    pub command: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Axis {
    pub label: String,
    pub scale: Scale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Log,
}

/// One line of a figure. Series of equal `family` share a colour and differ in dash.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub family: usize,
    pub points: Vec<Point>,
    /// Fill between `low` and `high` instead of whiskers.
    pub band: bool,
}

#[derive(Clone, Debug)]
pub struct Point {
    pub x: f64,
    /// A median, where there are several runs.
    pub y: f64,
    /// Quartiles or bounds.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The run was stopped here by its limit: y is a lower bound, drawn as an open mark with an
    /// arrow up.
    pub stopped: bool,
    /// Shown on hover, after series, x and y.
    pub note: String,
}

/// Values over rows and columns.
#[derive(Clone, Debug)]
pub struct HeatMap {
    pub id: String,
    pub title: String,
    pub caption: String,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// By row; `None` where there is nothing.
    pub values: Vec<Vec<Option<f64>>>,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub caption: String,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// A claim of the paper, what was measured, and what today's best method does.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub claim: String,
    pub ruling: Ruling,
    /// A line of a table; the rest is folded away.
    pub short: String,
    /// This and the next may end in a list, each entry on a line that begins with “- ”.
    pub measured: String,
    pub why: String,
    pub ours: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    Holds,
    Partly,
    Fails,
    /// The runs at hand do not tell; what would.
    Open(&'static str),
}

impl Ruling {
    pub fn word(self) -> &'static str {
        match self {
            Ruling::Holds => "holds",
            Ruling::Partly => "holds in part",
            Ruling::Fails => "does not hold",
            Ruling::Open(_) => "not decided",
        }
    }
}
