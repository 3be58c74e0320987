//! The sets of the library conform, so does the example's, and sets that break a law are found out.

#[path = "../examples/custom_set.rs"]
mod custom_set;

use robust_mdp::certificate::{Proof, ProofRow, Reading};
use robust_mdp::conformance::{Report, Violation, check};
use robust_mdp::sets::{
    Beyond, Curve, Distance, EntryData, Priced, Radius, Row, Set, UncertaintySet,
};
use robust_mdp::{Options, Oracle, certify, instances, solve, verify};

#[test]
fn all_sets_of_the_library_conform() {
    for set in Distance::ALL.iter().filter_map(|distance| distance.set()) {
        let report = check(set).unwrap_or_else(|violation| panic!("{}: {violation}", set.name()));
        // Budgets that add up are checked shared and weighted too.
        let kernels = if set.adds_up() { 6000 } else { 2000 };
        assert!(report.points >= 3000 && report.kernels >= kernels, "{report}");
        println!("{}: {report}", set.name());
    }
}

#[test]
fn the_example_runs() {
    custom_set::main().unwrap();
}

#[test]
fn a_set_without_a_conic_form_is_refused_by_name() {
    let model = instances::machine_replacement(4, 0.8).unwrap();
    let set = UncertaintySet::new(Distance::Custom(&custom_set::LeCam), 0.1);
    let options = Options { oracle: Some(Oracle::InteriorPoint), ..Options::default() };
    let error = solve(&model, &set, &options).unwrap_err().to_string();
    assert!(error.contains("which lecam does not have"), "{error}");
}

#[test]
fn a_set_without_a_proof_has_no_certificates() {
    let model = instances::machine_replacement(4, 0.8).unwrap();
    let unproved: &'static Lying = Box::leak(Box::new(Lying(Lie::Nothing)));
    let set = UncertaintySet::new(Distance::Custom(unproved), 0.1);
    let solution = solve(&model, &set, &Options::default()).unwrap();
    let error = certify(&model, &set, &solution, None).unwrap_err().to_string();
    let expected = "there are no certificates for lying sets, expected a set that offers a proof";
    assert!(error.contains(expected), "{error}");
    // Nor is one that was made for another set about this one.
    let proved = UncertaintySet::new(Distance::Custom(&custom_set::LeCam), 0.1);
    let (mut certificate, _) = certify(&model, &proved, &solution, None).unwrap();
    certificate.set = set;
    let error = verify(&model, &certificate, None).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn certificates_of_ones_own_set_are_not_written() {
    let model = instances::machine_replacement(4, 0.8).unwrap();
    let set = UncertaintySet::new(Distance::Custom(&custom_set::LeCam), 0.1);
    let solution = solve(&model, &set, &Options::default()).unwrap();
    let (certificate, _) = certify(&model, &set, &solution, None).unwrap();
    assert!(verify(&model, &certificate, None).is_ok());
    let path = std::env::temp_dir().join(format!("lecam-{}.cert", std::process::id()));
    let error = certificate.write(&path).unwrap_err().to_string();
    assert!(error.contains("`lecam` would not be read back") && !path.exists(), "{error}");
}

#[test]
fn solutions_that_their_proof_contradicts_are_refused() {
    let model = instances::machine_replacement(4, 0.8).unwrap();
    let set = UncertaintySet::kl(0.1);
    let mut solution = solve(&model, &set, &Options::default()).unwrap();
    assert!(certify(&model, &set, &solution, None).is_ok());
    solution.lower[2] += 1.0;
    solution.upper[2] += 1.0;
    let error = certify(&model, &set, &solution, None).unwrap_err().to_string();
    assert!(error.contains("not one of this model and set: state 2"), "{error}");
}

#[test]
fn no_set_has_neither_radius_nor_weights() {
    let model = instances::machine_replacement(4, 0.8).unwrap();
    let none = UncertaintySet::none();
    assert!(none.validate(&model).is_ok());
    let weighted = none.clone().with_weights(vec![1.0; model.rows()]);
    for (set, what) in [(none.with_radius(Radius::Uniform(0.1)), "radius"), (weighted, "weights")] {
        let error = set.validate(&model).unwrap_err().to_string();
        assert!(error.contains(&format!("`none` has no {what}")), "{error}");
    }
}

/// What a set may say wrongly.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    Nothing,
    Distance,
    Root,
    Degree,
    Diameter,
    Vacuous,
    Value,
    Price,
    Early,
    Face,
    Kernel,
    Maximum,
    Near,
    Dual,
    Worth,
    Spent,
    Loose,
}

