//! Launches side by side: two servers alive at once, loaded in turns of a second, on a host whose speed moves from second to second;
//! beside them the same launches one after another on the same host.
//!
//! The host is made after what was measured on virtual machines: clock steps of up to a factor of two that last seconds to minutes, and
//! neighbours that take 20 to 80 % of the processors for 1 to 30 s.

use analysis::Boundaries;
use model::{Mode, Study};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::Studies;
use crate::errors::Outcomes;
use crate::noise::{Shape, exponential, normal};

/// From a launch's start to its first load, seconds; side by side all start at once.
const START_S: f64 = 15.0;
/// Load before a launch is measured, seconds.
const WARM_UP_S: f64 = 50.0;
/// Load that is measured, seconds.
const MEASURED_S: f64 = 20.0;
/// Load of one turn that is counted, seconds.
const SLICE_S: f64 = 1.0;
/// Load at the beginning of each turn that is not counted, seconds.
const RAMP_UP_S: f64 = 0.1;
/// A launch of a pilot block, which one after another takes two of before anything is measured, seconds.
const PILOT_S: f64 = START_S + 40.0;
/// How much the answers of one second differ beside all that, a log ratio (standard deviation).
const SECOND: f64 = 0.05;
/// Standard deviation of one launch of [`Shape::Jvm`], in its own units.
const JVM_SD: f64 = 1.697;

/// Minutes that a run side by side may take.
pub const BUDGET_MIN: f64 = 30.0;

/// Effects whose minutes are reported, fractions.
pub const FASTER: [f64; 4] = [0.02, 0.05, 0.10, 0.30];

/// What the host does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Nothing.
    Still,
    /// Its clock steps between one half and the whole of its speed, evenly in logarithms; a step lasts 3 to 180 s, evenly in logarithms.
    Steps,
    /// That, and neighbours: 20 to 80 % of the processors are gone for 1 to 30 s (evenly in logarithms), then none for 20 s in the mean.
    Bursts,
}

impl Host {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Still, Self::Steps, Self::Bursts];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Still => "still",
            Self::Steps => "clock steps",
            Self::Bursts => "clock steps, bursts of neighbours",
        }
    }
}

/// How launches differ on such a host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions {
    /// The host.
    pub host: Host,
    /// How much launches of one server differ by themselves, a log ratio (standard deviation); JVM-shaped.
    pub launch: f64,
}

impl Conditions {
    /// How much launches differ where one number is shown, a log ratio (standard deviation).
    pub const USUAL: f64 = 0.02;

    /// Every host with launches that differ by 1, 2 and 4 %.
    pub fn all() -> Vec<Self> {
        let of_host = |host| [0.01, Self::USUAL, 0.04].map(|launch| Self { host, launch });
        Host::ALL.into_iter().flat_map(of_host).collect()
    }
}

/// How launches become the difference of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Launches one after another, each loaded without a break: the logarithm of answers per second.
    OneAfterAnother,
    /// Side by side: the logarithm of all answers over all seconds, as every verdict takes it.
    Totals,
    /// Side by side: the mean of the turns' logarithms.
    Logs,
    /// Side by side: the median over rounds of the difference of both turns' logarithms.
    Median,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::OneAfterAnother, Self::Totals, Self::Logs, Self::Median];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneAfterAnother => "one after another",
            Self::Totals => "side by side",
            Self::Logs => "mean of logs",
            Self::Median => "median of rounds",
        }
    }

    /// Minutes that so many blocks take, and the pilots where there are any.
    pub fn minutes(self, blocks: f64) -> f64 {
        let (once, each) = match self {
            Self::OneAfterAnother => (4.0 * PILOT_S, 2.0 * (START_S + WARM_UP_S + MEASURED_S)),
            Self::Totals | Self::Logs | Self::Median => {
                (0.0, START_S + 2.0 * (WARM_UP_S + MEASURED_S * (1.0 + RAMP_UP_S / SLICE_S)))
            }
        };
        (once + blocks * each) / 60.0
    }

    /// The most blocks that [`BUDGET_MIN`] has room for.
    pub fn horizon(self) -> usize {
        let [none, one] = [0.0, 1.0].map(|blocks| self.minutes(blocks));
        ((BUDGET_MIN - none) / (one - none)) as usize
    }

    /// Differences within so many blocks of two variants that are the same.
    pub fn differences(self, study: &Study, conditions: Conditions, blocks: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let plan = analysis::plan(study, Mode::Full, rng.random());
        let mut machine = Machine::new(conditions.host, rng);
        let launch = |rng: &mut ChaCha8Rng| conditions.launch / JVM_SD * Shape::Jvm.launch(rng);
        let block = |block: &model::Block| {
            if self == Self::OneAfterAnother {
                let mut speeds = [0.0; 2];
                for trial in &block.trials {
                    machine.work(START_S + WARM_UP_S, rng);
                    speeds[trial.variant] = launch(rng) + machine.answers(MEASURED_S, rng).ln();
                }
                return speeds[1] - speeds[0];
            }
            machine.work(START_S + 2.0 * WARM_UP_S, rng);
            let luck = [launch(rng), launch(rng)];
            self.of_rounds(&machine.rounds(rng)) + luck[1] - luck[0]
        };
        plan.blocks[..blocks].iter().map(block).collect()
    }

    /// The difference that answers of both variants make, by round.
    fn of_rounds(self, rounds: &[[f64; 2]]) -> f64 {
        let mut differences: Vec<f64> = rounds.iter().map(|[a, b]| (b / a).ln()).collect();
        let count = differences.len();
        match self {
            Self::OneAfterAnother | Self::Totals => {
                let [a, b] = [0, 1].map(|variant| rounds.iter().map(|round| round[variant]).sum::<f64>());
                (b / a).ln()
            }
            Self::Logs => differences.iter().sum::<f64>() / count as f64,
            Self::Median => {
                differences.sort_by(f64::total_cmp);
                f64::midpoint(differences[(count - 1) / 2], differences[count / 2])
            }
        }
    }
}

