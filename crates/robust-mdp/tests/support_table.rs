//! The support table of the README is what the sets say of themselves, and every cell of it runs: a small model
//! is solved, and the answer is proved. What the table does not claim is refused.
//!
//! `README_BLESS=1 cargo test -p robust-mdp --test support_table` writes the table into the README.

use std::fs;
use std::path::PathBuf;

use robust_mdp::geometry::Geometry;
use robust_mdp::instances::Xoshiro256;
use robust_mdp::sets::{
    Distance, EntryWeights, Ground, Needs, Offer, Rectangularity, Scenarios, Support,
    UncertaintySet,
};
use robust_mdp::{
    Criterion, Direction, Error, FomSettings, Method, Model, ModelBuilder, Options, Oracle, Setup,
    Status, Stop, certify, solve, verify,
};

mod ran;

/// Where the table stands in the README.
const MARKS: [&str; 2] = ["<!-- support table -->\n", "<!-- end of support table -->\n"];
const GAP: f64 = 1e-5;
const ORACLES: [Oracle; 3] = [Oracle::Exact, Oracle::FirstOrder, Oracle::InteriorPoint];
const GEOMETRIES: [Geometry; 2] = [Geometry::Euclidean, Geometry::Entropy];

/// What is asked of a model and a set: a line of the second table, and every cell of the first one.
struct Question {
    title: &'static str,
    flags: &'static str,
    criterion: Criterion,
    direction: Direction,
    deterministic: bool,
    /// Of those that a set has.
    oracles: &'static [Oracle],
    /// Whether answers have certificates, if those of the set do.
    certificate: bool,
}

const USUAL: Question = Question {
    title: "worst case of discounted costs",
    flags: "the default",
    criterion: Criterion::Discounted,
    direction: Direction::Worst,
    deterministic: false,
    oracles: &ORACLES,
    certificate: true,
};

const QUESTIONS: [Question; 6] = [
    USUAL,
    Question {
        title: "costs of T steps, with a policy for each",
        flags: "`--objective finite --horizon T`",
        criterion: Criterion::Finite { horizon: 4 },
        oracles: &[Oracle::Exact, Oracle::InteriorPoint],
        certificate: true,
        ..USUAL
    },
    Question {
        title: "total costs until the model ends",
        flags: "`--objective total`",
        criterion: Criterion::Total,
        oracles: &[Oracle::Exact],
        certificate: true,
        ..USUAL
    },
    Question {
        title: "average cost of a step",
        flags: "`--objective average`",
        criterion: Criterion::Average,
        oracles: &[Oracle::Exact],
        certificate: true,
        ..USUAL
    },
    Question {
        title: "best case in place of the worst",
        flags: "`--direction best`",
        direction: Direction::Best,
        oracles: &[Oracle::Exact],
        certificate: true,
        ..USUAL
    },
    Question {
        title: "deterministic policies alone",
        flags: "`--deterministic`",
        deterministic: true,
        oracles: &[Oracle::Exact],
        certificate: true,
        ..USUAL
    },
];

impl Question {
    fn line(&self) -> String {
        let certificate = if self.certificate { "yes" } else { "–" };
        let (title, flags, oracles) = (self.title, self.flags, listed(self.oracles, oracle_name));
        format!("| {title} | {flags} | {oracles} | {certificate} |\n")
    }

    /// In which direction nature moves values.
    fn sign(&self) -> f64 {
        match self.direction {
            Direction::Worst => 1.0,
            Direction::Best => -1.0,
        }
    }

    /// Puts it into options, with a method that serves it.
    fn ask(&self, options: Options) -> Options {
        let Question { criterion, direction, deterministic, .. } = *self;
        let method = match criterion {
            Criterion::Discounted => options.method,
            Criterion::Finite { .. } => Method::Vi,
            Criterion::Total | Criterion::Average => Method::Newton,
        };
        Options { method, criterion, direction, deterministic, ..options }
    }
}

fn oracle_name(oracle: Oracle) -> &'static str {
    match oracle {
        Oracle::Exact => "exact",
        Oracle::FirstOrder => "first-order",
        Oracle::InteriorPoint => "interior-point",
    }
}

/// The sets and what they offer.
fn offers() -> impl Iterator<Item = (Distance, Offer)> {
    Distance::ALL.iter().filter_map(|&distance| Some((distance, distance.offer()?)))
}

fn listed<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str) -> String {
    match all {
        [] => "–".into(),
        all => all.iter().map(|&one| name(one)).collect::<Vec<_>>().join(", "),
    }
}

