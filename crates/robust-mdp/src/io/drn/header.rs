//! The lines before `@model`.

use std::collections::HashMap;

use super::{shown, uncommented};
use crate::error::Error;
use crate::io::ReadOptions;
use crate::io::explicit::Explicit;
use crate::io::lines::{Lines, index};

#[derive(Default)]
pub(super) struct Header {
    /// Names of the rewards that states and actions list.
    pub(super) rewards: Vec<String>,
    pub(super) states: Option<usize>,
    choices: Option<usize>,
    /// Values that are written as names, with their mark.
    pub(super) placeholders: HashMap<String, String>,
}

impl Header {
    /// Reads up to `@model`.
    pub(super) fn read(lines: &mut Lines<'_>) -> Result<Header, Error> {
        let (mut header, mut typed) = (Header::default(), false);
        let mut section = String::new();
        loop {
            let Some(line) = uncommented(lines)? else {
                return Err(lines.error("the file ends before “@model”, expected it and states"));
            };
            let (wrong, value) = match line.strip_prefix('@') {
                None => (header.take(&section, line), None),
                Some(line) => {
                    let (name, value) = line.split_once(':').unwrap_or((line, ""));
                    section = name.trim_ascii().to_ascii_lowercase();
                    typed |= section == "type";
                    let value = value.trim_ascii();
                    (Ok(()), (!value.is_empty()).then(|| value.to_owned()))
                }
            };
            wrong.map_err(|wrong| lines.error(wrong))?;
            if let Some(value) = value {
                header.take(&section, &value).map_err(|wrong| lines.error(wrong))?;
            }
            match section.as_str() {
                "model" if typed => return Ok(header),
                "model" => {
                    return Err(lines.error("no “@type”, expected “@type: MDP” before “@model”"));
                }
                _ => {}
            }
        }
    }

    /// Takes in what a section says.
    fn take(&mut self, section: &str, text: &str) -> Result<(), String> {
        let count = || {
            index(text).ok_or_else(|| format!("@{section} is “{}”, expected a number", shown(text)))
        };
        match section {
            "type" => match text.to_ascii_uppercase().as_str() {
                "MDP" | "DTMC" | "IMDP" | "IDTMC" => Ok(()),
                _ => Err(format!("a model of type “{}”, expected MDP or DTMC", shown(text))),
            },
            "parameters" => Err(format!(
                "the parameters “{}”, expected none: probabilities must be numbers",
                shown(text)
            )),
            "reward_models" => {
                self.rewards.extend(text.split_ascii_whitespace().map(str::to_owned));
                Ok(())
            }
            "placeholders" => {
                let (name, value) = text
                    .split_once(':')
                    .ok_or_else(|| format!("found “{}”, expected “$name : value”", shown(text)))?;
                self.placeholders.insert(name.trim_ascii().into(), value.trim_ascii().into());
                Ok(())
            }
            "nr_states" => count().map(|n| self.states = Some(n)),
            "nr_choices" => count().map(|n| self.choices = Some(n)),
            "" => Err(format!("found “{}”, expected “@type: MDP”", shown(text))),
            // “value_type” is seen from the values, which may be parametric and still be numbers; sections of
            // later versions say something about the file.
            _ => Ok(()),
        }
    }

    /// The rewards that count, by their position, and what to say of others.
    pub(super) fn choose(
        &self,
        lines: &Lines<'_>,
        options: &ReadOptions,
    ) -> Result<(usize, Option<String>), Error> {
        let names = self.rewards.iter().map(|name| format!("“{name}”")).collect::<Vec<_>>();
        match &options.rewards {
            Some(wanted) => match self.rewards.iter().position(|name| name == wanted) {
                Some(at) => Ok((at, None)),
                None if names.is_empty() => {
                    Err(lines.error(format!("no rewards “{wanted}”: the file names none")))
                }
                None => {
                    let names = names.join(", ");
                    Err(lines.error(format!("no rewards “{wanted}”, expected one of {names}")))
                }
            },
            None if names.len() > 1 && options.reach.is_empty() => {
                let (first, rest) = (&names[0], names[1..].join(", "));
                Ok((0, Some(format!("the rewards {first} are taken, and {rest} are not"))))
            }
            None => Ok((0, None)),
        }
    }

    /// Compares what was found.
    pub(super) fn check(&self, lines: &Lines<'_>, explicit: &Explicit) -> Result<(), Error> {
        for (name, found, declared) in
            [("states", explicit.states(), self.states), ("choices", explicit.rows(), self.choices)]
        {
            if let Some(declared) = declared.filter(|declared| *declared != found) {
                return Err(lines.error(format!(
                    "{found} {name} to the end of the file, expected {declared}, as @nr_{name} says"
                )));
            }
        }
        Ok(())
    }
}
