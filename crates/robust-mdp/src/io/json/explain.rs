//! What is wrong with a file, in words.

use serde_json::error::Category;

use super::value::Wanted;

/// The message of `error`, without its place.
pub(super) fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&suffix).unwrap_or(&text).to_owned()
}

/// What a syntax error means; `wanted` was to come next.
pub(super) fn syntax(error: &serde_json::Error, wanted: Wanted) -> String {
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
