//! Whole drawings and pages.

use super::*;

fn point(x: f64, y: f64) -> Point {
    Point { x, y, low: None, high: None, stopped: false, note: String::new() }
}

fn figure() -> Figure {
    let quartiles =
        |x: f64, y: f64| Point { low: Some(0.5 * y), high: Some(2.0 * y), ..point(x, y) };
    let stopped = Point { stopped: true, note: "60 s".into(), ..point(100.0, 60.0) };
    Figure {
        id: "time".into(),
        title: "Time & \"size\"".into(),
        caption: "Median of <10> runs.".into(),
        x: Axis { label: "states S".into(), scale: Scale::Log },
        y: Axis { label: "seconds".into(), scale: Scale::Log },
        series: vec![
            Series {
                name: "a <b>".into(),
                family: 0,
                points: vec![quartiles(10.0, 0.1), quartiles(30.0, 1.0), stopped],
                band: false,
            },
            Series {
                name: "zero".into(),
                family: 0,
                points: vec![quartiles(10.0, 2.0), point(30.0, 0.0)],
                band: true,
            },
        ],
        command: Some("rmdp solve a.json && echo '<done>'".into()),
    }
}

fn page() -> Page {
    let verdict = |ruling| Verdict {
        claim: "a<b".into(),
        ruling,
        short: "2<3".into(),
        measured: "2×:\n- a < b\n- c".into(),
        why: "w".into(),
        ours: "o".into(),
    };
    let map = HeatMap {
        id: "policy".into(),
        title: "Policy".into(),
        caption: String::new(),
        rows: vec!["s0".into()],
        columns: vec!["run".into(), "wait".into()],
        values: vec![vec![Some(0.25), Some(0.75)]],
    };
    let table = Table {
        caption: "T".into(),
        header: vec!["name".into(), "time".into()],
        rows: vec![vec!["x".into(), "1.5 s".into()], vec!["<y>".into(), "> 60 s".into()]],
    };
    Page {
        title: "Title <script>alert(1)</script>".into(),
        summary: "Summary".into(),
        sections: vec![
            Section {
                id: "One!".into(),
                title: "One".into(),
                blocks: vec![
                    Block::Text("first\n\nsecond </p>".into()),
                    Block::Figure(figure()),
                    Block::HeatMap(map),
                ],
            },
            Section {
                id: "two".into(),
                title: "Two".into(),
                blocks: vec![
                    Block::Warning("busy & loud".into()),
                    Block::Table(table),
                    Block::Verdicts(
                        [
                            Ruling::Holds,
                            Ruling::Holds,
                            Ruling::Fails,
                            Ruling::Open("a <longer> run"),
                        ]
                        .map(verdict)
                        .into(),
                    ),
                    Block::Command("rmdp".into()),
                ],
            },
        ],
        provenance: vec![("version".into(), "1".into())],
    }
}

/// Every tag is closed in turn; void elements of HTML need not be.
#[track_caller]
fn assert_well_formed(text: &str) {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').expect("a tag that ends");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap_or("");
        if tag.starts_with('!') || matches!(name, "meta" | "br") || tag.ends_with('/') {
            continue;
        }
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
            continue;
        }
        open.push(name);
        if matches!(name, "style" | "script") {
            rest = &rest[rest.find(&format!("</{name}")).expect("an end")..];
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_drawing_stands_alone() {
    let text = svg(&figure());
    assert_well_formed(&text);
    assert!(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert_eq!(text.matches("<g class=\"mark ").count(), 5);
    assert_eq!(text.matches(" stopped\"").count(), 1);
    assert_eq!(text.matches("class=\"shape open\"").count(), 2); // stopped, and zero on a log axis
    assert!(text.contains("Time &amp; &quot;size&quot;"));
    assert!(
        text.contains("a &lt;b&gt;\nstates S: 10\nseconds: 0.1\nbetween 0.05 and 0.2"),
        "{text}"
    );
    assert!(text.contains("seconds: more than 60\nstopped by its limit\n60 s</title>"), "{text}");
    assert!(!text.contains("NaN") && !text.contains("inf"));
    assert_eq!(text, svg(&figure()));
    let expected = include_str!("figure.svg");
    if std::env::var_os("RMDP_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/figure.svg");
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(text, expected);
}

#[test]
fn odd_numbers_do_not_break_a_drawing() {
    let mut odd = figure();
    for (x, y) in [(f64::NAN, 1.0), (1.0, f64::NAN), (1.0, f64::INFINITY), (-1.0, -1.0)] {
        let bounded = Point { low: Some(f64::NEG_INFINITY), high: Some(f64::NAN), ..point(x, y) };
        odd.series[0].points.push(bounded);
    }
    odd.series.push(Series { name: String::new(), family: 99, points: Vec::new(), band: true });
    let text = svg(&odd);
    assert_well_formed(&text);
    assert_eq!(text.matches("<g class=\"mark ").count(), 9);
    assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
}

#[test]
fn a_page_is_whole_and_escaped() {
    let text = html(&page());
    assert_well_formed(&text);
    assert!(!text.contains("<script>alert") && !text.contains("<done>") && !text.contains("<y>"));
    assert!(text.contains("<title>Title &lt;script&gt;alert(1)&lt;/script&gt;</title>"));
    assert!(text.contains("<a href=\"#one\">One</a>") && text.contains("<section id=\"one\""));
    assert!(text.contains("<p>first</p>\n<p>second &lt;/p&gt;</p>"));
    assert!(text.contains("Of 4 claims 2 hold, 1 does not hold, 1 is not decided."));
    assert!(text.contains("<td class=\"number\">&gt; 60 s</td>"));
    assert!(text.contains("<td class=\"ruling fails\">✗ does not hold</td>"));
    assert!(text.contains("<p class=\"warning\">busy &amp; loud</p>"));
    // Short cells; the reasoning is folded below each claim, and says what would decide an open one.
    assert!(text.contains("<td>2&lt;3</td></tr>\n<tr class=\"reasons\">"));
    assert_eq!(text.matches("<details>\n<summary>What this rests on</summary>").count(), 4);
    assert!(text.contains("<b>Measured.</b> 2×:</p>\n<ul>\n<li>a &lt; b</li>\n<li>c</li>\n</ul>"));
    assert_eq!(text.matches("<b>What would decide it.</b> a &lt;longer&gt; run</p>").count(), 1);
    assert!(text.contains("<dt>version</dt><dd>1</dd>"));
    // Nothing comes from elsewhere.
    let outside = text.replace("http://www.w3.org/2000/svg", "");
    assert!(
        !outside.contains("http:") && !outside.contains("https:") && !outside.contains("url(//")
    );
    assert!(!text.contains(" style=\"") && !text.contains(" onclick="));
}
