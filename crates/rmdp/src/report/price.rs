//! What robustness costs: values against the radius, from the results given and from radii solved
//! here.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use robust_mdp::sets::{Distance, Radius, UncertaintySet};
use robust_mdp::{
    Interrupt, Options, Solution, Status, Stop, evaluate, solve_observed, sweep_radius,
};
use robust_mdp_page::number::{short, time_text};
use robust_mdp_page::{Axis, Block, Figure, Point, Scale, Section, Series, Table};

use super::radii::Radii;
use super::solved::Solved;
use super::{Args, Material, ending_of, interval};
use crate::failure::{Ending, Failure};
use crate::model::NamedModel;
use crate::output;
use crate::render::solution::ending;

/// Seconds between two lines about the progress.
const LINE_EVERY: f64 = 10.0;

/// Bounds of the values that belong to one radius.
struct At {
    radius: f64,
    /// Best worst case over the set.
    robust: (f64, f64),
    /// The robust policy under the nominal kernel.
    nominal: Option<(f64, f64)>,
    /// The worst case of the policy that is best for the nominal kernel.
    naive: Option<(f64, f64)>,
    note: String,
}

pub(super) fn section(
    material: &Material<'_>,
    args: &Args,
    interrupt: &Interrupt,
) -> Result<Option<(Section, Ending)>, Failure> {
    let mut blocks = Vec::new();
    let mut end = Ending::Done;
    if let Some(all) = given(material) {
        let scale = match all[0].radius > 0.0 && all[all.len() - 1].radius >= 10.0 * all[0].radius {
            true => Scale::Log,
            false => Scale::Linear,
        };
        let caption = "Bounds at the start of the results given, against the radius of their set.";
        blocks.extend(picture(
            material,
            "value-by-radius",
            "Value by radius",
            caption,
            scale,
            &all,
        ));
    }
    if let (Some(radii), Some(source)) = (&args.radii, material.source) {
        let template = template(material, source)?;
        let (all, ending) = sweep(&template, radii, source, args, interrupt)?;
        end = ending;
        let (name, rest) = template.words;
        let caption = format!(
            "Solved for this page: {name} set, one radius for every state, {rest}. The robust \
             value is the best worst case over the set; the nominal value of the robust policy is \
             what it does if the nominal kernel is the true one; the worst case of the nominal \
             policy is what the policy that is best for the nominal kernel risks."
        );
        if !all.is_empty() {
            let title = "Worst case and nominal value by radius";
            blocks.extend(picture(material, "price", title, &caption, radii.scale, &all));
        }
        if all.len() < radii.values.len() {
            let (done, asked) = (all.len(), radii.values.len());
            let told = format!("Interrupted: {done} of {asked} radii were solved.");
            blocks.push(Block::Text(told));
        }
    }
    if blocks.is_empty() {
        return Ok(None);
    }
    Ok(Some((super::section("price", "Price of robustness", blocks), end)))
}

/// The results of one kind of set, if they have different radii.
fn given(material: &Material<'_>) -> Option<Vec<At>> {
    let first = material.results.iter().find(|r| r.file.set != Distance::None)?;
    let belongs = |r: &Solved| r.file.set == Distance::None || r.is_of_kind(first);
    let mut all: Vec<At> = (material.results.iter().enumerate())
        .filter(|(_, r)| belongs(r))
        .filter_map(|(i, r)| {
            Some(At {
                radius: r.radius()?,
                robust: (r.file.value.lower, r.file.value.upper),
                nominal: material.evaluated.get(i).map(|e| e.nominal.initial),
                naive: None,
                note: match r.file.status {
                    Status::Certified => r.name.clone(),
                    status => format!("{}: {}", r.name, ending(status)),
                },
            })
        })
        .collect();
    all.sort_by(|a, b| a.radius.total_cmp(&b.radius));
    let different = all.windows(2).any(|pair| pair[0].radius < pair[1].radius);
    different.then_some(all)
}

/// The kind of set that radii are tried for.
struct Template<'a> {
    result: &'a Solved,
    words: (&'static str, String),
}

fn template<'a>(material: &'a Material<'_>, source: &NamedModel) -> Result<Template<'a>, Failure> {
    let with_set = |r: &&Solved| r.file.set != Distance::None;
    let found = material.results.iter().find(with_set);
    let words = found.and_then(|r| Some((r, r.kind_in_words()?)));
    match words {
        Some((result, words)) => Ok(Template { result, words }),
        None => Err(Failure::usage(format!(
            "--radii needs a result with an uncertainty set; all results for {} are of --set none",
            source.name
        ))),
    }
}

