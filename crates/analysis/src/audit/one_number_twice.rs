//! In a closed loop, mean time and rate are one number.

use model::imported::{Fidelity, ImportedRun};
use model::{Finding, FindingId, Severity, Subject, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("one-number-twice"),
    gravest: Severity::Note,
    page: include_str!("../../../../docs/findings/one-number-twice.md"),
    checks: &[Check::Imported { needs: Evidence::Kept(Fidelity::Summary), look: rule }],
};

/// How near users divided by the mean time are to the rate where users do nothing but wait for answers, a fraction.
const NEAR: f64 = 0.05;

/// A note where the rate is that of users who ask again at once (Little's law, Little 1961): rate × mean time = users.
fn rule(imported: &Imported) -> Option<Finding> {
    let run = imported.run;
    let (users, mean_s) = (f64::from(run.users?), mean_s(run)?);
    let rate = (run.seconds > 0.0).then(|| run.all.ended() as f64 / run.seconds)?;
    let expected = users / mean_s;
    ((rate / expected - 1.0).abs() < NEAR).then(|| {
        RULE.found(
            Severity::Note,
            Subject::Load,
            "Users ask again as soon as they are answered. So the mean time is their number divided by the rate: both are one result, \
             and a better mean is no second proof of a better rate.",
            "Report one of the two, and quantiles beside it.",
        )
        .with("requests a second", text::significant(rate, 3))
        .with("users divided by the mean time", text::significant(expected, 3))
    })
}

/// The mean time that a request took, seconds; `None` where it is that of good ones only and some failed.
fn mean_s(run: &ImportedRun) -> Option<f64> {
    let is_of_all = run.stated.mean_ms.is_some() || run.all.failed == 0;
    run.mean_us().filter(|mean| is_of_all && *mean > 0.0).map(|mean| mean / 1e6)
}

#[cfg(test)]
mod tests {
    use model::imported::Stated;

    use super::*;
    use crate::audit::testing::imported;

    #[test]
    fn only_users_who_do_not_pause_make_them_one() {
        let mut run = imported(100, 200);
        let found = |run: &ImportedRun| rule(&Imported { run, levels: &[], hosts: &[] });
        assert_eq!(found(&run), None, "no mean is known");
        run.stated = Stated { mean_ms: Some(50.0), rate: None };
        assert!(found(&run).is_some());
        run.stated.mean_ms = Some(20.0);
        assert_eq!(found(&run), None, "users pause");
        (0..run.all.good).for_each(|_| run.all.latency.record(50_000));
        run.stated.mean_ms = None;
        assert!(found(&run).is_some());
        run.users = None;
        assert_eq!(found(&run), None);
    }
}
