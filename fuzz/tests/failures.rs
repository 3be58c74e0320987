//! What becomes of an input that fails. Alone in its process: there is one current input.

use robust_mdp_fuzz::readers::{READERS, Reader};
use robust_mdp_fuzz::run::replay;

#[test]
fn a_panic_is_a_failure_with_a_command_that_replays_it() {
    let read = |_: &[u8]| -> Result<String, String> { panic!("on purpose") };
    let reader = Reader { name: "test-of-panics", read, ..READERS[0] };
    let failure = replay(&reader, b"bytes").unwrap_err();
    let path = failure.split(" --replay ").nth(1).expect("a path").trim().to_owned();
    assert!(failure.contains("--reader test-of-panics --replay"), "{failure}");
    assert_eq!(std::fs::read(&path).unwrap(), b"bytes");
    std::fs::remove_file(path).unwrap();
}
