//! The figures of an experiment.

use robust_mdp::error::name_of;
use robust_mdp::sets::Distance;
use robust_mdp_measure::statistics::{Sample, Summary, summary};
use robust_mdp_page::{Axis, Figure, Point, Scale, Series};

use super::cell::{Evaluator, Experiment, Record, Task};
use super::plan::{CASES, DISCOUNT_CASES, GAP_CASES, KL_CASES, TRACE_CASES};
use super::problem::{Problem, Regime};
use super::select::{Records, Rule, by, entries, games, seconds, states};
use super::solver::{FomSetup, Geometries, Solver};

/// Gaps below this are rounding and tolerance.
const FLOOR: f64 = 1e-7;

/// What is drawn upwards.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    Seconds(Rule),
    Games(Rule),
    Entries,
}

impl Measure {
    fn of(self, record: &Record) -> Sample {
        match self {
            Measure::Seconds(rule) => seconds(record, rule),
            Measure::Games(rule) => games(record, rule),
            Measure::Entries => entries(record),
        }
    }

    fn label(self) -> &'static str {
        match self {
            Measure::Seconds(_) => "seconds",
            Measure::Games(_) => "state games or first-order steps in a state",
            Measure::Entries => "kernel entries read",
        }
    }

    fn id(self) -> String {
        match self {
            Measure::Seconds(rule) => format!("seconds-{}", rule.id()),
            Measure::Games(rule) => format!("work-{}", rule.id()),
            Measure::Entries => "entries".into(),
        }
    }

    fn rule(self) -> &'static str {
        match self {
            Measure::Seconds(Rule::Own) | Measure::Games(Rule::Own) => {
                "Each method until its own rule holds: ‖v⁺ − v‖ ≤ ε(1−λ)/(2λ) for value iteration, \
                 DG ≤ ε/2 at p₀ for FOM-VI, a certified gap of ε for auto."
            }
            Measure::Seconds(Rule::Certified) | Measure::Games(Rule::Certified) => {
                "All methods until upper − lower ≤ ε is certified in every state."
            }
            Measure::Entries => "Both halves of the gap, each up to ε/2.",
        }
    }
}

const BY_BOTH_RULES: [Measure; 4] = [
    Measure::Seconds(Rule::Own),
    Measure::Seconds(Rule::Certified),
    Measure::Games(Rule::Own),
    Measure::Games(Rule::Certified),
];

fn axis(label: &str, scale: Scale) -> Axis {
    Axis { label: label.into(), scale }
}

fn point(x: f64, summary: &Summary) -> Point {
    let note = match (summary.runs, summary.stopped_runs) {
        (1, 0) => "one run".into(),
        (1, _) => "one run, stopped by its limit of work".into(),
        (runs, 0) => format!("median of {runs} seeds, quartiles"),
        (runs, stopped) => {
            format!("median of {runs} seeds, {stopped} of them stopped by their limit of work")
        }
    };
    let spread = summary.runs > 1;
    // Zero has no place on a logarithmic axis.
    let drawn = |y: f64| y.max(FLOOR);
    Point {
        x,
        y: drawn(summary.median),
        low: spread.then(|| drawn(summary.low)),
        high: spread.then(|| drawn(summary.high)),
        stopped: summary.stopped,
        note,
    }
}

fn line(
    name: &str,
    family: usize,
    records: &[&Record],
    x: impl Fn(&Problem) -> f64,
    measure: Measure,
) -> Option<Series> {
    let points: Vec<Point> =
        by(records, x, |r| measure.of(r)).iter().map(|(x, s)| point(*x, s)).collect();
    let name = name.to_owned();
    (!points.is_empty()).then_some(Series { name, family, points, band: false })
}

fn command(experiment: Experiment) -> Option<String> {
    Some(format!("rmdp reproduce {} -o DIR", experiment.name()))
}

/// “100 % of the states are saturated …”.
fn saturation(
    records: &Records<'_>,
    experiment: Experiment,
    wanted: impl Fn(&Problem) -> bool,
) -> String {
    match records.saturated(experiment, wanted) {
        Some(share) => {
            format!(" The budget does not bind in {:.0} % of the states.", 100.0 * share)
        }
        None => String::new(),
    }
}

pub(crate) fn figures(records: &Records<'_>, experiment: Experiment) -> Vec<Figure> {
    let all = match experiment {
        Experiment::Time => time(records),
        Experiment::GapCost => gap_cost(records),
        Experiment::Setups | Experiment::Epochs | Experiment::Weights | Experiment::Rate => {
            traces(records, experiment)
        }
        Experiment::Kl => kl(records),
    };
    all.into_iter().filter(|f| !f.series.is_empty()).collect()
}

