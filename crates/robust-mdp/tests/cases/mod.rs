//! Random robust Bellman updates with all that makes them degenerate: every trait below is drawn
//! on its own, so that all of them meet. A case is a function of its family and seed.

// Every test that includes this module uses its own part of it.
#![allow(dead_code)]

use robust_mdp::instances::Xoshiro256;
use robust_mdp::sets::{
    Distance, EntryWeights, Ground, Needs, Radius, Rectangularity, Scenarios, Support,
    UncertaintySet,
};
use robust_mdp::{Model, ModelBuilder};

use crate::reference::{FAMILIES, Family};

/// How many states, actions and successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    OneState,
    OneAction,
    Few,
    Dense,
    Sparse,
    /// Hundreds of states, most of them terminal, and successors.
    Wide,
    /// Hundreds of states, most of them terminal, and few successors.
    WideSparse,
}

/// Nominal probabilities of a row.
#[derive(Clone, Copy, Debug)]
enum Odds {
    Random,
    Equal,
    Deterministic,
    /// Some are 1e-14.
    Tiny,
    /// Over twenty orders of magnitude.
    Skewed,
    /// One is 1 − 1e-9.
    NearlySure,
    /// All rows of a state are the same.
    SameRows,
}

/// Numbers of money.
#[derive(Clone, Copy, Debug)]
enum Money {
    Positive,
    Signed,
    Huge,
    Small,
    /// 1e8, 1 and 1e-8 side by side.
    MixedSizes,
    /// 0, 1 or 2.
    Ties,
    Constant,
    /// 1e6 + 1e-3·noise.
    Offset,
    Zero,
}

impl Money {
    const ALL: [Money; 9] = [
        Money::Positive,
        Money::Signed,
        Money::Huge,
        Money::Small,
        Money::MixedSizes,
        Money::Ties,
        Money::Constant,
        Money::Offset,
        Money::Zero,
    ];

    fn draw(self, random: &mut Xoshiro256) -> f64 {
        let signed = 2.0 * random.uniform() - 1.0;
        match self {
            Money::Positive => 10.0 * random.uniform(),
            Money::Signed => 5.0 * signed,
            Money::Huge => 1e8 * signed,
            Money::Small => 1e-8 * signed,
            Money::MixedSizes => pick(random, &[1e8, 1.0, 1e-8]) * signed,
            Money::Ties => random.below(3) as f64,
            Money::Constant => 7.3,
            Money::Offset => 1e6 + 1e-3 * signed,
            Money::Zero => 0.0,
        }
    }
}

/// Costs on next states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tolls {
    None,
    OfTheCosts,
    Ties,
    /// Also on next states of probability 0.
    OffSupport,
    /// The same, and next states come again at another cost.
    Repeated,
}

/// Size of the budgets.
#[derive(Clone, Copy, Debug)]
enum Budget {
    Zero,
    /// 1e-12.
    Tiny,
    /// 1e-8.
    Small,
    /// 1e-4 to 1.
    Moderate,
    /// ½, 1, ln 2 or 1 − 2⁻⁵³: where simple rows just saturate.
    Edge,
    /// 1e3.
    Vacuous,
    Mixed,
}

impl Budget {
    fn draw(self, random: &mut Xoshiro256) -> f64 {
        use Budget::{Edge, Moderate, Small, Tiny, Vacuous, Zero};
        match self {
            Budget::Zero => 0.0,
            Budget::Tiny => 1e-12,
            Budget::Small => 1e-8,
            Budget::Moderate => 10f64.powf(-4.0 * random.uniform()),
            Budget::Edge => {
                pick(random, &[0.5, 1.0, std::f64::consts::LN_2, 1.0 - 0.5f64.powi(53)])
            }
            Budget::Vacuous => 1e3,
            Budget::Mixed => {
                let kinds = [Zero, Tiny, Small, Moderate, Moderate, Edge, Vacuous];
                pick(random, &kinds).draw(random)
            }
        }
    }
}