/// The example's set, but for one lie.
#[derive(Debug)]
struct Lying(Lie);

impl Lying {
    fn tells(&self, lie: Lie) -> bool {
        self.0 == lie
    }
}

impl Set for Lying {
    fn name(&self) -> &'static str {
        "lying"
    }

    fn distance(&self, p: &[f64], y: &[f64], _: EntryData<'_>) -> f64 {
        let d = custom_set::LeCam.distance(p, y, EntryData::default());
        match self.0 {
            Lie::Distance => d + 1e-6,
            Lie::Root => d.sqrt(),
            _ => d,
        }
    }

    fn leaves_support(&self) -> bool {
        false
    }

    fn degree(&self) -> i32 {
        if self.tells(Lie::Degree) { 2 } else { 1 }
    }

    fn diameter(&self) -> f64 {
        if self.tells(Lie::Diameter) { 1.0 } else { 2.0 }
    }

    fn vacuous(&self, p: &[f64], unused: bool, _: EntryData<'_>) -> f64 {
        let limit = custom_set::LeCam.vacuous(p, unused, EntryData::default());
        if self.tells(Lie::Vacuous) { 0.99 * limit } else { limit }
    }

    fn proof(&self) -> Option<&dyn Proof> {
        [Lie::Dual, Lie::Worth, Lie::Spent, Lie::Loose].contains(&self.0).then_some(self)
    }

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl Curve for Lying {
    fn at(&self, row: Row<'_>, t: f64, near: Option<Priced>) -> Priced {
        let early = if self.tells(Lie::Early) { 0.9 } else { 1.0 };
        let mut at = Priced { t, ..custom_set::LeCam.at(row, early * t, near) };
        if self.tells(Lie::Early) {
            // A row of the set, and told rightly, but not the best one.
            at.nu += 0.1 * t * at.value;
        }
        at.value *= if self.tells(Lie::Value) { 1.0 + 1e-6 } else { 1.0 };
        at.price *= if self.tells(Lie::Price) { 1.0 + 1e-6 } else { 1.0 };
        if self.tells(Lie::Near) && near.is_some() {
            at.price *= 1.001;
        }
        at
    }

    fn face(&self, row: Row<'_>) -> f64 {
        let face = custom_set::LeCam.face(row);
        if self.tells(Lie::Face) { 0.999 * face } else { face }
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        custom_set::LeCam.kernel(row, at, y);
        if self.tells(Lie::Kernel) {
            y[0] *= 1.0 + 1e-6;
        }
        if self.tells(Lie::Maximum) && at.t.is_infinite() {
            y.copy_from_slice(row.p);
        }
        Beyond::Nothing
    }
}

impl Proof for Lying {
    fn read(&self, row: &ProofRow<'_>, t: f64, nu: f64) -> Reading {
        let mut read = custom_set::LeCam.read(row, t, nu);
        match self.0 {
            Lie::Dual => read.dual -= 1e-6,
            Lie::Worth => read.value = read.value * (1.0 - 1e-6),
            Lie::Spent => read.spent *= 1.0 - 1e-6,
            Lie::Loose => read.dual += 1e-6,
            lie => panic!("{lie:?} is none of a proof's"),
        }
        read
    }
}

fn told(lie: Lie) -> Result<Report, Violation> {
    check(Box::leak(Box::new(Lying(lie))))
}

#[test]
fn lies_are_found_out() {
    told(Lie::Nothing).unwrap();
    for (lie, law) in [
        (Lie::Distance, "d(p, p) = 0"),
        (Lie::Root, "degree"),
        (Lie::Degree, "degree"),
        (Lie::Diameter, "diameter"),
        (Lie::Vacuous, "vacuous"),
        (Lie::Value, "kernel at t"),
        (Lie::Price, "kernel at t"),
        (Lie::Early, "the kernel at t"),
        (Lie::Face, "t = ∞"),
        (Lie::Kernel, "kernel"),
        (Lie::Maximum, "t = ∞"),
        (Lie::Near, "near"),
        (Lie::Dual, "dual is above"),
        (Lie::Worth, "proof's row"),
        (Lie::Spent, "proof's row"),
        (Lie::Loose, "loses nothing"),
    ] {
        let violation = told(lie).expect_err(&format!("{lie:?}"));
        assert!(violation.law.contains(law), "{lie:?}: {violation}");
    }
}
