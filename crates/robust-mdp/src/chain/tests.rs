use super::chunks::Totals;
use super::tail::Prefix;
use super::*;

struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A chain whose row s moves to `width` states `next(s, uniform number)`.
fn chain(states: usize, width: usize, next: impl Fn(usize, f64) -> usize) -> Chain {
    let mut uniform = Uniform(states as u64 + 7);
    let mut chain = Chain::new(states, |_| width);
    for s in 0..states {
        let weights: Vec<f64> = (0..width).map(|_| uniform.next() + 0.01).collect();
        let total: f64 = weights.iter().sum();
        let start = chain.span(s).start;
        for (j, weight) in weights.iter().enumerate() {
            let next = next(s, uniform.next());
            if chain.pointers.is_some() {
                chain.columns[start + j] = next as u32;
                chain.entries[start + j] = weight / total;
            } else {
                chain.entries[start + next] += weight / total;
            }
        }
        chain.cost[s] = 10.0 * uniform.next() - 3.0;
    }
    chain
}

fn random_chain(states: usize, width: usize) -> Chain {
    chain(states, width, |_, u| (u * states as f64) as usize)
}

fn banded_chain(states: usize) -> Chain {
    chain(states, 7, |s, u| (s + (u * 9.0) as usize).saturating_sub(4).min(states - 1))
}

fn upward_chain(states: usize) -> Chain {
    chain(states, 3, |s, u| (s + (u * 4.0) as usize).min(states - 1))
}

/// max |c − (I − λP)w| by the plainest loop.
fn residual(chain: &Chain, discount: f64, w: &[f64]) -> f64 {
    let mut largest: f64 = 0.0;
    for s in 0..chain.states {
        let row = &chain.entries[chain.span(s)];
        let mut expected: f64 = match &chain.pointers {
            None => row.iter().zip(w).map(|(p, w)| p * w).sum(),
            Some(_) => {
                let columns = &chain.columns[chain.span(s)];
                row.iter().zip(columns).map(|(p, &j)| p * w[j as usize]).sum()
            }
        };
        if let Some(tails) = &chain.tails {
            let mut row = vec![0.0; chain.states];
            tails.expand(s, -1.0, &mut row);
            expected += row.iter().zip(w).map(|(p, w)| p * w).sum::<f64>();
        }
        largest = largest.max((chain.cost[s] - w[s] + discount * expected).abs());
    }
    largest
}

fn size(w: &[f64]) -> f64 {
    w.iter().fold(1.0_f64, |m, w| m.max(w.abs()))
}

fn assert_solved(chain: &mut Chain, discount: f64) {
    let mut w = vec![0.0; chain.states];
    chain.solve(discount, &mut w, 0.0, &|| false);
    let left = residual(chain, discount, &w);
    let states = chain.states;
    assert!(left <= 1e-13 * size(&w), "{states} {discount}: {left:e} of {:e}", size(&w));
}

const DISCOUNTS: [f64; 4] = [0.0, 0.5, 0.99, 0.9999];

#[test]
fn random_chains_leave_a_small_residual() {
    let shapes = [(1, 1), (2, 2), (3, 2), (7, 3), (8, 8), (9, 2), (23, 5), (24, 4), (50, 7)];
    let larger = [(95, 9), (96, 9), (97, 9), (200, 5), (300, 40), (401, 80), (900, 5), (5100, 6)];
    for (states, width) in shapes.into_iter().chain(larger) {
        for discount in DISCOUNTS {
            assert_solved(&mut random_chain(states, width), discount);
        }
    }
}

#[test]
fn banded_and_upward_chains_leave_a_small_residual() {
    for states in [150, 1000, 9000] {
        for discount in DISCOUNTS {
            assert_solved(&mut banded_chain(states), discount);
            assert_solved(&mut upward_chain(states), discount);
        }
    }
}

/// Dense rows beyond the reach of elimination are rare, but must not fail.
#[test]
fn dense_rows_go_through_the_krylov_method_too() {
    let mut chain = random_chain(700, 90);
    assert!(chain.pointers.is_none());
    let Chain { states, columns, entries, cost, krylov, .. } = &mut chain;
    let (pointers, tails, discount) = (None, None, 0.99);
    let a = Matrix {
        states: *states,
        pointers,
        columns,
        entries,
        tails,
        cost,
        discount,
        stop: &|| false,
    };
    let mut w = vec![0.0; *states];
    assert!(krylov.solve(&a, &mut w, 0.0, 200).solved);
    assert!(residual(&chain, discount, &w) <= 1e-13 * size(&w));
}

