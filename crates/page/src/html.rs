//! A page as one HTML file that needs nothing else: no network, no fonts, no libraries.

use super::draw::{heat, plot};
use super::text::{escaped, significant, slug};
use super::{Block, Figure, Group, HeatMap, Page, Ruling, Section, Table, Verdict};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Points that the table under a figure holds at most.
const LISTED: usize = 500;

/// Characters of a cell that does not wrap.
const SHORT: usize = 22;

/// The whole file.
pub fn html(page: &Page) -> String {
    let title = escaped(&page.title);
    // Nothing is fetched, whatever the page says.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
    let sections: String = page.sections.iter().map(section).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <div class=\"layout\">\n<header>\n<h1>{title}</h1>\n{}</header>\n{}\
         <main>\n{sections}</main>\n{}</div>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        match page.summary.as_str() {
            "" => String::new(),
            summary => format!("<p class=\"summary\">{}</p>\n", escaped(summary)),
        },
        contents(page),
        foot(page)
    )
}

fn contents(page: &Page) -> String {
    let link = |id: &str, title: &str| format!("<a href=\"#{}\">{}</a>", slug(id), escaped(title));
    let line = |s: &Section| {
        let groups = s.blocks.iter().filter_map(|b| match b {
            Block::Group(g) => Some(format!("<li>{}</li>\n", link(&g.id, &g.title))),
            _ => None,
        });
        let inner = match groups.collect::<String>() {
            inner if inner.is_empty() => inner,
            inner => format!("\n<ul>\n{inner}</ul>\n"),
        };
        format!("<li>{}{inner}</li>\n", link(&s.id, &s.title))
    };
    match page.sections.len() {
        0 | 1 => String::new(),
        _ => format!(
            "<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n{}</ol>\n</nav>\n",
            page.sections.iter().map(line).collect::<String>()
        ),
    }
}

fn section(section: &Section) -> String {
    let blocks: String = section.blocks.iter().map(block).collect();
    let (id, title) = (slug(&section.id), escaped(&section.title));
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n\
         <h2 id=\"{id}-heading\">{title}</h2>\n{blocks}</section>\n"
    )
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(text) => paragraphs(text),
        Block::Warning(text) => format!("<p class=\"warning\">{}</p>\n", escaped(text)),
        Block::Figure(one) => figure(one),
        Block::HeatMap(map) => heat_map(map),
        Block::Table(one) => table(one),
        Block::Verdicts(all) => verdicts(all),
        Block::Command(line) => command(line),
        Block::Group(one) => group(one),
    }
}

fn group(group: &Group) -> String {
    let figures: String = group.figures.iter().map(figure).collect();
    let count = match group.figures.len() {
        1 => "1 figure".to_owned(),
        n => format!("{n} figures"),
    };
    format!(
        "<details class=\"group\" id=\"{}\">\n<summary><b>{}</b> <span>{count}</span></summary>\n\
         {figures}</details>\n",
        slug(&group.id),
        escaped(&group.title)
    )
}

fn paragraphs(text: &str) -> String {
    let parts = text.split("\n\n").map(str::trim).filter(|p| !p.is_empty());
    parts.map(|p| format!("<p>{}</p>\n", escaped(p))).collect()
}

fn figure(figure: &Figure) -> String {
    let entries = figure.series.iter().zip(plot::samples(&figure.series));
    let legend: String = entries
        .map(|(series, sample)| {
            format!("<li>{sample}<span>{}</span></li>\n", escaped(&series.name))
        })
        .collect();
    format!(
        "<figure id=\"figure-{}\">\n<h3>{}</h3>\n\
         <div class=\"tools\"><button type=\"button\" aria-label=\"Zoom in\">+</button>\
         <button type=\"button\" aria-label=\"Zoom out\">−</button>\
         <button type=\"button\">Reset</button>\
         <span>Drag to zoom, double-click to reset.</span></div>\n\
         <div class=\"drawing of-plot\" tabindex=\"0\" aria-label=\"{}: arrow keys show values, \
         plus and minus zoom, 0 resets\">\n{}</div>\n<ul class=\"legend-list\">\n{legend}</ul>\n\
         {}</figure>\n",
        slug(&figure.id),
        escaped(&figure.title),
        escaped(&figure.title),
        plot::svg(figure),
        caption(&figure.caption, &listing(figure), figure.command.as_deref()),
    )
}

