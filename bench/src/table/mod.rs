//! table.md: computed from the results alone.

pub(crate) mod certificates;
mod costs;
pub(crate) mod methods;
mod nominal;
mod paper;
mod scale;
mod sets;
mod solve;
mod sweep;
mod threads;

use robust_mdp_measure::table::Table;

use crate::machine::Provenance;
use crate::record::Record;

/// A part's name, title and renderer.
type Section = (&'static str, &'static str, fn(&[&Record]) -> String);

const SECTIONS: [Section; 8] = [
    ("sweep", "One warm sweep", sweep::section),
    ("sets", "One warm sweep of every set", sets::section),
    ("solve", "Certified solves to 1e-6", solve::section),
    ("costs", "Costs on next states", costs::section),
    ("paper", "The paper's comparison, to 0.1", paper::section),
    ("nominal", "No uncertainty", nominal::section),
    ("scale", "A million states", scale::section),
    ("threads", "One thread against two", threads::section),
];

/// The whole page.
pub(crate) fn page(records: &[Record], made: &Provenance) -> String {
    let mut page = format!("# Benchmarks of {}\n\n{}\n", made.date, set_up(made));
    for (suite, title, section) in SECTIONS {
        let records: Vec<&Record> = records.iter().filter(|r| r.suite == suite).collect();
        if !records.is_empty() {
            page += &format!("\n## {title}\n\n{}", section(&records));
        }
    }
    page + &failures(records)
}

fn set_up(made: &Provenance) -> String {
    let machine = &made.machine;
    let cores = format!("{} cores", machine.cores);
    let mut parts = vec![machine.cpu.clone(), cores, machine.instruction_set.clone()];
    parts.extend(machine.memory());
    parts.extend(made.rustc.clone());
    parts.extend(made.commit.as_ref().map(|c| format!("commit {c}")));
    parts.extend(machine.load.map(|l| format!("load {l:.2} at the start")));
    let times = "Times are the least of the repeats. `>`: not certified within its time limit. \
                 `*`: the library ran something else than was asked.";
    format!("{}.\n{times}", parts.join("; "))
}

/// Results that failed or carry a note.
fn failures(records: &[Record]) -> String {
    let mut grid = Table::new(&["part", "case", "method", "status", "note"]);
    for record in records.iter().filter(|r| r.note.is_some()) {
        grid.row([
            record.suite.clone(),
            record.case.name(),
            record.method.clone(),
            record.status.clone(),
            record.note.clone().unwrap_or_default().replace(['|', '\n'], " "),
        ]);
    }
    if grid.is_empty() { String::new() } else { format!("\n## Notes\n\n{}", grid.markdown()) }
}

/// The values of a key, in the order in which they first occur.
fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Three significant digits, without an exponent where that is short.
fn number(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        a if !(1e-4..1e6).contains(&a) => format!("{x:.1e}"),
        a => {
            let decimals = (2.0 - a.log10().floor()).clamp(0.0, 6.0) as usize;
            format!("{x:.decimals$}")
        }
    }
}

fn milliseconds(record: &Record) -> String {
    marked(record, 1e3 * record.seconds)
}

/// A number of a result, with the marks that the page explains.
fn marked(record: &Record, x: f64) -> String {
    let star = if record.replaced() { "\\*" } else { "" };
    match record.status.as_str() {
        "certified" | "measured" => format!("{}{star}", number(x)),
        "time-limit" if record.extrapolated => format!("≈ {}{star}", number(x)),
        "sweep-limit" if record.extrapolated => format!("≈ {}{star}", number(x)),
        "time-limit" => format!("> {}{star}", number(x)),
        status => status.into(),
    }
}

fn count(n: Option<u64>) -> String {
    n.map_or_else(String::new, |n| n.to_string())
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(String::new, |x| format!("{:.0} %", 100.0 * x))
}

/// What ran: method and oracle.
fn ran(record: &Record) -> String {
    let Some(ran) = &record.ran else { return String::new() };
    match &ran.oracle {
        Some(oracle) => format!("{}, {oracle}", ran.method),
        None => ran.method.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn three_digits() {
        let given = [0.0, 12_345.6, 123.4, 1.2345, 0.012345, 1e-6, 2e9];
        let shown = ["0", "12346", "123", "1.23", "0.0123", "1.0e-6", "2.0e9"];
        assert_eq!(given.map(number), shown);
    }
}