/// Solves for every radius, until interrupted.
fn sweep(
    template: &Template<'_>,
    radii: &Radii,
    source: &NamedModel,
    args: &Args,
    interrupt: &Interrupt,
) -> Result<(Vec<At>, Ending), Failure> {
    let model = &source.model;
    let stop = Stop { gap: args.gap, ..Stop::default() };
    let deterministic = template.result.question.deterministic;
    let options = Options { stop, threads: args.threads, deterministic, ..Options::default() };
    let lines = Lines::new(radii.values.len(), args.quiet);
    let none = UncertaintySet::none();
    let best =
        solve_observed(model, &none, &options, &mut (), interrupt).map_err(Failure::input)?;
    let each = |set: &UncertaintySet, solution: Solution, threads: usize| {
        let check =
            |policy: &[f64]| evaluate(model, set, policy, args.gap, Some(threads), interrupt);
        let (robust, naive) = (check(&solution.policy)?, check(&best.policy)?);
        let mut notes = Vec::new();
        if solution.status != Status::Certified {
            notes.push(ending(solution.status).to_owned());
        }
        notes.extend(set.vacuity(model));
        lines.one_more();
        let at = At {
            radius: 0.0,
            robust: solution.initial_value,
            nominal: Some(robust.nominal.initial),
            naive: Some(naive.worst.initial),
            note: notes.join("; "),
        };
        Ok((at, [solution.status, robust.status, naive.status]))
    };
    let set = template.result.set_of_radius(Radius::Uniform(0.0));
    let solved = sweep_radius(model, &set, &radii.values, &options, true, interrupt, each)
        .map_err(Failure::input)?;
    let mut statuses = vec![best.status];
    let mut all = Vec::new();
    for (&radius, solved) in radii.values.iter().zip(solved) {
        let Some((at, how)) = solved else { continue };
        statuses.extend(how);
        all.extend((!how.contains(&Status::Interrupted)).then_some(At { radius, ..at }));
    }
    let ended = if all.len() < radii.values.len() { Ending::Early } else { ending_of(&statuses) };
    Ok((all, ended))
}

/// Says now and then how many radii are done.
struct Lines {
    count: usize,
    quiet: bool,
    started: Instant,
    /// Radii done, and when the next line is due.
    state: Mutex<(usize, f64)>,
}

impl Lines {
    fn new(count: usize, quiet: bool) -> Lines {
        Lines { count, quiet, started: Instant::now(), state: Mutex::new((0, LINE_EVERY)) }
    }

    fn one_more(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        let (done, count, seconds) = (state.0, self.count, self.started.elapsed().as_secs_f64());
        if seconds < state.1 || self.quiet {
            return;
        }
        state.1 = seconds + LINE_EVERY;
        let left = seconds / done as f64 * (count - done) as f64;
        output::to_stderr(&format!(
            "{}: {done} of {count} radii, about {} left\n",
            time_text(seconds),
            time_text(left)
        ));
    }
}

/// Bounds of one value at every radius.
type Curve<'a> = (&'a str, usize, &'a dyn Fn(&At) -> Option<(f64, f64)>);

fn picture(
    material: &Material<'_>,
    id: &str,
    title: &str,
    caption: &str,
    scale: Scale,
    all: &[At],
) -> Vec<Block> {
    let curves: [Curve<'_>; 3] = [
        ("robust value", 0, &|at| Some(at.robust)),
        ("nominal value of the robust policy", 2, &|at| at.nominal),
        ("worst case of the nominal policy", 1, &|at| at.naive),
    ];
    let point = |at: &At, (low, high): (f64, f64)| Point {
        x: at.radius,
        y: 0.5 * (low + high),
        low: Some(low),
        high: Some(high),
        stopped: false,
        note: at.note.clone(),
    };
    let curves = curves.into_iter().filter(|(_, _, of)| all.iter().any(|at| of(at).is_some()));
    let curves: Vec<Curve<'_>> = curves.collect();
    let series = curves.iter().map(|(name, family, of)| Series {
        name: (*name).to_owned(),
        family: *family,
        points: all.iter().filter_map(|at| Some(point(at, of(at)?))).collect(),
        band: false,
    });
    let row = |at: &At| {
        let cell = |of: &dyn Fn(&At) -> Option<(f64, f64)>| of(at).map_or("—".into(), interval);
        let bounds = curves.iter().map(|(_, _, of)| cell(of));
        std::iter::once(short(at.radius)).chain(bounds).collect::<Vec<String>>()
    };
    let header = std::iter::once("radius").chain(curves.iter().map(|(name, ..)| *name));
    let table = Table {
        caption: format!("Values {}.", super::overview::start(material.model())),
        header: header.map(str::to_owned).collect(),
        rows: all.iter().map(row).collect(),
    };
    let figure = Figure {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        x: Axis { label: "radius".into(), scale },
        y: Axis { label: "value".into(), scale: Scale::Linear },
        series: series.collect(),
        command: None,
    };
    vec![Block::Figure(figure), Block::Table(table)]
}