/// Who owns a budget and how it is given.
#[derive(Clone, Copy, Debug)]
enum Owner {
    State,
    StatePerState,
    Row,
    RowPerState,
    RowPerRow,
}

/// Intervals around nominal probabilities.
#[derive(Clone, Copy, Debug)]
enum Width {
    /// l = p = u.
    None,
    /// From 0 to 1.
    Vacuous,
    /// From 1e-9 of p below to that above.
    Narrow,
    /// To a random share of the way to 0 and to 1.
    Random,
    /// Any of these, an end on p, or an end at 0 or 1.
    Mixed,
}

impl Width {
    const ALL: [Width; 6] =
        [Width::None, Width::Vacuous, Width::Narrow, Width::Random, Width::Random, Width::Mixed];

    fn draw(self, p: f64, random: &mut Xoshiro256) -> [f64; 2] {
        let above = (1.0 - p).max(0.0);
        let mut share = || match self {
            Width::None => 0.0,
            Width::Vacuous => 1.0,
            Width::Narrow => 1e-9,
            Width::Random => random.uniform(),
            Width::Mixed => pick(random, &[0.0, 1.0, 1e-9, 0.3, 0.01]),
        };
        [p - share() * p, p + share() * above]
    }
}

/// One model, set and value vector.
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) family: Family,
    pub(crate) model: Model,
    pub(crate) set: UncertaintySet,
    pub(crate) values: Vec<f64>,
    /// What is special about it, for messages and counts.
    pub(crate) traits: Vec<String>,
}

