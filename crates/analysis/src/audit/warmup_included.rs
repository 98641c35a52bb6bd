//! A measurement begins before the server is warm.

use model::imported::Fidelity;
use model::{Finding, FindingId, Severity, Subject, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule};
use crate::ended::Ended;
use crate::settled::settled;

pub const RULE: Rule = Rule {
    id: FindingId::new("warmup-included"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/warmup-included.md"),
    checks: &[Check::Imported { needs: Evidence::Kept(Fidelity::Intervals), look: rule }],
};

/// A warning where the speed rose before it settled: the totals count that time, too.
fn rule(imported: &Imported) -> Option<Finding> {
    let first = imported.levels.first()?;
    let settled = &imported.levels[settled(imported.levels).filter(|settled| *settled > 0)?];
    let before = Ended::between(imported.run, 0.0, settled.from_s).good;
    let share = before / imported.run.all.good.max(1) as f64;
    Some(
        RULE.found(
            Severity::Warning,
            Subject::Load,
            "It became faster before its speed settled. Its totals, means and quantiles count that time, too: a compiler at work, \
             caches that fill, or users who arrive.",
            "Leave that time out, on both sides alike.",
        )
        .with("settled after", text::seconds(settled.from_s))
        .with("requests a second", [first.rate, settled.rate].map(|rate| text::significant(rate, 3)))
        .with("good requests before", format!("{}, {} of all", text::count(before.round() as u64), text::percent(share))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{imported, values};
    use crate::levels::levels;

    #[test]
    fn a_rise_is_found_and_a_fall_is_none() {
        let mut run = imported(1_000, 60);
        let found = |run: &model::imported::ImportedRun| rule(&Imported { run, levels: &levels(run), hosts: &[] });
        assert_eq!(found(&run), None);
        run.intervals[..300].iter_mut().for_each(|interval| interval.good = 30);
        run.all.good = run.intervals.iter().map(|interval| interval.good).sum();
        let values = values(&found(&run).unwrap());
        assert_eq!(values[1..], ["30.0 | 60.0", "9,000, 17.6 % of all"], "{values:?}");
        run.intervals.reverse();
        assert_eq!(found(&run), None);
    }
}