fn caption(text: &str, further: &str, made_by: Option<&str>) -> String {
    let text = match text {
        "" => String::new(),
        text => paragraphs(text),
    };
    let made_by = made_by.map(command).unwrap_or_default();
    format!("<figcaption>\n{text}{further}{made_by}</figcaption>\n")
}

/// The figure's values as a table, for those who read or copy them.
fn listing(figure: &Figure) -> String {
    let count: usize = figure.series.iter().map(|s| s.points.len()).sum();
    if count == 0 || count > LISTED {
        return String::new();
    }
    let mut rows = Vec::new();
    for series in &figure.series {
        for point in &series.points {
            let least = if point.stopped { "> " } else { "" };
            rows.push(vec![
                series.name.clone(),
                significant(point.x, 6),
                format!("{least}{}", significant(point.y, 6)),
                plot::bounds(point).unwrap_or_default(),
                match (point.stopped, point.note.as_str()) {
                    (true, "") => "stopped by its limit".into(),
                    (true, note) => format!("stopped by its limit; {note}"),
                    (false, note) => note.into(),
                },
            ]);
        }
    }
    let header = ["line", &figure.x.label, &figure.y.label, "between", "note"];
    let header = header.map(str::to_owned).to_vec();
    let inner = table(&Table { caption: String::new(), header, rows });
    format!("<details>\n<summary>Values</summary>\n{inner}</details>\n")
}

fn heat_map(map: &HeatMap) -> String {
    format!(
        "<figure id=\"figure-{}\">\n<h3>{}</h3>\n<div class=\"drawing of-heat\" tabindex=\"0\" \
         aria-label=\"{}: arrow keys show values\">\n<div class=\"wide\">{}</div>\n</div>\n\
         {}</figure>\n",
        slug(&map.id),
        escaped(&map.title),
        escaped(&map.title),
        heat::inline(map),
        caption(&map.caption, "", None),
    )
}

fn table(table: &Table) -> String {
    let columns = table.header.len();
    let numeric: Vec<bool> = (0..columns)
        .map(|k| {
            let mut cells =
                table.rows.iter().filter_map(|r| r.get(k)).filter(|c| !c.is_empty()).peekable();
            cells.peek().is_some() && cells.all(|c| is_number(c))
        })
        .collect();
    // Short cells stay on one line.
    let class = |k: usize, text: &str| match numeric.get(k) {
        Some(true) => " class=\"number\"",
        _ if text.chars().count() <= SHORT => " class=\"short\"",
        _ => "",
    };
    let head_class = |k: usize| if numeric[k] { " class=\"number\"" } else { "" };
    let head: String = (table.header.iter().enumerate())
        .map(|(k, name)| format!("<th scope=\"col\"{}>{}</th>", head_class(k), escaped(name)))
        .collect();
    let row = |row: &Vec<String>| {
        let cells = row.iter().enumerate();
        let cells: String = cells
            .map(|(k, cell)| format!("<td{}>{}</td>", class(k, cell), escaped(cell)))
            .collect();
        format!("<tr>{cells}</tr>\n")
    };
    let caption = match table.caption.as_str() {
        "" => String::new(),
        text => format!("<p class=\"caption\">{}</p>\n", escaped(text)),
    };
    let label = if table.caption.is_empty() { "Table" } else { &table.caption };
    format!(
        "{caption}<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n\
         <table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n",
        escaped(label),
        table.rows.iter().map(row).collect::<String>()
    )
}