impl Case {
    pub(crate) fn new(family: Family, seed: u64) -> Case {
        let line = FAMILIES.iter().position(|f| *f == family).expect("a line of the table");
        let mut random = Xoshiro256::new(seed.wrapping_mul(4).wrapping_add(line as u64));
        let random = &mut random;
        // Wide models are dear: few of them. Sparse ones have the most states.
        let shape = match random.below(40) {
            0..2 => Shape::Wide,
            2..4 => Shape::WideSparse,
            4..10 => Shape::OneState,
            10..16 => Shape::OneAction,
            16..26 => Shape::Few,
            26..36 => Shape::Dense,
            _ => Shape::Sparse,
        };
        let odds = pick(
            random,
            &[
                Odds::Random,
                Odds::Random,
                Odds::Equal,
                Odds::Deterministic,
                Odds::Tiny,
                Odds::Skewed,
                Odds::NearlySure,
                Odds::SameRows,
            ],
        );
        // Half of the cases are of one moderate size, so that no large number hides the rest.
        let usual = [Money::Positive, Money::Signed, Money::Ties];
        let money = |random: &mut Xoshiro256| match random.below(2) {
            0 => pick(random, &usual),
            _ => pick(random, &Money::ALL),
        };
        let (costs, worth) = (money(random), money(random));
        let tolls = pick(
            random,
            &[
                Tolls::None,
                Tolls::None,
                Tolls::OfTheCosts,
                Tolls::Ties,
                Tolls::OffSupport,
                Tolls::Repeated,
            ],
        );
        let discount = pick(random, &[0.0, 0.5, 0.9, 0.9, 0.9999]);
        let terminal = pick(random, &[0.0, 0.0, 0.2]);
        let needs = (family.set)().distance.needs();
        // Mass would move for nothing between the costs of one next state.
        let tolls = match needs {
            Needs::Ground if tolls == Tolls::Repeated => Tolls::OffSupport,
            Needs::Ground
            | Needs::Nothing
            | Needs::Weights
            | Needs::Intervals
            | Needs::Scenarios => tolls,
        };
        let width = (needs == Needs::Intervals).then(|| pick(random, &Width::ALL));
        let draft = Draft { shape, odds, costs, tolls, discount, terminal, width };
        let model = draft.model(random);
        let values = (0..model.states()).map(|_| worth.draw(random)).collect();
        let budget = pick(
            random,
            &[
                Budget::Zero,
                Budget::Tiny,
                Budget::Small,
                Budget::Moderate,
                Budget::Moderate,
                Budget::Moderate,
                Budget::Edge,
                Budget::Vacuous,
                Budget::Mixed,
            ],
        );
        let owner = pick(
            random,
            &[
                Owner::State,
                Owner::State,
                Owner::State,
                Owner::StatePerState,
                Owner::Row,
                Owner::RowPerState,
                Owner::RowPerRow,
            ],
        );
        // Now and then no set at all.
        let mut set = match line == 1 && random.below(25) == 0 {
            true => UncertaintySet::none(),
            false => (family.set)(),
        };
        let owner = match owner {
            Owner::State if !adds_up(set.distance) => Owner::Row,
            Owner::StatePerState if !adds_up(set.distance) => Owner::RowPerRow,
            owner => owner,
        };
        set.rectangularity = match owner {
            Owner::State | Owner::StatePerState => Rectangularity::State,
            _ => Rectangularity::StateAction,
        };
        let mut radii = |count: usize| (0..count).map(|_| budget.draw(random)).collect();
        set.radius = match owner {
            Owner::State | Owner::Row => Radius::Uniform(budget.draw(random)),
            Owner::StatePerState | Owner::RowPerState => Radius::PerState(radii(model.states())),
            Owner::RowPerRow => Radius::PerRow(radii(model.rows())),
        };
        if set.distance == Distance::None {
            set.radius = Radius::Uniform(0.0);
        }
        let set = told(set, &model, &mut Xoshiro256::new(seed ^ 0x3333));
        let mut traits = vec![
            format!("shape {shape:?}"),
            format!("odds {odds:?}"),
            format!("costs {costs:?}"),
            format!("values {worth:?}"),
            format!("tolls {tolls:?}"),
            format!("discount {discount}"),
            format!("terminal {terminal}"),
            format!("stored {}", if model.is_dense() { "dense" } else { "sparse" }),
            format!("distance {:?}", set.distance),
            format!("budget {budget:?}"),
            format!("owner {owner:?}"),
        ];
        traits.extend(width.map(|width| format!("intervals {width:?}")));
        traits.extend(set.entry_weights.as_deref().map(|weights| match weights {
            EntryWeights::PerState(_) => "weights of states".to_owned(),
            EntryWeights::PerTransition(_) => "weights of transitions".to_owned(),
        }));
        traits.extend(set.ground.as_deref().map(|ground| match ground {
            Ground::Line(_) => "ground of places".to_owned(),
            Ground::Matrix(_) => "ground of costs".to_owned(),
        }));
        let told = set.scenarios.as_deref();
        traits.extend(told.map(|told| format!("{} scenarios", told.count())));
        Case { seed, family, model, set, values, traits }
    }

    /// Whether the reference takes its time: many states, and no path in closed form.
    pub(crate) fn is_slow(&self) -> bool {
        self.family.known.is_slow() && self.model.states() > 60
    }

    /// The same with weights of rows, over orders of magnitude or counts; `None` where rows share nothing.
    pub(crate) fn weighted(mut self) -> Option<Case> {
        let without = self.set.distance == Distance::None;
        if without || self.set.rectangularity == Rectangularity::StateAction {
            return None;
        }
        let mut random = Xoshiro256::new(self.seed ^ 0x77);
        let counts = random.below(2) == 0;
        let mut draw = |_| match counts {
            true => (1 + random.below(500)) as f64,
            false => 10f64.powf(4.0 * random.uniform() - 2.0),
        };
        self.set.weights = Some((0..self.model.rows()).map(&mut draw).collect());
        self.traits.push(format!("weights {}", if counts { "counts" } else { "any" }));
        Some(self)
    }
}