#[test]
fn slow_krylov_gives_way_to_elimination() {
    // Moves to a random permutation: no factors near the diagonal, no mixing.
    let states = 1500;
    let mut permuted: Vec<usize> = (0..states).collect();
    let mut uniform = Uniform(1);
    for i in (1..states).rev() {
        permuted.swap(i, (uniform.next() * (i + 1) as f64) as usize);
    }
    let mut chain = chain(states, 1, |s, _| permuted[s]);
    assert_solved(&mut chain, 0.9999);
}

/// Identity, cyclic shift and absorption, where inner products vanish.
#[test]
fn degenerate_chains_are_solved() {
    for states in [1, 5, 200, 6000, 20_000] {
        for discount in DISCOUNTS {
            assert_solved(&mut chain(states, 1, |s, _| s), discount);
            assert_solved(&mut chain(states, 1, |s, _| (s + 1) % states), discount);
            assert_solved(&mut chain(states, 2, |_, _| 0), discount);
            let mut none = chain(states, 1, |s, _| s);
            none.entries.fill(0.0);
            assert_solved(&mut none, discount);
            none.cost.fill(0.0);
            assert_solved(&mut none, discount);
        }
    }
}

#[test]
fn sweeps_shrink_the_residual_where_the_krylov_method_cannot() {
    let states = 6000;
    let mut stride = chain(states, 1, |s, _| (s * 7 + 3001) % states);
    let mut w = vec![0.0; states];
    stride.solve(0.95, &mut w, 0.0, &|| false);
    assert!(residual(&stride, 0.95, &w) <= 1e-3);
}

#[test]
fn a_loose_tolerance_saves_work_and_is_kept() {
    let mut loose = random_chain(20_000, 8);
    let mut tight = random_chain(20_000, 8);
    let (mut v, mut w) = (vec![0.0; 20_000], vec![0.0; 20_000]);
    loose.solve(0.99, &mut v, 1e-3, &|| false);
    tight.solve(0.99, &mut w, 0.0, &|| false);
    assert!(residual(&loose, 0.99, &v) <= 1e-3);
    assert!(2 * loose.work < tight.work, "{} {}", loose.work, tight.work);
    // From the solution on one product tells that there is nothing left to do.
    let before = tight.work;
    tight.solve(0.99, &mut w, 1e-9, &|| false);
    assert_eq!(tight.work - before, 20_000 * (8 + 6));
}

fn bits_with(threads: usize, make: &(impl Fn() -> Chain + Sync)) -> Vec<u64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| {
        let mut chain = make();
        let mut w = vec![0.0; chain.states];
        chain.solve(0.99, &mut w, 0.0, &|| false);
        w.iter().map(|w| w.to_bits()).collect()
    })
}

#[test]
fn threads_do_not_change_a_bit() {
    let cases: [&(dyn Fn() -> Chain + Sync); 5] = [
        &|| band_of(&banded_chain(30_000), 4),
        &|| random_chain(600, 100),
        &|| random_chain(30_000, 6),
        &|| banded_chain(30_000),
        &|| tailed_chain(9_000),
    ];
    for make in cases {
        assert_eq!(bits_with(1, &make), bits_with(2, &make));
        assert_eq!(bits_with(2, &make), bits_with(3, &make));
    }
}

/// The same chain as a band.
fn band_of(chain: &Chain, reach: usize) -> Chain {
    let mut band = Chain::of_states(chain.states);
    band.cost.copy_from_slice(&chain.cost);
    band.reserve(|s| chain.span(s).len(), Some(reach));
    assert_eq!(band.band, Some(reach));
    let (mut rows, _) = band.rows();
    for s in 0..chain.states {
        let mut row = rows.part(s * (2 * reach + 1)..(s + 1) * (2 * reach + 1));
        let span = chain.span(s);
        for (p, j) in chain.entries[span.clone()].iter().zip(&chain.columns[span]) {
            row.add(s, &mut 0, *j as usize, *p);
        }
    }
    band
}

/// Solves the chain as a band and checks what is left against the values.
fn assert_band_solved(chain: &Chain, reach: usize, discount: f64) {
    let mut w = vec![0.0; chain.states];
    band_of(chain, reach).solve(discount, &mut w, 0.0, &|| false);
    let left = residual(chain, discount, &w) / size(&w);
    assert!(left <= 1e-14, "{} {discount}: {left:e}", chain.states);
}

