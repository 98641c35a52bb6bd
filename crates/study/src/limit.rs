//! How the highest rate is looked for at which an objective holds.

use std::time::Duration;

use model::{FindLimit, Objective, Profile};

use crate::file::FindLimitKeys;
use crate::problem::{Problem, Problems};
use crate::value::At;

/// The part of the requests that may fail, where the study does not say.
const ERRORS: f64 = 0.01;
/// The first and the highest rate tried, where the study does not say.
const RATES: [f64; 2] = [10.0, 10_000.0];
/// The longest time in which an answer may be in time: each step of the search lasts ten times as long.
const LONGEST: Duration = Duration::from_secs(30);

/// What a workload's limit is looked for by; says what is wrong.
pub(crate) fn find_limit(keys: &At<FindLimitKeys>, problems: &mut Problems) -> Option<FindLimit> {
    const CURE: &str =
        "write which part of the answers is to come within which time: `find_limit = { p95 = \"200ms\" }`";
    let quantiles = [(0.5, &keys.p50), (0.9, &keys.p90), (0.95, &keys.p95), (0.99, &keys.p99)];
    let written: Vec<_> = quantiles.into_iter().filter_map(|(quantile, at)| Some((quantile, at.as_ref()?))).collect();
    let (quantile, within) = match written[..] {
        [one] => one,
        [] => {
            let problem = Problem::new("a limit has no objective");
            problems.add(problem.at(keys.place, "no `p50`, `p90`, `p95` or `p99`").help(CURE));
            return None;
        }
        [(_, first), (_, second), ..] => {
            let problem = Problem::new("a limit has two objectives");
            problems.add(problem.at(first.place, "here").at(second.place, "and here").help(CURE));
            return None;
        }
    };
    if within.value.0.is_zero() || within.value.0 > LONGEST {
        problems.add(
            Problem::new("no such time can be an objective")
                .at(within.place, format!("not above 0 and up to {} s", LONGEST.as_secs()))
                .help(CURE),
        );
    }
    let mut rate = |written: Option<&At<f64>>, default: f64| {
        let Some(rate) = written else { return default };
        if !(rate.value > 0.0 && rate.value <= Profile::MOST_RATE) {
            problems.add(
                Problem::new(format!("{} requests cannot be due a second", rate.value))
                    .at(rate.place, format!("not above 0 and up to {}", Profile::MOST_RATE))
                    .help("write the rates between which the limit is looked for: `from = 10, to = 10_000`"),
            );
        }
        rate.value
    };
    let (from, to) = (rate(keys.from.as_ref(), RATES[0]), rate(keys.to.as_ref(), RATES[1]));
    if from >= to {
        let place = keys.to.as_ref().or(keys.from.as_ref()).map_or(keys.place, |rate| rate.place);
        problems.add(
            Problem::new("no rate lies between the first and the highest that are tried")
                .at(place, format!("from {from} to {to} requests a second"))
                .help("write a `from` that the server surely keeps, and a `to` that it surely does not"),
        );
    }
    let errors = keys.errors.as_ref().map_or(ERRORS, |share| share.value.0);
    let within_us = within.value.0.as_micros() as u64;
    Some(FindLimit { objective: Objective { quantile, within_us, errors }, from, to })
}
