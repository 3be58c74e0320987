//! A markdown table that also reads well as plain text.

/// Rows under a head; numbers stand on the right.
pub(super) struct Grid {
    rows: Vec<Vec<String>>,
}

impl Grid {
    pub(super) fn new<T: AsRef<str>>(head: &[T]) -> Grid {
        Grid { rows: vec![head.iter().map(|h| h.as_ref().to_owned()).collect()] }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    pub(super) fn render(&self) -> String {
        let columns = self.rows[0].len();
        let length = |cell: &String| cell.chars().count();
        let widths: Vec<usize> = (0..columns)
            .map(|c| self.rows.iter().map(|row| length(&row[c])).fold(3, usize::max))
            .collect();
        let right: Vec<bool> =
            (0..columns).map(|c| self.rows[1..].iter().all(|row| is_number(&row[c]))).collect();
        let mut text = String::new();
        for (k, row) in self.rows.iter().enumerate() {
            for (c, cell) in row.iter().enumerate() {
                let space = " ".repeat(widths[c] - length(cell));
                text += &match right[c] {
                    true => format!("| {space}{cell} "),
                    false => format!("| {cell}{space} "),
                };
            }
            text += "|\n";
            if k == 0 {
                for (width, right) in widths.iter().zip(&right) {
                    let line = "-".repeat(width + 1);
                    text += &format!("|{line}{}", if *right { ':' } else { '-' });
                }
                text += "|\n";
            }
        }
        text
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
    use super::Grid;

    #[test]
    fn alignment() {
        let mut grid = Grid::new(&["method", "ms"]);
        grid.row(["vi".into(), "> 12".into()]);
        grid.row(["fom-vi".into(), "3.5".into()]);
        let expected =
            "| method |   ms |\n|--------|-----:|\n| vi     | > 12 |\n| fom-vi |  3.5 |\n";
        assert_eq!(grid.render(), expected);
    }
}
