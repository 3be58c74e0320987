//! The corpus and some thousand mutations of it for every reader, the same ones every time.

use robust_mdp_fuzz::readers::READERS;
use robust_mdp_fuzz::run::Tested;

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
