//! What is wrong with a JSON text, in words of the file and not of the program that reads it.

use serde_json::Error;
use serde_json::error::Category;

/// What `error` means, without its place.
pub(crate) fn in_words(error: &Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    match error.classify() {
        Category::Io => text.to_owned(),
        Category::Eof => "the text ends too early".to_owned(),
        Category::Syntax => "the text is not valid JSON".to_owned(),
        Category::Data => of_data(text),
    }
}

/// As [`in_words`], with its place.
pub(crate) fn with_place(error: &Error) -> String {
    match (in_words(error), error.line()) {
        (text, 0) => text,
        (text, line) => format!("{text} (line {line}, column {})", error.column()),
    }
}

/// What is valid JSON, and something else than was expected.
fn of_data(text: &str) -> String {
    if let Some((found, _)) = text.split_once(", expected struct ") {
        let found = found.strip_prefix("invalid type: ").unwrap_or("a list");
        return format!("found {found}, expected an object with named fields");
    }
    if text.contains("untagged enum") {
        return "a value is of the wrong kind, expected a number or a list of numbers".to_owned();
    }
    if let Some(field) = text.strip_prefix("missing field ") {
        return format!("the field {field} is missing");
    }
    let text = text.replace("expected u64", "expected a whole number of at least 0");
    let text = text.replace("expected f64", "expected a number");
    match text.strip_prefix("invalid type: ").or(text.strip_prefix("invalid value: ")) {
        Some(found) => format!("found {found}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    struct Thing {
        #[allow(dead_code)]
        size: f64,
        #[allow(dead_code)]
        either: Either,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    enum Either {
        #[allow(dead_code)]
        One(f64),
        #[allow(dead_code)]
        Many(Vec<f64>),
    }

    #[test]
    fn no_word_of_the_program_is_heard() {
        for (text, expected) in [
            ("[]", "found a list, expected an object with named fields (line 1, column 2)"),
            ("7", "found integer `7`, expected an object with named fields (line 1, column 1)"),
            ("{}", "the field `size` is missing (line 1, column 2)"),
            ("{\"size\":\n1", "the text ends too early (line 2, column 1)"),
            ("{size", "the text is not valid JSON (line 1, column 2)"),
            ("{\"size\":\"x\"}", "found string \"x\", expected a number (line 1, column 11)"),
            (
                "{\"size\":1,\"either\":\"x\"}",
                "a value is of the wrong kind, expected a number or a list of numbers (line 1, column 23)",
            ),
        ] {
            let error = serde_json::from_str::<Thing>(text).unwrap_err();
            let found = with_place(&error);
            assert_eq!(found, expected, "{text}");
            assert!(found.starts_with(&in_words(&error)));
        }
    }
}
