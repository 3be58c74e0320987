//! `rmdp report`: what a page holds, that it repeats, and what it refuses.

mod support;

use std::fs;

use support::Folder;
#[cfg(target_os = "linux")]
use support::{finish, interrupt_when_it_listens};

/// A model, results of three radii and a trace.
fn solved() -> Folder {
    let folder = Folder::new();
    let run = |line: &str| folder.rmdp(&line.split(' ').collect::<Vec<_>>()).expect(0);
    run("generate machine -o m.json");
    for radius in ["0.001", "0.01", "0.1"] {
        run(&format!(
            "solve m.json --radius {radius} --json r{radius}.json --trace t{radius}.jsonl"
        ));
    }
    folder
}

fn report(folder: &Folder, flags: &str) -> String {
    let line = format!("report {flags} -o page.html");
    folder.rmdp(&line.split_whitespace().collect::<Vec<_>>()).expect(0);
    folder.read("page.html")
}

/// The part of a page between the headings of two sections.
fn section<'p>(page: &'p str, id: &str) -> &'p str {
    let start = page.find(&format!("<section id=\"{id}\"")).unwrap_or_else(|| panic!("no {id}"));
    let rest = &page[start..];
    &rest[..rest.find("</section>").expect("an end")]
}

fn marks(section: &str) -> usize {
    section.matches("<g class=\"mark ").count()
}

#[test]
fn a_result_alone_gives_its_bounds_and_policy() {
    let folder = solved();
    let page = report(&folder, "r0.01.json");
    let json = folder.json("r0.01.json");
    assert!(page.contains("Robust solution: r0.01.json") && page.contains("certified"));
    assert_eq!(section(&page, "policy").matches("class=\"cell").count(), 20);
    for section in ["convergence", "worst-case", "price"] {
        assert!(!page.contains(&format!("<section id=\"{section}\"")), "{section}");
    }
    // The bounds in the table hold those of the file.
    let cell = page.split(" to ").next().unwrap().rsplit('>').next().unwrap();
    assert!(cell.parse::<f64>().unwrap() <= json["value"]["lower"].as_f64().unwrap());
    assert!(page.contains("<dd>rmdp report r0.01.json -o page.html</dd>"));
}

#[test]
fn a_model_gives_names_transitions_and_prices() {
    let folder = solved();
    let flags = "r0.01.json --model m.json --trace t0.01.jsonl --radii 0.001:0.1:5";
    let page = report(&folder, flags);
    let sweeps = folder.read("t0.01.jsonl").lines().count();
    assert_eq!(marks(section(&page, "convergence")), 3 * sweeps);
    assert!(section(&page, "policy").contains(">condition 1</text>"));
    let worst = section(&page, "worst-case");
    assert!(worst.contains("condition 8") && worst.contains("no repair"));
    let price = section(&page, "price");
    assert_eq!(marks(price), 15); // three lines over five radii
    assert!(price.contains("worst case of the nominal policy"));
    assert!(price.contains("<td class=\"number\">0.0316228</td>"));
    assert_eq!(page, report(&folder, flags), "the same input gives the same page");
}

/// Robust values rise with the radius; the radius solved on the spot agrees with the one given.
#[test]
fn results_of_several_radii_are_compared() {
    let folder = solved();
    let page =
        report(&folder, "r0.1.json r0.001.json r0.01.json --model m.json --radii 0.01:0.1:2");
    let price = section(&page, "price");
    assert_eq!(marks(price), 2 * 3 + 3 * 2);
    let bounds = |radius: &str| {
        let row = format!("<tr><td class=\"number\">{radius}</td><td class=\"number\">");
        let cells = price.match_indices(&row).map(|(at, _)| &price[at + row.len()..]);
        let of = |cell: &str| {
            let (low, high) = cell[..cell.find('<').unwrap()].split_once(" to ").unwrap();
            (low.parse::<f64>().unwrap(), high.parse::<f64>().unwrap())
        };
        cells.map(of).collect::<Vec<_>>()
    };
    for radius in ["0.01", "0.1"] {
        let both = bounds(radius);
        let [a, b] = both[..] else { panic!("{both:?}") };
        assert!(a.0 <= b.1 && b.0 <= a.1, "{a:?} {b:?}");
    }
    let rising = ["0.001", "0.01", "0.1"].map(|r| bounds(r)[0]);
    assert!(rising[0].1 < rising[1].0 && rising[1].1 < rising[2].0, "{rising:?}");
}

#[test]
fn rewards_and_sets_per_action_are_told() {
    let folder = solved();
    let rewards = folder.read("m.json");
    let rewards = rewards.replace("min-cost", "max-reward").replace("\"cost\":", "\"reward\":-");
    fs::write(folder.path().join("n.json"), rewards).unwrap();
    let solve = "solve n.json --set kl --radius 0.05 --rectangular sa --json n1.json";
    folder.rmdp(&solve.split(' ').collect::<Vec<_>>()).expect(0);
    let page = report(&folder, "n1.json --model n.json --radii 0:0.1:3");
    assert!(page.contains("maximise the expected discounted reward"));
    assert!(page.contains("KL, (s,a)-rectangular, support nominal"));
    assert_eq!(marks(section(&page, "price")), 9);
}