#[test]
fn bands_are_solved_whatever_the_discount() {
    for states in [150, 151, 1000, 9001] {
        for discount in [0.0, 0.5, 0.99, 0.9999, 1.0 - 1e-6, 1.0 - 1e-9] {
            for make in [banded_chain, upward_chain] {
                assert_band_solved(&make(states), 4, discount);
            }
        }
    }
}

#[test]
fn bands_of_still_and_of_dead_states() {
    for states in [150, 901] {
        assert_band_solved(&chain(states, 1, |s, _| s), 0, 0.99);
        let mut dead = banded_chain(states);
        for s in (0..states).step_by(7) {
            let span = dead.span(s);
            dead.entries[span].fill(0.0);
        }
        assert_band_solved(&dead, 4, 0.99);
    }
}

/// Rows of one or two tails with some entries beside them, one taken out of a tail.
fn tailed_chain(states: usize) -> Chain {
    let mut uniform = Uniform(3);
    let mut chain = Chain::new(states, |_| 3);
    let mut tails = Tails::new(states, |s| 1 + s % 2);
    tails.level = (0..states).map(|_| -uniform.next()).collect();
    tails.level.sort_by(|a, b| b.total_cmp(a));
    for i in (1..states).rev() {
        tails.order.swap(i, (uniform.next() * (i + 1) as f64) as usize);
    }
    for s in 0..states {
        // ℓ_j − ν > 0 for the first k states, scaled to half of the mass (a quarter for two).
        let count = 1 + s % 2;
        for i in 0..count {
            let length = 1 + (uniform.next() * (states - 1) as f64) as usize;
            let shift = tails.level[length - 1] - 0.01;
            let mass: f64 = tails.level[..length].iter().map(|l| l - shift).sum();
            let slope = 0.5 / count as f64 / mass;
            tails.tails[tails.pointers[s] + i] =
                Tail { slope, shift: slope * shift, length: length as u32 };
        }
        let first = tails.order[0] as usize;
        let Tail { slope, shift, .. } = tails.tails[tails.pointers[s]];
        let taken = slope * tails.level[0] - shift;
        let start = chain.span(s).start;
        let moves = [(first, -taken), (s, 0.2), ((s + 1) % states, 0.3 + taken)];
        for (i, (next, p)) in moves.into_iter().enumerate() {
            if chain.pointers.is_some() {
                chain.columns[start + i] = next as u32;
                chain.entries[start + i] = p;
            } else {
                chain.entries[start + next] += p;
            }
        }
        chain.cost[s] = uniform.next();
    }
    chain.tails = Some(tails);
    chain
}

#[test]
fn tails_agree_with_their_expansion() {
    for states in [1, 2, 60, 500, 2300] {
        let chain = tailed_chain(states);
        let Chain { pointers, columns, entries, tails, cost, .. } = &chain;
        let (pointers, tails) = (pointers.as_deref(), tails.as_ref());
        let a = Matrix {
            states,
            pointers,
            columns,
            entries,
            tails,
            cost,
            discount: 0.9,
            stop: &|| false,
        };
        let mut uniform = Uniform(11);
        let u: Vec<f64> = (0..states).map(|_| uniform.next() - 0.3).collect();
        let mut out = vec![0.0; states];
        let mut totals = vec![Totals::default(); states.div_ceil(chunks::CHUNK)];
        a.apply(&u, &mut out, None, &mut Prefix::default(), &mut totals, &|_, image| image);
        for s in (0..states).step_by(states.div_ceil(100)) {
            let mut row = vec![0.0; states];
            a.expand(s, &mut row);
            let sum: f64 = row.iter().sum();
            assert!((sum - 0.1).abs() < 1e-12, "rows of P sum to one: {sum}");
            let exact: f64 = row.iter().zip(&u).map(|(a, u)| a * u).sum();
            assert!((out[s] - exact).abs() < 1e-12, "{states} {s}: {} {exact}", out[s]);
        }
    }
}

#[test]
fn chains_with_tails_are_solved() {
    for states in [1, 2, 60, 500, 2300, 6000] {
        for discount in DISCOUNTS {
            assert_solved(&mut tailed_chain(states), discount);
        }
    }
}

#[test]
fn rows_take_new_capacities() {
    let mut chain = random_chain(400, 5);
    chain.reserve(|s| s % 7, None);
    assert_eq!(chain.span(8), 21..22); // 0 + 1 + … + 6 + 0 = 21, then 8 % 7 = 1
    chain.reserve(|_| 100, None);
    assert_eq!(chain.span(3), 1200..1600);
    assert!(chain.pointers.is_none() && chain.columns.is_empty());
}
