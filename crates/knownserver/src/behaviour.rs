//! From a request's number and time to what is to be done about it. Pure: no clock, no I/O, no state.

use crate::script::{Delay, Fault, Route, Script, Stall, WarmUp};
use std::time::Duration;

/// When a request came, in every sense that a script can refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Number among all requests to the server, from 1.
    pub number: u64,
    /// Number among the requests to its route, from 1; 0 when no route matched.
    pub on_route: u64,
    /// Time since the server began to listen.
    pub elapsed: Duration,
}

/// What is done about one request: first `cpu`, then `delay`, then `answer`.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// CPU time to burn.
    pub cpu: Duration,
    /// Time to wait afterwards.
    pub delay: Duration,
    /// What is sent in the end.
    pub answer: Answer,
}

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// 503: the server is not ready yet.
    NotReady,
    /// 503: too many wait for a worker.
    Busy,
    /// 404: no route matched.
    NotFound,
    /// The error burst with this index in [`Script::errors`].
    Error(usize),
    /// What the route with this index in [`Script::routes`] says.
    Route(usize),
    /// The route's answer, spoilt.
    Fault(usize, Fault),
}

impl Answer {
    fn at_once(self) -> Action {
        Action { cpu: Duration::ZERO, delay: Duration::ZERO, answer: self }
    }
}

/// What the script says about a request for `path` (without query) that the route with index `route` matched.
pub fn decide(script: &Script, path: &str, route: Option<usize>, arrival: &Arrival) -> Action {
    if arrival.elapsed < script.not_ready_for {
        return Answer::NotReady.at_once();
    }
    let hit = script.errors.iter().position(|error| {
        error.from <= arrival.elapsed
            && error.until.is_none_or(|until| arrival.elapsed < until)
            && error.path.as_deref().is_none_or(|pattern| matches(pattern, path))
            && in_share(arrival.number, error.share)
    });
    if let Some(error) = hit {
        return Answer::Error(error).at_once();
    }
    let Some((index, route)) = route.and_then(|index| Some((index, script.routes.get(index)?))) else {
        return Answer::NotFound.at_once();
    };
    let factor = route.warm_up.map_or(1.0, |warm_up| warm_up_factor(&warm_up, arrival.on_route));
    let fault = route.fault.filter(|_| in_share(arrival.on_route, route.fault_share));
    Action {
        cpu: route.cpu.mul_f64(factor),
        delay: delay(&route.delay, seed_of(script.seed, index), arrival.on_route).mul_f64(factor),
        answer: fault.map_or(Answer::Route(index), |fault| Answer::Fault(index, fault)),
    }
}

/// Index of the first route that answers `path` (without query).
pub fn route_of(routes: &[Route], path: &str) -> Option<usize> {
    routes.iter().position(|route| matches(&route.path, path))
}

fn matches(pattern: &str, path: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == path, |start| path.starts_with(start))
}

/// Whether item `number` (from 1) belongs to the fraction `share` (0..=1): of the first n items exactly ⌊n·share⌋
/// do, evenly spread.
pub fn in_share(number: u64, share: f64) -> bool {
    // The tolerance keeps 100 · 0.29 = 28.999…96 from losing an item.
    let members = |n: u64| (n as f64 * share + 1e-6).floor();
    number > 0 && members(number) > members(number - 1)
}

/// How steeply the warm-up falls: e^−5 = 0.7 % of the extra cost is left at its end, and taken off throughout.
const WARM_UP_STEEPNESS: f64 = 5.0;

/// Cost factor of request `number` (from 1) of a route.
///
/// With x = (number − 1) / requests: 1 + (cold − 1) · (e^(−5x) − e^−5) / (1 − e^−5), and 1 where x ≥ 1.
/// So it is exactly `cold` for the first request, exactly 1 once warm, and has no step in between.
pub fn warm_up_factor(warm_up: &WarmUp, number: u64) -> f64 {
    let done = number.saturating_sub(1);
    if done >= warm_up.requests {
        return 1.0;
    }
    let left = (-WARM_UP_STEEPNESS).exp();
    let x = done as f64 / warm_up.requests as f64;
    1.0 + (warm_up.cold - 1.0) * ((-WARM_UP_STEEPNESS * x).exp() - left) / (1.0 - left)
}

/// End of the stall that covers `elapsed` (both since listening); the latest where several do.
pub fn stalled_until(stalls: &[Stall], elapsed: Duration) -> Option<Duration> {
    stalls.iter().filter_map(|stall| end_of_stall(stall, elapsed)).max()
}

