//! Flags that choose one of several names.

use std::sync::LazyLock;

use clap::Arg;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::Error;
use robust_mdp::instances::Calibration;
use robust_mdp::sets::{Distance, Needs};

/// Parses one of `names`.
#[derive(Clone, Debug)]
pub(crate) struct Choice<T: 'static> {
    /// Name, value and what the help says about it.
    pub(crate) names: &'static [(&'static str, T, &'static str)],
}

/// The uncertainty sets by the library's names, and none.
pub(crate) fn sets() -> Choice<Distance> {
    static NAMES: LazyLock<Vec<(&'static str, Distance, &'static str)>> = LazyLock::new(|| {
        let named = |&distance: &Distance| {
            let help = distance.set().map_or("the nominal kernel only", |set| set.formula());
            (distance.name(), distance, help)
        };
        Distance::ALL.iter().map(named).collect()
    });
    Choice { names: &NAMES }
}

/// The uncertainty sets whose radii can be found from sampled kernels.
pub(crate) fn calibrated_sets() -> Choice<Distance> {
    static NAMES: LazyLock<Vec<(&'static str, Distance, &'static str)>> = LazyLock::new(|| {
        let names = Distance::ALL.iter().filter(|d| d.set().is_some() && Calibration::knows(**d));
        names.map(|&d| (d.name(), d, "")).collect()
    });
    Choice { names: &NAMES }
}

/// “[default: A, but B for kl]”, by what each set has; what most have comes first.
pub(crate) fn default_by_set(of: impl Fn(Distance) -> &'static str) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for &distance in Distance::ALL.iter().filter(|d| d.set().is_some()) {
        let default = of(distance);
        match groups.iter_mut().find(|(found, _)| *found == default) {
            Some((_, names)) => names.push(distance.name()),
            None => groups.push((default, vec![distance.name()])),
        }
    }
    groups.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let Some((most, others)) = groups.split_first() else { return String::new() };
    let others = others
        .iter()
        .map(|(default, names)| format!(", but {default} for {}", in_a_row(names, "and")));
    format!("[default: {}{}]", most.0, others.collect::<String>())
}

/// The names of the sets that are told something of entries.
pub(crate) fn sets_with(needs: Needs) -> Vec<&'static str> {
    let told = Distance::ALL.iter().filter(|distance| distance.needs() == needs);
    told.map(|distance| distance.name()).collect()
}

impl<T: Copy> Choice<T> {
    /// Parses `text`, or says what was expected.
    fn choose(&self, text: &str) -> Result<T, String> {
        if let Some((_, value, _)) = self.names.iter().find(|(name, ..)| *name == text) {
            return Ok(*value);
        }
        let names: Vec<&str> = self.names.iter().map(|(name, ..)| *name).collect();
        Err(format!("expected {}", in_a_row(&names, "or")))
    }
}

impl<T: Copy + PartialEq> Choice<T> {
    /// The name of a value.
    pub(crate) fn name(&self, value: T) -> &'static str {
        self.names.iter().find(|(_, v, _)| *v == value).map_or("", |(name, ..)| name)
    }
}

#[cfg(test)]
impl<T: serde::Serialize + Copy> Choice<T> {
    /// Flags are named as the library names their values in files, and so in Python.
    pub(crate) fn assert_names_are_the_librarys(&self) {
        for (name, value, _) in self.names {
            assert_eq!(serde_json::to_value(value).ok(), Some((*name).into()));
        }
    }
}

/// “a”, “a or b”, “a, b or c”.
pub(crate) fn in_a_row(names: &[&str], word: &str) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => {
            // Names with commas of their own need another mark between them.
            let mark = if last.contains(',') { "; " } else { ", " };
            format!("{} {word} {last}", first.join(mark))
        }
    }
}

impl<T: Copy + Send + Sync + 'static> TypedValueParser for Choice<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<T, Error> {
        let choice = self.clone();
        let parse = move |text: &str| choice.choose(text);
        parse.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = self.names.iter().map(|(name, _, help)| {
            let value = PossibleValue::new(*name);
            if help.is_empty() { value } else { value.help(*help) }
        });
        Some(Box::new(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_known_and_unknown() {
        let choice = Choice { names: &[("a", 1, ""), ("b", 2, ""), ("c", 3, "")] };
        assert_eq!(choice.choose("b"), Ok(2));
        assert_eq!(choice.name(2), "b");
        assert_eq!(choice.choose("e"), Err("expected a, b or c".into()));
    }
}
