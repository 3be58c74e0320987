//! Duality gaps of the first-order methods on matrix games: O(1/T) for the primal–dual algorithm
//! and mirror prox, O(1/√T) for mirror descent.

use robust_mdp::geometry::Geometry::{self, Entropy, Euclidean};
use robust_mdp::instances::Xoshiro256;
use robust_mdp::saddle::{FirstOrderMethod, Iterate, SaddlePoint, Schedule, Steps, Workspace, run};

/// min_x max_y ⟨c, x⟩ + ⟨x, My⟩ over two simplexes.
struct MatrixGame {
    geometry: Geometry,
    cost: Vec<f64>,
    matrix: Vec<Vec<f64>>,
}

impl MatrixGame {
    /// c + My.
    fn against(&self, y: &[f64]) -> Vec<f64> {
        let dot = |row: &Vec<f64>| row.iter().zip(y).map(|(m, y)| m * y).sum::<f64>();
        self.cost.iter().zip(&self.matrix).map(|(c, row)| c + dot(row)).collect()
    }

    /// Mᵀx.
    fn columns(&self, x: &[f64]) -> Vec<f64> {
        let column = |j: usize| x.iter().zip(&self.matrix).map(|(x, row)| x * row[j]).sum();
        (0..self.matrix[0].len()).map(column).collect()
    }

    /// Best responses to both averages: (upper, lower).
    fn bounds(&self, x: &[f64], y: &[f64]) -> (f64, f64) {
        let cost: f64 = x.iter().zip(&self.cost).map(|(x, c)| x * c).sum();
        let upper = cost + self.columns(x).into_iter().fold(f64::MIN, f64::max);
        (upper, self.against(y).into_iter().fold(f64::MAX, f64::min))
    }

    /// A bound of M in the players' norms: ‖M‖_F, or max|m| from ℓ1 to ℓ∞.
    fn coupling(&self) -> f64 {
        let entries = || self.matrix.iter().flatten();
        match self.geometry {
            Euclidean => entries().map(|m| m * m).sum::<f64>().sqrt(),
            Entropy => entries().fold(0.0, |l: f64, m| l.max(m.abs())),
        }
    }

    /// Averages after `steps` steps of size 1/L with weights t^power.
    fn play(&mut self, method: FirstOrderMethod, steps: u64, power: f64) -> (Vec<f64>, Vec<f64>) {
        let (n, m) = (self.matrix.len(), self.matrix[0].len());
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; m]);
        self.geometry.uniform(&mut x);
        self.geometry.uniform(&mut y);
        let (mut x_sum, mut y_sum, mut gradient_sum) = (vec![0.0; n], vec![0.0; m], vec![0.0; n]);
        let size = 1.0 / self.coupling();
        let total = run(
            method,
            self,
            Steps { tau: size, sigma: size },
            Schedule { steps, first: 0, power },
            Iterate {
                x: &mut x,
                y: &mut y,
                x_sum: &mut x_sum,
                y_sum: &mut y_sum,
                gradient_sum: &mut gradient_sum,
            },
            &mut Workspace::new(method, n, m),
        );
        let weights: f64 = (1..=steps).map(|t| (t as f64).powf(power)).sum();
        assert!((total - weights).abs() <= 1e-9 * weights);
        for v in [&mut x_sum, &mut y_sum, &mut gradient_sum] {
            v.iter_mut().for_each(|v| *v /= total);
        }
        for v in [&x_sum, &y_sum] {
            assert!((v.iter().sum::<f64>() - 1.0).abs() < 1e-9, "not a distribution: {v:?}");
        }
        for (average, again) in gradient_sum.iter().zip(self.against(&y_sum)) {
            assert!((average - again).abs() < 1e-9, "c + Mȳ is the average of c + My");
        }
        (x_sum, y_sum)
    }

    fn gap(&mut self, method: FirstOrderMethod, steps: u64, power: f64) -> f64 {
        let (x, y) = self.play(method, steps, power);
        let (upper, lower) = self.bounds(&x, &y);
        assert!(upper >= lower - 1e-12);
        upper - lower
    }

    /// L·(D_x + D_y) with the distances' largest values from the middle of a simplex: ½ or ln n.
    fn width(&self) -> f64 {
        let of = |n: usize| {
            if self.geometry == Euclidean { 0.5 } else { (n as f64).ln() }
        };
        self.coupling() * (of(self.matrix.len()) + of(self.matrix[0].len()))
    }
}

