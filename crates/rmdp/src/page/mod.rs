//! What a page says, apart from how it looks: sections of text, figures, tables and verdicts;
//! and what makes it a file that stands alone.

mod axis;
mod draw;
mod html;
#[cfg(test)]
mod tests;
mod text;
mod write;

pub(crate) use html::html;
pub(crate) use write::{write, write_figures};

/// The figure as an SVG file.
pub(crate) fn svg(figure: &Figure) -> String {
    draw::plot::svg(figure)
}

/// The heat map as an SVG file.
pub(crate) fn heat_svg(map: &HeatMap) -> String {
    draw::heat::svg(map)
}

/// One self-contained page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    pub(crate) title: String,
    /// One paragraph under the title.
    pub(crate) summary: String,
    pub(crate) sections: Vec<Section>,
    /// Machine, version, command and date: name and value, in the page's foot.
    pub(crate) provenance: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Section {
    /// Used in links: lower case, digits and hyphens.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
pub(crate) enum Block {
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
pub(crate) struct Group {
    /// Used in links, different for every group of a page.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) figures: Vec<Figure>,
}

/// Lines and marks over two axes.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// Name of its file, without ending; used in links too, and different for every figure.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    /// What makes this figure again.
    pub(crate) command: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) scale: Scale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    Log,
}

/// One line of a figure. Series of equal `family` share a colour and differ in dash.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) family: usize,
    pub(crate) points: Vec<Point>,
    /// Fill between `low` and `high` instead of whiskers.
    pub(crate) band: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) x: f64,
    /// A median, where there are several runs.
    pub(crate) y: f64,
    /// Quartiles or bounds.
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// The run was stopped here by its limit: y is a lower bound, drawn as an open mark with an
    /// arrow up.
    pub(crate) stopped: bool,
    /// Shown on hover, after series, x and y.
    pub(crate) note: String,
}

/// Values over rows and columns.
#[derive(Clone, Debug)]
pub(crate) struct HeatMap {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) rows: Vec<String>,
    pub(crate) columns: Vec<String>,
    /// By row; `None` where there is nothing.
    pub(crate) values: Vec<Vec<Option<f64>>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// A claim of the paper, what was measured, and what today's best method does.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) claim: String,
    pub(crate) ruling: Ruling,
    /// A line of a table; the rest is folded away.
    pub(crate) short: String,
    /// This and the next may end in a list, each entry on a line that begins with “- ”.
    pub(crate) measured: String,
    pub(crate) why: String,
    pub(crate) ours: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    Holds,
    Partly,
    Fails,
    /// The runs at hand do not tell; what would.
    Open(&'static str),
}

impl Ruling {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Ruling::Holds => "holds",
            Ruling::Partly => "holds in part",
            Ruling::Fails => "does not hold",
            Ruling::Open(_) => "not decided",
        }
    }
}
