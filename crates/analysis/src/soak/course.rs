//! How something went over a soak: level, rising, levelled off.
//!
//! Something *rises* where all of this holds:
//! - its slope is above zero with its interval (`trend.rs`), of 99 % in the second half and of 95 % in the last third;
//! - the growth matters: at this slope over the whole soak more than [`MATTERS`] of its level, and more than [`MORE_THAN_NOISE`] times the
//!   noise;
//! - no single jump is most of it;
//! - it does not slow down: the last third's slope is neither surely below that of the third before nor less than [`STEADY`] of it.
//!
//! What only slows down is a cache that fills, or a leak that a longer soak would show; it is not called a leak.

use model::soaked::{Course, Gauge, Reading, SoakStep, Trend};

use crate::trend::{self, Slope};
use crate::{changepoint, robust};

/// How often the interval of the second half's slope may miss the true one, and that of a third's.
const ALPHA: f64 = 0.01;
const ALPHA_OF_THIRD: f64 = 0.05;
/// Growth over a soak that matters, a fraction of the level.
const MATTERS: f64 = 0.05;
/// Growth of the second half that is more than noise, in standard deviations of what the line leaves.
const MORE_THAN_NOISE: f64 = 2.0;
/// What is left of the slope in the last third where something rises evenly, at least.
const STEADY: f64 = 0.7;
/// The part of a rise of the second half, in [`PARTS`] parts, that one jump between two of them may be.
const JUMP: f64 = 0.6;
const PARTS: usize = 6;
/// The least growth that matters, whatever the level: of memory, bytes; of what is counted.
const LEAST_BYTES: f64 = (1 << 20) as f64;
const LEAST_COUNT: f64 = 4.0;
/// Spans of a whole soak in which is looked since when something has been level, and the part of a rise within which it is.
const SPANS: usize = 40;
const WITHIN: f64 = 0.1;
const HOUR_S: f64 = 3_600.0;

/// How something went: points are seconds since the load began, in order, and values above or at zero; `seconds` is the whole soak.
pub fn course(gauge: Gauge, points: Vec<[f64; 2]>, seconds: f64) -> Course {
    let trend = trend::slope(after(&points, seconds / 2.0), ALPHA);
    let reading = trend.map_or(Reading::Unknown, |trend| reading(gauge, &points, seconds, &trend));
    let trend = trend.map(|Slope { per_s, low, high, .. }| {
        let [per_hour, low, high] = [per_s, low, high].map(|slope| slope * HOUR_S);
        Trend { per_hour, low, high }
    });
    let [first, last] = ends(&points, seconds);
    let steps = steps(&points);
    Course { gauge, points, first, last, trend, reading, steps, limit: None, doubt: None }
}

/// The same without a word on how it went.
pub fn unread(gauge: Gauge, points: Vec<[f64; 2]>, seconds: f64) -> Course {
    let [first, last] = ends(&points, seconds);
    let (trend, reading, steps) = (None, Reading::Unknown, Vec::new());
    Course { gauge, points, first, last, trend, reading, steps, limit: None, doubt: None }
}

fn reading(gauge: Gauge, points: &[[f64; 2]], seconds: f64, second_half: &Slope) -> Reading {
    let [middle, end] = thirds(points, seconds);
    let Some(end) = trend::slope(end, ALPHA_OF_THIRD) else { return Reading::Unknown };
    let [first, last] = ends(points, seconds);
    let level = robust::median(&values(after(points, seconds / 2.0))).unwrap_or(last);
    let matters = |growth: f64| growth > (MATTERS * level).max(least(gauge));
    let growth = second_half.per_s * seconds;
    let is_more_than_noise = growth / 2.0 > MORE_THAN_NOISE * second_half.sigma;
    if second_half.low > 0.0 && end.low > 0.0 && matters(growth) && is_more_than_noise && !is_a_jump(points, seconds) {
        let slows = trend::slope(middle, ALPHA_OF_THIRD)
            .is_some_and(|before| end.high < before.low || end.per_s < STEADY * before.per_s && before.low > 0.0);
        return if slows { Reading::Slowing } else { Reading::Rising };
    }
    let moved = last - first;
    if moved.abs() <= MORE_THAN_NOISE * second_half.sigma || !matters(moved.abs()) {
        Reading::Level
    } else if moved < 0.0 {
        Reading::Fell
    } else {
        Reading::LevelledOff { by: moved, since_s: level_since(points, last, moved, second_half.sigma) }
    }
}

