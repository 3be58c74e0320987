//! The duality gap of FOM-VI's answer as its steps go on, for measurements: what a check certifies,
//! without the memory of better answers and without a say in what happens next.

use std::time::{Duration, Instant};

use super::certification::Sides;
use super::{FomSettings, FomVi};
use crate::error::Error;
use crate::incumbent::widest;
use crate::model::Model;
use crate::oracle::first_order::Setup;
use crate::rows::Layout;
use crate::saddle::Schedule;
use crate::sets::UncertaintySet;
use crate::signal::Signal;

/// The gap of the answer after an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GapAt {
    /// Epochs done.
    pub epoch: u64,
    /// First-order steps done in each state.
    pub steps: u64,
    /// Bounds of the best response to the kernel and of the policy's worst case, at p₀; their
    /// distance is DG.
    pub lower: f64,
    /// See `lower`.
    pub upper: f64,
    /// The largest distance over states.
    pub gap: f64,
    /// Wall-clock time of the first-order steps so far, without what the gaps took.
    pub step_seconds: f64,
}

/// Visits the gap after the first epoch that reaches each of the `checkpoints` (steps, increasing);
/// the gaps are known up to twice the tolerance. Returns whether it came to the end.
pub(crate) fn gap_trace(
    model: &Model,
    set: &UncertaintySet,
    setup: Setup,
    settings: &FomSettings,
    checkpoints: &[u64],
    tolerance: f64,
    signal: &Signal<'_>,
    visit: &mut (impl FnMut(GapAt) + Send),
) -> Result<bool, Error> {
    let layout = Layout::new(model, set);
    let mut sides = Sides::new(model, set, &layout);
    let mut fom = FomVi::new(model, &layout, set, setup, settings)?;
    fom.start();
    sides.begin_at(&fom.values);
    let (mut epoch, mut done) = (0, 0);
    let mut stepping = Duration::ZERO;
    for &checkpoint in checkpoints {
        if done >= checkpoint {
            continue; // a long epoch passed several
        }
        while done < checkpoint {
            epoch += 1;
            let steps = settings.epoch_length(epoch);
            let started = Instant::now();
            fom.advance(Schedule { steps, first: done, power: settings.weights }, signal);
            stepping += started.elapsed();
            done += steps;
            if signal.raised() {
                return Ok(false);
            }
        }
        let answer = fom.answer();
        let found = sides.bound(&answer.policy, answer.kernel, tolerance, signal);
        if signal.raised() {
            return Ok(false);
        }
        visit(GapAt {
            epoch,
            steps: done,
            lower: model.initial_mean(&found.lower),
            upper: model.initial_mean(&found.upper),
            gap: widest(&found.lower, &found.upper),
            step_seconds: stepping.as_secs_f64(),
        });
    }
    Ok(true)
}
