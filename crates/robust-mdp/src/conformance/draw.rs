//! Rows to try a set on.

use crate::instances::Xoshiro256;
use crate::model::Bounds;
use crate::rows::Row;
use crate::sets::{EntryData, Ground, Needs, Places, ScenarioRows, Set};

/// A row of a set that may use the states `open`.
#[derive(Clone, Debug)]
pub(super) struct DrawnRow {
    pub(super) p: Vec<f64>,
    pub(super) w: Vec<f64>,
    pub(super) open: Vec<bool>,
    pub(super) own: OwnData,
}

/// What a set is told of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnData {
    pub(super) weights: Option<Vec<f64>>,
    pub(super) bounds: Option<[Vec<f64>; 2]>,
    pub(super) ground: Option<Ground>,
    /// One row a scenario.
    pub(super) scenarios: Option<Vec<Vec<f64>>>,
    /// Their numbers, entry after entry.
    pub(super) told: Vec<f64>,
    /// The states of the entries.
    pub(super) next: Option<Vec<u32>>,
}

impl OwnData {
    /// With these scenarios.
    pub(super) fn with_scenarios(self, rows: Vec<Vec<f64>>) -> OwnData {
        let entries = rows.first().map_or(0, Vec::len);
        let told = (0..entries).flat_map(|j| rows.iter().map(move |row| row[j])).collect();
        OwnData { scenarios: Some(rows), told, ..self }
    }

    /// Whether entry j may have mass, where that is for the data to say.
    pub(super) fn opens(&self, p: &[f64], j: usize) -> Option<bool> {
        let within = self.bounds.as_ref().map(|[_, upper]| upper[j] > 0.0);
        let some = |rows: &Vec<Vec<f64>>| p[j] > 0.0 || rows.iter().any(|row| row[j] > 0.0);
        within.or_else(|| self.scenarios.as_ref().map(some))
    }

    pub(super) fn get(&self) -> EntryData<'_> {
        let count = self.scenarios.as_ref().map(Vec::len);
        EntryData {
            scenarios: count.map(|count| ScenarioRows { count, numbers: &self.told }),
            weights: self.weights.as_deref(),
            bounds: self.bounds.as_ref().map(|[lower, upper]| Bounds { lower, upper }),
            places: self
                .ground
                .as_ref()
                .map(|ground| Places { ground, next: self.next.as_deref() }),
        }
    }

    /// How much more than an entry d may change with it: large weights, narrow intervals and scenarios next to the
    /// nominal row do that.
    pub(super) fn steepness(&self, p: &[f64]) -> f64 {
        let rooms = self.bounds.iter().flatten().flat_map(|bound| bound.iter().zip(p));
        let rooms = rooms.map(|(bound, p)| (bound - p).abs()).filter(|room| *room > 0.0);
        let weights = self.weights.iter().flatten().copied();
        let costs = self.ground.iter().map(Ground::diameter);
        let far =
            |row: &Vec<f64>| row.iter().zip(p).map(|(y, p)| (y - p).abs()).fold(0.0, f64::max);
        // Two in nearly one direction are worse.
        let ways =
            self.scenarios.iter().flatten().map(far).filter(|way| *way > 0.0).map(|w| 1e-3 * w);
        let steep = rooms.chain(ways).map(|room| 1.0 / room);
        steep.chain(weights).chain(costs).fold(0.0, f64::max)
    }

    /// Of some of the entries.
    pub(super) fn of(&self, kept: &[usize]) -> OwnData {
        let part = |x: &[f64]| kept.iter().map(|&j| x[j]).collect::<Vec<f64>>();
        let state = |j: usize| self.next.as_ref().map_or(j as u32, |next| next[j]);
        let own = OwnData {
            weights: self.weights.as_deref().map(part),
            bounds: self.bounds.as_ref().map(|[lower, upper]| [part(lower), part(upper)]),
            ground: self.ground.clone(),
            next: Some(kept.iter().map(|&j| state(j)).collect()),
            ..OwnData::default()
        };
        match &self.scenarios {
            Some(rows) => own.with_scenarios(rows.iter().map(|row| part(row)).collect()),
            None => own,
        }
    }

    /// Anything that the set may be told, degenerate cases among them.
    fn draw(needs: Needs, p: &[f64], random: &mut Xoshiro256) -> OwnData {
        let (n, mut own) = (p.len(), OwnData::default());
        match needs {
            Needs::Nothing => {}
            Needs::Weights => own.weights = weights(n, 4.0, random),
            Needs::Intervals => own.bounds = Some(intervals(p, 1e-6, random)),
            Needs::Ground => own.ground = Some(ground(n, random)),
            Needs::Scenarios => own = own.with_scenarios(scenarios(p, random)),
        }
        own
    }
}