/// The least growth that is worth a word.
fn least(gauge: Gauge) -> f64 {
    match gauge {
        Gauge::Memory | Gauge::Heap => LEAST_BYTES,
        Gauge::Threads | Gauge::Descriptors | Gauge::Connections => LEAST_COUNT,
        Gauge::P50 | Gauge::P99 | Gauge::Throughput => 0.0,
    }
}

/// Whether one jump is most of what the second half rose by.
fn is_a_jump(points: &[[f64; 2]], seconds: f64) -> bool {
    let parts = values(&trend::blocks(after(points, seconds / 2.0), PARTS));
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return false };
    let highest = parts.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    highest > JUMP * (last - first)
}

/// From when on it stayed near its last level.
fn level_since(points: &[[f64; 2]], last: f64, moved: f64, sigma: f64) -> f64 {
    let near = (WITHIN * moved).max(MORE_THAN_NOISE * sigma);
    let spans = trend::blocks(points, SPANS);
    let since = spans.iter().rev().take_while(|[_, value]| (value - last).abs() <= near).last();
    since.or(points.last()).map_or(0.0, |[at, _]| *at)
}

/// The medians of the first and of the last tenth of the time.
fn ends(points: &[[f64; 2]], seconds: f64) -> [f64; 2] {
    let first = &points[..points.partition_point(|point| point[0] < seconds / 10.0)];
    let last = after(points, seconds * 0.9);
    let median = |part: &[[f64; 2]], else_of: Option<&[f64; 2]>| {
        robust::median(&values(part)).or(else_of.map(|point| point[1])).unwrap_or_default()
    };
    [median(first, points.first()), median(last, points.last())]
}

/// The middle third and the last.
fn thirds(points: &[[f64; 2]], seconds: f64) -> [&[[f64; 2]]; 2] {
    let end = after(points, seconds * 2.0 / 3.0);
    let middle = after(points, seconds / 3.0);
    [&middle[..middle.len() - end.len()], end]
}

fn after(points: &[[f64; 2]], from_s: f64) -> &[[f64; 2]] {
    &points[points.partition_point(|point| point[0] < from_s)..]
}

fn values(points: &[[f64; 2]]) -> Vec<f64> {
    points.iter().map(|point| point[1]).collect()
}

