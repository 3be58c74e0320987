//! Tables with aligned columns, as plain text and as markdown that reads well as plain text.

/// Rows under a head.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with nothing below its head.
    pub fn new<T: AsRef<str>>(head: &[T]) -> Table {
        Table { rows: vec![head.iter().map(|h| h.as_ref().to_owned()).collect()] }
    }

    /// Appends a row of as many cells as the head has.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether there is nothing below the head.
    pub fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// Plain text, each line indented by two spaces, without trailing ones. The first columns hold
    /// texts, the others numbers, which stand on the right.
    pub fn text(&self, texts: usize) -> String {
        let line =
            |cells: Vec<String>| format!("  {}", cells.join("  ")).trim_end().to_owned() + "\n";
        self.padded(0, |c| c >= texts).into_iter().map(line).collect()
    }

    /// Markdown; columns of numbers stand on the right.
    pub fn markdown(&self) -> String {
        let is_right = |c: usize| self.rows[1..].iter().all(|row| is_number(&row[c]));
        let rows = self.padded(3, is_right);
        let rule = |(c, cell): (usize, &String)| {
            let end = if is_right(c) { ':' } else { '-' };
            format!("|{}{end}", "-".repeat(cell.chars().count() + 1))
        };
        let rule: String = rows[0].iter().enumerate().map(rule).collect();
        let mut lines: Vec<String> =
            rows.iter().map(|cells| format!("| {} |\n", cells.join(" | "))).collect();
        lines.insert(1, rule + "|\n");
        lines.concat()
    }

    /// All cells, as wide as their columns.
    fn padded(&self, least: usize, is_right: impl Fn(usize) -> bool) -> Vec<Vec<String>> {
        let mut rows = self.rows.clone();
        for c in 0..rows[0].len() {
            let lengths = rows.iter().map(|row| row[c].chars().count());
            let (width, right) = (lengths.fold(least, usize::max), is_right(c));
            for row in &mut rows {
                row[c] = match right {
                    true => format!("{:>width$}", row[c]),
                    false => format!("{:<width$}", row[c]),
                };
            }
        }
        rows
    }
}

/// A number with its marks and unit, or nothing.
fn is_number(cell: &str) -> bool {
    let cell = cell.trim_start_matches(['>', '≈', ' ']);
    let cell = cell.trim_end_matches(['%', 'x', '*', '\\', ' ']);
    cell.is_empty() || cell == "–" || cell.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::Table;

    fn table(rows: &[[&str; 2]]) -> Table {
        let mut table = Table::new(&rows[0]);
        rows[1..].iter().for_each(|row| table.row(row.map(str::to_owned)));
        table
    }

    #[test]
    fn columns_are_aligned() {
        let table = table(&[["state", "lower"], ["é", "1.5"], ["longer name", "10.25"]]);
        let text = "  state        lower\n  é              1.5\n  longer name  10.25\n";
        assert_eq!(table.text(1), text);
    }

    #[test]
    fn numbers_stand_on_the_right_in_markdown() {
        let table = table(&[["method", "ms"], ["vi", "> 12"], ["fom-vi", "3.5"]]);
        let expected =
            "| method |   ms |\n|--------|-----:|\n| vi     | > 12 |\n| fom-vi |  3.5 |\n";
        assert_eq!(table.markdown(), expected);
    }
}