fn time(records: &Records<'_>) -> Vec<Figure> {
    let of = |solver, wanted: &dyn Fn(&Problem) -> bool| {
        records.runs(Experiment::Time, Task::Solve(solver), wanted)
    };
    let mut figures = Vec::new();
    for (family, regime) in CASES {
        let wanted = |p: &Problem| p.family == family && p.regime == regime && p.discount == 0.8;
        for measure in BY_BOTH_RULES {
            let series = Solver::ALL.iter().filter_map(|&solver| {
                line(solver.title(), solver.colour(), &of(solver, &wanted), states, measure)
            });
            figures.push(Figure {
                id: format!("time-{}-{}-{}", name_of(&family), name_of(&regime), measure.id()),
                title: format!("{}, {}", family.title(), regime.title()),
                caption: format!(
                    "ε = 0.1, λ = 0.8. {}{}",
                    measure.rule(),
                    saturation(records, Experiment::Time, wanted)
                ),
                x: axis("states", Scale::Log),
                y: axis(measure.label(), Scale::Log),
                series: series.collect(),
                command: command(Experiment::Time),
            });
        }
    }
    for (family, regime) in DISCOUNT_CASES {
        // The size at which λ varies.
        let varied = |p: &Problem| p.family == family && p.regime == regime && p.discount != 0.8;
        let Some(first) = of(Solver::Auto, &varied).first().map(|r| r.cell.problem.states) else {
            continue;
        };
        let wanted = |p: &Problem| p.family == family && p.regime == regime && p.states == first;
        for measure in [Measure::Seconds(Rule::Certified), Measure::Games(Rule::Certified)] {
            let horizon = |p: &Problem| (1.0 / (1.0 - p.discount) * 1e9).round() / 1e9;
            let series = Solver::ALL.iter().filter_map(|&solver| {
                line(solver.title(), solver.colour(), &of(solver, &wanted), horizon, measure)
            });
            figures.push(Figure {
                id: format!(
                    "time-discount-{}-{}-{}",
                    name_of(&family),
                    name_of(&regime),
                    measure.id()
                ),
                title: format!("{}, {}, S = {first}, by discount", family.title(), regime.title()),
                caption: format!("ε = 0.1, λ = 0.6, 0.8 and 0.99. {}", measure.rule()),
                x: axis("1/(1 − λ)", Scale::Log),
                y: axis(measure.label(), Scale::Log),
                series: series.collect(),
                command: command(Experiment::Time),
            });
        }
    }
    figures
}

fn gap_cost(records: &Records<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (family, regime) in GAP_CASES {
        for measure in [Measure::Seconds(Rule::Own), Measure::Entries] {
            let mut series = Vec::new();
            for (colour, evaluator) in Evaluator::ALL.into_iter().enumerate() {
                for discount in [0.6, 0.8, 0.99] {
                    let wanted = |p: &Problem| p.regime == regime && p.discount == discount;
                    let runs = records.runs(Experiment::GapCost, Task::Gap(evaluator), wanted);
                    let name = format!("{}, λ = {discount}", evaluator.title());
                    series.extend(line(&name, colour, &runs, states, measure));
                }
            }
            figures.push(Figure {
                id: format!("gap-cost-{}-{}-{}", name_of(&family), name_of(&regime), measure.id()),
                title: format!("{}, {}, S = A", family.title(), regime.title()),
                caption: "The duality gap of a random policy and a random kernel of the set, to \
                          ε = 0.25."
                    .into(),
                x: axis("states", Scale::Log),
                y: axis(measure.label(), Scale::Log),
                series,
                command: command(Experiment::GapCost),
            });
        }
    }
    figures
}

/// The median gap over seeds at every checkpoint of a course.
fn course(records: &[&Record], name: String, colour: usize) -> Option<Series> {
    let mut steps: Vec<u64> =
        records.iter().flat_map(|r| r.outcome.trace.iter().map(|p| p.steps)).collect();
    steps.sort_unstable();
    steps.dedup();
    let points: Vec<Point> = steps
        .iter()
        .filter_map(|&n| {
            let at = |r: &&Record| r.outcome.trace.iter().find(|p| p.steps == n).map(|p| p.dg);
            let samples: Vec<Sample> = (records.iter().filter_map(at))
                .map(|value| Sample { value, stopped: false })
                .collect();
            Some(point(n as f64, &summary(&samples)?))
        })
        .collect();
    (!points.is_empty()).then_some(Series { name, family: colour, points, band: true })
}