/// Whether a cell begins like a number and holds little else, such as “> 1.2 s” or “−3×10⁻⁴”.
fn is_number(cell: &str) -> bool {
    let rest = cell.trim_start_matches(['>', '<', '≥', '≤', '~', ' ', '−', '-', '+']);
    rest.starts_with(|c: char| c.is_ascii_digit() || c == '∞')
        && cell.chars().filter(|c| c.is_alphabetic()).count() <= 4
}

/// The class and the mark of a ruling.
fn look(ruling: Ruling) -> (&'static str, &'static str) {
    match ruling {
        Ruling::Holds => ("holds", "✓"),
        Ruling::Partly => ("partly", "◐"),
        Ruling::Fails => ("fails", "✗"),
        Ruling::Open(_) => ("open-ruling", "?"),
    }
}

/// Short rows, and under each, folded, what it rests on.
fn verdicts(all: &[Verdict]) -> String {
    const HEADER: [&str; 3] = ["Claim of the paper", "Verdict", "In short"];
    let head: String = HEADER.map(|name| format!("<th scope=\"col\">{name}</th>")).concat();
    let row = |one: &Verdict| {
        let (class, mark) = look(one.ruling);
        format!(
            "<tr><td>{}</td><td class=\"ruling {class}\">{mark} {}</td><td>{}</td></tr>\n\
             <tr class=\"reasons\"><td colspan=\"3\">{}</td></tr>\n",
            escaped(&one.claim),
            one.ruling.word(),
            escaped(&one.short),
            reasons(one)
        )
    };
    format!(
        "<p>{}</p>\n<table class=\"verdicts\">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{}</tbody>\n\
         </table>\n",
        counted(all),
        all.iter().map(row).collect::<String>()
    )
}

fn reasons(one: &Verdict) -> String {
    let mut parts = vec![("Measured", one.measured.as_str()), ("Why", &one.why)];
    if let Ruling::Open(missing) = one.ruling {
        parts.push(("What would decide it", missing));
    }
    parts.push(("Ours today", &one.ours));
    let part = |(name, text): (&str, &str)| {
        let mut lines = text.split("\n- ");
        let first = lines.next().unwrap_or_default();
        let list: String = lines.map(|line| format!("<li>{}</li>\n", escaped(line))).collect();
        let list = if list.is_empty() { list } else { format!("<ul>\n{list}</ul>\n") };
        match first {
            "" => list,
            first => format!("<p><b>{name}.</b> {}</p>\n{list}", escaped(first)),
        }
    };
    format!(
        "<details>\n<summary>What this rests on</summary>\n{}</details>",
        parts.into_iter().map(part).collect::<String>()
    )
}

/// “Of 7 claims 4 hold, 2 hold in part, 1 does not hold.”
fn counted(all: &[Verdict]) -> String {
    let count = |is: fn(Ruling) -> bool| all.iter().filter(|v| is(v.ruling)).count();
    let words = [
        (count(|r| r == Ruling::Holds), "holds", "hold"),
        (count(|r| r == Ruling::Partly), "holds in part", "hold in part"),
        (count(|r| r == Ruling::Fails), "does not hold", "do not hold"),
        (count(|r| matches!(r, Ruling::Open(_))), "is not decided", "are not decided"),
    ];
    let part = |(n, one, many): (usize, &str, &str)| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {many}")),
    };
    let parts: Vec<String> = words.into_iter().filter_map(part).collect();
    let claims = if all.len() == 1 { "claim" } else { "claims" };
    format!("Of {} {claims} {}.", all.len(), parts.join(", "))
}

fn command(line: &str) -> String {
    format!(
        "<div class=\"command\"><code>{}</code>\
         <button type=\"button\" aria-label=\"Copy the command\">Copy</button></div>\n",
        escaped(line)
    )
}

fn foot(page: &Page) -> String {
    let pair = |(name, value): &(String, String)| {
        format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value))
    };
    match page.provenance.is_empty() {
        true => String::new(),
        false => format!(
            "<footer>\n<dl>\n{}</dl>\n</footer>\n",
            page.provenance.iter().map(pair).collect::<String>()
        ),
    }
}
