//! Which figures of an experiment are seen at once, and where the others are folded away.

use robust_mdp_page::{Block, Figure, Group};

use super::cell::Experiment;

/// The figures that the verdicts rest on, in the order in which they are shown.
const SHOWN: [&str; 12] = [
    "time-garnet-50-paper-seconds-own",
    "time-garnet-50-paper-seconds-certified",
    "time-garnet-50-tight-seconds-certified",
    "gap-cost-garnet-50-paper-seconds-own",
    "setups-p2-q2-paper-paper-steps",
    "setups-p2-q2-tight-paper-steps",
    "epochs-paper-paper-steps",
    "weights-paper-paper-steps",
    "weights-hard-paper-steps",
    "rate-p1-q2-paper-paper-steps",
    "kl-paper-fom-paper-seconds-own",
    "kl-binding-fom-paper-seconds-own",
];

/// The group of a figure that is not shown at once.
fn group(experiment: Experiment, id: &str) -> (&'static str, &'static str) {
    match experiment {
        Experiment::Time => match id {
            _ if id.starts_with("time-discount") => ("discounts", "By discount"),
            _ if id.starts_with("time-garnet-50") => ("garnet-50", "Garnet 50 %, all regimes"),
            _ if id.starts_with("time-garnet-20") => ("garnet-20", "Garnet 20 %"),
            _ if id.starts_with("time-healthcare") => ("healthcare", "Healthcare"),
            _ => ("machine", "Machine replacement"),
        },
        Experiment::GapCost => ("more", "Entries read, and a twentieth of the radius"),
        Experiment::Kl => match id {
            _ if id.contains("-fom-paper-") => ("work", "Work of FOM-VI with the paper's steps"),
            _ if id.contains("-fom-centred-") => ("centred", "FOM-VI with centred steps"),
            _ => ("auto", "Auto"),
        },
        _ if id.ends_with("-centred") => ("centred", "Centred steps"),
        _ => ("more", "The paper's steps, other settings"),
    }
}

/// The figures as blocks of the page: the telling ones, then groups.
pub(crate) fn arranged(experiment: Experiment, figures: Vec<Figure>) -> Vec<Block> {
    let place = |figure: &Figure| SHOWN.iter().position(|id| *id == figure.id);
    let (mut shown, folded): (Vec<Figure>, Vec<Figure>) =
        figures.into_iter().partition(|f| place(f).is_some());
    shown.sort_by_key(place);
    let mut groups: Vec<Group> = Vec::new();
    for figure in folded {
        let (name, title) = group(experiment, &figure.id);
        let id = format!("{}-{name}", experiment.name());
        match groups.iter_mut().find(|g| g.id == id) {
            Some(group) => group.figures.push(figure),
            None => groups.push(Group { id, title: title.into(), figures: vec![figure] }),
        }
    }
    shown.into_iter().map(Block::Figure).chain(groups.into_iter().map(Block::Group)).collect()
}
