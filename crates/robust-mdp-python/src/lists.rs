//! The rows of a model as arrays.

/// All rows of a model, one after the other, in its own sign.
pub(crate) struct Lists {
    pub(crate) starts: Vec<i64>,
    pub(crate) next: Vec<i32>,
    pub(crate) prob: Vec<f64>,
    pub(crate) cost: Vec<f64>,
    pub(crate) further: Option<Vec<f64>>,
    /// Least and largest probabilities.
    pub(crate) bounds: Option<[Vec<f64>; 2]>,
}

impl Lists {
    pub(crate) fn of(model: &robust_mdp::Model) -> Lists {
        let sign = model.objective().sign();
        let own = |cost: f64| if sign > 0.0 { cost } else { 0.0 - cost };
        let most = model.transitions();
        let mut lists = Lists {
            starts: vec![0],
            next: Vec::with_capacity(most),
            prob: Vec::with_capacity(most),
            cost: (0..model.rows()).map(|r| own(model.row(r).cost)).collect(),
            further: model.has_transition_costs().then(|| Vec::with_capacity(most)),
            bounds: model.has_intervals().then_some([const { Vec::new() }; 2]),
        };
        for r in 0..model.rows() {
            let row = model.row(r);
            for (k, (next, p, further)) in row.entries().enumerate().filter(|(k, _)| row.lists(*k))
            {
                lists.next.push(next as i32);
                lists.prob.push(p);
                lists.further.iter_mut().for_each(|all| all.push(own(further)));
                if let (Some([lower, upper]), Some(bounds)) = (&mut lists.bounds, row.bounds) {
                    lower.push(bounds.lower[k]);
                    upper.push(bounds.upper[k]);
                }
            }
            lists.starts.push(lists.prob.len() as i64);
        }
        lists
    }
}
