use super::*;

/// One thread, one target: what [`Dense::solve`] does by dispatch.
fn solve_on<S: Simd>(simd: S, n: usize, a: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let cost: Vec<f64> = (0..n).map(|s| 1.0 + (s % 3) as f64).collect();
    let shape = Shape::new(n);
    let mut dense = Dense {
        tiles: vec![Tile([[0.0; STRIP]; BLOCK]); shape.blocks * shape.stride],
        inverses: vec![ZERO; shape.blocks],
        w: vec![0.0; shape.stride * STRIP],
    };
    dense.load(shape, &cost, |s, row| (0..n).for_each(|j| row[j] = a(s, j)));
    let mut rest = &mut dense.tiles[..];
    for (panel, inverses) in dense.inverses.chunks_mut(PANEL).enumerate() {
        let (rows, below) = rest.split_at_mut(inverses.len() * shape.stride);
        let first = panel * PANEL;
        simd.vectorize(Pivots { shape, first, rows, inverses });
        simd.vectorize(Below { shape, first, rows: below, pivots: rows, inverses });
        rest = below;
    }
    let Dense { tiles, inverses, w } = &mut dense;
    simd.vectorize(Backward { shape, n, tiles, inverses, w });
    for s in 0..n {
        let image: f64 = (0..n).map(|j| a(s, j) * w[j]).sum();
        assert!((image - cost[s]).abs() < 1e-12 * w[s].abs().max(1.0), "{n} {s}: {image}");
    }
    dense.w[..n].to_vec()
}

#[test]
fn every_target_solves() {
    for n in [1, 7, 8, 24, 95, 96, 97, 130, 250] {
        let p = |s: usize, j: usize| ((s * 7 + j * 13) % 11) as f64;
        let sums: Vec<f64> = (0..n).map(|s| 1.0 + (0..n).map(|j| p(s, j)).sum::<f64>()).collect();
        let a = |s: usize, j: usize| f64::from(s == j) - 0.99 * p(s, j) / sums[s];
        solve_on(pulp::Scalar::new(), n, a);
        #[cfg(target_arch = "x86_64")]
        {
            pulp::x86::V3::try_new().map(|simd| solve_on(simd, n, a));
            pulp::x86::V4::try_new().map(|simd| solve_on(simd, n, a));
        }
    }
}