/// Where the level changed. A series with zeros has no logarithms, and so no steps that mean anything.
fn steps(points: &[[f64; 2]]) -> Vec<SoakStep> {
    let values = values(points);
    if values.iter().any(|value| *value <= 0.0) {
        return Vec::new();
    }
    let step = |shift: &changepoint::Shift| SoakStep {
        at_s: points[shift.index][0],
        before: shift.before,
        after: shift.after,
    };
    changepoint::shifts(&values).iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::boundaries::normal;

    const MIB: f64 = LEAST_BYTES;
    const HOURS_4: f64 = 14_400.0;

    /// Four hours in windows of 15 s with a little noise.
    fn soak(value: impl Fn(f64) -> f64) -> Course {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let point = |index: u32| {
            let at = f64::from(index) * 15.0 + 7.5;
            [at, value(at) + MIB * normal(&mut rng)]
        };
        course(Gauge::Memory, (0..960).map(point).collect(), HOURS_4)
    }

    #[test]
    fn a_leak_rises_with_its_slope() {
        let found = soak(|at| MIB * (200.0 + at / 100.0));
        assert_eq!(found.reading, Reading::Rising);
        let trend = found.trend.unwrap();
        assert!(trend.low <= 36.0 * MIB && 36.0 * MIB <= trend.high, "{trend:?}");
        assert!(trend.high - trend.low < 2.0 * MIB, "{trend:?}");
    }

    #[test]
    fn a_leak_after_a_start_that_grows_faster_rises_too() {
        let found = soak(|at| MIB * (200.0 + at / 100.0 + 100.0 * (1.0 - (-at / 600.0).exp())));
        assert_eq!(found.reading, Reading::Rising);
    }

    #[test]
    fn a_cache_that_fills_levels_off() {
        let found = soak(|at| MIB * (200.0 + 300.0 * (1.0 - (-at / 1_000.0).exp())));
        let Reading::LevelledOff { by, since_s } = found.reading else { panic!("{:?}", found.reading) };
        assert!((by / MIB - 200.0).abs() < 120.0, "{by}");
        // After 2.3 time constants a tenth is missing.
        assert!((1_500.0..3_500.0).contains(&since_s), "{since_s}");
    }

    #[test]
    fn a_cache_that_is_not_full_yet_slows_down() {
        for constant in [4_000.0, 7_000.0, 10_000.0] {
            let found = soak(|at| MIB * (200.0 + 300.0 * (1.0 - (-at / constant).exp())));
            assert_eq!(found.reading, Reading::Slowing, "{constant}");
        }
    }

    #[test]
    fn a_jump_is_no_leak_wherever_it_is() {
        for at_s in [3_000.0, 8_000.0, 10_000.0, 11_500.0, 12_100.0, 13_000.0] {
            let found = soak(|at| if at < at_s { 200.0 * MIB } else { 260.0 * MIB });
            assert!(matches!(found.reading, Reading::LevelledOff { .. }), "{at_s}: {:?}", found.reading);
            let [step] = found.steps[..] else { panic!("{:?}", found.steps) };
            assert!((step.at_s - at_s).abs() < 40.0, "{step:?}");
        }
    }

    #[test]
    fn what_stays_and_what_falls_is_read_as_that() {
        assert_eq!(soak(|_| 200.0 * MIB).reading, Reading::Level);
        assert_eq!(soak(|at| MIB * (200.0 - at / 200.0)).reading, Reading::Fell);
        // It rises surely, by a hundredth.
        assert_eq!(soak(|at| MIB * (2_000.0 + at / 700.0)).reading, Reading::Level);
    }

    #[test]
    fn what_is_counted_may_have_few_values() {
        let of = |value: &dyn Fn(u32) -> f64| {
            let points = (0..960).map(|index| [f64::from(index) * 15.0 + 7.5, value(index)]).collect();
            course(Gauge::Threads, points, HOURS_4)
        };
        assert_eq!(of(&|_| 12.0).reading, Reading::Level);
        assert_eq!(of(&|index| 12.0 + f64::from(index / 40)).reading, Reading::Rising);
        assert!(matches!(of(&|index| if index < 50 { 12.0 } else { 30.0 }).reading, Reading::LevelledOff { .. }));
        let few = course(Gauge::Threads, vec![[1.0, 2.0], [14_000.0, 3.0]], HOURS_4);
        assert_eq!((few.reading, few.trend, few.first, few.last), (Reading::Unknown, None, 2.0, 3.0));
        assert_eq!(course(Gauge::Threads, Vec::new(), 0.0).reading, Reading::Unknown);
    }

    #[test]
    fn the_sawtooth_of_collections_is_no_leak() {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let period: f64 = 300.0 + 60.0 * rng.random::<f64>();
        assert_eq!(soak(|at| MIB * (300.0 + 100.0 * (at / period).fract())).reading, Reading::Level);
        assert_eq!(soak(|at| MIB * (300.0 + at / 50.0 + 100.0 * (at / period).fract())).reading, Reading::Rising);
    }
}
