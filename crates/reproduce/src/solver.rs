//! The methods that are compared, as the paper ran them and as they are here.

use robust_mdp::geometry::Geometry;
use robust_mdp::sets::Distance;
use robust_mdp::{
    Average, Checks, FomSettings, Method, Options, Oracle, Published, Setup, StepRule, Stop,
};
use serde::{Deserialize, Serialize};

use super::problem::Problem;

/// A method with its oracle and settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Solver {
    /// FOM-VI with the paper's steps, averages and start.
    FomPaper,
    /// FOM-VI as it is here: centred steps, averages over the last epoch.
    FomCentred,
    /// Value iteration, a convex program a state.
    ViPrograms,
    GsPrograms,
    AndersonPrograms,
    AviPrograms,
    /// The same loops with the exact oracle.
    ViExact,
    GsExact,
    AndersonExact,
    AviExact,
    /// What `rmdp solve` runs.
    Auto,
}

/// What kinds of solvers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Fom,
    /// Value iteration by convex programs.
    Programs,
    /// Value iteration by exact updates.
    Exact,
    Auto,
}

impl Solver {
    pub(crate) const ALL: [Solver; 11] = [
        Solver::FomPaper,
        Solver::FomCentred,
        Solver::ViPrograms,
        Solver::GsPrograms,
        Solver::AndersonPrograms,
        Solver::AviPrograms,
        Solver::ViExact,
        Solver::GsExact,
        Solver::AndersonExact,
        Solver::AviExact,
        Solver::Auto,
    ];

    /// Value iteration in the four forms of the paper.
    pub(crate) const PROGRAMS: [Solver; 4] =
        [Solver::ViPrograms, Solver::GsPrograms, Solver::AndersonPrograms, Solver::AviPrograms];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Solver::FomPaper => "FOM-VI, paper's steps",
            Solver::FomCentred => "FOM-VI, centred steps",
            Solver::ViPrograms => "VI, interior point",
            Solver::GsPrograms => "GS-VI, interior point",
            Solver::AndersonPrograms => "Anderson, interior point",
            Solver::AviPrograms => "AVI, interior point",
            Solver::ViExact => "VI, exact",
            Solver::GsExact => "GS-VI, exact",
            Solver::AndersonExact => "Anderson, exact",
            Solver::AviExact => "AVI, exact",
            Solver::Auto => "auto (Newton, exact)",
        }
    }

    /// Colours: FOM-VI, convex programs, exact loops, auto.
    pub(crate) fn colour(self) -> usize {
        match self.kind() {
            Kind::Fom => 0,
            Kind::Programs => 1,
            Kind::Exact => 2,
            Kind::Auto => 3,
        }
    }

    pub(crate) fn kind(self) -> Kind {
        use Solver::*;
        match self {
            FomPaper | FomCentred => Kind::Fom,
            ViPrograms | GsPrograms | AndersonPrograms | AviPrograms => Kind::Programs,
            ViExact | GsExact | AndersonExact | AviExact => Kind::Exact,
            Auto => Kind::Auto,
        }
    }

    pub(crate) fn is_fom(self) -> bool {
        self.kind() == Kind::Fom
    }

    pub(crate) fn solves_programs(self) -> bool {
        self.kind() == Kind::Programs
    }

    fn method(self) -> Method {
        use Solver::*;
        match self {
            FomPaper | FomCentred => Method::FomVi,
            ViPrograms | ViExact => Method::Vi,
            GsPrograms | GsExact => Method::GsVi,
            AndersonPrograms | AndersonExact => Method::Anderson,
            AviPrograms | AviExact => Method::Avi,
            Auto => Method::Auto,
        }
    }

    /// Settings of FOM-VI: p = q = 2; (ℓ2,ℓ2) for the ellipsoid and (ℓ1,ℓ1) for KL in the paper's
    /// form, the library's own choice in ours.
    fn fom(self, set: Distance) -> Option<FomSettings> {
        let entropy = Setup { x: Geometry::Entropy, y: Geometry::Entropy };
        // The gap is checked now and then, so that the times are those of the steps.
        let checks = Checks::Scheduled;
        use Solver::*;
        match self {
            FomPaper => Some(FomSettings {
                setup: (set == Distance::Kl).then_some(entropy),
                checks,
                ..FomSettings::paper()
            }),
            FomCentred => Some(FomSettings::default()),
            ViPrograms | GsPrograms | AndersonPrograms | AviPrograms => None,
            ViExact | GsExact | AndersonExact | AviExact | Auto => None,
        }
    }

    /// What to ask of the library. The paper's loops start from 0 and end by ‖v⁺ − v‖_∞ ≤
    /// ε(1−λ)/(2λ), once the gap is certified as well; FOM-VI ends at DG ≤ ε/2, asked of every
    /// state; the library's own choice at the gap ε.
    pub(crate) fn options(
        self,
        problem: &Problem,
        epsilon: f64,
        limit: u64,
        threads: usize,
    ) -> Options {
        let published = Some(Published { residual: own_residual(epsilon, problem.discount) });
        let (gap, published, oracle) = match self.kind() {
            Kind::Fom => (0.5 * epsilon, None, None),
            Kind::Programs => (epsilon, published, Some(Oracle::InteriorPoint)),
            Kind::Exact => (epsilon, published, Some(Oracle::Exact)),
            Kind::Auto => (epsilon, None, None),
        };
        Options {
            method: self.method(),
            oracle,
            stop: Stop { gap: Some(gap), max_sweeps: limit, time_limit: None },
            threads: Some(threads),
            fom: self.fom(problem.set),
            published,
            whole_programs: self.solves_programs(),
            ..Options::default()
        }
    }
}