fn line(distance: Distance, offer: &Offer) -> String {
    let owners = listed(&offer.rectangularities, |owner| match owner {
        Rectangularity::State => "s",
        Rectangularity::StateAction => "(s,a)",
    });
    let supports = match offer.needs {
        Needs::Intervals => "within intervals".into(),
        Needs::Scenarios => "that of the scenarios".into(),
        Needs::Nothing | Needs::Weights | Needs::Ground => {
            listed(&offer.supports, |support| match support {
                Support::All => "all",
                Support::Nominal => "nominal",
            })
        }
    };
    let oracles = listed(&offer.oracles, oracle_name);
    let geometries = listed(&offer.geometries, |geometry| match geometry {
        Geometry::Euclidean => "Euclidean",
        Geometry::Entropy => "entropy",
    });
    let told = match offer.needs {
        Needs::Nothing => "–",
        Needs::Weights => "weights of next states, or 1",
        Needs::Intervals => "intervals of the model",
        Needs::Ground => "distances between states",
        Needs::Scenarios => "other kernels",
    };
    let certificate = if offer.certificate { "yes" } else { "–" };
    let (name, formula) = (distance.name(), distance.set().expect("a set").formula());
    let formula = formula.replace('|', "\\|");
    format!(
        "| `{name}` | {formula} | {owners} | {supports} | {oracles} | {geometries} | {told} | {certificate} |\n"
    )
}

fn tables() -> String {
    let head = "| set | d(y, y⁰) | rectangular | support | oracles | first-order geometries | is told | certificate |\n\
                |---|---|---|---|---|---|---|---|\n";
    let lines: String = offers().map(|(distance, offer)| line(distance, &offer)).collect();
    let asked: String = QUESTIONS.iter().map(Question::line).collect();
    format!(
        "{head}{lines}\nEvery set, with every kind of budget and support that it has, answers these questions by the \
         oracles named here that it has itself:\n\n\
         | question | flags | oracles | certificate |\n|---|---|---|---|\n{asked}"
    )
}

#[test]
fn the_readme_has_the_table() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(MARKS[0]).expect("the first mark");
    let (found, after) = rest.split_once(MARKS[1]).expect("the second mark");
    let expected = tables();
    if std::env::var_os("README_BLESS").is_some() {
        let [begin, end] = MARKS;
        fs::write(&path, format!("{before}{begin}{expected}{end}{after}")).unwrap();
    } else {
        assert_eq!(found, expected, "README_BLESS=1 writes the table");
    }
}

/// Four states of two actions that lead to three of them each, with intervals if a set needs them; to the end in place
/// of the last one for total costs.
fn model(needs: Needs, criterion: Criterion) -> Model {
    let ends = criterion == Criterion::Total;
    let mut random = Xoshiro256::new(11);
    let mut builder = ModelBuilder::new(0.6);
    for s in 0..4 {
        builder.add_state(None);
        for a in 0..2 {
            builder.add_action(None, random.uniform());
            let shares: Vec<f64> = (0..3).map(|_| 0.1 + random.uniform()).collect();
            let sum: f64 = shares.iter().sum();
            for (k, share) in shares.iter().enumerate() {
                let to = if ends && k == 2 { 4 } else { (s + a + k) % 4 };
                let p = share / sum;
                match needs {
                    Needs::Intervals => {
                        let bounds = [0.5 * p, (1.5 * p).min(1.0)];
                        builder.add_interval(to, Some(p), bounds, 0.0);
                    }
                    Needs::Nothing | Needs::Weights | Needs::Ground | Needs::Scenarios => {
                        builder.add_transition(to, p, 0.0);
                    }
                }
            }
        }
    }
    if ends {
        builder.add_state(None);
        builder.mark_terminal();
    }
    builder.build().unwrap()
}

/// Kernels in which every row leads to one of its next states alone.
fn vertices(model: &Model) -> Vec<Vec<f64>> {
    let row = |r: usize, k: usize| {
        let p = model.row(r).prob;
        let one = (0..p.len()).filter(|&j| p[j] > 0.0).nth(k).expect("three of them");
        (0..p.len()).map(move |j| f64::from(u8::from(j == one)))
    };
    (0..3).map(|k| (0..model.rows()).flat_map(|r| row(r, k)).collect()).collect()
}

/// The set of a cell, told what it needs.
fn set(
    model: &Model,
    distance: Distance,
    rectangularity: Rectangularity,
    support: Support,
) -> UncertaintySet {
    let told = |numbers: [f64; 5]| numbers[..model.states()].to_vec();
    let set = UncertaintySet { rectangularity, support, ..UncertaintySet::new(distance, 0.05) };
    match distance.needs() {
        Needs::Nothing | Needs::Intervals => set,
        Needs::Weights => {
            set.with_entry_weights(EntryWeights::PerState(told([1.0, 2.0, 0.5, 1.5, 1.0])))
        }
        Needs::Ground => set.with_ground(Ground::line(told([0.0, 1.0, 1.5, 4.0, 2.0]))),
        Needs::Scenarios => set.with_scenarios(Scenarios::new(model, &vertices(model)).unwrap()),
    }
}