fn end_of_stall(stall: &Stall, elapsed: Duration) -> Option<Duration> {
    let first = stall.at.or(stall.every)?;
    let since_first = elapsed.checked_sub(first)?;
    let repeated = match stall.every {
        Some(every) if !every.is_zero() => {
            Duration::from_nanos((since_first.as_nanos() / every.as_nanos() * every.as_nanos()) as u64)
        }
        _ => Duration::ZERO,
    };
    let end = first + repeated + stall.lasts;
    (elapsed < end).then_some(end)
}

/// Delay of request `number`: depends on nothing but the distribution, the seed and the number, so that it is the
/// same whatever the threads and the order of arrival.
pub fn delay(delay: &Delay, seed: u64, number: u64) -> Duration {
    let uniform = |draw| unit(seed, number.wrapping_mul(2).wrapping_add(draw));
    match *delay {
        Delay::Fixed(fixed) => fixed,
        Delay::Uniform((low, high)) => low + high.saturating_sub(low).mul_f64(uniform(0)),
        Delay::Exponential(mean) => mean.mul_f64(-uniform(0).ln()),
        Delay::Lognormal { median, sigma } => median.mul_f64((sigma * standard_normal(uniform(0), uniform(1))).exp()),
    }
}

/// A normal variate from two uniform ones in (0, 1) (Box and Muller 1958, eq. 1).
pub(crate) fn standard_normal(first: f64, second: f64) -> f64 {
    (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos()
}

/// Routes draw independently of each other.
fn seed_of(seed: u64, route: usize) -> u64 {
    scramble(seed ^ scramble(route as u64))
}

/// Draw `index` of the stream `seed`, in (0, 1): never 0, whose logarithm is infinite.
pub(crate) fn unit(seed: u64, index: u64) -> f64 {
    let bits = scramble(seed.wrapping_add(index.wrapping_mul(0x9E37_79B9_7F4A_7C15))) >> 11;
    (bits as f64 + 0.5) / (1_u64 << 53) as f64
}

/// The output function of `SplitMix64` (Steele, Lea, Flood 2014): one draw by its index, without a state to share.
fn scramble(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::ErrorBurst;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(number: u64, elapsed: Duration) -> Arrival {
        Arrival { number, on_route: number, elapsed }
    }

    #[test]
    fn the_warm_up_is_exact_at_both_ends() {
        let warm_up = WarmUp { cold: 9.0, requests: 100 };
        let exactly = |number: u64, factor: f64| {
            let found = warm_up_factor(&warm_up, number);
            assert!((found - factor).abs() < 1e-12, "request {number}: {found}");
        };
        exactly(1, 9.0);
        exactly(101, 1.0);
        exactly(1_000_000, 1.0);
        let left = (-5.0_f64).exp();
        exactly(51, 1.0 + 8.0 * ((-2.5_f64).exp() - left) / (1.0 - left));
    }

    #[test]
    fn costs_are_multiplied_while_warming_up() {
        let route = Route {
            cpu: MS,
            delay: Delay::Fixed(2 * MS),
            warm_up: Some(WarmUp { cold: 3.0, requests: 10 }),
            ..Route::default()
        };
        let script = Script { routes: vec![route], ..Script::default() };
        let cold = decide(&script, "/", Some(0), &at(1, MS));
        assert_eq!(cold, Action { cpu: 3 * MS, delay: 6 * MS, answer: Answer::Route(0) });
        let warm = decide(&script, "/", Some(0), &at(11, MS));
        assert_eq!(warm, Action { cpu: MS, delay: 2 * MS, answer: Answer::Route(0) });
    }

    #[test]
    fn stalls_begin_and_end_when_asked() {
        let regular = [Stall { at: None, every: Some(100 * MS), lasts: 10 * MS }];
        for (elapsed, end) in [(0, None), (99, None), (100, Some(110)), (109, Some(110)), (110, None), (305, Some(310))]
        {
            assert_eq!(stalled_until(&regular, elapsed * MS), end.map(|end: u32| end * MS), "at {elapsed} ms");
        }
        let once = [Stall { at: Some(50 * MS), every: None, lasts: 500 * MS }];
        assert_eq!(stalled_until(&once, 49 * MS), None);
        assert_eq!(stalled_until(&once, 549 * MS), Some(550 * MS));
        assert_eq!(stalled_until(&once, 550 * MS), None);
    }

    #[test]
    fn what_is_not_ready_answers_503_until_it_is() {
        let script = Script { not_ready_for: 100 * MS, ..Script::default() };
        assert_eq!(decide(&script, "/", Some(0), &at(1, 99 * MS)).answer, Answer::NotReady);
        assert_eq!(decide(&script, "/", Some(0), &at(2, 100 * MS)).answer, Answer::Route(0));
    }

    #[test]
    fn an_error_burst_keeps_to_its_time_and_path() {
        let burst = ErrorBurst {
            from: 10 * MS,
            until: Some(20 * MS),
            path: Some("/api/*".to_owned()),
            ..ErrorBurst::default()
        };
        let routes = vec![Route { path: "*".to_owned(), delay: Delay::Fixed(MS), ..Route::default() }];
        let script = Script { errors: vec![burst], routes, ..Script::default() };
        let answer = |path, elapsed: u32| decide(&script, path, Some(0), &at(1, elapsed * MS)).answer;
        assert_eq!(answer("/api/a", 9), Answer::Route(0));
        assert_eq!(answer("/api/a", 10), Answer::Error(0));
        assert_eq!(answer("/api/a", 19), Answer::Error(0));
        assert_eq!(answer("/api/a", 20), Answer::Route(0));
        assert_eq!(answer("/other", 15), Answer::Route(0));
    }

    #[test]
    fn the_first_route_that_matches_wins() {
        let routes = ["/a", "/a/*", "*"].map(|path| Route::text(path, ""));
        assert_eq!(route_of(&routes, "/a"), Some(0));
        assert_eq!(route_of(&routes, "/a/b"), Some(1));
        assert_eq!(route_of(&routes, "/b"), Some(2));
        assert_eq!(route_of(&routes[..2], "/b"), None);
    }

    #[test]
    fn delays_have_the_distribution_asked_for() {
        const N: u64 = 20_000;
        let draws = |distribution: &Delay| -> Vec<f64> {
            (1..=N).map(|number| delay(distribution, 7, number).as_secs_f64() * 1e3).collect()
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        // Five standard errors each; the draws are fixed by the seed, so this cannot fail by chance.
        let error = 5.0 / (N as f64).sqrt();

        let exponential = draws(&Delay::Exponential(5 * MS));
        assert!((mean(&exponential) / 5.0 - 1.0).abs() < error);
        let longer = exponential.iter().filter(|&&value| value > 5.0).count() as f64 / N as f64;
        assert!((longer - (-1.0_f64).exp()).abs() < error);

        let uniform = draws(&Delay::Uniform((MS, 3 * MS)));
        assert!(uniform.iter().all(|value| (1.0..=3.0).contains(value)));
        assert!((mean(&uniform) - 2.0).abs() < error);

        let logs: Vec<f64> = draws(&Delay::Lognormal { median: 5 * MS, sigma: 0.5 })
            .iter()
            .map(|value| (value / 5.0).ln() / 0.5)
            .collect();
        assert!(mean(&logs).abs() < error);
        assert!((mean(&logs.iter().map(|z| z * z).collect::<Vec<_>>()) - 1.0).abs() < 2.0 * error);
    }

    proptest! {
        #[test]
        fn a_share_is_exact_to_the_request(share in 0.0..=1.0_f64, n in 0_u64..5000) {
            let members = (1..=n).filter(|&number| in_share(number, share)).count() as u64;
            prop_assert_eq!(members, (n as f64 * share + 1e-6).floor() as u64);
        }

        #[test]
        fn warming_up_never_goes_back(cold in 1.0..50.0_f64, requests in 1_u64..2000, number in 1_u64..3000) {
            let factor = |number| warm_up_factor(&WarmUp { cold, requests }, number);
            prop_assert!(factor(number) >= factor(number + 1));
            prop_assert!((1.0..=cold).contains(&factor(number)));
        }

        #[test]
        fn a_delay_depends_on_seed_and_number_only(seed: u64, number: u64) {
            let exponential = Delay::Exponential(MS);
            prop_assert_eq!(delay(&exponential, seed, number), delay(&exponential, seed, number));
            prop_assert_ne!(delay(&exponential, seed, number), delay(&exponential, seed, number.wrapping_add(1)));
        }
    }

    #[test]
    fn decimal_shares_lose_nothing() {
        for (share, expected) in [(0.29, 29), (0.01, 1), (0.07, 7), (1.0, 100), (0.0, 0)] {
            assert_eq!((1..=100).filter(|&number| in_share(number, share)).count(), expected, "share {share}");
        }
    }
}
