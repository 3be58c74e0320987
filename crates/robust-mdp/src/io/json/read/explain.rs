//! What is wrong with a file, in words.

use std::path::Path;

use serde_json::error::Category;

use super::value::Wanted;
use super::{Depth, JsonReader};
use crate::error::{Error, Label};
use crate::io::{model_error, parse_error};

impl JsonReader {
    /// What `error` means at the place that was reached.
    pub(super) fn explain(&self, path: &Path, error: serde_json::Error) -> Error {
        // An error at a line's end is one of that line, though the parser is at the next one.
        let line = error.line().saturating_sub(usize::from(error.column() == 0)) as u64;
        let noted = self.lines.noted().filter(|_| error.is_data());
        let line = Some(noted.unwrap_or(line)).filter(|&line| line > 0);
        if error.is_io() {
            return Error::Io { path: path.to_owned(), source: error.into() };
        }
        if let Some(wrong) = self.builder.error() {
            return model_error(path, line, wrong.clone());
        }
        if error.is_eof() {
            return self.ends_early(path, &error);
        }
        let message = syntax(&error, self.wanted);
        match self.depth {
            Depth::Model => parse_error(path, line.filter(|_| !self.lacking), message),
            _ => parse_error(path, line, format!("{}: {message}", self.place())),
        }
    }

    fn ends_early(&self, path: &Path, error: &serde_json::Error) -> Error {
        let line = Some(error.line() as u64);
        if self.wanted == Wanted::Model && error.column() == 0 {
            return parse_error(path, None, "the file is empty, expected a model as JSON");
        }
        let message = match self.depth {
            Depth::Model => "the file ends too early, expected a closing }".to_owned(),
            _ => {
                let place = self.place();
                format!("the file ends too early, in {place}, expected a closing }}")
            }
        };
        parse_error(path, line, message)
    }

    /// “state 0 (“ok”), action 1 (“run”)”.
    fn place(&self) -> String {
        let label =
            |index, name: &Option<String>| Label { index, name: name.as_deref().map(Into::into) };
        let state = label(self.at.0, &self.state_name);
        match self.depth {
            Depth::Action => {
                let action = label(self.at.1, &self.action_name);
                format!("state {state}, action {action}")
            }
            _ => format!("state {state}"),
        }
    }
}

/// The message of `error`, without its place.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&suffix).unwrap_or(&text).to_owned()
}

/// What a syntax error means; `wanted` was to come next.
fn syntax(error: &serde_json::Error, wanted: Wanted) -> String {
    let text = message(error);
    if error.classify() != Category::Syntax {
        return text;
    }
    let plain = match text.as_str() {
        "expected value" | "expected ident" => {
            let rule = wanted.rule();
            let about = if wanted.is_number() { " (JSON has no NaN and no Infinity)" } else { "" };
            return format!("{rule}, found something that is not JSON{about}");
        }
        "number out of range" => {
            let subject = wanted.rule().split(" must be").next().unwrap_or("a number");
            return format!("{subject} is too large a number, expected at most 1.8e308 in size");
        }
        "invalid number" => {
            "a number is malformed, expected one like 0.5, -2 or 1e-3 \
             (JSON has no NaN and no Infinity)"
        }
        "expected `:`" => "a key without a value, expected a colon after the key",
        "expected `,` or `]`" => "a list goes on without a comma, expected a comma or ]",
        "expected `,` or `}`" => "an object goes on without a comma, expected a comma or }",
        "key must be a string" => "a key without quotes, expected one in double quotes",
        "trailing comma" => "a comma before a closing bracket, expected another entry or no comma",
        "trailing characters" => "more text after the end of the model, expected nothing",
        "invalid escape"
        | "lone leading surrogate in hex escape"
        | "unexpected end of hex escape" => {
            "a backslash in a text starts nothing known, expected \\\\, \\\", \\n, \\t or \\u0000"
        }
        "invalid unicode code point" => "a text is not valid UTF-8, expected a file in UTF-8",
        t if t.starts_with("control character") => {
            "a text runs over the end of its line, expected a closing \""
        }
        "recursion limit exceeded" => "brackets are nested too deeply, expected a model",
        _ => return format!("the text is not valid JSON: {text}"),
    };
    plain.to_owned()
}