/// A host as time goes by.
struct Machine {
    host: Host,
    /// Its speed by its clock, and for how much longer, seconds.
    clock: (f64, f64),
    /// What neighbours leave of it, and for how much longer, seconds.
    left: (f64, f64),
}

impl Machine {
    fn new(host: Host, rng: &mut ChaCha8Rng) -> Self {
        let mut machine = Self { host, clock: (1.0, f64::INFINITY), left: (1.0, f64::INFINITY) };
        if host != Host::Still {
            machine.clock = step(rng);
        }
        if host == Host::Bursts {
            machine.left.1 = 20.0 * exponential(rng);
        }
        machine
    }

    /// What is done in the next `seconds`; as many where nothing slows it.
    fn work(&mut self, seconds: f64, rng: &mut ChaCha8Rng) -> f64 {
        let (mut rest, mut done) = (seconds, 0.0);
        while rest > 0.0 {
            let part = rest.min(self.clock.1).min(self.left.1);
            done += part * self.clock.0 * self.left.0;
            rest -= part;
            self.clock.1 -= part;
            self.left.1 -= part;
            if self.clock.1 <= 0.0 {
                self.clock = step(rng);
            }
            if self.left.1 <= 0.0 {
                self.left = if self.left.0 < 1.0 { (1.0, 20.0 * exponential(rng)) } else { burst(rng) };
            }
        }
        debug_assert!(self.host != Host::Still || done >= seconds * 0.999, "a still host is never slower");
        done
    }

    /// Answers of the next `seconds`, as a part of what one launch answers in a second where nothing slows it.
    fn answers(&mut self, seconds: f64, rng: &mut ChaCha8Rng) -> f64 {
        self.work(seconds, rng) * (SECOND / seconds.sqrt() * normal(rng)).exp()
    }

    /// Answers of both variants in each round; of each two rounds one begins with either variant, at random which.
    fn rounds(&mut self, rng: &mut ChaCha8Rng) -> Vec<[f64; 2]> {
        let mut first = 0;
        (0..(MEASURED_S / SLICE_S) as usize)
            .map(|round| {
                first = if round.is_multiple_of(2) { rng.random_range(0..2) } else { 1 - first };
                let mut answers = [0.0; 2];
                for variant in [first, 1 - first] {
                    self.work(RAMP_UP_S, rng);
                    answers[variant] = self.answers(SLICE_S, rng);
                }
                answers
            })
            .collect()
    }
}

/// A speed of the clock and how long it lasts.
fn step(rng: &mut ChaCha8Rng) -> (f64, f64) {
    (evenly_in_logs(0.5, 1.0, rng), evenly_in_logs(3.0, 180.0, rng))
}

/// What a neighbour leaves, and for how long.
fn burst(rng: &mut ChaCha8Rng) -> (f64, f64) {
    (1.0 - rng.random_range(0.2..0.8), evenly_in_logs(1.0, 30.0, rng))
}

fn evenly_in_logs(low: f64, high: f64, rng: &mut ChaCha8Rng) -> f64 {
    rng.random_range(low.ln()..high.ln()).exp()
}

/// What became of studies of one way under one kind of conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignOutcomes {
    /// How the block's number was made.
    pub way: Way,
    /// Host and launches.
    pub conditions: Conditions,
    /// The most blocks that a study could use.
    pub horizon: usize,
    /// By effect.
    pub outcomes: Vec<Outcomes>,
}