/// Weights of next states, up to 10^most, if not all are to be 1.
pub(super) fn weights(n: usize, most: f64, random: &mut Xoshiro256) -> Option<Vec<f64>> {
    let power = [0.0, 1.0, 1.0, most][random.below(4) as usize];
    let weight = |_| 10f64.powf(power * (2.0 * random.uniform() - 1.0));
    (power > 0.0).then(|| (0..n).map(weight).collect())
}

/// Intervals around p: narrow, wide, one-sided, or of no width.
pub(super) fn intervals(p: &[f64], narrow: f64, random: &mut Xoshiro256) -> [Vec<f64>; 2] {
    let width = [0.0, narrow, 0.3, 1.0, 1.0][random.below(5) as usize];
    let mut way = || match random.below(4) {
        0 => 0.0,
        1 => 1.0,
        _ => width * random.uniform(),
    };
    let lower = p.iter().map(|p| p - way() * p).collect();
    [lower, p.iter().map(|p| (p + way() * (1.0 - p)).min(1.0)).collect()]
}

/// Scenarios of a row: any, on few states, next to the nominal one or that itself, and copies.
pub(super) fn scenarios(p: &[f64], random: &mut Xoshiro256) -> Vec<Vec<f64>> {
    let n = p.len();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for k in 0..1 + random.below(5) as usize {
        rows.push(match random.below(6) {
            0 => p.to_vec(),
            1 => (0..n).map(|j| f64::from(u8::from(j == k % n))).collect(),
            2 => mixed(p, &nominal(n, false, random), 1e-2),
            3 if k > 0 => rows[k - 1].clone(),
            _ => nominal(n, false, random),
        });
    }
    rows
}

/// Places on a line, some of them next to each other, or distances, symmetric or not.
pub(super) fn ground(n: usize, random: &mut Xoshiro256) -> Ground {
    match random.below(3) {
        0 => Ground::line((0..n).map(|j| (7 * j % 11) as f64 + 1e-3 * j as f64).collect()),
        1 => Ground::line((0..n).map(|_| 10.0 * random.uniform()).collect()),
        _ => {
            let mut cost = |j: usize, i: usize| match i == j {
                true => 0.0,
                false => 10f64.powf(2.0 * random.uniform() - 1.0),
            };
            Ground::Matrix((0..n * n).map(|k| cost(k / n, k % n)).collect())
        }
    }
}

impl DrawnRow {
    pub(super) fn row(&self) -> Row<'_> {
        let open = || self.w.iter().zip(&self.open).filter(|e| *e.1).map(|e| *e.0);
        let maximum = open().fold(f64::NEG_INFINITY, f64::max);
        let least = self.w.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.w.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let data = self.own.get();
        Row {
            p: &self.p,
            w: &self.w,
            maximum,
            range: most - least,
            outside: None,
            order: None,
            data,
        }
    }

    /// ⟨z, y⟩.
    pub(super) fn value(&self, y: &[f64]) -> f64 {
        let maximum = self.row().maximum;
        y.iter().zip(&self.w).filter(|e| *e.0 > 0.0).map(|(y, w)| y * (w - maximum)).sum()
    }

    /// Any distribution on the open states: even, sparse, near p, or a vertex.
    pub(super) fn distribution(&self, random: &mut Xoshiro256) -> Vec<f64> {
        let kind = random.below(4);
        let n = self.p.len();
        let mut y: Vec<f64> = (0..n).map(|_| exponential(random)).collect();
        if kind == 1 {
            let chosen = random.below(n as u64) as usize;
            y.iter_mut().enumerate().filter(|(j, _)| *j != chosen).for_each(|(_, y)| *y = 0.0);
        } else if kind == 2 {
            y.iter_mut().for_each(|y| *y *= if random.below(2) == 0 { 0.0 } else { 1.0 });
        }
        y.iter_mut().zip(&self.open).filter(|e| !*e.1).for_each(|(y, _)| *y = 0.0);
        if let Some([lower, upper]) = &self.own.bounds {
            y = filled(lower, upper, &y, random);
        }
        if let Some(rows) = &self.own.scenarios {
            let shares: Vec<f64> = (0..=rows.len()).map(|_| exponential(random)).collect();
            let one = random.below(shares.len() as u64) as usize;
            let share =
                |k: usize| if kind == 1 { f64::from(u8::from(k == one)) } else { shares[k] };
            let all = rows.iter().chain([&self.p]).enumerate();
            y.fill(0.0);
            all.for_each(|(k, row)| y.iter_mut().zip(row).for_each(|(y, p)| *y += share(k) * p));
        }
        if !normalise(&mut y) {
            y.copy_from_slice(&self.p);
        }
        if kind == 3 {
            let share = 10f64.powf(-6.0 * random.uniform());
            y = mixed(&self.p, &y, share);
        }
        y
    }
}