impl SaddlePoint for MatrixGame {
    fn gradient_x(&mut self, y: &[f64], gradient: &mut [f64]) {
        let mut point = vec![0.0; y.len()];
        self.geometry.decode(y, &mut point);
        gradient.copy_from_slice(&self.against(&point));
    }

    fn step_x(&mut self, step: f64, gradient: &[f64], x: &mut [f64], point: &mut [f64]) {
        self.geometry.step(step, gradient, x, point);
    }

    fn step_y(
        &mut self,
        step: f64,
        x: &[f64],
        y: &mut [f64],
        weight: f64,
        sum: &mut [f64],
        gradient: &mut [f64],
    ) {
        let mut point = vec![0.0; y.len()];
        self.geometry.step(-step, &self.columns(x), y, &mut point);
        sum.iter_mut().zip(&point).for_each(|(sum, y)| *sum += weight * y);
        gradient.copy_from_slice(&self.against(&point));
    }
}

fn random_game(geometry: Geometry, n: usize, m: usize) -> MatrixGame {
    let mut random = Xoshiro256::new((n * m) as u64);
    let mut number = || 2.0 * random.uniform() - 1.0;
    let cost = (0..n).map(|_| number()).collect();
    let matrix = (0..n).map(|_| (0..m).map(|_| number()).collect()).collect();
    MatrixGame { geometry, cost, matrix }
}

/// Weighted scissors, stone, paper: M is skew, so the value is 0, and M(3, 2, 1) =
/// (2 − 2, −3 + 3, 6 − 6) = 0, so (3, 2, 1)/6 is optimal for both.
fn scissors(geometry: Geometry) -> MatrixGame {
    let matrix = vec![vec![0.0, 1.0, -2.0], vec![-1.0, 0.0, 3.0], vec![2.0, -3.0, 0.0]];
    MatrixGame { geometry, cost: vec![0.0; 3], matrix }
}

fn games() -> Vec<MatrixGame> {
    let of = |g| [random_game(g, 12, 9), random_game(g, 5, 20), scissors(g)];
    [Euclidean, Entropy].into_iter().flat_map(of).collect()
}

const STEPS: [u64; 7] = [10, 30, 100, 300, 1000, 3000, 10_000];

/// The averaged gap is at most 2·L·(D_x + D_y)/T with equal weights (twice for the coupling of
/// the players' first steps); weights t^p cost a factor p + 1 and the distances between any two
/// points, up to four times those from the middle.
#[test]
fn one_over_t() {
    for mut game in games() {
        for method in [FirstOrderMethod::Pda, FirstOrderMethod::MirrorProx] {
            for power in [0.0, 1.0, 2.0] {
                let limit = if power == 0.0 { 2.0 } else { 8.0 * (power + 1.0) } * game.width();
                let gaps = STEPS.map(|t| game.gap(method, t, power));
                for (t, gap) in STEPS.into_iter().zip(gaps) {
                    assert!(t as f64 * gap <= limit, "{method:?} p {power} T {t}: {gap:e}");
                }
                let [first, .., last] = gaps;
                assert!(last <= 0.01 * first, "{method:?} p {power}: {first:e} to {last:e}");
            }
        }
    }
}

#[test]
fn one_over_root_t() {
    for mut game in games() {
        for power in [0.0, 1.0] {
            let limit = 8.0 * (power + 1.0) * game.width();
            let gaps = STEPS.map(|t| game.gap(FirstOrderMethod::MirrorDescent, t, power));
            for (t, gap) in STEPS.into_iter().zip(gaps) {
                assert!((t as f64).sqrt() * gap <= limit, "p {power} T {t}: {gap:e}");
            }
            let [first, .., last] = gaps;
            assert!(last <= 0.3 * first, "p {power}: {first:e} to {last:e}");
        }
    }
}

#[test]
fn the_averages_reach_a_known_equilibrium() {
    for geometry in [Euclidean, Entropy] {
        for (method, power, near) in [
            (FirstOrderMethod::Pda, 2.0, 1e-6),
            (FirstOrderMethod::MirrorProx, 2.0, 1e-6),
            (FirstOrderMethod::MirrorDescent, 0.0, 0.1),
        ] {
            let mut game = scissors(geometry);
            let (x, y) = game.play(method, 10_000, power);
            let (upper, lower) = game.bounds(&x, &y);
            assert!(lower <= 0.0 && 0.0 <= upper && upper - lower < near);
            for (x, y, exact) in [0, 1, 2].map(|i| (x[i], y[i], (3 - i) as f64 / 6.0)) {
                assert!((x - exact).abs() < near && (y - exact).abs() < near, "{method:?} {x} {y}");
            }
        }
    }
}
