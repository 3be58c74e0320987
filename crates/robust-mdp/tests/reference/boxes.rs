//! Rows of which a price δ buys a box, p − down(δ) ≤ y ≤ p + up(δ): with entries in the order of falling z and
//! the pivot k at which the mass that those below give up is used up, the best row is worth
//!   V(δ) = q + Σ_above up·(z − z_k) + Σ_below down·(z_k − z),
//!   V'(δ) = Σ_above up'·(z − z_k) + Σ_below down'·(z_k − z) from the right, falling,
//! so that ψ(t) = max_δ tV(δ) − δ lies where tV' passes 1, and g(u) where V passes u: both by bisection.

use super::entry::Entry;

/// How far an entry may move at a price, and how fast that grows.
pub(crate) struct Move {
    down: [f64; 2],
    up: [f64; 2],
}

/// max w|y − p| ≤ δ.
pub(super) fn sides(e: &Entry, price: f64) -> Move {
    let far = price / e.weight;
    let down = if far < e.p { [far, 1.0 / e.weight] } else { [e.p, 0.0] };
    Move { down, up: [far, 1.0 / e.weight] }
}

/// y ≥ (1 − δ)p.
pub(super) fn share(e: &Entry, price: f64) -> Move {
    let down = if price < 1.0 { [price * e.p, e.p] } else { [e.p, 0.0] };
    Move { down, up: [2.0, 0.0] }
}

/// y ≤ (1 + δ)p.
pub(super) fn ratio(e: &Entry, price: f64) -> Move {
    Move { down: [e.p, 0.0], up: [price * e.p, e.p] }
}

/// p + δ(l − p) ≤ y ≤ p + δ(u − p), δ ≤ 1.
pub(super) fn way(e: &Entry, price: f64) -> Move {
    let [down, up] = [e.p - e.lower, e.upper - e.p].map(|far| far.max(0.0));
    match price < 1.0 {
        true => Move { down: [price * down, down], up: [price * up, up] },
        false => Move { down: [down, 0.0], up: [up, 0.0] },
    }
}

/// V(δ) − q and V'(δ), for entries in the order of falling b.
fn rise(entries: &[Entry], of: fn(&Entry, f64) -> Move, price: f64) -> [f64; 2] {
    let moves: Vec<Move> = entries.iter().map(|e| of(e, price)).collect();
    let mut left: f64 = moves.iter().map(|m| m.down[0]).sum();
    let pivot = moves.iter().position(|m| {
        left -= m.down[0] + m.up[0];
        left < 0.0
    });
    let k = pivot.unwrap_or(entries.len() - 1);
    let worth = |part: usize| -> f64 {
        let above = (0..k).map(|j| moves[j].up[part] * (entries[j].b - entries[k].b));
        let below =
            (k + 1..moves.len()).map(|j| moves[j].down[part] * (entries[k].b - entries[j].b));
        above.sum::<f64>() + below.sum::<f64>()
    };
    [worth(0), worth(1)]
}

/// Largest and smallest price.
const PRICES: (f64, f64) = (1e-40, 1e40);

/// The least price at which `holds`, which stays true from there on.
fn least_price(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = PRICES;
    if holds(low) {
        return 0.0;
    }
    loop {
        let middle = if high > 2.0 * low { (low * high).sqrt() } else { 0.5 * (low + high) };
        if middle <= low || middle >= high {
            return high;
        }
        *(if holds(middle) { &mut high } else { &mut low }) = middle;
    }
}

/// ψ(t) − tq.
pub(super) fn gain(entries: &[Entry], of: fn(&Entry, f64) -> Move, t: f64) -> f64 {
    let price = least_price(|price| t * rise(entries, of, price)[1] <= 1.0);
    (t * rise(entries, of, price)[0] - price).max(0.0)
}

/// The largest V − q.
pub(super) fn peak(entries: &[Entry], of: fn(&Entry, f64) -> Move) -> f64 {
    rise(entries, of, PRICES.1)[0]
}
