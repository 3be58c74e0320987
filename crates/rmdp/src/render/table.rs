//! Plain tables with aligned columns.

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Columns under a header, filled row by row.
#[derive(Debug)]
pub(crate) struct Table {
    align: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[(&str, Align)]) -> Table {
        let header = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        Table { align: columns.iter().map(|(_, align)| *align).collect(), rows: vec![header] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.align.len());
        self.rows.push(cells);
    }

    /// The text, each line indented by two spaces, without trailing ones.
    pub(crate) fn render(&self) -> String {
        let columns = self.align.len();
        let widths: Vec<usize> = (0..columns)
            .map(|k| self.rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0))
            .collect();
        let mut out = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).zip(&self.align);
            let line: String = cells
                .map(|((cell, width), align)| match align {
                    Align::Left => format!("  {cell:<width$}"),
                    Align::Right => format!("  {cell:>width$}"),
                })
                .collect();
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// A name as a table shows it: on one line, harmless to a terminal, and not too long.
pub(crate) fn shown_name(name: &str, most: usize) -> String {
    let clean = name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    match name.chars().count() <= most {
        true => clean.collect(),
        false => clean.take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&[("state", Align::Left), ("lower", Align::Right)]);
        table.row(vec!["é".into(), "1.5".into()]);
        table.row(vec!["longer name".into(), "10.25".into()]);
        let text = "  state        lower\n  é              1.5\n  longer name  10.25\n";
        assert_eq!(table.render(), text);
    }

    #[test]
    fn names_are_made_harmless() {
        assert_eq!(shown_name("a\nb\u{1b}[1m", 20), "a\u{fffd}b\u{fffd}[1m");
        assert_eq!(shown_name("abcdef", 4), "abc…");
    }
}
