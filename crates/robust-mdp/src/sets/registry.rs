//! The sets, by name. This is the one place that lists them: command line, files, Python, certificates
//! and checkpoints have their names from here.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::set::Set;
use super::{
    balls_within, burg, chi2, contamination, cressie_read, cvar, ellipsoid, hellinger, interval,
    kl, l1, l2, linear_within, linf, neyman, scenarios, wasserstein,
};

macro_rules! registry {
    ($($(#[$about:meta])* $variant:ident = $set:expr,)*) => {
        /// The distance that a budget bounds.
        #[derive(Clone, Copy, Debug)]
        pub enum Distance {
            $($(#[$about])* $variant,)*
            /// A set from outside of the library.
            Custom(&'static dyn Set),
            /// No uncertainty: the nominal model.
            None,
        }

        impl Distance {
            /// The sets of the library, and none at all.
            pub const ALL: &'static [Distance] = &[$(Distance::$variant,)* Distance::None];

            /// What the set says of a row; `None`: the nominal model.
            pub fn set(self) -> Option<&'static dyn Set> {
                match self {
                    $(Distance::$variant => Some(&$set),)*
                    Distance::Custom(set) => Some(set),
                    Distance::None => None,
                }
            }
        }
    };
}

registry! {
    /// ½‖y − y⁰‖₂².
    Ellipsoid = ellipsoid::Ellipsoid,
    /// KL(y‖y⁰) = Σ y ln(y/y⁰).
    Kl = kl::Kl,
    /// Pearson's Σ (y − y⁰)²/y⁰.
    Chi2 = chi2::Chi2,
    /// ‖y − y⁰‖₁.
    L1 = l1::NORM,
    /// Total variation, ½‖y − y⁰‖₁.
    Tv = l1::TOTAL_VARIATION,
    /// ½Σ w(y − y⁰)², w = 1 unless given.
    L2 = l2::L2,
    /// max w|y − y⁰|, w = 1 unless given.
    Linf = linf::Linf,
    /// The least share of y⁰ that was moved, max (1 − y/y⁰).
    Contamination = contamination::Contamination,
    /// max y/y⁰ − 1, whose (s,a)-rectangular worst case is a conditional value at risk.
    Cvar = cvar::Cvar,
    /// The least cost of moving y⁰ to y, for costs between states.
    Wasserstein = wasserstein::Wasserstein,
    /// The share of the way from y⁰ within the model's intervals.
    Interval = interval::Interval,
    /// ½‖y − y⁰‖₂² within the model's intervals.
    EllipsoidWithin = balls_within::ELLIPSOID,
    /// KL(y‖y⁰) within the model's intervals.
    KlWithin = balls_within::KL,
    /// Pearson's Σ (y − y⁰)²/y⁰ within the model's intervals.
    Chi2Within = balls_within::CHI2,
    /// ‖y − y⁰‖₁ within the model's intervals.
    L1Within = linear_within::L1,
    /// How many probabilities are at the ends of the model's intervals, Bertsimas and Sim's Γ.
    CountWithin = linear_within::COUNT,
    /// Burg's Σ y⁰ ln(y⁰/y) within the model's intervals.
    BurgWithin = cressie_read::within::BURG,
    /// Σ (√y − √y⁰)² within the model's intervals.
    HellingerWithin = cressie_read::within::HELLINGER,
    /// Neyman's Σ (y − y⁰)²/y within the model's intervals.
    NeymanWithin = cressie_read::within::NEYMAN,
    /// Burg's Σ y⁰ ln(y⁰/y).
    Burg = burg::Burg,
    /// The squared Hellinger distance Σ (√y − √y⁰)².
    Hellinger = hellinger::Hellinger,
    /// Neyman's Σ (y − y⁰)²/y.
    Neyman = neyman::Neyman,
    /// The share of the way from y⁰ into the hull of given kernels.
    Scenarios = scenarios::ScenarioHull,
}

static NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| Distance::ALL.iter().map(|d| d.name()).collect());

impl Distance {
    /// Its one name.
    pub fn name(self) -> &'static str {
        self.set().map_or("none", Set::name)
    }

    /// As sentences have it.
    pub fn title(self) -> &'static str {
        self.set().map_or("none", Set::title)
    }

    /// The set of the library that has this name.
    pub fn of_name(name: &str) -> Option<Distance> {
        Distance::ALL.iter().copied().find(|d| d.name() == name)
    }
}

/// The first of [`Distance::ALL`].
impl Default for Distance {
    fn default() -> Distance {
        Distance::ALL[0]
    }
}

/// Names are unique, but those of sets from elsewhere, which may have parameters too.
impl PartialEq for Distance {
    fn eq(&self, other: &Distance) -> bool {
        let same = match (self, other) {
            (Distance::Custom(a), Distance::Custom(b)) => std::ptr::addr_eq(*a, *b),
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        same && self.name() == other.name()
    }
}

impl Eq for Distance {}

impl Serialize for Distance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Distance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Distance, D::Error> {
        let name = String::deserialize(deserializer)?;
        Distance::of_name(&name).ok_or_else(|| de::Error::unknown_variant(&name, &NAMES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_come_back() {
        for (k, &distance) in Distance::ALL.iter().enumerate() {
            let text = serde_json::to_string(&distance).unwrap();
            assert_eq!(text, format!("\"{}\"", distance.name()));
            assert_eq!(serde_json::from_str::<Distance>(&text).unwrap(), distance);
            assert!(Distance::ALL[..k].iter().all(|d| d.name() != distance.name()));
        }
        let error = serde_json::from_str::<Distance>("\"nosuch\"").unwrap_err().to_string();
        assert!(error.contains("unknown variant `nosuch`, expected one of `ellipsoid`"), "{error}");
    }
}
