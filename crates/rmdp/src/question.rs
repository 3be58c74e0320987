//! What is asked of a model: how costs over time count, which kernel of the set counts, and which policies may be
//! chosen.

use robust_mdp::sets::{Distance, Radius, Rectangularity, UncertaintySet};
use robust_mdp::{Certificate, Criterion, Direction, Objective, Options};

use crate::args;
use crate::choice::{Choice, in_a_row};
use crate::failure::Failure;

/// A criterion without its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Discounted,
    Finite,
    Total,
    Average,
}

const KINDS: Choice<Kind> = Choice {
    names: &[
        ("discounted", Kind::Discounted, "costs of all time, at a discount below 1"),
        ("finite", Kind::Finite, "costs of --horizon steps, at a discount up to 1"),
        ("total", Kind::Total, "costs until the model ends in a terminal state, undiscounted"),
        ("average", Kind::Average, "the average cost of a step in the long run"),
    ],
};

const DIRECTIONS: Choice<Direction> = Choice {
    names: &[
        ("worst", Direction::Worst, "the kernel that is worst for the policy"),
        ("best", Direction::Best, "the kernel that is best for it"),
    ],
};

/// What is optimised.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Objective")]
pub(crate) struct QuestionArgs {
    /// How costs or rewards over time count
    #[arg(long, value_name = "OBJECTIVE", default_value = "discounted", value_parser = KINDS)]
    objective: Kind,
    /// Steps of --objective finite
    #[arg(long, value_name = "T", value_parser = args::horizon, allow_hyphen_values = true)]
    horizon: Option<u32>,
    /// Which kernel of the set counts
    #[arg(long, value_name = "CASE", default_value = "worst", value_parser = DIRECTIONS)]
    direction: Direction,
    /// Only policies that take one action in each state; the output says what randomising would save
    #[arg(long)]
    deterministic: bool,
}

impl QuestionArgs {
    /// The question, if the flags go together.
    pub(crate) fn question(&self) -> Result<Question, Failure> {
        let criterion = match (self.objective, self.horizon) {
            (Kind::Finite, Some(horizon)) => Criterion::Finite { horizon },
            (Kind::Finite, None) => {
                let message = "--objective finite needs its number of steps, expected --horizon T";
                return Err(Failure::usage(message));
            }
            (Kind::Discounted | Kind::Total | Kind::Average, Some(_)) => {
                let name = KINDS.name(self.objective);
                let message =
                    format!("--horizon is for --objective finite, but the objective is {name}");
                return Err(Failure::usage(message).hint("use --objective finite"));
            }
            (Kind::Discounted, None) => Criterion::Discounted,
            (Kind::Total, None) => Criterion::Total,
            (Kind::Average, None) => Criterion::Average,
        };
        let (direction, deterministic) = (self.direction, self.deterministic);
        Ok(Question { criterion, direction, deterministic })
    }
}

/// What is asked of a model and a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Question {
    pub(crate) criterion: Criterion,
    pub(crate) direction: Direction,
    pub(crate) deterministic: bool,
}

impl Question {
    /// A criterion by its name, with the horizon that only `finite` has.
    pub(crate) fn criterion(name: &str, horizon: Option<u32>) -> Result<Criterion, String> {
        let unwanted = || Err(format!("a horizon with criterion “{name}”, expected none"));
        match (name, horizon) {
            ("finite", Some(horizon)) if horizon > 0 => Ok(Criterion::Finite { horizon }),
            ("finite", _) => Err("criterion “finite” without a horizon of at least 1".into()),
            ("discounted", None) => Ok(Criterion::Discounted),
            ("total", None) => Ok(Criterion::Total),
            ("average", None) => Ok(Criterion::Average),
            ("discounted" | "total" | "average", Some(_)) => unwanted(),
            _ => Err(format!(
                "criterion “{name}”, expected “discounted”, “finite”, “total” or “average”"
            )),
        }
    }

    /// What a certificate is about.
    pub(crate) fn of(certificate: &Certificate) -> Question {
        let Certificate { criterion, direction, deterministic, .. } = *certificate;
        Question { criterion, direction, deterministic }
    }

    /// Whether it is about the worst case of discounted costs, which `evaluate` bounds.
    pub(crate) fn is_discounted_worst(self) -> bool {
        (self.criterion, self.direction) == (Criterion::Discounted, Direction::Worst)
    }

