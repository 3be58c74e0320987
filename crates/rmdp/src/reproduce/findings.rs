//! The verdicts as files: claims.csv for programs, claims.md for documents.

use crate::page::{Ruling, Verdict};

fn word(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Holds => "holds",
        Ruling::Partly => "partly",
        Ruling::Fails => "fails",
        Ruling::Open => "open",
    }
}

/// One line a claim; all fields quoted.
pub(crate) fn csv(verdicts: &[Verdict]) -> String {
    let mut text = String::from("claim,ruling,measured,why,ours\n");
    for verdict in verdicts {
        let Verdict { claim, measured, ruling, why, ours } = verdict;
        let fields = [claim, word(*ruling), measured, why, ours];
        text += &fields.map(|f| format!("\"{}\"", f.replace('"', "\"\""))).join(",");
        text.push('\n');
    }
    text
}

/// A table of the rulings, and below it what each rests on.
pub(crate) fn markdown(verdicts: &[Verdict]) -> String {
    let mut text = String::from("| claim of the paper | ruling |\n|---|---|\n");
    for verdict in verdicts {
        text += &format!("| {} | {} |\n", verdict.claim, word(verdict.ruling));
    }
    for verdict in verdicts {
        text += &format!(
            "\n**{}** {}.\n\n- Measured: {}\n- Why: {}\n- Ours: {}\n",
            verdict.claim,
            capital(word(verdict.ruling)),
            verdict.measured,
            verdict.why,
            verdict.ours
        );
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

    #[test]
    fn quotes_are_doubled() {
        let verdict = Verdict {
            claim: "A \"b\".".into(),
            measured: "1, 2".into(),
            ruling: Ruling::Partly,
            why: String::new(),
            ours: "c".into(),
        };
        let csv = csv(std::slice::from_ref(&verdict));
        assert!(csv.ends_with("\n\"A \"\"b\"\".\",\"partly\",\"1, 2\",\"\",\"c\"\n"), "{csv}");
        assert!(markdown(&[verdict]).contains("**A \"b\".** Partly.\n"));
    }
}