/// The courses of a figure, and what its id and its title say of them.
struct Panel {
    id: String,
    setting: String,
    courses: Vec<(String, FomSetup)>,
}

fn panels(experiment: Experiment, centred: bool) -> Vec<Panel> {
    let of = |setup, p, q| FomSetup { setup, p, q, centred };
    let setups = |p, q| Panel {
        id: format!("-p{p}-q{q}"),
        setting: format!("(p,q) = ({p},{q})"),
        courses: Geometries::ALL.map(|s| (s.title().to_owned(), of(s, p, q))).to_vec(),
    };
    let euclidean = |setting: &str, courses: [(String, FomSetup); 3]| Panel {
        id: String::new(),
        setting: format!("(ℓ2,ℓ2), {setting}"),
        courses: courses.to_vec(),
    };
    let l2 = Geometries::L2L2;
    match experiment {
        Experiment::Setups => vec![setups(1, 1), setups(2, 2)],
        Experiment::Rate => vec![setups(1, 1), setups(1, 2)],
        Experiment::Epochs => {
            vec![euclidean("p = 1", [0, 1, 2].map(|q| (format!("q = {q}"), of(l2, 1, q))))]
        }
        Experiment::Weights => {
            vec![euclidean("q = 2", [0, 1, 2].map(|p| (format!("p = {p}"), of(l2, p, 2))))]
        }
        // Nothing is followed there.
        Experiment::Time | Experiment::GapCost | Experiment::Kl => Vec::new(),
    }
}

fn traces(records: &Records<'_>, experiment: Experiment) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (family, regime) in TRACE_CASES {
        let wanted = |p: &Problem| p.family == family && p.regime == regime;
        for (paper, centred) in panels(experiment, false).into_iter().zip(panels(experiment, true))
        {
            for (panel, rule) in [(paper, "paper-steps"), (centred, "centred")] {
                let Panel { id, setting, courses } = panel;
                let steps = courses.first().map_or("", |c| c.1.steps_title());
                let series = courses.into_iter().enumerate().filter_map(|(colour, (name, c))| {
                    course(&records.runs(experiment, Task::Trace(c), wanted), name, colour)
                });
                figures.push(Figure {
                    id: format!("{}{id}-{}-{rule}", experiment.name(), name_of(&regime)),
                    title: format!("{setting}, {}, {steps}", regime.title()),
                    caption: format!(
                        "Garnet 50 %, λ = 0.8, S = A. The duality gap at p₀ of the average over all \
                         epochs; medians and quartiles over seeds.{}",
                        saturation(records, experiment, wanted)
                    ),
                    x: axis("first-order steps in each state", Scale::Log),
                    y: axis("duality gap", Scale::Log),
                    series: series.collect(),
                    command: command(experiment),
                });
            }
        }
    }
    figures
}

/// Each family in its own colour, KL against ellipsoid by dash.
fn kl(records: &Records<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    for paper in [true, false] {
        for (solver, word) in [
            (Solver::FomPaper, "fom-paper"),
            (Solver::FomCentred, "fom-centred"),
            (Solver::Auto, "auto"),
        ] {
            for measure in [Measure::Seconds(Rule::Own), Measure::Games(Rule::Own)] {
                let mut series = Vec::new();
                let cases = KL_CASES.iter().filter(|c| (c.1 == Regime::Paper) == paper);
                for &(family, regime) in cases {
                    for (set, word) in [(Distance::Kl, "KL"), (Distance::Ellipsoid, "ellipsoid")] {
                        let wanted =
                            |p: &Problem| p.family == family && p.regime == regime && p.set == set;
                        let runs = records.runs(Experiment::Kl, Task::Solve(solver), wanted);
                        let name = format!("{}, {word}", family.name());
                        series.extend(line(&name, family as usize, &runs, states, measure));
                    }
                }
                let radius = if paper { "the paper's radius" } else { "radii that bind" };
                figures.push(Figure {
                    id: format!(
                        "kl-{}-{word}-{}",
                        if paper { "paper" } else { "binding" },
                        measure.id()
                    ),
                    title: format!("{}, {radius}", solver.title()),
                    caption: format!(
                        "ε = 0.1, λ = 0.8; Garnet models with S = A. {}{}",
                        measure.rule(),
                        if paper {
                            ""
                        } else {
                            " Garnet: a twentieth of the paper's radius; the others: calibrated \
                             from 60 sampled kernels."
                        }
                    ),
                    x: axis("states", Scale::Log),
                    y: axis(measure.label(), Scale::Log),
                    series,
                    command: command(Experiment::Kl),
                });
            }
        }
    }
    figures
}
