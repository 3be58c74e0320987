//! `rmdp generate`: models of the paper's families, and radii calibrated to them.

use std::path::PathBuf;

use clap::Subcommand;
use robust_mdp::Model;
use robust_mdp::instances::{Costs, DEFAULT_DISCOUNT, Garnet, healthcare, machine_replacement};
use robust_mdp::io::{Format, write_model, write_model_to, write_radii};
use robust_mdp::sets::Distance;
use robust_mdp_page::number::{grouped, short};

use crate::args;
use crate::choice::{self, Choice};
use crate::failure::{Ending, Failure};
use crate::model::{calibrated, formats, is_standard, naming};
use crate::output::{self, Losses};
use crate::render::sizes;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    family: Family,
}

const EXAMPLES: &str = "\
Examples:
  rmdp generate garnet --states 100 --actions 5 --branching 0.2 --seed 7 -o g.json
  rmdp generate machine --states 30 -o machine.json --radii radii.csv
  rmdp generate healthcare > healthcare.json";

#[derive(Debug, Subcommand)]
enum Family {
    /// Random models with a chosen number of successors.
    Garnet(GarnetArgs),
    /// How strongly to treat a patient whose health drifts: S − 1 health states and mortality.
    Healthcare(HealthcareArgs),
    /// When to repair a machine: S − 2 conditions and two repair states.
    Machine(MachineArgs),
}

const COSTS: Choice<Costs> = Choice {
    names: &[
        ("iid", Costs::Iid, "uniform in [0, 10], independently"),
        ("state-driven", Costs::StateDriven, "eight parts from the state, two from the action"),
    ],
};

#[derive(Debug, clap::Args)]
struct GarnetArgs {
    /// Number of states
    #[arg(long, value_name = "N", default_value = "50", value_parser = args::size)]
    #[arg(allow_hyphen_values = true)]
    states: usize,
    /// Actions a state
    #[arg(long, value_name = "N", default_value = "10", value_parser = args::size)]
    #[arg(allow_hyphen_values = true)]
    actions: usize,
    /// Successors of a state and action, as a share of the states (or of the band)
    #[arg(long, value_name = "f", default_value = "0.5", value_parser = args::fraction)]
    #[arg(allow_hyphen_values = true)]
    branching: f64,
    /// How costs are drawn
    #[arg(long, value_name = "COSTS", default_value = "iid", value_parser = COSTS)]
    costs: Costs,
    /// Slow mixing: next states lie within ± k of the state [default: anywhere]
    #[arg(long, value_name = "k", value_parser = args::size, allow_hyphen_values = true)]
    band: Option<usize>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
struct HealthcareArgs {
    /// Number of states, mortality included; at least 3
    #[arg(long, value_name = "N", default_value = "20", value_parser = args::size)]
    #[arg(allow_hyphen_values = true)]
    states: usize,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
struct MachineArgs {
    /// Number of states, both repair states included; at least 4
    #[arg(long, value_name = "N", default_value = "10", value_parser = args::size)]
    #[arg(allow_hyphen_values = true)]
    states: usize,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
struct Common {
    /// Discount factor in [0, 1]
    #[arg(long, value_name = "λ", default_value_t = DEFAULT_DISCOUNT)]
    #[arg(value_parser = args::discount, allow_hyphen_values = true)]
    discount: f64,
    /// Seed of the random numbers, of the model and of the sampled kernels [default: 0]
    #[arg(long, value_name = "N", value_parser = args::seed, allow_hyphen_values = true)]
    seed: Option<u64>,
    /// File to write; - is the standard output, where --format names no other as JSON [default: -]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of the file [default: by its ending]
    #[arg(long, value_name = "FORMAT", value_parser = formats(), requires = "output")]
    format: Option<Format>,
    /// Write a radius for every state, the largest distance of 60 sampled kernels
    #[arg(long, value_name = "CSV")]
    radii: Option<PathBuf>,
    #[arg(long, value_name = "SET", value_parser = choice::calibrated_sets())]
    #[arg(help = format!("The set that radii are for [default: {}]", Distance::default().name()))]
    set: Option<Distance>,
    #[arg(long, short, help = args::QUIET)]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> Result<Ending, Failure> {
    let common = args.family.common();
    let outputs = [("--output", &common.output), ("--radii", &common.radii)];
    let named = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let named = named.filter(|(flag, path)| *flag != "--output" || !is_standard(path));
    output::check(named, &[])?;
    args.family.check()?;
    let format = match &common.output {
        Some(path) if common.format.is_none() && !is_standard(path) => {
            Format::of(path).map_err(|e| Failure::input(e).hint(naming("--format")))?
        }
        _ => common.format.unwrap_or(Format::Json),
    };
    let model = args.family.model()?;
    let radii = match affordable(&model) || common.radii.is_some() {
        true => Some(calibrated(&model, common.set(), common.seed())?),
        false => None,
    };
    let mut losses = Losses::default();
    if let (Some(path), Some(radii)) = (&common.radii, &radii) {
        losses.note(write_radii(path, &model, radii).map_err(Failure::output));
    }
    let file = common.output.as_deref().filter(|path| !is_standard(path));
    let written = match file {
        Some(path) => write_model(&model, path, Some(format)).map_err(Failure::output),
        None => output::model_to_stdout(|w| write_model_to(&model, w, format)),
    };
    losses.note(written.map(|lost| output::warn(&lost, common.quiet)));
    if losses.is_empty() {
        let told = common.tell(&model, format, radii.as_deref());
        losses.note(output::note(&told, file.is_none(), common.quiet));
    }
    Ok(losses.end(Ending::Done))
}

impl Family {
    fn common(&self) -> &Common {
        match self {
            Family::Garnet(args) => &args.common,
            Family::Healthcare(args) => &args.common,
            Family::Machine(args) => &args.common,
        }
    }