#[test]
fn figures_are_files_of_their_own() {
    let folder = solved();
    let page = report(&folder, "r0.01.json --model m.json --trace t0.01.jsonl --svg new/figures");
    let mut names: Vec<String> = fs::read_dir(folder.path().join("new/figures"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = ["bounds-by-sweep.svg", "gap-by-sweep.svg", "gap-by-time.svg", "policy-1.svg"];
    assert_eq!(names[..4], expected);
    assert_eq!(names.len(), 5);
    for name in names {
        let text = folder.read(&format!("new/figures/{name}"));
        assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"), "{name}");
        let id = name.trim_end_matches(".svg");
        assert!(page.contains(&format!("<figure id=\"figure-{id}\">")), "{name}");
    }
}

/// Names from a file are text, not markup.
#[test]
fn names_cannot_become_markup() {
    let folder = solved();
    let model = folder.read("m.json").replace("condition 1", "<img src=x onerror=alert(1)>");
    fs::write(folder.path().join("bad.json"), model).unwrap();
    folder.rmdp(&["solve", "bad.json", "--radius", "0.01", "--json", "b.json"]).expect(0);
    let page = report(&folder, "b.json --model bad.json");
    assert!(!page.contains("<img") && page.contains("&lt;img src=x onerror=alert(1)&gt;"));
}

/// Only what was verified for the page is called proved, whatever a result says of itself.
#[test]
fn proved_is_what_a_certificate_proves() {
    let folder = solved();
    let solve = |radius: &str, name: &str| {
        let line =
            format!("solve m.json --radius {radius} --json {name}.json --certificate {name}");
        folder.rmdp(&line.split(' ').collect::<Vec<_>>()).expect(0);
        assert_eq!(folder.json(&format!("{name}.json"))["verified"], true);
    };
    solve("0.01", "a");
    solve("0.02", "b");
    for flags in ["a.json", "a.json --model m.json", "r0.01.json --trace t0.01.jsonl"] {
        let page = report(&folder, flags);
        assert!(!page.contains("proved") && page.contains(">reported</td>"), "{flags}");
        let again = page.contains("computed again from the model, and agrees");
        assert_eq!(again, flags.contains("--model"), "{flags}");
    }
    let page = report(&folder, "a.json b.json --model m.json --certificate b");
    assert!(page.contains("Those of b.json are proved: their certificates were verified"));
    assert_eq!(page.matches(">proved</td>").count(), 1);
    let page = report(&folder, "a.json b.json --model m.json --certificate b --certificate a");
    assert!(page.contains("All bounds of the results are proved"));
    assert_eq!(page.matches(">proved</td>").count(), 2);

    // A certificate of something else, and one that was tampered with.
    let told = |flags: &str, code: i32| {
        let line = format!("report {flags} -o none.html");
        folder.rmdp(&line.split(' ').collect::<Vec<_>>()).expect(code).stderr
    };
    let other = told("a.json --model m.json --certificate b", 2);
    assert!(other.contains("b: holds, but proves none of the results"), "{other}");
    let mut narrow = folder.json("a.json");
    for s in 0..narrow["lower"].as_array().unwrap().len() {
        narrow["lower"][s] = narrow["values"][s].clone();
    }
    let (lower, upper) = (narrow["lower"].clone(), narrow["upper"].clone());
    let widths = (0..10).map(|s| upper[s].as_f64().unwrap() - lower[s].as_f64().unwrap());
    narrow["gap"] = widths.fold(0.0, f64::max).into();
    narrow["value"]["lower"] = narrow["value"]["upper"].clone();
    fs::write(folder.path().join("narrow.json"), narrow.to_string()).unwrap();
    let other = told("narrow.json --model m.json --certificate a", 2);
    assert!(other.contains("a: holds, but proves none of the results"), "{other}");
    assert!(!folder.path().join("none.html").exists());
}

/// The bounds at the start are what the page shows first: those of another start are no result's.
#[test]
fn a_value_of_another_start_is_neither_proved_nor_reported() {
    let folder = solved();
    let solve = "solve m.json --radius 0.01 --json a.json --certificate a";
    folder.rmdp(&solve.split(' ').collect::<Vec<_>>()).expect(0);
    let told = |flags: &str| {
        let line = format!("report {flags} -o none.html");
        folder.rmdp(&line.split(' ').collect::<Vec<_>>()).expect(2).stderr
    };
    let result = folder.json("a.json");
    let write = |name: &str, lower: f64, upper: f64| {
        let mut altered = result.clone();
        altered["value"] = serde_json::json!({"lower": lower, "upper": upper});
        fs::write(folder.path().join(name), altered.to_string()).unwrap();
    };
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    write("first.json", number(&result["lower"][0]), number(&result["upper"][0]));
    let (lower, upper) = (number(&result["value"]["lower"]), number(&result["value"]["upper"]));
    let middle = 0.5 * (lower + upper);
    write("low.json", lower, middle);
    write("high.json", middle, upper);
    for name in ["first.json", "low.json", "high.json"] {
        let proved = told(&format!("{name} --model m.json --certificate a"));
        assert!(proved.contains("a: holds, but proves none of the results"), "{name}: {proved}");
        let reported = told(&format!("{name} --model m.json"));
        let start = format!("{name} is no result for the model m.json: “value” lies between");
        assert!(reported.contains(&start), "{reported}");
        assert!(reported.contains("from a uniform start"), "{reported}");
    }
    assert!(!folder.path().join("none.html").exists());
    // A gap that is smaller by less than rounding explains is not proved either.
    let mut altered = result.clone();
    altered["gap"] = (number(&result["gap"]) * (1.0 - 1e-12)).into();
    fs::write(folder.path().join("gap.json"), altered.to_string()).unwrap();
    let proved = told("gap.json --model m.json --certificate a");
    assert!(proved.contains("a: holds, but proves none of the results"), "{proved}");
    report(&folder, "gap.json --model m.json");
}

#[test]
fn a_policy_of_another_model_is_refused() {
    let folder = solved();
    let other = folder.read("m.json").replace("\"cost\":20", "\"cost\":30");
    assert_ne!(other, folder.read("m.json"));
    fs::write(folder.path().join("other.json"), other).unwrap();
    let args = ["report", "r0.01.json", "--model", "other.json", "-o", "page.html"];
    let told = folder.rmdp(&args).expect(2).stderr;
    assert!(told.contains("r0.01.json is no result for the model other.json: state "), "{told}");
    assert!(told.contains("the worst case of its policy lies between"), "{told}");
    folder.rmdp(&["solve", "m.json", "--set", "none", "--json", "none.json"]).expect(0);
    let args = "report none.json --model m.json --radii 0:1:3 -o page.html";
    let told = folder.rmdp(&args.split(' ').collect::<Vec<_>>()).expect(2).stderr;
    assert!(told.contains("--radii needs a result with an uncertainty set"), "{told}");
    let args = ["report", "r0.01.json", "--trace", "t0.1.jsonl", "-o", "page.html"];
    let told = folder.rmdp(&args).expect(2).stderr;
    assert!(told.contains("t0.1.jsonl: the trace of none of the results"), "{told}");
    assert!(!folder.path().join("page.html").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_with_the_radii_solved_so_far() {
    let folder = Folder::new();
    let run = |line: &str| folder.rmdp(&line.split(' ').collect::<Vec<_>>()).expect(0);
    run("generate garnet --states 120 --branching 1 -o g.npz");
    run("solve g.npz --set kl --radius 0.1 --json r.json");
    let args = "report r.json --model g.npz --radii 0.0001:1:1000 --threads 1 -o page.html";
    let child = folder.start(&args.split(' ').collect::<Vec<_>>());
    // Once it catches the signal it has a thousand radii before it, which take seconds.
    interrupt_when_it_listens(&child);
    finish(child).expect(3);
    let page = folder.read("page.html");
    assert!(page.contains("of 1000 radii were solved.") && page.ends_with("</html>\n"));
}

/// Mass that moves between two costs of one next state is a change of the kernel.
#[test]
fn the_worst_case_tells_costs_of_one_next_state_apart() {
    let folder = Folder::new();
    let header = "idstatefrom,idaction,idstateto,probability,cost\n";
    let lines = "0,0,1,0.5,0\n0,0,1,0.5,10\n1,0,1,1,0\n";
    fs::write(folder.path().join("m.csv"), format!("{header}{lines}")).unwrap();
    for set in ["--set kl --radius 0.1", "--radius 0.1", "--radius 0.1 --support nominal"] {
        let solve = format!("solve m.csv {set} --discount 0.9 --json r.json");
        folder.rmdp(&solve.split(' ').collect::<Vec<_>>()).expect(0);
        let page = report(&folder, "r.json --model m.csv");
        let worst = section(&page, "worst-case");
        assert!(!worst.contains("is the nominal kernel itself"), "{set}");
        for told in ["state 1 at cost 0<", "state 1 at cost 10<", "a column for each of them"] {
            assert!(worst.contains(told), "{set}: no {told}");
        }
    }
    folder.rmdp(&["solve", "m.csv", "--set", "none", "--discount", "0.9", "--json", "r.json"]);
    let page = report(&folder, "r.json --model m.csv");
    assert!(section(&page, "worst-case").contains("is the nominal kernel itself"));
}
