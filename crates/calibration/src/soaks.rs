//! How often a leak is found in a soak, and how often one is called that is none: known courses of memory, with known noise.

use std::fmt;

use analysis::course;
use model::Gauge;
use model::soaked::Reading;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::Studies;
use crate::noise::normal;
use crate::rate::Rate;

/// Four hours in windows of 15 s.
const SECONDS: f64 = 14_400.0;
const WINDOW_S: f64 = 15.0;
/// Memory of a server at the beginning, bytes.
const LEVEL: f64 = 300.0 * 1_048_576.0;

/// What memory does, but for noise; sizes as parts of the level at the beginning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Course {
    /// It stays.
    Level,
    /// It jumps by this at a random moment from the first tenth to the last.
    Step(f64),
    /// A cache of this size fills, with this part of the soak as its time constant: size·(1 − e^(−t/τ)).
    Cache(f64, f64),
    /// It grows by this over the whole soak, evenly.
    Leak(f64),
    /// The same beside a cache as large as the level that has filled after a tenth of the time.
    LeakAndCache(f64),
}

impl Course {
    /// Those that are simulated and are no leak.
    pub const OTHERS: [Self; 7] = [
        Self::Level,
        Self::Step(0.3),
        Self::Cache(1.0, 0.05),
        Self::Cache(1.0, 0.1),
        Self::Cache(1.0, 0.2),
        Self::Cache(1.0, 0.5),
        Self::Cache(1.0, 1.0),
    ];
    /// Those that are.
    pub const LEAKS: [Self; 5] =
        [Self::Leak(0.03), Self::Leak(0.1), Self::Leak(0.3), Self::Leak(1.0), Self::LeakAndCache(0.3)];

    /// Part of the soak by which it is what it will be, or its time constant; of a leak its growth, as a part of the level.
    fn at(self, part: f64, jumps_at: f64) -> f64 {
        match self {
            Self::Level => 0.0,
            Self::Step(size) => size * f64::from(u8::from(part >= jumps_at)),
            Self::Cache(size, constant) => size * (1.0 - (-part / constant).exp()),
            Self::Leak(growth) => growth * part,
            Self::LeakAndCache(growth) => growth * part + Self::Cache(1.0, 0.03).at(part, jumps_at),
        }
    }

    /// What it grows by over the whole soak, as a part of the level, where it leaks.
    pub fn growth(self) -> Option<f64> {
        match self {
            Self::Leak(growth) | Self::LeakAndCache(growth) => Some(growth),
            Self::Level | Self::Step(_) | Self::Cache(..) => None,
        }
    }
}

impl fmt::Display for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: f64| format!("{:.0} %", part * 100.0);
        match self {
            Self::Level => f.write_str("level"),
            Self::Step(size) => write!(f, "one jump of {}", percent(*size)),
            Self::Cache(_, constant) => write!(f, "a cache, time constant {} of the soak", percent(*constant)),
            Self::Leak(growth) => write!(f, "a leak of {}", percent(*growth)),
            Self::LeakAndCache(growth) => write!(f, "a leak of {} and a cache", percent(*growth)),
        }
    }
}

/// Noise of memory from window to window, as a part of the level at the beginning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unrest {
    /// Each window by itself, of this standard deviation.
    White(f64),
    /// AR(1) of this standard deviation and autocorrelation.
    Wanders(f64, f64),
    /// The sawtooth of collections of this height, every two to ten minutes.
    Sawtooth(f64),
}

impl Unrest {
    /// Those that are simulated.
    pub const ALL: [Self; 5] = [
        Self::White(0.01),
        Self::Wanders(0.01, 0.9),
        Self::Wanders(0.01, 0.98),
        Self::Sawtooth(0.1),
        Self::Sawtooth(0.3),
    ];

    fn series(self, windows: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        match self {
            Self::White(sd) => (0..windows).map(|_| sd * normal(rng)).collect(),
            Self::Wanders(sd, phi) => {
                let mut now = sd * normal(rng);
                let next = |_| {
                    now = phi * now + sd * (1.0 - phi * phi).sqrt() * normal(rng);
                    now
                };
                (0..windows).map(next).collect()
            }
            Self::Sawtooth(height) => {
                let (period, phase) = (rng.random_range(120.0..600.0), rng.random::<f64>());
                let tooth = |index: usize| (index as f64 * WINDOW_S / period + phase).fract();
                (0..windows).map(|index| height * tooth(index) + 0.005 * normal(rng)).collect()
            }
        }
    }
}

impl fmt::Display for Unrest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::White(sd) => write!(f, "noise of {:.0} %", sd * 100.0),
            Self::Wanders(sd, phi) => write!(f, "noise of {:.0} %, φ {phi}", sd * 100.0),
            Self::Sawtooth(height) => write!(f, "sawtooth of {:.0} %", height * 100.0),
        }
    }
}

/// What is made of soaks of one course with one noise.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Soaks {
    /// Called a leak: it rises evenly, to the end.
    pub rising: Rate,
    /// Said to rise still, more slowly.
    pub slowing: Rate,
    /// Of a leak: its slope's interval misses the true one, whatever it was called.
    pub missed: Rate,
}

/// Simulates soaks.
pub fn simulate(truth: Course, unrest: Unrest, soaks: Studies) -> Soaks {
    let mut made = Soaks::default();
    for mut rng in soaks.generators() {
        let jumps_at = rng.random_range(0.1..0.9);
        let noise = unrest.series((SECONDS / WINDOW_S) as usize, &mut rng);
        let point = |(index, noise): (usize, &f64)| {
            let at = (index as f64 + 0.5) * WINDOW_S;
            [at, LEVEL * (1.0 + truth.at(at / SECONDS, jumps_at) + noise)]
        };
        let found = course(Gauge::Memory, noise.iter().enumerate().map(point).collect(), SECONDS);
        made.rising.count(found.reading == Reading::Rising);
        made.slowing.count(found.reading == Reading::Slowing);
        if let (Some(growth), Some(trend)) = (truth.growth(), found.trend) {
            let per_hour = growth * LEVEL / SECONDS * 3_600.0;
            made.missed.count(!(trend.low..=trend.high).contains(&per_hour));
        }
    }
    made
}