/// A distribution between these bounds: the rest above `lower` goes where `y` is largest, or is spread.
fn filled(lower: &[f64], upper: &[f64], y: &[f64], random: &mut Xoshiro256) -> Vec<f64> {
    let (low, high): (f64, f64) = (lower.iter().sum(), upper.iter().sum());
    let share = if high > low { ((1.0 - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
    let even: Vec<f64> = lower.iter().zip(upper).map(|(l, u)| l + share * (u - l)).collect();
    let mut order: Vec<usize> = (0..y.len()).collect();
    order.sort_by(|&i, &j| y[j].total_cmp(&y[i]));
    let (mut vertex, mut rest) = (lower.to_vec(), 1.0 - low);
    for j in order {
        let more = (upper[j] - lower[j]).min(rest.max(0.0));
        (vertex[j], rest) = (lower[j] + more, rest - more);
    }
    let share = if random.below(2) == 0 { 1.0 } else { random.uniform() };
    mixed(&even, &vertex, share)
}

/// p + share·(y − p).
pub(super) fn mixed(p: &[f64], y: &[f64], share: f64) -> Vec<f64> {
    p.iter().zip(y).map(|(p, y)| (1.0 - share) * p + share * y).collect()
}

/// Whether there is mass that can be scaled to one.
pub(super) fn normalise(y: &mut [f64]) -> bool {
    let total: f64 = y.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return false;
    }
    y.iter_mut().for_each(|y| *y /= total);
    true
}

fn exponential(random: &mut Xoshiro256) -> f64 {
    -(1.0 - random.uniform()).ln()
}

/// A nominal row on n states, of which some may have none of the mass.
pub(super) fn nominal(n: usize, zeros: bool, random: &mut Xoshiro256) -> Vec<f64> {
    let mut p: Vec<f64> = (0..n).map(|_| 1e-3 + exponential(random)).collect();
    if zeros {
        let kept = random.below(n as u64) as usize;
        for j in (0..n).filter(|&j| j != kept) {
            p[j] *= [0.0, 1.0, 1e-9][random.below(3) as usize];
        }
    }
    normalise(&mut p);
    p
}

/// Random and degenerate rows; those of sets that keep to the support may have larger objectives where
/// they have no mass.
pub(super) fn drawn_rows(set: &dyn Set) -> Vec<DrawnRow> {
    let leaves_support = set.leaves_support();
    let mut random = Xoshiro256::new(1);
    let mut rows = Vec::new();
    for n in [1, 2, 3, 5, 9, 20] {
        for shape in 0..80 {
            let shape = shape % 8;
            let p = match shape {
                0 => (0..n).map(|j| f64::from(u8::from(j == n / 2))).collect(),
                _ => nominal(n, shape % 2 == 1, &mut random),
            };
            let size = [1.0, 1e-50, 1e50, 1e-8, 1e8][random.below(5) as usize];
            let w = (0..n).map(|j| match shape {
                2 => 0.0,                                   // nothing at stake
                3 => size * (random.below(3) as f64 - 2.0), // ties
                4 => size * f64::from(u8::from(j > 0)),     // all but one at the maximum
                _ => size * (2.0 * random.uniform() - 1.0),
            });
            let w: Vec<f64> = w.collect();
            let own = OwnData::draw(set.needs(), &p, &mut random);
            let may = |j: usize| own.opens(&p, j).unwrap_or(leaves_support || p[j] > 0.0);
            let open = (0..n).map(may).collect();
            rows.push(DrawnRow { p, w, open, own });
        }
    }
    rows
}
