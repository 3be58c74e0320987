//! The corpus and some thousand mutations of it for every reader, the same ones every time.

use robust_mdp_fuzz::readers::READERS;
use robust_mdp_fuzz::run::{Tested, replay};

const MUTATIONS: u64 = 4000;

#[test]
fn readers_survive_mutations() {
    for reader in READERS {
        let mut tested = Tested::new(reader, 7);
        assert!(tested.accepted > 0, "{}: nothing of the corpus is accepted", reader.name);
        tested.mutations(MUTATIONS);
        assert_eq!(tested.failures, [""; 0], "{}", reader.name);
        assert!(tested.kinds() > 3, "{}: {} kinds of outcome", reader.name, tested.kinds());
    }
}

#[test]
fn mutations_follow_from_the_seed() {
    for reader in READERS {
        let run = |seed| {
            let mut tested = Tested::new(reader, seed);
            tested.mutations(300);
            (tested.accepted, tested.kinds())
        };
        assert_eq!(run(3), run(3), "{}", reader.name);
    }
}

#[test]
fn a_panic_is_a_failure_with_a_command_that_replays_it() {
    let mut reader = READERS[0];
    (reader.name, reader.read) = ("test-of-panics", |_| panic!("on purpose"));
    let failure = replay(&reader, b"bytes").unwrap_err();
    let path = failure.split(" --replay ").nth(1).expect("a path").trim().to_owned();
    assert!(failure.contains("--reader test-of-panics --replay"), "{failure}");
    assert_eq!(std::fs::read(&path).unwrap(), b"bytes");
    std::fs::remove_file(path).unwrap();
}