/// Mean and standard deviation of a block's difference where the variants are the same, by as many blocks as there are studies.
pub fn scatter(way: Way, study: &Study, conditions: Conditions, studies: Studies) -> [f64; 2] {
    const BLOCKS: usize = 10;
    let studies = Studies { count: studies.count.div_ceil(BLOCKS as u64), ..studies };
    let all: Vec<f64> =
        studies.generators().flat_map(|mut rng| way.differences(study, conditions, BLOCKS, &mut rng)).collect();
    let count = all.len() as f64;
    let mean = all.iter().sum::<f64>() / count;
    let variance = all.iter().map(|difference| (difference - mean).powi(2)).sum::<f64>() / (count - 1.0);
    [mean, variance.sqrt()]
}

/// Studies with each of `effects`; the noise is the same for all of them, and for every way side by side.
pub fn simulate(
    way: Way,
    study: &Study,
    conditions: Conditions,
    effects: &[f64],
    boundaries: &Boundaries,
    studies: Studies,
) -> Vec<Outcomes> {
    let mut outcomes: Vec<Outcomes> = effects.iter().map(|effect| Outcomes::none_yet(*effect)).collect();
    for mut rng in studies.generators() {
        let differences = [way.differences(study, conditions, boundaries.looks().last(), &mut rng)];
        for of_effect in &mut outcomes {
            of_effect.add(&differences, boundaries);
        }
    }
    outcomes
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::record;

    #[test]
    fn the_number_of_a_block_by_hand() {
        let rounds = [[1.0, 2.0], [4.0, 4.0], [1.0, 1.0]];
        let of = |way: Way| way.of_rounds(&rounds);
        let close = |left: f64, right: f64| (left - right).abs() < 1e-12;
        assert!(close(of(Way::Totals), (7.0_f64 / 6.0).ln()));
        assert!(close(of(Way::Logs), 2.0_f64.ln() / 3.0) && of(Way::Median).abs() < 1e-12);
    }

    #[test]
    fn the_host_is_as_slow_as_it_says() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mean = |host: Host, rng: &mut ChaCha8Rng| Machine::new(host, rng).work(1e6, rng) / 1e6;
        assert!((mean(Host::Still, &mut rng) - 1.0).abs() < 1e-9);
        // ∫x dx/x over 0.5..1 is 0.5, over ln 2; bursts last 29/ln 30 = 8.5 s of each 28.5 and take one half.
        let steps = 0.5 / 2.0_f64.ln();
        assert!((mean(Host::Steps, &mut rng) / steps - 1.0).abs() < 0.01);
        assert!((mean(Host::Bursts, &mut rng) / (steps * (1.0 - 0.5 * 8.53 / 28.53)) - 1.0).abs() < 0.02);
    }

    #[test]
    fn jvm_shaped_launches_scatter_as_much_as_they_are_said_to() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let launches: Vec<f64> = (0..200_000).map(|_| Shape::Jvm.launch(&mut rng)).collect();
        let mean = launches.iter().sum::<f64>() / 200_000.0;
        let sd = (launches.iter().map(|launch| (launch - mean).powi(2)).sum::<f64>() / 200_000.0).sqrt();
        assert!((sd / JVM_SD - 1.0).abs() < 0.02, "{sd}");
    }

    #[test]
    fn time_is_counted_whole() {
        assert!((Way::OneAfterAnother.minutes(1.0) - (220.0 + 170.0) / 60.0).abs() < 1e-12);
        assert!((Way::Totals.minutes(2.0) - 2.0 * 159.0 / 60.0).abs() < 1e-12);
        assert_eq!(Way::Totals.horizon(), 11);
    }

    #[test]
    fn pairs_within_seconds_see_the_same_host() {
        let (study, studies) = (record::study(2, 1), Studies { count: 2_000, seed: 3, kind: 0 });
        let of = |way, host| scatter(way, &study, Conditions { host, launch: 0.01 }, studies);
        for host in [Host::Steps, Host::Bursts] {
            let [after, totals, ..] = Way::ALL.map(|way| of(way, host));
            assert!(totals[1] < after[1] / 3.0, "{host:?}: {after:?}, {totals:?}");
        }
        let [_, totals, logs, _] = Way::ALL.map(|way| of(way, Host::Bursts));
        assert!(totals[1] < logs[1], "{totals:?}, {logs:?}");
        let [after, totals, ..] = Way::ALL.map(|way| of(way, Host::Still));
        assert!((after[1] / totals[1] - 1.0).abs() < 0.1, "{after:?}, {totals:?}");
    }
}
