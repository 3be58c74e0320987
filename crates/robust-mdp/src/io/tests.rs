//! Round trips through every format, and radii, policies and kernels.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::instances::{Garnet, healthcare, machine_replacement};
use crate::model::{ModelBuilder, Objective};
use crate::sets::{EntryWeights, Ground, Support};

/// A folder of its own, removed at the end.
pub(super) struct Folder(tempfile::TempDir);

impl Folder {
    pub(super) fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(super) fn with(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.file(name);
        fs::write(&path, content).unwrap();
        path
    }
}

/// Transition costs, rewards, uneven actions, a terminal state that nothing reaches, odd names.
fn rich() -> Model {
    let mut b = ModelBuilder::new(0.95)
        .objective(Objective::MaxReward)
        .initial(vec![0.5, 0.25, 0.25, 0.0])
        .state("say \"so\", twice")
        .action("gö", 1.5, &[(1, 1.0)]);
    b.add_action(Some("a,b"), 0.0);
    b.add_transition(0, 1.0 / 3.0, -2.0);
    b.add_transition(1, 2.0 / 3.0, 0.1);
    b.add_transition(2, 0.0, 7.0);
    b.state("two\nlines")
        .action("", -1e-300, &[(1, 1.0)])
        .terminal("x")
        .terminal("y")
        .build()
        .unwrap()
}

fn sparse() -> Model {
    Garnet { states: 60, actions: 3, branching: 0.05, ..Garnet::default() }.model().unwrap()
}

fn nameless(mut model: Model) -> Model {
    model.state_names = None;
    model.action_names = None;
    model
}

fn through(model: &Model, name: &str) -> Model {
    let folder = Folder::new();
    write_model(model, &folder.file(name), None).unwrap();
    read_model(&folder.file(name), None, Some(model.discount())).unwrap().0
}

#[test]
fn models_come_back_bit_for_bit() {
    let machine = machine_replacement(12, 0.8).unwrap();
    let dense = Garnet { seed: 3, ..Garnet::default() }.model().unwrap();
    assert!(dense.is_dense() && !sparse().is_dense());
    for model in [machine, dense, sparse(), healthcare(9, 0.5).unwrap(), rich()] {
        assert_eq!(through(&model, "m.json"), model);
        let mut plain = nameless(model);
        assert_eq!(through(&plain, "m.npz"), plain);
        plain.initial = None;
        if !plain.has_transition_costs() {
            assert_eq!(through(&plain, "m.csv"), plain);
        }
    }
}

/// Intervals, and a reward of 1 on reaching one of the terminal states.
fn reaching() -> Model {
    let mut b = ModelBuilder::new(0.95).objective(Objective::MaxReward);
    b.add_state(None);
    for bounds in [[0.0, 0.7], [0.3, 1.0]] {
        b.add_action(None, 0.0);
        b.add_interval(0, None, [0.1, 0.6], 0.0);
        b.add_interval(1, None, bounds, 1.0);
    }
    b.add_state(None);
    b.mark_terminal();
    b.build().unwrap()
}

