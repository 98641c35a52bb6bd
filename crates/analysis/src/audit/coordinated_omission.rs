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

/// The same of an imported run whose file counts users: they wait for answers before they ask again.
fn of_import(imported: &Imported) -> Option<Finding> {
    let users = f64::from(imported.run.users?);
    let gap = stall::longest_gap_of(imported)?;
    let missing = gap.missed - users;
    let share = missing / (imported.run.all.ended() as f64 + missing);
    (missing > 0.0 && share > SOME).then(|| found(missing, share, gap))
}

#[cfg(test)]
mod tests {
    use model::{Arrivals, Profile};

    use super::*;
    use crate::audit::testing::{imported, load};

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
        let is_found =
            |run: &model::imported::ImportedRun| of_import(&Imported { run, levels: &[], hosts: &[] }).is_some();
        assert!(!is_found(&run));
        run.intervals[40..43].iter_mut().for_each(|interval| interval.good = 0);
        assert!(is_found(&run));
        run.users = Some(300);
        assert!(!is_found(&run), "all that would have been sent were waiting");
        run.users = None;
        assert!(!is_found(&run), "it may be an open loop");
    }

    #[test]
    fn as_many_users_as_requests_missing_all_asked() {
        let mut record = load(40, 1_000);
        record.samples[7].bins[..5].fill(0);
        record.connections = 500;
        assert_eq!(rule(&record), None);
    }
}
