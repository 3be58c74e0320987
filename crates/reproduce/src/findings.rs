//! The verdicts as files: claims.csv for programs, claims.md for documents.

use robust_mdp_page::{Ruling, Verdict};

/// The word for programs.
fn key(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Holds => "holds",
        Ruling::Partly => "partly",
        Ruling::Fails => "fails",
        Ruling::Open(_) => "open",
    }
}

/// One line a claim; all fields quoted.
pub(crate) fn csv(verdicts: &[Verdict]) -> String {
    let mut text = String::from("claim,ruling,measured,why,ours,short,would_decide\n");
    for verdict in verdicts {
        let Verdict { claim, ruling, short, measured, why, ours } = verdict;
        let fields = [claim, key(*ruling), measured, why, ours, short, would_decide(*ruling)];
        let quoted = |f: &str| format!("\"{}\"", f.replace('"', "\"\"").replace("\n- ", " "));
        text += &fields.map(quoted).join(",");
        text.push('\n');
    }
    text
}

fn would_decide(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Open(missing) => missing,
        Ruling::Holds | Ruling::Partly | Ruling::Fails => "",
    }
}

/// Warnings, a table of the rulings, and below it what each rests on.
pub(crate) fn markdown(warnings: &[String], verdicts: &[Verdict]) -> String {
    let mut text: String = warnings.iter().map(|w| format!("**Warning.** {w}\n\n")).collect();
    text += "| claim of the paper | ruling | in short |\n|---|---|---|\n";
    for Verdict { claim, ruling, short, .. } in verdicts {
        text += &format!("| {claim} | {} | {short} |\n", ruling.word());
    }
    for verdict in verdicts {
        text += &format!("\n**{}** {}.\n\n", verdict.claim, capital(verdict.ruling.word()));
        let parts = [
            ("Measured", verdict.measured.as_str()),
            ("Why", &verdict.why),
            ("What would decide it", would_decide(verdict.ruling)),
            ("Ours", &verdict.ours),
        ];
        let lines = parts.iter().filter(|(_, said)| !said.is_empty());
        let nested = |said: &str| said.replace("\n- ", "\n  - ");
        text +=
            &lines.map(|(name, said)| format!("- {name}: {}\n", nested(said))).collect::<String>();
    }
    text
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map_or(String::new(), |c| c.to_uppercase().collect::<String>() + letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(ruling: Ruling) -> Verdict {
        Verdict {
            claim: "A \"b\".".into(),
            ruling,
            short: "2 of 3".into(),
            measured: "1, 2:\n- d".into(),
            why: String::new(),
            ours: "c".into(),
        }
    }

    #[test]
    fn quotes_are_doubled() {
        let csv = csv(&[verdict(Ruling::Partly)]);
        let line = "\n\"A \"\"b\"\".\",\"partly\",\"1, 2: d\",\"\",\"c\",\"2 of 3\",\"\"\n";
        assert!(csv.ends_with(line), "{csv}");
    }

    #[test]
    fn short_rows_and_the_reasoning_below() {
        let warnings = ["The machine was busy.".to_owned()];
        let text = markdown(&warnings, &[verdict(Ruling::Partly), verdict(Ruling::Open("A run."))]);
        let expected = "**Warning.** The machine was busy.\n\n\
                        | claim of the paper | ruling | in short |\n|---|---|---|\n\
                        | A \"b\". | holds in part | 2 of 3 |\n\
                        | A \"b\". | not decided | 2 of 3 |\n\n\
                        **A \"b\".** Holds in part.\n\n- Measured: 1, 2:\n  - d\n- Ours: c\n\n\
                        **A \"b\".** Not decided.\n\n- Measured: 1, 2:\n  - d\n\
                        - What would decide it: A run.\n- Ours: c\n";
        assert_eq!(text, expected);
    }
}
