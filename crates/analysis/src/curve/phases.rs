//! The life of a server in phases: the words over the curve.
//!
//! Words are claims, and of many claims some are wrong. So they come from a few windows of age that are chosen by age alone, and the
//! windows share one error rate. Half of it passes from the youngest window to the oldest, half the other way. Each pass gives most of
//! its half to the window where it begins, and a window that is called faster or slower hands its share on to the next: the fallback
//! procedure (Wiens, Pharmaceutical Statistics 2, 2003; Wiens & Dmitrienko, Journal of Biopharmaceutical Statistics 15, 2005). Servers
//! differ most when they are young and when they are old, so three blocks often suffice to say so.

use model::curve::AgePhase;
use model::{Interpretation, Polarity};

use super::pairs::Pairs;
use crate::quantity::{self, Quantity};
use crate::{compare, sequential, student};

/// What the window where a pass begins has of the pass's error rate. The others share the rest.
const OF_FIRST: f64 = 0.8;

/// What blocks say of one window of age.
struct Window {
    from_s: f64,
    to_s: f64,
    /// ln(variant) − ln(baseline), a number a block.
    differences: Vec<Quantity>,
}

impl Window {
    fn reading(&self, alpha: f64, margin: f64) -> Interpretation {
        let effect = student::interval(&self.differences, alpha);
        let decided = effect.as_ref().map(|effect| (effect, sequential::decide(effect, margin)));
        compare::interpret(decided, Polarity::HigherIsBetter)
    }

    fn length_s(&self) -> f64 {
        self.to_s - self.from_s
    }
}

/// Neighbouring windows that read the same are one phase. That any is called faster or slower where none is has a probability of `alpha`
/// (0..1) at most; the interval of each phase is wrong with that probability by itself. Level is what lies within ±`margin` (a log
/// ratio). `edges` are the ages between windows, seconds of load. Empty with fewer than three blocks.
pub fn phases(pairs: &Pairs, edges: &[f64], alpha: f64, margin: f64) -> Vec<AgePhase> {
    let window =
        |ages: &[f64]| Window { from_s: ages[0], to_s: ages[1], differences: pairs.differences(ages[0], ages[1]) };
    let windows: Vec<Window> = edges.windows(2).map(window).collect();
    let shares = shares(windows.len(), alpha, |index, share| {
        matches!(windows[index].reading(share, margin), Interpretation::Better | Interpretation::Worse)
    });
    let readings: Vec<(Interpretation, &Window)> =
        windows.iter().zip(shares).map(|(window, share)| (window.reading(share, margin), window)).collect();
    readings.chunk_by(|one, next| one.0 == next.0).filter_map(|alike| phase(alike, alpha)).collect()
}

/// The mean of its windows by length, of which a number is made in each block.
fn phase(windows: &[(Interpretation, &Window)], alpha: f64) -> Option<AgePhase> {
    let [(reading, first), .., (_, last)] = windows else {
        let (reading, only) = windows.first()?;
        let effect = student::interval(&only.differences, alpha)?;
        return Some(AgePhase { from_s: only.from_s, to_s: only.to_s, reading: *reading, effect });
    };
    let length_s = last.to_s - first.from_s;
    let of_block = |block: usize| {
        quantity::weighed(windows.iter().map(|(_, it)| (it.length_s() / length_s, it.differences[block])))
    };
    let differences: Vec<Quantity> = (0..first.differences.len()).map(of_block).collect();
    let effect = student::interval(&differences, alpha)?;
    Some(AgePhase { from_s: first.from_s, to_s: last.to_s, reading: *reading, effect })
}

/// The error rate at which each of `count` windows is read: the larger one of the two passes. `differs` says whether a window is called
/// faster or slower at an error rate.
fn shares(count: usize, alpha: f64, differs: impl Fn(usize, f64) -> bool) -> Vec<f64> {
    let mut shares = vec![0.0; count];
    let mut pass = |order: &mut dyn Iterator<Item = usize>| {
        let mut handed_on = 0.0;
        for (place, index) in order.enumerate() {
            let of_pass = match (place, count) {
                (_, 1) => 1.0,
                (0, _) => OF_FIRST,
                _ => (1.0 - OF_FIRST) / (count - 1) as f64,
            };
            let share = handed_on + of_pass * alpha / 2.0;
            handed_on = if differs(index, share) { share } else { 0.0 };
            shares[index] = share.max(shares[index]);
        }
    };
    pass(&mut (0..count));
    pass(&mut (0..count).rev());
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_shares(found: &[f64], wanted: &[f64]) {
        assert!(found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn a_window_that_differs_hands_its_share_on() {
        // A pass has 0.05: its first window 0.04, the four others 0.0025 each.
        let none = shares(5, 0.1, |_, _| false);
        assert_shares(&none, &[0.04, 0.0025, 0.0025, 0.0025, 0.04]);
        let both_ends = shares(5, 0.1, |index, _| [0, 4].contains(&index));
        assert_shares(&both_ends, &[0.04, 0.0425, 0.0025, 0.0425, 0.04]);
        let all = shares(5, 0.1, |_, _| true);
        assert_shares(&all, &[0.05, 0.0475, 0.045, 0.0475, 0.05]);
        // Where one differs beyond one that does not, it keeps what it has.
        let inner = shares(5, 0.1, |index, _| index == 2);
        assert_shares(&inner, &[0.04, 0.005, 0.0025, 0.005, 0.04]);
        // With one window both passes are the same question.
        assert_shares(&shares(1, 0.1, |_, _| true), &[0.05]);
    }
}
