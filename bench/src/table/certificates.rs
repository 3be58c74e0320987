//! What a certificate costs, for the page about certificates.

use robust_mdp_measure::table::Table;

use super::{distinct, number};
use crate::record::Record;

/// Between these the table is put.
pub(crate) const MARKS: [&str; 2] = ["<!-- costs -->\n", "<!-- end of costs -->\n"];

/// Models of fewer states are left to table.md.
const LARGE: usize = 100;

/// The page with the table of these results; `None` without the marks.
pub(crate) fn put(page: &str, records: &[Record]) -> Option<String> {
    let (before, rest) = page.split_once(MARKS[0])?;
    let (_, after) = rest.split_once(MARKS[1])?;
    Some(format!("{before}{}\n{}\n{}{after}", MARKS[0], table(records), MARKS[1]))
}

/// In nominal sweeps: to make a certificate and verify it once, and to verify it.
fn table(records: &[Record]) -> String {
    let mut grid = Table::new(&["regime", "S", "certify", "verify", "certify ÷ verify"]);
    let large = |r: &&Record| r.suite == "sweep" && r.case.instance.states >= LARGE;
    let sweeps: Vec<&Record> = records.iter().filter(large).collect();
    for case in distinct(sweeps.iter().map(|r| &r.case)) {
        let cost = |method: &str| {
            let found = sweeps.iter().find(|r| r.case == *case && r.method == method)?;
            found.ratios.get("nominal_sweep").copied()
        };
        let (Some(certify), Some(verify)) = (cost("certify"), cost("verify")) else { continue };
        grid.row([
            case.regime.clone(),
            case.instance.states.to_string(),
            number(certify),
            number(verify),
            number(certify / verify),
        ]);
    }
    grid.markdown()
}
