//! Numbers of one table contradict each other.

use model::imported::{Fidelity, ImportedRun};
use model::{Fact, Finding, FindingId, Severity, Subject, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("table-units"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/table-units.md"),
    checks: &[Check::Imported { needs: Evidence::Kept(Fidelity::Summary), look: rule }],
};

/// How far a stated rate may lie from requests divided by time, a fraction: tools count the ramp-up and the last answers differently.
const RATE: f64 = 0.1;

/// A warning where a higher quantile is below a lower one, or where the stated rate is not the requests divided by the time.
fn rule(imported: &Imported) -> Option<Finding> {
    let facts: Vec<Fact> = quantiles(imported.run).into_iter().chain(rate(imported.run)).collect();
    let found = RULE.found(
        Severity::Warning,
        Subject::Load,
        "Two of its numbers cannot both be right: a unit, a column or a cell is not what it is called.",
        "Take neither before you know which is wrong. Go back to the file that the table was made of.",
    );
    (!facts.is_empty()).then_some(Finding { facts, ..found })
}

fn quantiles(run: &ImportedRun) -> Option<Fact> {
    let mut stated = run.stated_quantiles.clone();
    stated.sort_by(|one, other| one.0.total_cmp(&other.0));
    let falls = stated.windows(2).find(|pair| pair[1].1 < pair[0].1)?;
    let written = |(fraction, ms): (f64, f64)| {
        format!("p{} {}", text::trimmed(text::significant(fraction * 100.0, 4)), text::micros(ms * 1e3))
    };
    Some(Fact::new("quantiles", format!("{}, {}", written(falls[0]), written(falls[1]))))
}

fn rate(run: &ImportedRun) -> Option<Fact> {
    let stated = run.stated.rate?;
    let counted = (run.seconds > 0.0).then(|| run.all.ended() as f64 / run.seconds)?;
    // Some tools count only what ended well.
    let counts = [counted, run.all.good as f64 / run.seconds];
    let is_near = |counted: &f64| (stated - counted).abs() <= RATE * stated.max(*counted);
    (!counts.iter().any(is_near)).then(|| {
        let written = format!("{}/s stated, {}/s counted", text::significant(stated, 3), text::significant(counted, 3));
        Fact::new("requests divided by the time", written)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{imported, values};

    fn found(run: &ImportedRun) -> Vec<String> {
        rule(&Imported { run, levels: &[], hosts: &[] }).iter().flat_map(values).collect()
    }

    #[test]
    fn quantiles_rise() {
        let mut run = imported(100, 100);
        run.stated_quantiles = vec![(0.5, 20.0), (0.9, 20.0), (0.99, 40.0)];
        assert_eq!(found(&run), [""; 0]);
        run.stated_quantiles[1].1 = 0.0;
        assert_eq!(found(&run), ["p50 20.0 ms, p90 0 µs"]);
    }

    #[test]
    fn a_rate_is_requests_divided_by_time() {
        let mut run = imported(100, 100);
        run.stated.rate = Some(103.0);
        assert_eq!(found(&run), [""; 0]);
        run.stated.rate = Some(6_000.0);
        assert_eq!(found(&run), ["6,000/s stated, 100/s counted"]);
    }
}
