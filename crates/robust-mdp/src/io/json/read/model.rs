//! The model's own keys.

use serde::de::{MapAccess, SeqAccess};

use super::super::{FORMAT, VERSION};
use super::JsonReader;
use super::value::{Keys, Wanted, quoted};

impl JsonReader {
    pub(super) fn read_model<'de, A: MapAccess<'de>>(
        &mut self,
        mut map: A,
    ) -> Result<(), A::Error> {
        // What is missing from now on is not the whole file.
        self.wanted = Wanted::States;
        let mut keys =
            Keys::new(&["format", "version", "objective", "discount", "initial", "states"]);
        while let Some(key) = keys.next(&mut map, &self.lines)? {
            match key {
                "format" => {
                    let wanted = Wanted::Format;
                    let format = self.value(&mut map, wanted)?.text(wanted)?;
                    if format != FORMAT {
                        return Err(wanted.wrong(quoted(&format)));
                    }
                }
                "version" => {
                    let wanted = Wanted::Version;
                    let version = self.value(&mut map, wanted)?.whole(wanted)?;
                    if version != VERSION {
                        return Err(wanted.wrong(version));
                    }
                }
                "objective" => {
                    let wanted = Wanted::Objective;
                    let name = self.value(&mut map, wanted)?.text(wanted)?;
                    self.set_objective(&name)?;
                }
                "discount" => {
                    let wanted = Wanted::Discount;
                    let given = self.value(&mut map, wanted)?.given();
                    self.discount = given.map(|v| v.number(wanted)).transpose()?;
                }
                "initial" => drop(self.value(&mut map, Wanted::Initial)?),
                _ => drop(self.value(&mut map, Wanted::States)?),
            }
        }
        self.lacking = true;
        for (key, expected) in [
            ("format", "\"format\":\"robust-mdp\""),
            ("version", "\"version\":1"),
            ("objective", "\"objective\":\"min-cost\" or \"objective\":\"max-reward\""),
            ("states", "\"states\":[ … ]"),
        ] {
            keys.require(key, expected)?;
        }
        self.lacking = false;
        Ok(())
    }

    pub(super) fn read_initial<'de, A: SeqAccess<'de>>(
        &mut self,
        mut seq: A,
    ) -> Result<(), A::Error> {
        let wanted = Wanted::InitialEntry;
        let mut initial = Vec::new();
        while let Some(value) = self.entry(&mut seq, wanted)? {
            initial.push(value.number(wanted)?);
        }
        self.builder.set_initial(Some(initial));
        Ok(())
    }
}
