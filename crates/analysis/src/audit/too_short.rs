//! A load is too short to say much.

use model::imported::Fidelity;
use model::{Finding, FindingId, LoadRecord, Severity, Subject, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("too-short"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/too-short.md"),
    checks: &[Check::Load(of_a_load), Check::Imported { needs: Evidence::Kept(Fidelity::Summary), look: of_import }],
};

/// Shortest load that says something, seconds.
const LEAST_S: f64 = 30.0;
/// Fewest requests that do.
const LEAST_REQUESTS: u64 = 1_000;

/// A warning when the load took less than 30 s or made fewer than 1,000 requests.
fn of_a_load(load: &LoadRecord) -> Option<Finding> {
    found(load.seconds(), load.tally().ended())
}

/// The same of an imported run.
fn of_import(imported: &Imported) -> Option<Finding> {
    found(imported.run.seconds, imported.run.all.ended())
}

/// With a length of 0 where it is not known.
fn found(seconds: f64, requests: u64) -> Option<Finding> {
    let length =
        (seconds > 0.0 && seconds < LEAST_S).then(|| ("length", format!("{seconds:.1} s of at least {LEAST_S:.0}")));
    let few = (requests < LEAST_REQUESTS)
        .then(|| ("requests", format!("{} of at least {}", text::count(requests), text::count(LEAST_REQUESTS))));
    let facts: Vec<(&str, String)> = length.into_iter().chain(few).collect();
    let found = RULE.found(
        Severity::Warning,
        Subject::Load,
        "What it shows is the beginning: caches and compilers may be cold, and a rare slow answer may not have come yet.",
        "Load for 30 s at least, and until the rate no longer moves.",
    );
    (!facts.is_empty()).then(|| facts.into_iter().fold(found, |found, (name, value)| found.with(name, value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{imported, load};

    #[test]
    fn an_imported_run_may_be_too_short_as_well() {
        let of =
            |seconds: usize, rate: u64| of_import(&Imported { run: &imported(seconds, rate), levels: &[], hosts: &[] });
        assert_eq!(of(30, 100), None);
        assert!(of(29, 1_000).is_some() && of(40, 20).is_some());
        let mut of_unknown_length = imported(29, 1_000);
        of_unknown_length.seconds = 0.0;
        assert_eq!(of_import(&Imported { run: &of_unknown_length, levels: &[], hosts: &[] }), None);
    }

    #[test]
    fn time_and_requests_both_count() {
        assert_eq!(of_a_load(&load(30, 100)), None);
        assert!(of_a_load(&load(29, 1_000)).is_some());
        assert!(of_a_load(&load(40, 20)).is_some());
    }
}
