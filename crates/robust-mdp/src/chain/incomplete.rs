//! A ≈ LU on the pattern of A = I − λP: ILU(0) (Meijerink & van der Vorst 1977, who show that it exists
//! and is stable for M-matrices). On a chain that moves to states near by, in the order of states, it is
//! nearly exact, whatever the few far moves are.

use super::matrix::Matrix;

/// Moves by no more than this many states count as near ones.
const NEAR: usize = 64;
/// The share of such moves that makes the factors worth their time.
const SHARE: f64 = 0.75;
/// Rows looked at to find this share.
const SAMPLE: usize = 1024;

/// Whether P moves to near states mostly.
pub(super) fn serves(a: &Matrix<'_>) -> bool {
    // Beside tails, stored entries are corrections only.
    let Some(pointers) = a.pointers.filter(|_| a.tails.is_none()) else { return false };
    let (mut near, mut all) = (0.0, 0.0);
    for s in (0..a.states).step_by(a.states.div_ceil(SAMPLE).max(1)) {
        let row = pointers[s]..pointers[s + 1];
        for (p, &j) in a.entries[row.clone()].iter().zip(&a.columns[row]) {
            all += p;
            near += if s.abs_diff(j as usize) <= NEAR { *p } else { 0.0 };
        }
    }
    near >= SHARE * all
}

/// Rows of L without its unit diagonal, then of U, by ascending columns.
#[derive(Debug, Default)]
pub(super) struct Incomplete {
    starts: Vec<usize>,
    /// Where the diagonal entry of each row lies; it is kept inverted.
    diagonal: Vec<usize>,
    columns: Vec<u32>,
    pub(super) entries: Vec<f64>,
}

impl Incomplete {
    /// Factors I − λP.
    pub(super) fn factor(&mut self, a: &Matrix<'_>) {
        self.load(a);
        // Where each column lies in the row at hand.
        let mut place = vec![None; a.states];
        for s in 0..a.states {
            let row = self.starts[s]..self.starts[s + 1];
            for q in row.clone() {
                place[self.columns[q] as usize] = Some(q);
            }
            let diagonal = self.diagonal[s];
            for q in row.start..diagonal {
                let k = self.columns[q] as usize;
                let pivot = self.diagonal[k];
                let factor = self.entries[q] * self.entries[pivot];
                self.entries[q] = factor;
                for z in pivot + 1..self.starts[k + 1] {
                    if let Some(at) = place[self.columns[z] as usize] {
                        self.entries[at] -= factor * self.entries[z];
                    }
                }
            }
            // Rows of I − λP sum to 1 − λ at least, and so do pivots.
            self.entries[diagonal] = 1.0 / self.entries[diagonal].max(1.0 - a.discount);
            for q in row {
                place[self.columns[q] as usize] = None;
            }
        }
    }

    /// Copies the rows of I − λP, sorted, repeated columns added up.
    fn load(&mut self, a: &Matrix<'_>) {
        let pointers = a.pointers.expect("sparse rows");
        self.starts.clear();
        self.diagonal.clear();
        self.columns.clear();
        self.entries.clear();
        self.starts.push(0);
        let mut row = Vec::new();
        for s in 0..a.states {
            let span = pointers[s]..pointers[s + 1];
            let moves = a.columns[span.clone()].iter().zip(&a.entries[span]);
            row.clear();
            row.push((s as u32, 1.0));
            row.extend(moves.filter(|e| *e.1 != 0.0).map(|(&j, p)| (j, -a.discount * p)));
            // Stable: repeated columns add up in the order they were stored in.
            row.sort_by_key(|e| e.0);
            for same in row.chunk_by(|a, b| a.0 == b.0) {
                if same[0].0 == s as u32 {
                    self.diagonal.push(self.columns.len());
                }
                self.columns.push(same[0].0);
                self.entries.push(same.iter().map(|e| e.1).sum());
            }
            self.starts.push(self.columns.len());
        }
    }

    /// out = (LU)⁻¹x.
    pub(super) fn apply(&self, x: &[f64], out: &mut [f64]) {
        let known = |span: std::ops::Range<usize>, out: &[f64]| -> f64 {
            let row = self.columns[span.clone()].iter().zip(&self.entries[span]);
            row.map(|(&j, e)| e * out[j as usize]).sum()
        };
        for s in 0..x.len() {
            out[s] = x[s] - known(self.starts[s]..self.diagonal[s], out);
        }
        for s in (0..x.len()).rev() {
            let diagonal = self.diagonal[s];
            let left = out[s] - known(diagonal + 1..self.starts[s + 1], out);
            out[s] = left * self.entries[diagonal];
        }
    }
}
