use robust_mdp::sets::*;
use robust_mdp::*;
#[test]
fn two() {
    let mut b = ModelBuilder::new(0.8);
    b.add_state(None);
    b.add_action(None, 4.63);
    b.add_interval(0, Some(0.7132079481856444), [0.0, 0.7132079481856444], 0.0);
    b.add_interval(1, Some(0.28679205181435563), [0.19, 0.844], 0.0);
    b.add_state(None);
    b.add_action(None, 3.434);
    b.add_interval(0, Some(0.69321356), [0.6932128, 0.6932136], 0.0);
    b.add_interval(1, Some(0.30678644), [0.30678622, 0.306786761], 0.0);
    let m = b.build().unwrap();
    let set = UncertaintySet::interval().with_radius(Radius::Uniform(1e-4));
    let sol = solve(&m, &set, &Options::default()).unwrap();
    println!("{:?} {:?} {:?}", sol.lower, sol.upper, sol.gap);
    let (c, v) = certify(&m, &set, &sol, Some(1)).unwrap();
    println!("{c:?} {v:?}");
}
