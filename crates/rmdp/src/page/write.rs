//! Writing a page to a folder.

use std::io;
use std::path::Path;

use robust_mdp::io::write_atomically;

use super::{Block, Page};

/// Writes `index.html`, as plain text for now.
pub(crate) fn write(folder: &Path, page: &Page) -> io::Result<()> {
    let mut text = format!("{}\n\n{}\n", page.title, page.summary);
    for section in &page.sections {
        text += &format!("\n{}\n\n", section.title);
        for block in &section.blocks {
            text += &plain(block);
            text.push('\n');
        }
    }
    for (name, value) in &page.provenance {
        text += &format!("{name}: {value}\n");
    }
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    let html = format!("<!doctype html><meta charset=utf-8><pre>{escaped}</pre>\n");
    write_atomically(&folder.join("index.html"), |w| w.write_all(html.as_bytes()))
        .map_err(io::Error::other)
}

fn plain(block: &Block) -> String {
    match block {
        Block::Text(text) => format!("{text}\n"),
        Block::Command(command) => format!("$ {command}\n"),
        Block::Table(table) => {
            let rows = std::iter::once(&table.header).chain(&table.rows);
            let lines: Vec<String> = rows.map(|row| row.join(" | ")).collect();
            format!("{}\n{}\n", table.caption, lines.join("\n"))
        }
        Block::Verdicts(verdicts) => verdicts
            .iter()
            .map(|v| {
                format!(
                    "{}\n  {:?}: {}\n  Why: {}\n  Ours: {}\n",
                    v.claim, v.ruling, v.measured, v.why, v.ours
                )
            })
            .collect(),
        Block::Figure(figure) => {
            let points: String = (figure.series.iter())
                .map(|s| {
                    let points: Vec<String> = (s.points.iter())
                        .map(|p| format!("({}, {}{})", p.x, if p.stopped { "> " } else { "" }, p.y))
                        .collect();
                    format!("  {}: {}\n", s.name, points.join(" "))
                })
                .collect();
            format!("{} [{}]\n{}\n{points}", figure.title, figure.id, figure.caption)
        }
        Block::HeatMap(map) => format!("{}\n{}\n", map.title, map.caption),
    }
}
