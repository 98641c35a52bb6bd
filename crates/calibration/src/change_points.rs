//! How well changes of level are found in series like those of a JVM: known steps, and steady launches.

use analysis::{Shift, shifts};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::Studies;
use crate::noise::{exponential, normal};
use crate::rate::Rate;

/// Seconds within which a change has to be found.
const NEAR_S: usize = 5;
/// Seconds that a step leaves on either side at least.
const APART_S: usize = 10;

/// Steps that launches have, fractions.
pub const STEPS: [f64; 4] = [-0.1, 0.1, -0.2, 0.2];

/// Noise of a second's rate, as a log ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wander {
    /// Standard deviation of what wanders.
    pub sd: f64,
    /// Its autocorrelation from one second to the next.
    pub phi: f64,
}

impl Wander {
    /// Those that are simulated.
    pub const ALL: [Self; 5] = [
        Self { sd: 0.01, phi: 0.3 },
        Self { sd: 0.015, phi: 0.5 },
        Self { sd: 0.02, phi: 0.7 },
        Self { sd: 0.03, phi: 0.5 },
        Self { sd: 0.04, phi: 0.8 },
    ];
}

/// Rates of a JVM, second by second: noise that wanders (AR(1)); heavy tails of half its size (Student's t with 3 degrees of
/// freedom); in 8 % of the seconds a dip of young collections, exponential with mean 10 %; and every 30 to 60 s a full one,
/// which takes 0.3 to 0.7 (of the logarithm) of one or two seconds.
fn jvm(seconds: usize, Wander { sd, phi }: Wander, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut wander = sd * normal(rng);
    let (mut until_full, mut full) = (rng.random_range(10..60), 0);
    let rate = |_| {
        wander = phi * wander + sd * (1.0 - phi * phi).sqrt() * normal(rng);
        let chi: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
        let tail = 0.5 * sd * normal(rng) / (chi / 3.0).sqrt();
        let young = if rng.random_bool(0.08) { 0.1 * exponential(rng) } else { 0.0 };
        if until_full == 0 {
            (until_full, full) = (rng.random_range(30..60), rng.random_range(1..3));
        }
        until_full -= 1;
        let dip = if full > 0 { 0.3 + 0.4 * rng.random::<f64>() } else { 0.0 };
        full = full.max(1) - 1;
        1_000.0 * (wander + tail - young - dip).exp()
    };
    (0..seconds).map(rate).collect()
}

/// What is found in launches of one length and noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// Length of a launch, seconds.
    pub seconds: usize,
    /// Its noise.
    pub wander: Wander,
    /// Steady launches in which some change is found.
    pub alarms: Rate,
    /// Launches with each of [`STEPS`] in which that is found within five seconds and in its direction.
    pub steps: [Rate; STEPS.len()],
}

/// Simulates launches of so many seconds (20 at least): each once steady and once with each step, at any second that leaves ten on
/// either side.
pub fn simulate(seconds: usize, wander: Wander, launches: Studies) -> Found {
    let mut found = Found { seconds, wander, alarms: Rate::default(), steps: [Rate::default(); STEPS.len()] };
    for mut rng in launches.generators() {
        let at = rng.random_range(APART_S..=seconds - APART_S);
        let steady = jvm(seconds, wander, &mut rng);
        found.alarms.count(!shifts(&steady).is_empty());
        for (rate, step) in found.steps.iter_mut().zip(STEPS) {
            let mut stepped = steady.clone();
            stepped[at..].iter_mut().for_each(|rate| *rate *= 1.0 + step);
            let is_it =
                |shift: &Shift| shift.index.abs_diff(at) <= NEAR_S && (shift.after > shift.before) == (step > 0.0);
            rate.count(shifts(&stepped).iter().any(is_it));
        }
    }
    found
}
