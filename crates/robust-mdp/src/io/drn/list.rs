//! Lists of rewards, `[1, 0.5]`, or of models with intervals `[[1, 1], [0.5, 0.5]]`.

/// Where the bracket is closed that `text` begins with.
pub(super) fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    text.bytes().position(|b| {
        match b {
            b'[' => open += 1,
            b']' => open -= 1,
            _ => {}
        }
        open == 0
    })
}

/// What stands before the list that a line ends with, and what is in the list. A name may end in brackets
/// too: before a list there is a blank.
pub(super) fn at_end(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_suffix(']')?;
    let mut open = 1_usize;
    let start = inside.bytes().rposition(|b| {
        match b {
            b']' => open += 1,
            b'[' => open -= 1,
            _ => {}
        }
        open == 0
    })?;
    let (before, list) = (&inside[..start], &inside[start + 1..]);
    let apart = before.is_empty() || before.ends_with(|c: char| c.is_ascii_whitespace());
    apart.then_some((before.trim_ascii_end(), list))
}

/// One entry of a list.
pub(super) fn entry(list: &str, which: usize) -> Option<&str> {
    let mut open = 0_usize;
    let between = |c: char| {
        match c {
            '[' => open += 1,
            ']' => open = open.saturating_sub(1),
            _ => {}
        }
        c == ',' && open == 0
    };
    list.split(between).nth(which).map(str::trim_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_within_brackets() {
        assert_eq!(closing("[1, 0] init"), Some(5));
        assert_eq!(closing("[[1, 2], [0, 0]] a]"), Some(15));
        assert_eq!((closing("[[1, 2]"), closing("[")), (None, None));
        assert_eq!(at_end("go [1, 0]"), Some(("go", "1, 0")));
        assert_eq!(at_end("go [[1, 2], [0, 0]]"), Some(("go", "[1, 2], [0, 0]")));
        assert_eq!(at_end("a[3] [1]"), Some(("a[3]", "1")));
        assert_eq!(at_end("[1]"), Some(("", "1")));
        assert_eq!(
            (at_end("a[3]"), at_end("a]"), at_end("]"), at_end("go")),
            (None, None, None, None)
        );
        assert_eq!((entry("1, 0", 1), entry("1, 0", 2)), (Some("0"), None));
        assert_eq!(entry("[1, 2], [0, 3]", 1), Some("[0, 3]"));
        assert_eq!(entry("]1, 2", 1), Some("2"));
    }
}