    /// Steps, if they are given.
    pub(crate) fn horizon(self) -> Option<u32> {
        match self.criterion {
            Criterion::Finite { horizon } => Some(horizon),
            Criterion::Discounted | Criterion::Total | Criterion::Average => None,
        }
    }

    /// Whether all steps count alike, whatever discount factor the model has.
    pub(crate) fn ignores_discount(self) -> bool {
        matches!(self.criterion, Criterion::Total | Criterion::Average)
    }

    /// Whether randomised policies could do better: where actions share a budget that nature would spend on the
    /// one action that is known to be taken.
    pub(crate) fn may_gain_by_randomising(self, set: &UncertaintySet) -> bool {
        let certain = set.distance == Distance::None || set.radius == Radius::Uniform(0.0);
        let shared = set.rectangularity == Rectangularity::State && !certain;
        self.deterministic && shared && self.direction == Direction::Worst
    }

    /// The flags that make it another question than the usual one: “--objective total and --deterministic”.
    pub(crate) fn flags(self) -> String {
        let objective = format!("--objective {}", self.criterion);
        let direction = format!("--direction {}", self.direction);
        let flags = [
            (objective.as_str(), self.criterion != Criterion::Discounted),
            (direction.as_str(), self.direction != Direction::Worst),
            ("--deterministic", self.deterministic),
        ];
        let given: Vec<&str> =
            flags.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect();
        in_a_row(&given, "and")
    }

    /// “minimise the worst case of the expected cost over 20 steps”; the worst case of discounted costs goes without
    /// saying, and a single kernel has none.
    pub(crate) fn aim(self, objective: Objective, set: Distance) -> String {
        let verb = match objective {
            Objective::MinCost => "minimise",
            Objective::MaxReward => "maximise",
        };
        let noun = objective.noun();
        let what = match self.criterion {
            Criterion::Discounted => format!("expected discounted {noun}"),
            Criterion::Finite { horizon: 1 } => format!("expected {noun} of one step"),
            Criterion::Finite { horizon } => format!("expected {noun} over {horizon} steps"),
            Criterion::Total => format!("expected total {noun} until the end"),
            Criterion::Average => format!("average {noun} per step"),
        };
        let case = match self.direction {
            _ if set == Distance::None || self.is_discounted_worst() => String::new(),
            direction => format!("{direction} case of the "),
        };
        let policies = if self.deterministic { ", by deterministic policies" } else { "" };
        format!("{verb} the {case}{what}{policies}")
    }

    /// The discount factor, where it counts.
    pub(crate) fn counted(self, discount: f64) -> Option<f64> {
        match self.criterion {
            Criterion::Discounted => Some(discount),
            Criterion::Finite { .. } => Some(discount).filter(|discount| *discount != 1.0),
            Criterion::Total | Criterion::Average => None,
        }
    }

    /// Puts it into `base`.
    pub(crate) fn options(self, base: Options) -> Options {
        let Question { criterion, direction, deterministic } = self;
        Options { criterion, direction, deterministic, ..base }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_librarys() {
        DIRECTIONS.assert_names_are_the_librarys();
        for (name, kind, _) in KINDS.names {
            let horizon = (*kind == Kind::Finite).then_some(3);
            assert_eq!(Question::criterion(name, horizon).map(Criterion::name), Ok(*name));
            assert!(Question::criterion(name, None.or(horizon.xor(Some(3)))).is_err());
        }
        assert!(Question::criterion("finite", Some(0)).is_err());
        assert!(Question::criterion("mean", None).is_err());
    }

    #[test]
    fn aims_in_words() {
        let aim = |criterion, direction, deterministic, set| {
            Question { criterion, direction, deterministic }.aim(Objective::MinCost, set)
        };
        let (worst, best, kl) = (Direction::Worst, Direction::Best, Distance::default());
        let usual = aim(Criterion::Discounted, worst, false, kl);
        assert_eq!(usual, "minimise the expected discounted cost");
        let total = aim(Criterion::Total, best, true, kl);
        let expected = "minimise the best case of the expected total cost until the end, by deterministic policies";
        assert_eq!(total, expected);
        let one = aim(Criterion::Finite { horizon: 1 }, worst, false, Distance::None);
        assert_eq!(one, "minimise the expected cost of one step");
    }
}