/// Whether rows may share budgets of the distance.
pub(crate) fn adds_up(distance: Distance) -> bool {
    distance.set().is_none_or(|set| set.adds_up())
}

/// The set with what it must be told of entries, drawn; intervals are the model's.
pub(crate) fn told(set: UncertaintySet, model: &Model, random: &mut Xoshiro256) -> UncertaintySet {
    let states = model.states();
    let decades = pick(random, &[0.0, 1.0, 4.0]);
    let mut draw = |_| 10f64.powf(decades * (random.uniform() - 0.5));
    match set.distance.needs() {
        Needs::Nothing | Needs::Intervals => set,
        Needs::Weights => {
            let weights: Vec<f64> = (0..model.transitions().max(states)).map(&mut draw).collect();
            // Weights of transitions say nothing of states that are not listed.
            let by_transition = set.support == Support::Nominal || model.is_dense();
            match random.below(3) {
                0 => set,
                1 if by_transition => set.with_entry_weights(EntryWeights::PerTransition(
                    weights[..model.transitions()].to_vec(),
                )),
                _ => set.with_entry_weights(EntryWeights::PerState(weights[..states].to_vec())),
            }
        }
        Needs::Scenarios => set.with_scenarios(scenarios(model, random)),
        Needs::Ground => {
            let line = states > 60 || random.below(2) == 0;
            let mut draw = |_| 10f64.powf(decades * (random.uniform() - 0.5));
            // In any order, some of them as far apart as others.
            let place = |s: usize| (7919 * s % 1009) as f64 + decades * draw(s).fract() / 4.0;
            set.with_ground(match line {
                true => Ground::line((0..states).map(place).collect()),
                false => {
                    let mut costs: Vec<f64> = (0..states * states).map(&mut draw).collect();
                    (0..states).for_each(|s| costs[s * states + s] = 0.0);
                    Ground::Matrix(costs)
                }
            })
        }
    }
}

/// Up to four kernels: of every row any, on one next state, next to the nominal row or that itself, and copies.
pub(crate) fn scenarios(model: &Model, random: &mut Xoshiro256) -> Scenarios {
    let mut kernels = vec![Vec::new(); 1 + random.below(4) as usize];
    for p in (0..model.rows()).map(|r| model.row(r).prob) {
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for k in 0..kernels.len() {
            let mut any: Vec<f64> = p.iter().map(|_| 1e-3 + random.uniform()).collect();
            let sum: f64 = any.iter().sum();
            any.iter_mut().for_each(|y| *y /= sum);
            let one = random.below(p.len() as u64) as usize;
            rows.push(match random.below(6) {
                0 => p.to_vec(),
                1 => (0..p.len()).map(|j| f64::from(u8::from(j == one))).collect(),
                2 => p.iter().zip(&any).map(|(p, y)| p + 0.01 * (y - p)).collect(),
                3 if k > 0 => rows[k - 1].clone(),
                _ => any,
            });
        }
        kernels.iter_mut().zip(rows).for_each(|(kernel, row)| kernel.extend(row));
    }
    Scenarios::new(model, &kernels).unwrap()
}

fn pick<T: Copy>(random: &mut Xoshiro256, from: &[T]) -> T {
    from[random.below(from.len() as u64) as usize]
}

/// What a model is drawn from.
struct Draft {
    shape: Shape,
    odds: Odds,
    costs: Money,
    tolls: Tolls,
    discount: f64,
    /// Share of terminal states.
    terminal: f64,
    /// Of intervals, if there are any.
    width: Option<Width>,
}

