//! Those who would have asked during a stall are missing from the latencies.

use model::imported::Fidelity;
use model::{Finding, FindingId, LoadRecord, Severity, Subject, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule};
use super::stall::{self, Gap};

pub const RULE: Rule = Rule {
    id: FindingId::new("coordinated-omission"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/coordinated-omission.md"),
    checks: &[Check::Load(rule), Check::Imported { needs: Evidence::Kept(Fidelity::Intervals), look: of_import }],
};

/// Share of all requests that, missing, moves a percentile which people look at.
const SOME: f64 = 0.001;
/// Part by which requests in flight may differ from the users where these wait for answers. In an open loop, or with pauses, users are
/// counted too, but they are not all waiting.
const IN_FLIGHT: f64 = 0.2;

/// A warning when, in a closed loop, more than 0.1 % of the requests that the usual rate would have brought are missing
/// because the users waited while the server stood still.
fn rule(load: &LoadRecord) -> Option<Finding> {
    if load.arrivals.is_open() {
        return None;
    }
    let gap = stall::longest_gap(load)?;
    // Those who did ask waited in it: at most one a connection.
    let missing = gap.missed - f64::from(load.connections);
    let share = missing / (load.tally().ended() as f64 + missing);
    (missing > 0.0 && share > SOME).then(|| found(missing, share, gap))
}

fn found(missing: f64, share: f64, gap: Gap) -> Finding {
    RULE.found(
            Severity::Warning,
            Subject::Latencies,
            "While the server stood still no requests were sent: those who would have waited longest are missing, and the high \
             percentiles are too good.",
            "Load at a fixed rate (-R) to see what users see: there latency counts from when a request was due.",
        )
        .with("requests missing", format!("about {missing:.0}, {} of all", text::percent(share)))
        .with("while the server stood still", format!("{:.1} s at {:.1} s", gap.length_s, gap.at_s))
}

/// The same of an imported run whose users wait for answers before they ask again.
fn of_import(imported: &Imported) -> Option<Finding> {
    let users = f64::from(imported.run.users?);
    let is_closed = (in_flight(imported)? / users - 1.0).abs() <= IN_FLIGHT;
    let gap = stall::longest_gap_of(imported).filter(|_| is_closed)?;
    let missing = gap.missed - users;
    let share = missing / (imported.run.all.ended() as f64 + missing);
    (missing > 0.0 && share > SOME).then(|| found(missing, share, gap))
}

/// Good requests in flight in the mean while users were at work: what they took together in a second (Little's law, Little 1961); `None`
/// where the file does not say what they took.
fn in_flight(imported: &Imported) -> Option<f64> {
    let (from_s, to_s) = (imported.levels.first()?.from_s, imported.levels.last()?.to_s);
    let interval_s = imported.run.interval_s;
    let at_work = ((from_s / interval_s).ceil() as usize)..((to_s / interval_s).floor() as usize);
    let inside = imported.run.intervals.get(at_work)?;
    let took_us: f64 = inside.iter().map(|interval| interval.good_us as f64).sum();
    (took_us > 0.0).then(|| took_us / 1e6 / (inside.len() as f64 * interval_s))
}

#[cfg(test)]
mod tests {
    use model::imported::ImportedRun;
    use model::{Arrivals, Profile};

    use super::*;
    use crate::audit::testing::{imported, load};
    use crate::levels::levels;

    #[test]
    fn only_a_closed_loop_omits() {
        let mut record = load(40, 1_000);
        assert_eq!(rule(&record), None);
        record.samples[7].bins[..5].fill(0);
        assert!(rule(&record).is_some());
        record.arrivals = Arrivals::Open(Profile::constant(1_000.0));
        assert_eq!(rule(&record), None);
    }

    #[test]
    fn users_of_another_tool_wait_too() {
        let mut run = imported(100, 100);
        // Ten users wait all the time.
        run.intervals.iter_mut().for_each(|interval| interval.good_us = 10_000_000);
        let is_found = |run: &ImportedRun| of_import(&Imported { run, levels: &levels(run), hosts: &[] }).is_some();
        assert!(!is_found(&run));
        run.intervals[40..43].iter_mut().for_each(|interval| (interval.good, interval.good_us) = (0, 0));
        run.intervals[43].good_us = 40_000_000;
        assert!(is_found(&run));
        let with = |users: Option<u32>| is_found(&ImportedRun { users, ..run.clone() });
        assert!(with(Some(12)) && !with(Some(13)), "so many were not waiting");
        assert!(!with(None));
        run.intervals.iter_mut().for_each(|interval| interval.good_us /= 10);
        assert!(!is_found(&run), "one of ten users of an open loop, or of users who pause");
        run.intervals.iter_mut().for_each(|interval| interval.good_us = 0);
        assert!(!is_found(&run), "nobody knows");
    }

    #[test]
    fn as_many_users_of_another_tool_as_requests_missing_all_asked() {
        let mut run = imported(100, 100);
        run.users = Some(300);
        run.intervals.iter_mut().for_each(|interval| interval.good_us = 300_000_000);
        run.intervals[40..43].iter_mut().for_each(|interval| interval.good = 0);
        assert_eq!(of_import(&Imported { run: &run, levels: &levels(&run), hosts: &[] }), None);
    }

    #[test]
    fn as_many_users_as_requests_missing_all_asked() {
        let mut record = load(40, 1_000);
        record.samples[7].bins[..5].fill(0);
        record.connections = 500;
        assert_eq!(rule(&record), None);
    }
}
