//! When a launch was warm, and at which rates it answers.
//!
//! *Warm* is judged in hindsight, from the steady rate of the launch itself (its mean rate over the window that was
//! found steady, and all after): the launch is warm from the end of the last time that its running median over
//! [`WINDOW`] seconds was more than 5 % below, or below the noise where that is more; at the beginning of that window at the latest.

use model::{Sample, WarmUpRecord, sample};

use crate::robust;

/// Seconds of the running median, an odd number.
const WINDOW: usize = 11;
/// How far below the steady rate a launch is not yet warm, a fraction.
const BELOW: f64 = 0.05;
/// What the starts of two samples may be apart and yet the same, seconds.
pub const ROUNDING_S: f64 = 1e-6;
/// Standard error of a median of n normal values, in σ/√n: √(π/2).
const MEDIAN_ERROR: f64 = 1.2533;

/// When a launch was warm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Warm {
    /// Seconds of load until then, a second or more: it is not looked at more finely.
    pub seconds: f64,
    /// Good answers until then.
    pub requests: f64,
    /// What one sample more would add to both: it is known no more finely than that.
    pub next: (f64, f64),
}

/// When a launch was warm; `None` if it was never found steady.
pub fn warm(warm_up: &WarmUpRecord) -> Option<Warm> {
    warm_up.steady_at_s()?;
    let steady = steady_rate(warm_up)?;
    let from = window(warm_up);
    let rates: Vec<f64> = warm_up.samples.iter().map(rate).collect();
    let noise = robust::sigma(&warm_up.samples[from..].iter().map(rate).collect::<Vec<_>>())? / steady;
    let is_cold = |second: &usize| {
        let near = &rates[second.saturating_sub(WINDOW / 2)..(second + WINDOW / 2 + 1).min(rates.len())];
        let error = MEDIAN_ERROR * noise / (near.len() as f64).sqrt();
        robust::median(near).is_some_and(|median| median < steady * (1.0 - BELOW.max(3.0 * error)))
    };
    let until = (0..from).rev().find(is_cold).map_or(1, |second| second + 1);
    let cold = &warm_up.samples[..until];
    let next = warm_up.samples.get(until).or(cold.last())?;
    Some(Warm {
        seconds: sample::seconds(cold),
        requests: sample::tally(cold).good as f64,
        next: (next.length_s, next.tally.good as f64),
    })
    .filter(|warm| warm.requests > 0.0)
}

/// Index of the first sample of the window that was found steady, and all after. Where none was, of the second half of all, or the last.
fn window(warm_up: &WarmUpRecord) -> usize {
    let samples = &warm_up.samples;
    let half = samples.len().div_ceil(2);
    let from = warm_up
        .steady
        .map_or(half, |steady| samples.partition_point(|sample| sample.start_s < steady.from_s - ROUNDING_S));
    from.min(samples.len().saturating_sub(1))
}

/// The samples of that window.
pub fn steady(warm_up: &WarmUpRecord) -> &[Sample] {
    &warm_up.samples[window(warm_up)..]
}

/// Good answers per second in that window; `None` where there are none.
pub fn steady_rate(warm_up: &WarmUpRecord) -> Option<f64> {
    Some(mean_rate(steady(warm_up))).filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// Good answers per second of the later half of a warm-up's samples; NaN where there are none.
pub fn late_rate(warm_up: &[Sample]) -> f64 {
    mean_rate(late(warm_up))
}

/// The later half of a warm-up's samples.
pub fn late(warm_up: &[Sample]) -> &[Sample] {
    &warm_up[warm_up.len() / 2..]
}

/// Good answers per second.
pub fn mean_rate(samples: &[Sample]) -> f64 {
    sample::tally(samples).good as f64 / sample::seconds(samples)
}

/// The same of one sample.
pub fn rate(sample: &Sample) -> f64 {
    sample.tally.good as f64 / sample.length_s
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::boundaries::normal;
    use crate::fixture::{step, warm_up};

    #[test]
    fn warm_is_where_the_curve_reaches_its_level() {
        for cold in [5, 20, 40] {
            let warm = warm(&warm_up(&step(cold, 40, 100), Some(90.0))).unwrap();
            assert_eq!((warm.seconds, warm.requests), (f64::from(cold), f64::from(cold) * 40.0));
        }
        // Within 5 % it is warm; the 15 s of 90/s at 30 s are not.
        let mut curve = step(10, 97, 100);
        curve[30..45].fill(90);
        assert!((warm(&warm_up(&curve, Some(90.0))).unwrap().seconds - 45.0).abs() < 1e-9);
        // What comes after it was found steady, or lasts a moment, is not warming up.
        let mut curve = step(20, 40, 100);
        curve[60..63].fill(10);
        curve[95..].fill(10);
        assert!((warm(&warm_up(&curve, Some(90.0))).unwrap().seconds - 20.0).abs() < 1e-9);
        // Never colder: it is not looked at more finely than a second.
        assert!((warm(&warm_up(&[100; 60], Some(30.0))).unwrap().seconds - 1.0).abs() < 1e-9);
        assert_eq!(warm(&warm_up(&step(20, 40, 100), None)), None);
        assert_eq!(warm(&warm_up(&[0; 60], Some(30.0))), None);
    }

    #[test]
    fn noise_does_not_put_it_off() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut late = 0;
        for _ in 0..200 {
            let noisy = |good: u64| (good as f64 * (0.1 * normal(&mut rng)).exp()) as u64;
            let curve: Vec<u64> = step(20, 400, 1_000).into_iter().map(noisy).collect();
            let seconds = warm(&warm_up(&curve, Some(90.0))).unwrap().seconds;
            assert!(seconds >= 18.0, "{seconds}");
            late += u32::from(seconds > 25.0);
        }
        assert!(late <= 10, "{late} of 200");
    }
}