impl Draft {
    fn model(&self, random: &mut Xoshiro256) -> Model {
        // States, those with actions, and the most actions and successors.
        let mut between = |low: u64, high: u64| (low + random.below(high - low + 1)) as usize;
        let (states, live, actions, successors) = match self.shape {
            Shape::OneState => (1, 1, between(1, 5), 1),
            Shape::OneAction => (between(2, 20), 20, 1, between(1, 8)),
            Shape::Few => (between(2, 8), 8, between(2, 4), between(1, 4)),
            Shape::Dense => (between(6, 24), 24, between(2, 7), 24),
            Shape::Sparse => (between(24, 48), 48, between(2, 5), between(2, 6)),
            Shape::Wide => (between(200, 320), 5, between(1, 4), 320),
            Shape::WideSparse => (between(200, 320), 5, between(1, 4), between(2, 9)),
        };
        let mut builder = ModelBuilder::new(self.discount);
        for s in 0..states {
            builder.add_state(None);
            if s >= live || s > 0 && random.uniform() < self.terminal {
                builder.mark_terminal();
                continue;
            }
            let own = 1 + random.below(actions as u64) as usize;
            let count = if actions > 1 { own.max(2) } else { 1 };
            let mut row = self.row(states, successors, random);
            for _ in 0..count {
                builder.add_action(None, self.costs.draw(random));
                for &(next, p) in &row {
                    // Halves, or all and nothing: sums stay what they are.
                    let share = match self.tolls {
                        Tolls::Repeated => pick(random, &[0.0, 0.5, 0.5, 1.0]),
                        _ => 1.0,
                    };
                    self.add(&mut builder, next, share * p, p, random);
                    if share < 1.0 {
                        self.add(&mut builder, next, (1.0 - share) * p, p, random);
                    }
                }
                if !matches!(self.odds, Odds::SameRows) {
                    row = self.row(states, successors, random);
                }
            }
        }
        builder.build().expect("a valid model")
    }

    /// A transition of probability `p`, of `whole` to its next state.
    fn add(
        &self,
        builder: &mut ModelBuilder,
        next: usize,
        p: f64,
        whole: f64,
        random: &mut Xoshiro256,
    ) {
        let toll = self.toll(whole, random);
        match self.width {
            None => builder.add_transition(next, p, toll),
            Some(width) => builder.add_interval(next, Some(p), width.draw(p, random), toll),
        }
    }

    /// (next state, probability), some of probability 0.
    fn row(&self, states: usize, successors: usize, random: &mut Xoshiro256) -> Vec<(usize, f64)> {
        let most = successors.min(states) as u64;
        let count = match self.odds {
            Odds::Deterministic => 1,
            _ if self.shape == Shape::Wide => most - random.below(most / 2),
            _ => 1 + random.below(most),
        } as usize;
        let mut to: Vec<usize> = (0..states).collect();
        for k in 0..count {
            to.swap(k, k + random.below((states - k) as u64) as usize);
        }
        let mut weights: Vec<f64> = (0..count)
            .map(|k| match self.odds {
                Odds::Equal | Odds::Deterministic => 1.0,
                Odds::Tiny if k > 0 && random.below(2) == 0 => 1e-14,
                Odds::Skewed => 10f64.powf(-20.0 * random.uniform()),
                Odds::NearlySure if k > 0 => 1e-9 * random.uniform(),
                _ => 0.05 + random.uniform(),
            })
            .collect();
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|p| *p /= total);
        let off = matches!(self.tolls, Tolls::OffSupport | Tolls::Repeated);
        let idle = if off { (states - count).min(3) } else { 0 };
        weights.resize(count + idle, 0.0);
        to.into_iter().zip(weights).collect()
    }

    fn toll(&self, p: f64, random: &mut Xoshiro256) -> f64 {
        match self.tolls {
            Tolls::None => 0.0,
            Tolls::OffSupport if p > 0.0 && random.below(2) == 0 => 0.0,
            Tolls::Ties => random.below(3) as f64,
            Tolls::Repeated if random.below(3) == 0 => random.below(3) as f64,
            Tolls::OfTheCosts | Tolls::OffSupport | Tolls::Repeated => self.costs.draw(random),
        }
    }
}
