#[test]
fn one() {
    let names = std::env::var("SETS").unwrap();
    for name in names.split(',') {
        let d = robust_mdp::sets::Distance::of_name(name).unwrap();
        let t = std::time::Instant::now();
        match robust_mdp::conformance::check(d.set().unwrap()) {
            Ok(report) => println!("{name}: {report} {:?}", t.elapsed()),
            Err(e) => panic!("{name}: {e}"),
        }
    }
}