/// The paper's rule for value iteration: ‖v⁺ − v‖_∞ ≤ ε(1−λ)/(2λ).
pub(crate) fn own_residual(epsilon: f64, discount: f64) -> f64 {
    epsilon * (1.0 - discount) / (2.0 * discount)
}

/// One of the paper's proximal setups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Geometries {
    #[serde(rename = "l1,l1")]
    L1L1,
    #[serde(rename = "l1,l2")]
    L1L2,
    #[serde(rename = "l2,l2")]
    L2L2,
}

impl Geometries {
    pub(crate) const ALL: [Geometries; 3] = [Geometries::L1L1, Geometries::L1L2, Geometries::L2L2];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Geometries::L1L1 => "(ℓ1,ℓ1)",
            Geometries::L1L2 => "(ℓ1,ℓ2)",
            Geometries::L2L2 => "(ℓ2,ℓ2)",
        }
    }

    fn setup(self) -> Setup {
        let (x, y) = match self {
            Geometries::L1L1 => (Geometry::Entropy, Geometry::Entropy),
            Geometries::L1L2 => (Geometry::Entropy, Geometry::Euclidean),
            Geometries::L2L2 => (Geometry::Euclidean, Geometry::Euclidean),
        };
        Setup { x, y }
    }
}

/// A run of FOM-VI whose gap is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct FomSetup {
    pub(crate) setup: Geometries,
    /// Weights t^p.
    pub(crate) p: u32,
    /// Epochs of ℓ^q steps.
    pub(crate) q: u32,
    /// Centred steps instead of the paper's; averages over all epochs either way.
    pub(crate) centred: bool,
}

impl FomSetup {
    pub(crate) fn settings(self) -> FomSettings {
        FomSettings {
            setup: Some(self.setup.setup()),
            weights: f64::from(self.p),
            epochs: f64::from(self.q),
            steps: if self.centred { StepRule::Centred } else { StepRule::Paper },
            average: Average::All,
            ..FomSettings::paper()
        }
    }

    pub(crate) fn steps_title(self) -> &'static str {
        if self.centred { "centred steps" } else { "paper's steps" }
    }
}
