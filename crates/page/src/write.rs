//! Pages and figures as files, each replaced in one step.

use std::fs;
use std::path::{Path, PathBuf};

use robust_mdp::Error;
use robust_mdp::io::write_atomically;

use super::text::slug;
use super::{Block, Page, heat_svg, html, svg};

/// Writes the page as one HTML file.
pub fn write(path: &Path, page: &Page) -> Result<(), Error> {
    put(path, &html(page))
}

/// Writes every figure of the page as `folder/ID.svg`, making the folder; returns the files.
pub fn write_figures(folder: &Path, page: &Page) -> Result<Vec<PathBuf>, Error> {
    fs::create_dir_all(folder).map_err(|source| Error::Io { path: folder.into(), source })?;
    let mut written = Vec::new();
    for block in page.sections.iter().flat_map(|s| &s.blocks) {
        let drawn: Vec<(&str, String)> = match block {
            Block::Figure(figure) => vec![(&figure.id, svg(figure))],
            Block::HeatMap(map) => vec![(&map.id, heat_svg(map))],
            Block::Group(group) => group.figures.iter().map(|f| (f.id.as_str(), svg(f))).collect(),
            _ => continue,
        };
        for (id, text) in drawn {
            let path = folder.join(format!("{}.svg", slug(id)));
            put(&path, &text)?;
            written.push(path);
        }
    }
    Ok(written)
}

fn put(path: &Path, text: &str) -> Result<(), Error> {
    write_atomically(path, |w| w.write_all(text.as_bytes()))
}
