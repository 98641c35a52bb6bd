//! The machine's speed was borrowed.

use std::ops::RangeInclusive;

use model::host::{Burst, burst};
use model::imported::Fidelity;
use model::{Finding, FindingId, Severity, StudyRecord, Subject, text};

use super::rule::{Check, Imported, Rule};
use crate::assess::Assessment;
use crate::matched::settled;
use crate::robust;

pub const RULE: Rule = Rule {
    id: FindingId::new("burst-credit"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/burst-credit.md"),
    checks: &[Check::Run(rule), Check::Imported { least: Fidelity::Intervals, look: of_import }],
};

/// Launches from which on a rise of steal is reported.
const FEWEST: usize = 6;
/// A rise of steal that is no chance, cores.
const RISE_CORES: f64 = 0.1;
/// What is left of the speed of a burstable machine without credit: the baseline of the types with most users is a tenth to a half of
/// a processor, and those whose fall was published kept a fifth.
const LEFT: RangeInclusive<f64> = 0.15..=0.3;

/// A warning when steal rose during the run: when all of the last third of the launches lost more to the hypervisor than
/// any of the first third, and 0.1 cores more in the median; a note on a machine of a type that is known to be burstable.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    let rise = rise(record);
    let machine = record.host.machine.as_deref().filter(|machine| burst(machine) == Burst::Burstable);
    if rise.is_none() && machine.is_none() {
        return Vec::new();
    }
    let found = RULE.found(if rise.is_some() { Severity::Warning } else { Severity::Note },
        Subject::Host,
        "This machine may run fast only while its CPU credit lasts: early launches are then faster than late ones, and a run's \
         total says how long the machine had idled before.",
        "Measure on a machine without credits (or with unlimited ones), or wait until steal has gone.",
    );
    let found = machine.into_iter().fold(found, |found, machine| found.with("machine", machine));
    let reported =
        |[first, last]: [f64; 2]| format!("{first:.2} cores in the first third of the launches, {last:.2} in the last");
    vec![rise.into_iter().fold(found, |found, rise| found.with("steal", reported(rise)))]
}

/// A warning where the speed of an imported run fell to about a fifth, as that of a machine does whose credit is used up; a level
/// between may last as long as the fall takes.
fn of_import(imported: &Imported) -> Option<Finding> {
    let (first, later) = imported.levels[settled(imported.levels)?..].split_first()?;
    let fallen = later.iter().find(|level| LEFT.contains(&(level.rate / first.rate)))?;
    let is_fall = later.iter().take_while(|level| level.from_s < fallen.from_s).all(|level| level.rate < first.rate);
    let found = RULE.found(
        Severity::Warning,
        Subject::Host,
        "The speed fell to a fraction that is usual for cloud machines whose CPU credit is used up. The run's totals then say \
         how long the machine had idled before.",
        "Find out on what machine it ran, and compare only the time before the fall.",
    );
    let stays = later.last().is_some_and(|last| last.rate <= LEFT.end() * first.rate);
    (is_fall && stays).then(|| {
        found
            .with("fell after", text::seconds(first.to_s))
            .with(
                "requests a second before and after",
                [first.rate, fallen.rate].map(|rate| text::significant(rate, 3)),
            )
            .with("left", text::percent(fallen.rate / first.rate))
    })
}

/// Median steal of the first and of the last third of the launches, cores, where it rose.
fn rise(record: &StudyRecord) -> Option<[f64; 2]> {
    let steal: Vec<f64> = record.trials.iter().map(|trial| trial.host.steal_cores).collect();
    let third = steal.len() / 3;
    if steal.len() < FEWEST {
        return None;
    }
    let (first, last) = (&steal[..third], &steal[steal.len() - third..]);
    let highest = first.iter().copied().fold(0.0, f64::max);
    let medians = [robust::median(first)?, robust::median(last)?];
    (last.iter().all(|steal| *steal > highest) && medians[1] - medians[0] > RISE_CORES).then_some(medians)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::imported::Level;

    use crate::audit::testing::{gravest, imported, values};
    use crate::fixture;

    #[test]
    fn steal_that_rises_is_reported() {
        let with = |steal: fn(usize) -> f64| {
            let mut record = fixture::record(6, 0.0);
            record.trials.iter_mut().enumerate().for_each(|(n, trial)| trial.host.steal_cores = steal(n));
            gravest(rule, &record)
        };
        assert_eq!(with(|n| if n < 8 { 0.01 } else { 0.7 }), Some(Severity::Warning));
        assert_eq!(with(|n| 0.3 * (n % 3) as f64), None, "it comes and goes");
        assert_eq!(with(|_| 0.5), None, "a neighbour who is always there is host-noise");
        assert_eq!(with(|n| 0.001 * n as f64), None);
    }

    #[test]
    fn a_fall_to_a_fifth_is_reported() {
        let found = |rates: &[f64]| {
            let level = |(index, rate): (usize, &f64)| {
                let from_s = 100.0 * index as f64;
                Level { from_s, to_s: from_s + 100.0, rate: *rate }
            };
            let levels: Vec<Level> = rates.iter().enumerate().map(level).collect();
            of_import(&Imported { run: &imported(600, 10), levels: &levels }).map(|found| values(&found).swap_remove(0))
        };
        assert_eq!(found(&[7.5, 1.5]).as_deref(), Some("100 s"));
        assert_eq!(found(&[7.5, 2.5, 1.5]).as_deref(), Some("100 s"), "it takes a while");
        assert_eq!(found(&[7.5, 9.0, 1.5]).as_deref(), Some("3 min 20 s"), "it warmed up first");
        assert_eq!(found(&[7.5, 1.5, 7.5]), None, "it came back");
        assert_eq!(found(&[7.5, 3.0]), None);
        assert_eq!(found(&[7.5]), None);
    }

    #[test]
    fn a_burstable_machine_is_named() {
        let on = |machine: Option<&str>| {
            let mut record = fixture::record(6, 0.0);
            record.host.machine = machine.map(str::to_owned);
            gravest(rule, &record)
        };
        assert_eq!(on(Some("Amazon EC2 t3.micro")), Some(Severity::Note));
        assert_eq!(on(Some("Amazon EC2 m5.large")), None);
        assert_eq!(on(Some("Google Google Compute Engine")), None, "it may be, and nothing tells");
        assert_eq!(on(None), None);
    }
}
