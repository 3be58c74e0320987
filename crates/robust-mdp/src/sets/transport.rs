//! The least cost Σπ_ji·C_ji of moving a distribution p to y, π ≥ 0 with the sums p and y.

use super::{Ground, Places};

/// Mass below this share of all is not moved.
const LEAST: f64 = 1e-16;

/// Of entries at these places.
pub(super) fn cost(p: &[f64], y: &[f64], places: Places<'_>) -> f64 {
    match places.ground {
        Ground::Line(_) => on_line(p, y, places),
        Ground::Matrix(_) => shortest_paths(p, y, places),
    }
}

/// Σ of gaps times what crosses them.
fn on_line(p: &[f64], y: &[f64], places: Places<'_>) -> f64 {
    let mut order: Vec<usize> = (0..p.len()).collect();
    let x = |j: usize| places.ground.numbers()[places.state(j)];
    order.sort_by(|&i, &j| x(i).total_cmp(&x(j)));
    let (mut crossing, mut cost) = (0.0_f64, 0.0);
    for pair in order.windows(2) {
        crossing += p[pair[0]] - y[pair[0]];
        cost += crossing.abs() * (x(pair[1]) - x(pair[0]));
    }
    cost
}

/// Mass goes along shortest paths of the residual graph, one source after the other; potentials keep reduced
/// costs ≥ 0.
fn shortest_paths(p: &[f64], y: &[f64], places: Places<'_>) -> f64 {
    let n = p.len();
    let (mut supply, mut demand) = (p.to_vec(), y.to_vec());
    let mut flow = vec![0.0; n * n];
    // Of sources, and of targets.
    let mut potential = vec![0.0; 2 * n];
    for source in 0..n {
        while supply[source] > LEAST {
            let Some((target, before, length)) =
                tree(source, &flow, &demand, &potential, n, places)
            else {
                break;
            };
            let reached = length[n + target];
            for (potential, length) in potential.iter_mut().zip(&length) {
                *potential += length.min(reached);
            }
            // Along the path from its end, what it can take, and then that.
            let path: Vec<(usize, usize)> = steps(source, target, &before, n).collect();
            let back = path.iter().skip(1).step_by(2).map(|&(from, to)| flow[to * n + (from - n)]);
            let most = back.fold(supply[source].min(demand[target]), f64::min);
            for (from, to) in path {
                match from < n {
                    true => flow[from * n + (to - n)] += most,
                    false => flow[to * n + (from - n)] -= most,
                }
            }
            (supply[source], demand[target]) = (supply[source] - most, demand[target] - most);
        }
    }
    let pairs = (0..n).flat_map(|j| (0..n).map(move |i| (j, i)));
    pairs
        .filter(|&(j, i)| flow[j * n + i] > 0.0)
        .map(|(j, i)| flow[j * n + i] * places.cost(j, i))
        .sum()
}

/// The steps of a path, from its end: to the target n + i from a source, to that from a target, and so on.
fn steps(
    source: usize,
    target: usize,
    before: &[usize],
    n: usize,
) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = n + target;
    std::iter::from_fn(move || {
        (at != source).then(|| {
            let step = (before[at], at);
            at = before[at];
            step
        })
    })
}

/// Dijkstra's shortest paths in reduced costs to the nearest target that still lacks mass.
fn tree(
    source: usize,
    flow: &[f64],
    demand: &[f64],
    potential: &[f64],
    n: usize,
    places: Places<'_>,
) -> Option<(usize, Vec<usize>, Vec<f64>)> {
    let mut length = vec![f64::INFINITY; 2 * n];
    let mut before = vec![usize::MAX; 2 * n];
    let mut done = vec![false; 2 * n];
    length[source] = 0.0;
    loop {
        let open = (0..2 * n).filter(|&k| !done[k] && length[k].is_finite());
        let at = open.min_by(|&a, &b| length[a].total_cmp(&length[b]))?;
        done[at] = true;
        if at >= n && demand[at - n] > LEAST {
            return Some((at - n, before, length));
        }
        for other in 0..n {
            let (to, cost) = match at < n {
                true => (n + other, places.cost(at, other)),
                false if flow[other * n + (at - n)] > 0.0 => (other, -places.cost(other, at - n)),
                false => continue,
            };
            let reduced = (cost + potential[at] - potential[to]).max(0.0);
            if length[at] + reduced < length[to] {
                (length[to], before[to]) = (length[at] + reduced, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances::Xoshiro256;

    /// Costs of a line as a matrix are those of the line.
    #[test]
    fn paths_and_gaps_agree() {
        let mut random = Xoshiro256::new(1);
        for n in 1..20 {
            let mut draw = |n: usize| (0..n).map(|_| random.uniform()).collect::<Vec<f64>>();
            let (line, [mut p, mut y]) = (Ground::line(draw(n)), [draw(n), draw(n)]);
            for x in [&mut p, &mut y] {
                let sum: f64 = x.iter().sum();
                x.iter_mut().for_each(|x| *x /= sum);
            }
            let costs = (0..n * n).map(|k| line.cost(k / n, k % n)).collect();
            let matrix = Ground::Matrix(costs);
            let of = |ground| cost(&p, &y, Places { ground, next: None });
            assert!((of(&line) - of(&matrix)).abs() < 1e-13, "{n}");
        }
    }

    /// From (½, ½, 0) to (0, ½, ½): ½ straight at 3, or both ½ by one at 1 each.
    #[test]
    fn mass_goes_by_the_cheapest_plan() {
        let ground = Ground::Matrix(vec![0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0]);
        let places = Places { ground: &ground, next: None };
        assert_eq!(cost(&[0.5, 0.5, 0.0], &[0.0, 0.5, 0.5], places), 1.0);
        assert_eq!(cost(&[1.0, 0.0, 0.0], &[0.0, 0.0, 1.0], places), 3.0);
    }
}
