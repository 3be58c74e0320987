//! How busy others kept the machine during a run: times of a busy machine mean little.
//!
//! The load average counts the run itself. It is an exponential average over a minute, so that the
//! run's own share is known from when it had how many threads at work, and is taken off.

use std::time::Instant;

use robust_mdp_measure::machine;

use super::machine::most;

/// Seconds over which the system averages.
const MINUTE: f64 = 60.0;

pub(crate) struct Load {
    /// What the run's own threads have made of the average so far.
    own: f64,
    looked: Instant,
    most: Option<f64>,
}

impl Load {
    pub(crate) fn begin() -> Load {
        Load { own: 0.0, looked: Instant::now(), most: None }
    }

    /// After work on so many threads since the last look.
    pub(crate) fn look(&mut self, threads: usize) {
        let seconds = self.looked.elapsed().as_secs_f64();
        self.looked = Instant::now();
        self.own = averaged(self.own, threads, seconds);
        let others = machine::load().map(|load| (load - self.own).max(0.0));
        self.most = most(self.most, others);
    }

    /// The most that others made of the average; rounded as the system rounds.
    pub(crate) fn most(&self) -> Option<f64> {
        self.most.map(|load| (100.0 * load).round() / 100.0)
    }
}

/// The average after so many seconds with so many threads at work.
fn averaged(before: f64, threads: usize, seconds: f64) -> f64 {
    let now = threads as f64;
    now + (before - now) * (-seconds / MINUTE).exp()
}

#[cfg(test)]
mod tests {
    use super::averaged;

    #[test]
    fn the_runs_own_load_comes_within_minutes() {
        assert_eq!(averaged(0.5, 2, 0.0), 0.5);
        assert!((averaged(0.0, 1, 60.0) - 0.632).abs() < 1e-3); // 1 − 1/e
        let halves = averaged(averaged(0.0, 2, 30.0), 2, 30.0);
        assert!((halves - averaged(0.0, 2, 60.0)).abs() < 1e-12);
        assert!((averaged(2.0, 1, 600.0) - 1.0).abs() < 1e-4);
    }
}