#[test]
fn intervals_of_numpy_arrays_and_of_json() {
    let model = reaching();
    for name in ["m.json", "m.npz"] {
        assert_eq!(through(&model, name), model);
    }
    let folder = Folder::new();
    for (bounds, expected) in [
        (
            "[0,1,0,0.5,0.75]",
            "line 2: state 0, action 0: the interval [0.5, 0.75] of next state 0 does",
        ),
        ("[0,1,0,0.5,x]", "line 2"),
        ("[0,1,0,\"a\",1]", "the bounds of a probability must be numbers, found the text \"a\""),
        ("[0,1,0,0.5]", "or [state, probability, cost, lower, upper], found a list of 4 entries"),
        ("[0,1,0,0.5,1,1]", "found a list of more than 5 entries"),
    ] {
        let text = format!(
            "{{\"format\":\"robust-mdp\",\"version\":1,\"objective\":\"min-cost\",\"discount\":0.5,\n\
             \"states\":[{{\"actions\":[{{\"cost\":1,\"next\":[{bounds}]}}]}}]}}"
        );
        let error = read_model(&folder.with("m.json", text), None, None).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn intervals_of_tables() {
    let (model, folder) = (reaching(), Folder::new());
    assert_eq!(write_model(&model, &folder.file("m.csv"), None).unwrap().len(), 1, "the discount");
    let text = fs::read_to_string(folder.file("m.csv")).unwrap();
    let header = "idstatefrom,idaction,idstateto,probability,reward,lower,upper\n";
    assert!(text.starts_with(header) && text.contains("\n0,0,0,"), "{text}");
    assert!(text.contains(",0.1,0.6\n") && text.contains(",0.3,1.0\n"), "{text}");
    for name in ["m.csv", "m.parquet"] {
        let back = through(&model, name);
        assert_eq!(back, model, "{name}");
        assert!(back.has_intervals());
    }
    let plain = Garnet::default().model().unwrap();
    write_model(&plain, &folder.file("p.csv"), None).unwrap();
    assert!(!fs::read_to_string(folder.file("p.csv")).unwrap().contains("lower"));
    let head = "idstatefrom,idaction,idstateto,probability,cost";
    for (text, expected) in [
        (format!("{head},lower\n0,0,0,1,0,1\n"), "line 1: a column “lower” without “upper”"),
        (format!("{head},upper\n0,0,0,1,0,1\n"), "line 1: a column “upper” without “lower”"),
        (
            format!("{head},lower,upper,idoutcome\n0,0,0,1,0,0,1,0\n"),
            "line 1: columns “idoutcome” and “lower”, expected outcomes or intervals",
        ),
        (
            format!("{head},lower,upper\n0,0,0,0.5,0,0,1\n0,0,1,0.5,0,0.75,1\n"),
            "line 3: state 0, action 0: the interval [0.75, 1.0] of next state 1 does not contain its \
             probability 0.5",
        ),
        (
            format!("{head},lower,upper\n0,0,0,1,0,0.5,2\n"),
            "line 2: state 0, action 0: the interval [0.5, 2.0] of next state 0, expected 0 ≤ lower",
        ),
        (
            format!("{head},lower,upper\n0,0,0,1,0,x,1\n"),
            "line 2: state 0, action 0: lower is “x”, expected a number",
        ),
        (
            format!("{head},lower,upper\n0,0,0,1,0,1\n"),
            "line 2: state 0, action 0: only 6 of 7 columns",
        ),
    ] {
        let error =
            read_model(&folder.with("b.csv", text), None, Some(0.5)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Weights and distances by name and by number, each once; what is missing, twice or of no use is told.
#[test]
fn what_sets_are_told() {
    let folder = Folder::new();
    let model = ModelBuilder::new(0.5)
        .state("a")
        .action("go", 1.0, &[(0, 0.5), (1, 0.5)])
        .action("stay", 2.0, &[(0, 1.0)])
        .state("b")
        .action("go", 0.0, &[(2, 1.0)])
        .terminal("end")
        .build()
        .unwrap();
    assert!(model.is_dense());
    let weights = |text: &str, support| {
        let found = read_entry_weights(&folder.with("w.csv", text), &model, support);
        found.map_err(|e| e.to_string().split_once("w.csv").unwrap().1.to_owned())
    };
    let per_state = weights("weight,state\n2,end\n0.5,a\n1,1\n", Support::All);
    assert_eq!(per_state, Ok(EntryWeights::PerState(vec![0.5, 1.0, 2.0])));
    let most = "state,action,next,weight\na,go,a,2\na,go,b,3\n0,stay,0,4\nb,go,end,5\n";
    let expected = vec![2.0, 3.0, 1.0, 4.0, 1.0, 1.0, 1.0, 1.0, 5.0];
    assert_eq!(weights(most, Support::Nominal), Ok(EntryWeights::PerTransition(expected)));
    let wrong = [
        ("state,weight\na,1\nb,1\n", ": no weight for state “end”, expected one for every state"),
        ("state,weight\na,1\n0,2\n", ", line 3: state “a”: a second weight, expected one"),
        (
            "state,weight\na,0\n",
            ", line 2: state “a”: the weight is 0.0, expected a finite number above 0",
        ),
        (
            "state,weight\nc,1\n",
            ", line 2: no state “c”, expected a state's name or a number from 0 to 2",
        ),
        ("state,weight\na,x\n", ", line 2: state “a”: weight is “x”, expected a number"),
        (
            "state,action,weight\n",
            ", line 1: a column “action” without “next”, expected state,weight or",
        ),
        (
            most,
            ": no weight for state “a”, action “go”, next state “end”, expected one for every next state",
        ),
    ];
    for (text, expected) in wrong {
        let error = weights(text, Support::All).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    let ground = |text: &str| {
        let found = read_ground(&folder.with("g.csv", text), &model);
        found.map_err(|e| e.to_string().split_once("g.csv").unwrap().1.to_owned())
    };
    assert_eq!(ground("x,state\n-2,a\n7,end\n0,b\n"), Ok(Ground::line(vec![-2.0, 0.0, 7.0])));
    let all = "from,to,distance\na,b,1\nb,a,2\na,end,3\n2,0,4\nb,end,5\nend,b,6\nb,b,0\n";
    let expected = vec![0.0, 1.0, 3.0, 2.0, 0.0, 5.0, 4.0, 6.0, 0.0];
    assert_eq!(ground(all), Ok(Ground::Matrix(expected)));
    for (text, expected) in [
        ("state,x\na,1\n", ": no place for state “b”, expected one for every state"),
        ("state,x\na,inf\n", ", line 2: state “a”: the place is inf, expected a finite number"),
        (
            "state,x\na,1\nb,2\nend,1\n",
            ": state “a” and state “end” are at the same place, expected a",
        ),
        ("state,y\na,1\n", ", line 1: the header has no column “x” or “place”; it has: state, y"),
        ("from,to,distance\na,b,0\n", ", line 2: from state “a” to state “b”: the distance is 0.0"),
        (
            "from,to,distance\na,a,1\n",
            ", line 2: from state “a” to state “a”: the distance is 1.0, expected 0",
        ),
        (
            "from,to,distance\na,b,1\n",
            ": no distance from state “a” to state “end”, expected one for every",
        ),
        ("from,distance\na,1\n", ", line 1: the header has no column “to”"),
    ] {
        let error = ground(text).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}

/// What a writer does not warn of comes back: of models of every kind, through every format.
#[test]
fn every_format_keeps_what_it_does_not_say_is_lost() {
    let mut even = nameless(rich());
    even.initial = Some(vec![0.5, 0.0, 0.0, 0.5]);
    let dense = Garnet { seed: 3, ..Garnet::default() }.model().unwrap();
    let prizes = Model { objective: Objective::MaxReward, ..dense.clone() };
    let mut kept = vec![0; Format::ALL.len()];
    for model in [rich(), even, dense, prizes, sparse(), healthcare(9, 0.5).unwrap(), reaching()] {
        for (&format, kept) in Format::ALL.iter().zip(&mut kept) {
            let file = format!("m.{}", format.endings()[0]);
            let folder = Folder::new();
            let Ok(lost) = write_model(&model, &folder.file(&file), None) else { continue };
            assert_eq!(lost, losses(&model, format));
            let options = ReadOptions { discount: Some(model.discount()), ..Default::default() };
            let read = |name: &str| {
                read_model_file(&folder.file(name), &options)
                    .unwrap_or_else(|e| panic!("{e}"))
                    .model
            };
            let again = read(&file);
            let packed = format!("{file}.gz");
            write_model(&model, &folder.file(&packed), None).unwrap();
            assert_eq!(read(&packed), again, "{format:?}");
            let mut bytes = Vec::new();
            assert_eq!(write_model_to(&model, &mut bytes, format).unwrap(), lost);
            assert_eq!(bytes, fs::read(folder.file(&file)).unwrap(), "{format:?}");
            let unnamed = lost.iter().any(|l| l.starts_with("names of"));
            let other =
                |l: &&String| !l.starts_with("names of") && !l.contains("the discount factor");
            if lost.iter().filter(other).count() == 0 {
                *kept += 1;
                match unnamed {
                    true => assert_eq!(nameless(again), nameless(model.clone()), "{format:?}"),
                    false => assert_eq!(again, model, "{format:?}"),
                }
            }
        }
    }
    assert!(kept.iter().all(|kept| *kept > 0), "{kept:?}");
}

#[test]
fn csv_keeps_a_last_state_nothing_reaches() {
    let model = nameless(rich());
    assert_eq!(through(&model, "m.csv").states(), 4);
    let unreached = ModelBuilder::new(0.5)
        .objective(Objective::MaxReward)
        .state("0")
        .action("0", 3.0, &[(0, 1.0)])
        .terminal("1")
        .build()
        .unwrap();
    assert_eq!(through(&nameless(unreached.clone()), "m.csv"), nameless(unreached));
    let end = ModelBuilder::new(0.5).terminal("end").build().unwrap();
    assert!(write_model(&end, Path::new("never-written.csv"), None).is_err());
    assert_eq!(through(&end, "m.json"), end);
    assert_eq!(through(&nameless(end.clone()), "m.npz"), nameless(end));
}

#[test]
fn formats_by_ending_or_name() {
    assert_eq!(Format::of(Path::new("a/b.JSON")).unwrap(), Format::Json);
    assert_eq!("npz".parse::<Format>().unwrap(), Format::Npz);
    assert!(Format::of(Path::new("model")).is_err() && "xml".parse::<Format>().is_err());
    let folder = Folder::new();
    let path = folder.file("odd.ending");
    write_model(&sparse(), &path, Some(Format::Json)).unwrap();
    let (model, _) = read_model(&path, Some(Format::Json), Some(0.25)).unwrap();
    assert_eq!(model.discount(), 0.25);
    assert!(read_model(&path, None, None).is_err());
    assert!(matches!(read_model(&folder.file("no.csv"), None, None), Err(Error::Io { .. })));
    let inside = read_model(folder.path(), Some(Format::Json), None);
    assert!(matches!(inside, Err(Error::Io { .. })));
}

/// Cut short or with one byte changed, a file gives a model or an error, never a panic.
#[test]
fn damaged_files_do_no_harm() {
    let folder = Folder::new();
    let names = Format::ALL.iter().map(|format| format!("m.{}", format.endings()[0]));
    for name in names.chain(["m.csv.gz".into(), "m.npz.gz".into()]) {
        let (path, name) = (folder.file(&name), name.as_str());
        let even = sparse();
        let model = if name == "m.mdp" { &even } else { &rich() };
        write_model(model, &path, None).unwrap();
        let whole = fs::read(&path).unwrap();
        let step = (whole.len() / 150).max(1);
        for at in (0..whole.len()).step_by(step) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            for bytes in [&whole[..at], &flipped] {
                let damaged = folder.with(name, bytes);
                let _ = read_model(&damaged, None, Some(0.5));
                let _ = read_policy(&damaged, &rich());
                let _ = read_radii(&damaged, &rich());
            }
        }
    }
}

#[test]
fn policies() {
    let (folder, model) = (Folder::new(), rich());
    let path = folder.file("x.csv");
    for policy in [[1.0, 0.0, 1.0], [0.1, 0.9, 1.0]] {
        write_policy(&path, &model, &policy).unwrap();
        assert_eq!(read_policy(&path, &model).unwrap(), policy);
    }
    let by_number = folder.with("n.csv", "state,action,probability\n1,0,1\n0,1,1.0000000001\n");
    assert_eq!(read_policy(&by_number, &model).unwrap(), [0.0, 1.0, 1.0]);
    assert!(write_policy(&path, &model, &[1.0]).is_err());
    for (text, message) in [
        ("0,0,0.5\n1,0,1", "state “say \"so\", twice”: probabilities sum to 0.5"),
        ("0,0,1\n0,0,1", "line 3: state “say \"so\", twice”, action “gö”: a second probability"),
        (
            "0,2,1",
            "line 2: state “say \"so\", twice” has no action “2”, expected one of “gö”, “a,b”",
        ),
        ("9,0,1", "line 2: no state “9”, expected a state's name or a number from 0 to 3"),
        ("0,0,-1", "action “gö”: the probability is -1.0, expected"),
        ("0,0,nan", "the probability is NaN"),
        ("x,0,1", "has no action “0”, expected none: the state is terminal"),
        ("0,0,1", "state “two\nlines” is missing"),
    ] {
        let path = folder.with("bad.csv", format!("state,action,probability\n{text}\n"));
        let error = read_policy(&path, &model).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn radii() {
    let (folder, model) = (Folder::new(), rich());
    let read = |text: &str| read_radii(&folder.with("r.csv", text), &model);
    let per_state = read("radius,state\n0.5,1\n0.25,0\n").unwrap();
    assert_eq!(per_state, RadiusTable::PerState(vec![0.25, 0.5, 0.0, 0.0]));
    write_radii(&folder.file("w.csv"), &model, &[0.25, 0.5, 0.0, 1.0]).unwrap();
    let written = read_radii(&folder.file("w.csv"), &model).unwrap();
    assert_eq!(written, RadiusTable::PerState(vec![0.25, 0.5, 0.0, 1.0]));
    let per_row = read("idstate,idaction,budget\n1,0,3\n0,\"a,b\",2\n0,gö,1\n").unwrap();
    assert_eq!(per_row, RadiusTable::PerRow(vec![1.0, 2.0, 3.0]));
    for (text, message) in [
        ("state,radius\n0,1\n", "no radius for state “two\nlines”"),
        (
            "state,action,radius\n0,0,1\n1,0,1\n",
            "no radius for state “say \"so\", twice”, action “a,b”",
        ),
        ("state,radius\n0,1\n0,1\n", "line 3: state “say \"so\", twice”: a second radius"),
        ("state,radius\n0,-1\n", "twice”: the radius is -1.0"),
        ("state,radius\n0,inf\n", "twice”: the radius is inf"),
        ("state\n0\n", "no column “radius” or “budget”; it has: state"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn shared_names_are_written_as_numbers() {
    let twins = ModelBuilder::new(0.5)
        .state("same")
        .action("go", 0.0, &[(1, 1.0)])
        .action("go", 1.0, &[(0, 1.0)])
        .state("same")
        .action("go", 0.0, &[(0, 1.0)])
        .build()
        .unwrap();
    let folder = Folder::new();
    let path = folder.file("x.csv");
    write_policy(&path, &twins, &[0.25, 0.75, 1.0]).unwrap();
    assert_eq!(read_policy(&path, &twins).unwrap(), [0.25, 0.75, 1.0]);
    let unclear = folder.with("y.csv", "state,action,probability\nsame,go,1\n");
    assert!(read_policy(&unclear, &twins).unwrap_err().to_string().contains("several states"));
}

#[test]
fn kernels() {
    let (folder, model) = (Folder::new(), rich());
    let mut nominal = |r: usize, out: &mut Vec<(u32, f64)>| {
        out.extend(model.row(r).entries().map(|(to, p, _)| (to as u32, p)));
    };
    let csv = folder.file("k.csv");
    write_kernel(&csv, &model, &mut nominal).unwrap();
    let text = fs::read_to_string(&csv).unwrap();
    let first = "state,action,next,probability\n\"say \"\"so\"\", twice\",gö,\"two\nlines\",1.0\n";
    assert!(text.starts_with(first), "{text}");
    assert!(!text.contains(",x,"));
    let npz = folder.file("k.npz");
    write_kernel(&npz, &model, &mut nominal).unwrap();
    assert!(fs::metadata(&npz).unwrap().len() > 0);
    assert!(write_kernel(&folder.file("k.json"), &model, &mut nominal).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// What a converter does not warn of, it keeps: worst cases over sets that leave the nominal support
/// included.
#[test]
fn what_is_lost_is_told() {
    let mut random = crate::instances::Xoshiro256::new(5);
    let mut draw = |n: usize| (random.uniform() * n as f64) as usize;
    let (mut told, mut kept) = (0, 0);
    for _ in 0..300 {
        let states = 2 + draw(4);
        let mut b = ModelBuilder::new(0.5);
        for s in 0..states {
            b.add_state(None);
            if s + 1 == states && draw(2) == 0 {
                b.mark_terminal();
                continue;
            }
            for _ in 0..1 + draw(2) {
                b.add_action(None, [0.0, 0.0, 1.0, -2.0][draw(4)]);
                let further = [0.0, 3.0, 1.0][draw(3)];
                let first = draw(states);
                b.add_transition(first, 0.5, further);
                let next = draw(states);
                b.add_transition(
                    next,
                    0.5,
                    if next == first || draw(2) == 0 { further } else { 2.0 },
                );
            }
        }
        let model = b.build().unwrap();
        let warned = losses(&model, Format::Csv).iter().any(|w| w.contains("not listed"));
        assert!(losses(&model, Format::Npz).is_empty() && losses(&model, Format::Json).is_empty());
        let again = through(&model, "m.csv");
        assert_eq!(again.states(), model.states());
        let costs = |model: &Model, r: usize| -> Vec<f64> {
            let row = model.row(r);
            let mut costs = vec![row.cost; model.states()];
            row.listed().for_each(|(to, _, further)| costs[to] += further);
            costs
        };
        let same = (0..model.rows()).all(|r| costs(&model, r) == costs(&again, r));
        assert_eq!(same, !warned, "{model:?}");
        *if warned { &mut told } else { &mut kept } += 1;
    }
    assert!(told > 50 && kept > 50, "{told} {kept}");
}
