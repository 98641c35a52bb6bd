//! How often imported runs with nothing wrong in them are called invalid, and equal ones different: simulated, with a known truth.

use model::imported::{AuditedRun, ImportedRun, Interval, Support};
use model::{Finding, Severity};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::audit::testing::imported;
use crate::boundaries::normal;
use crate::{audit_imported, audit_pair};

/// Pairs of runs that are simulated in every test, and for the figures of `docs/calibration.md`.
const PAIRS: usize = 150;
const MANY: usize = 500;
/// Part of the requests that fail.
const FAILED: f64 = 0.001;
/// Invalid runs, of all, that there may be.
const INVALID: f64 = 0.001;
/// Pairs with a direction, of all, that there may be by chance. One in twenty is wanted: speed that wanders is more alike within a part of
/// the time than the interval believes.
const DIRECTION: f64 = 0.12;

/// What two runs of one server have in common.
struct Server {
    seconds: usize,
    /// Requests a second, once warm.
    rate: f64,
    /// Standard deviation of the logarithm of its speed, and for how long a value is remembered, seconds.
    wander: f64,
    memory_s: f64,
    /// The speed that it begins with, as a part, and how fast it loses the rest, seconds.
    cold: f64,
    warming_s: f64,
    /// Seconds between two dips.
    between_s: f64,
}

impl Server {
    /// Ten minutes to four hours at 2 to 500/s; noise of 10 to 20 % that wanders for 1 to 30 s; a warm-up of a minute or two; a dip of some
    /// seconds every few minutes.
    fn any(rng: &mut ChaCha8Rng) -> Self {
        let mut between = |low: f64, high: f64| low * (high / low).powf(rng.random());
        Self {
            seconds: between(600.0, 14_400.0) as usize,
            rate: between(2.0, 500.0),
            wander: between(0.1, 0.2),
            memory_s: between(1.0, 30.0),
            cold: between(0.4, 0.9),
            warming_s: between(5.0, 30.0),
            between_s: between(200.0, 1_200.0),
        }
    }

    /// One launch of it.
    fn run(&self, rng: &mut ChaCha8Rng) -> ImportedRun {
        let mut run = imported(self.seconds, 0);
        let kept = (-1.0 / self.memory_s).exp();
        let mut noise = normal(rng);
        let mut dip = (0_u32, 1.0);
        for (second, interval) in run.intervals.iter_mut().enumerate() {
            noise = kept * noise + (1.0 - kept * kept).sqrt() * normal(rng);
            if dip.0 == 0 && rng.random_bool(1.0 / self.between_s) {
                dip = (rng.random_range(1..=5), rng.random_range(0.0..0.6));
            }
            let speed = if dip.0 > 0 { dip.1 } else { 1.0 };
            dip.0 = dip.0.saturating_sub(1);
            let warm = 1.0 - (1.0 - self.cold) * (-(second as f64) / self.warming_s).exp();
            let ended = poisson(self.rate * warm * speed * (self.wander * noise).exp(), rng);
            let failed = (0..ended).filter(|_| rng.random_bool(FAILED)).count() as u64;
            *interval =
                Interval { good: ended - failed, failed, good_us: 10_000_000, users: 10, ..Interval::default() };
        }
        run.all.good = run.intervals.iter().map(|interval| interval.good).sum();
        run.all.failed = run.intervals.iter().map(|interval| interval.failed).sum();
        run
    }
}

/// A number of requests where so many come in the mean: Knuth's way, or of many the normal distribution.
fn poisson(mean: f64, rng: &mut ChaCha8Rng) -> u64 {
    if mean > 30.0 {
        return (mean + mean.sqrt() * normal(rng)).round().max(0.0) as u64;
    }
    let (least, mut product, mut number) = ((-mean).exp(), rng.random::<f64>(), 0);
    while product > least {
        product *= rng.random::<f64>();
        number += 1;
    }
    number
}

/// What an audit says of so many pairs of clean runs.
#[derive(Debug, Default)]
struct Said {
    pairs: usize,
    /// What made runs invalid.
    invalid: Vec<Finding>,
    /// Pairs that had a time in common, and those of them with a direction.
    compared: usize,
    directions: usize,
}

impl Said {
    fn of(pairs: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(31);
        let mut said = Self { pairs, ..Self::default() };
        for _ in 0..pairs {
            let server = Server::any(&mut rng);
            let runs: [AuditedRun; 2] = [(); 2].map(|()| audit_imported(server.run(&mut rng), Vec::new()));
            for run in &runs {
                said.invalid.extend(run.findings.iter().filter(|found| found.severity == Severity::Invalid).cloned());
            }
            let pair = audit_pair([&runs[0], &runs[1]]);
            said.compared += usize::from(pair.matched.is_some());
            said.directions += usize::from(pair.support == Support::DirectionOnly);
        }
        said
    }

    /// Holds it against what is allowed; in words.
    fn checked(&self) -> String {
        let Self { pairs, invalid, compared, directions } = self;
        let found = invalid.len();
        let said = format!(
            "{found} of {} clean runs invalid; a direction in {directions} of {compared} pairs of equal speed, of {pairs}",
            2 * pairs
        );
        assert!(found as f64 <= INVALID * 2.0 * *pairs as f64, "{said}: {invalid:?}");
        assert!(*directions as f64 <= DIRECTION * *compared as f64, "{said}");
        said
    }
}

#[test]
fn clean_imports_are_hardly_ever_invalid() {
    insta::assert_snapshot!(Said::of(PAIRS).checked(), @"0 of 300 clean runs invalid; a direction in 16 of 142 pairs of equal speed, of 150");
}

#[test]
#[ignore = "a minute long: the figures of docs/calibration.md"]
fn many_clean_imports_are_hardly_ever_invalid() {
    insta::assert_snapshot!(Said::of(MANY).checked(), @"0 of 1000 clean runs invalid; a direction in 45 of 489 pairs of equal speed, of 500");
}