    /// Whether what was given is used: radii are also part of what is said about the model.
    fn check(&self) -> Result<(), Failure> {
        let common = self.common();
        let random = matches!(self, Family::Garnet(_));
        let idle = [("--set", common.set.is_some()), ("--seed", common.seed.is_some() && !random)];
        let radii = common.radii.is_some() || !common.quiet;
        match idle.into_iter().find(|(_, given)| *given && !radii) {
            Some((flag, _)) => Err(Failure::usage(format!(
                "{flag} is for radii, and --quiet without --radii leaves them out"
            ))),
            None => Ok(()),
        }
    }

    fn model(&self) -> Result<Model, Failure> {
        let discount = self.common().discount;
        match self {
            Family::Garnet(args) => args.model(),
            Family::Healthcare(args) => healthcare(args.states, discount).map_err(Failure::input),
            Family::Machine(args) => {
                machine_replacement(args.states, discount).map_err(Failure::input)
            }
        }
    }
}

impl GarnetArgs {
    fn model(&self) -> Result<Model, Failure> {
        const MOST: f64 = 4e9;
        let width = self.band.map_or(self.states, |k| self.states.min(2 * k + 1));
        let rows = self.states as f64 * self.actions as f64;
        let transitions = rows * (self.branching * width as f64).round().max(1.0);
        if transitions > MOST {
            return Err(Failure::usage(format!(
                "garnet: about {transitions:.1e} transitions, expected at most {MOST:.0e}"
            ))
            .hint("a smaller --branching or a --band makes a model of fewer transitions"));
        }
        let garnet = Garnet {
            states: self.states,
            actions: self.actions,
            branching: self.branching,
            costs: self.costs,
            band: self.band,
            discount: self.common.discount,
            seed: self.common.seed(),
        };
        garnet.model().map_err(Failure::input)
    }
}

impl Common {
    fn set(&self) -> Distance {
        self.set.unwrap_or_default()
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// What was written, and what to do with it.
    fn tell(&self, model: &Model, format: Format, radii: Option<&[f64]>) -> String {
        let file = self.output.as_ref().filter(|path| !is_standard(path));
        let file = file.map(|path| path.display().to_string());
        let mut text = format!(
            "wrote {}: {}, {} transitions\n",
            file.as_deref().unwrap_or("to the standard output"),
            sizes(model),
            grouped(model.positive_transitions() as u64)
        );
        let radius = match (&self.radii, radii) {
            (Some(path), _) => {
                text += &format!("wrote {}: a radius for every state\n", path.display());
                format!("--radius-file {}", path.display())
            }
            (None, Some(radii)) => {
                let radius = radii.iter().copied().fold(0.0, f64::max);
                format!("--radius {}", short(radius))
            }
            (None, None) => "--radius 0.01".into(),
        };
        let set = match self.set() == Distance::default() {
            true => String::new(),
            false => format!(" --set {}", self.set().name()),
        };
        let discount = match format.holds_discount() {
            true => String::new(),
            false => format!(" --discount {}", self.discount),
        };
        let file = file.as_deref().unwrap_or("FILE");
        // Without a discount only averages are sure to exist.
        let objective = if self.discount == 1.0 { " --objective average" } else { "" };
        text + &format!("next: rmdp solve {file}{set} {radius}{discount}{objective}\n")
    }
}

/// Whether calibrating is quick enough to do without being asked.
fn affordable(model: &Model) -> bool {
    model.rows() as f64 * model.states() as f64 <= 2e6
}
