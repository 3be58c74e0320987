//! The corpus and some thousand mutations of it for every reader, the same ones every time.

use std::time::Duration;

use robust_mdp_fuzz::readers::READERS;
use robust_mdp_fuzz::run::{Tested, next_turn};

const MUTATIONS: u64 = 10_000;

#[test]
fn readers_survive_mutations() {
    for reader in READERS {
        let mut tested = Tested::new(reader, 7);
        assert!(tested.accepted > 0, "{}: nothing of the corpus is accepted", reader.name);
        tested.mutations(MUTATIONS);
        assert_eq!(tested.failures, [""; 0], "{}", reader.name);
        assert!(tested.kinds() > 3, "{}: {} kinds of outcome", reader.name, tested.kinds());
        let run = || {
            let mut tested = Tested::new(reader, 3);
            tested.mutations(300);
            (tested.accepted, tested.kinds())
        };
        assert_eq!(run(), run(), "{}: the same seed, other inputs", reader.name);
    }
}

#[test]
fn the_one_that_has_had_least_goes_next() {
    let readers = READERS.iter().filter(|r| ["policy", "radii", "trace"].contains(&r.name));
    let mut tested: Vec<Tested> = readers.map(|r| Tested::new(*r, 1)).collect();
    let had = [(100, 10), (40, 20), (70, 30)];
    for (one, (executions, milliseconds)) in tested.iter_mut().zip(had) {
        (one.executions, one.spent) = (executions, Duration::from_millis(milliseconds));
    }
    let names: Vec<&str> = tested.iter().map(|t| t.reader.name).collect();
    let mut next = |share, by_time| next_turn(&mut tested, share, by_time).map(|t| t.reader.name);
    assert_eq!(next(1000, true), Some(names[0]));
    assert_eq!(next(1000, false), Some(names[1]));
    // One that has read its share does not end a run by time.
    assert_eq!(next(100, true), Some(names[1]));
    assert_eq!(next(50, true), Some(names[1]));
    assert_eq!(next(40, true), None);
    // Nor does one that failed.
    tested[1].failures.push("a panic".into());
    assert_eq!(next_turn(&mut tested, 100, true).map(|t| t.reader.name), Some(names[2]));
}
