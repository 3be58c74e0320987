//! What a checkpoint belongs to: the question and everything that its answer's bits depend on.

use crate::choice::Chosen;
use crate::error::name_of;
use crate::loops::anderson;
use crate::model::{Model, checksum};
use crate::oracle::first_order::Setup;
use crate::sets::{Radius, UncertaintySet};
use crate::solve::{Direction, Method, Options, Oracle};

/// Lines of name and value; compared one by one, so that a difference can be named.
pub(crate) type Identity = Vec<(&'static str, String)>;

pub(super) fn of_run(
    model: &Model,
    set: &UncertaintySet,
    options: &Options,
    chosen: &Chosen,
    setup: Setup,
    gap: f64,
) -> Identity {
    let mut lines = vec![
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("states", model.states().to_string()),
        ("discount", format!("{:?}", model.discount())),
        // Best cases are those of the model with its costs negated, which may be another one's worst case.
        ("direction", options.direction.name().to_owned()),
        ("model", format!("{:032x}", model.fingerprint())),
        ("set", name_of(&set.distance)),
        ("rectangularity", name_of(&set.rectangularity)),
        ("support", name_of(&set.support)),
        ("radius", radius(&set.radius)),
        ("method", name_of(&chosen.method)),
        ("oracle", name_of(&chosen.oracle)),
        ("gap", format!("{gap:?}")),
    ];
    // The model of a best case has its costs as rewards: another model's worst case may look the same.
    if options.direction == Direction::Best {
        lines.push(("direction", options.direction.name().to_owned()));
    }
    if let Some(weights) = &set.weights {
        lines.push(("row weights", digest_of("of actions", weights)));
    }
    if let Some(weights) = &set.entry_weights {
        lines
            .push(("weights of entries", digest_of("of states or transitions", weights.numbers())));
    }
    if let Some(ground) = &set.ground {
        lines.push(("distances", digest_of("between states", ground.numbers())));
    }
    if let Some(scenarios) = &set.scenarios {
        let kind = format!("{} of them", scenarios.count());
        lines.push(("other kernels", digest_of(&kind, scenarios.numbers())));
    }
    let fom = options.fom.clone().unwrap_or_default();
    if chosen.oracle == Oracle::FirstOrder {
        lines.push(("setup", format!("{},{}", name_of(&setup.x), name_of(&setup.y))));
        lines.push(("first-order method", name_of(&fom.method)));
        lines.push(("steps", name_of(&fom.steps)));
    }
    if chosen.method == Method::FomVi {
        lines.push(("weights", format!("{:?}", fom.weights)));
        lines.push(("epochs", format!("{:?}", fom.epochs)));
        lines.push(("average", name_of(&fom.average)));
        lines.push(("jump", fom.jump.to_string()));
        lines.push(("head start", fom.head_start.to_string()));
        lines.push(("checks", name_of(&fom.checks)));
    }
    if chosen.method == Method::Anderson {
        lines.push(("memory", options.anderson.unwrap_or(anderson::MEMORY).to_string()));
    }
    if let Some(start) = &options.start {
        lines.push(("start", digest_of("values", start)));
    }
    if let Some(published) = options.published {
        lines.push(("published residual", format!("{:?}", published.residual)));
    }
    if options.whole_programs {
        lines.push(("programs", "whole".into()));
    }
    if options.bracketed {
        lines.push(("rows", "priced one by one".into()));
    }
    lines
}

fn radius(radius: &Radius) -> String {
    match radius {
        Radius::Uniform(radius) => format!("{radius:?}"),
        Radius::PerState(radii) => digest_of("of states", radii),
        Radius::PerRow(radii) => digest_of("of actions", radii),
    }
}

fn digest_of(kind: &str, numbers: &[f64]) -> String {
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    format!("{kind} {:016x}", checksum(&bytes))
}

/// One line a pair, as it stands in a file.
pub(super) fn to_text(identity: &Identity) -> String {
    identity.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
}

/// What differs between a file's text and this run, in words; `None` if nothing does.
pub(super) fn difference(text: &str, identity: &Identity) -> Option<String> {
    let theirs: Vec<(&str, &str)> = text.lines().filter_map(|l| l.split_once('=')).collect();
    let find = |name: &str| theirs.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
    for (name, value) in identity {
        let found = find(name).unwrap_or("none");
        if found == value {
            continue;
        }
        return Some(match *name {
            "version" => format!(
                "it was written by version {found} and this is version {value}; \
                 a checkpoint serves the version that wrote it"
            ),
            "model" => "it belongs to a model with other numbers".to_owned(),
            "radius" if value.starts_with("of ") || found.starts_with("of ") => {
                "it belongs to a run with other radii".to_owned()
            }
            "start" => "it belongs to a run that started from other values".to_owned(),
            _ => format!("it belongs to a run with {name} {found}, and this one has {value}"),
        });
    }
    let more = theirs.iter().find(|(name, _)| identity.iter().all(|(n, _)| n != name));
    more.map(|(name, value)| match *name {
        "start" => "it belongs to a run that was given values to start from".to_owned(),
        _ => format!("it belongs to a run with {name} {value}"),
    })
}