fn options(oracle: Oracle, geometry: Option<Geometry>) -> Options {
    let setup = |y| Setup { x: Geometry::Euclidean, y };
    Options {
        method: if oracle == Oracle::FirstOrder { Method::FomVi } else { Method::Vi },
        oracle: Some(oracle),
        stop: Stop::at_gap(GAP),
        threads: Some(1),
        fom: geometry.map(|y| FomSettings { setup: Some(setup(y)), ..FomSettings::default() }),
        ..Options::default()
    }
}

/// Runs a cell: solved to the gap, by what was asked for, with a proof that says the same.
fn runs(
    question: &Question,
    cell: &str,
    model: &Model,
    set: &UncertaintySet,
    options: &Options,
) -> f64 {
    let options = &question.ask(options.clone());
    let solution = solve(model, set, options).unwrap_or_else(|e| panic!("{cell}: {e}"));
    let Question { criterion, direction, deterministic, .. } = *question;
    let asked = (solution.criterion, solution.direction, solution.deterministic);
    assert_eq!(asked, (criterion, direction, deterministic), "{cell}");
    if deterministic {
        assert!(solution.policy.iter().all(|x| *x == 0.0 || *x == 1.0), "{cell}");
    }
    assert_eq!(solution.status, Status::Certified, "{cell}");
    assert!(solution.gap <= GAP, "{cell}: {}", solution.gap);
    ran::assert_ran(&solution, options);
    if !question.certificate {
        return solution.values[0];
    }
    let made = certify(model, set, &solution, Some(1));
    let claimed = set.distance.offer().unwrap().certificate;
    assert_eq!(made.is_ok(), claimed, "{cell}: {made:?}");
    if let Ok((certificate, proved)) = made {
        let again = verify(model, &certificate, Some(1)).unwrap_or_else(|e| panic!("{cell}: {e}"));
        assert_eq!(again.gap, proved.gap, "{cell}");
        assert!(proved.gap <= 2.0 * GAP, "{cell}: proved to {} only", proved.gap);
    }
    solution.values[0]
}

#[test]
fn every_cell_runs_and_others_are_refused() {
    for question in &QUESTIONS {
        for (distance, offer) in offers() {
            let model = model(offer.needs, question.criterion);
            let name = distance.name();
            for owner in [Rectangularity::State, Rectangularity::StateAction] {
                let mut values = [None, None];
                for (k, support) in [Support::All, Support::Nominal].into_iter().enumerate() {
                    let set = set(&model, distance, owner, support);
                    let cell = format!("{}: {name}, {owner:?}, {support:?}", question.title);
                    let claimed = offer.rectangularities.contains(&owner)
                        && offer.supports.contains(&support);
                    assert_eq!(set.validate(&model).is_ok(), claimed, "{cell}");
                    if claimed {
                        values[k] = Some(oracles(question, &cell, &offer, &model, &set));
                    }
                }
                // Where there is a choice of the support, it matters.
                if let [Some(all), Some(nominal)] = values {
                    let more = question.sign() * (all - nominal);
                    assert!(more >= -2.0 * GAP, "{name}: {all}, on the support {nominal}");
                }
            }
        }
    }
}

/// All oracles and geometries, which must agree.
fn oracles(
    question: &Question,
    cell: &str,
    offer: &Offer,
    model: &Model,
    set: &UncertaintySet,
) -> f64 {
    let exact = runs(question, cell, model, set, &options(Oracle::Exact, None));
    let nominal = UncertaintySet::none();
    let asked = question.ask(options(Oracle::Exact, None));
    let without = solve(model, &nominal, &asked).unwrap().values[0];
    let done = question.sign() * (exact - without);
    assert!(done > 1e-3, "{cell}: the set does nothing, {exact} and {without}");
    for oracle in ORACLES {
        let geometries: &[Option<Geometry>] = match oracle {
            Oracle::FirstOrder => &GEOMETRIES.map(Some),
            Oracle::Exact | Oracle::InteriorPoint => &[None],
        };
        for &geometry in geometries {
            let cell = format!("{cell}, {oracle}, {geometry:?}");
            let options = options(oracle, geometry);
            let claimed = offer.oracles.contains(&oracle)
                && question.oracles.contains(&oracle)
                && geometry.is_none_or(|geometry| offer.geometries.contains(&geometry));
            if claimed {
                let value = runs(question, &cell, model, set, &options);
                assert!((value - exact).abs() <= 2.0 * GAP, "{cell}: {value}, exactly {exact}");
            } else {
                let refused = solve(model, set, &question.ask(options));
                assert!(matches!(refused, Err(Error::Input(_))), "{cell}: {refused:?}");
            }
        }
    }
    exact
}
