//! The machine's speed was borrowed.

use std::ops::RangeInclusive;

use model::host::{Burst, burst};
use model::imported::{Fall, Fidelity, HostOfRun, RunOfSeries};
use model::{Finding, FindingId, Severity, StudyRecord, Subject, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule, SeriesOfRuns};
use crate::assess::Assessment;
use crate::settled::{answering, fall};
use crate::{correlation, robust};

pub const RULE: Rule = Rule {
    id: FindingId::new("burst-credit"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/burst-credit.md"),
    checks: &[
        Check::Run(rule),
        Check::Imported { needs: Evidence::Kept(Fidelity::Intervals), look: of_import },
        Check::Series(of_series),
    ],
};

/// Launches from which on a rise of steal is reported.
const FEWEST: usize = 6;
/// A rise of steal that is no chance, cores.
const RISE_CORES: f64 = 0.1;
/// What is left of the speed of a burstable machine without credit: the baseline of the types with most users is a tenth to a half of
/// a processor, and those whose fall was published kept a fifth.
const LEFT: RangeInclusive<f64> = 0.15..=0.3;
/// Fewest runs of a series whose falls are held against the time that the machine idled before.
const FEWEST_RUNS: usize = 4;
/// Part of a series' falls that have to be those of a machine without credit.
const NEARLY_ALL: f64 = 0.8;
/// How likely so high a rank correlation may be by chance.
const CHANCE: f64 = 0.05;

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

/// A warning where the speed of an imported run fell to about a fifth and stayed there, as that of a machine does whose credit is used up.
fn of_import(imported: &Imported) -> Option<Finding> {
    let answering = answering(imported.run, imported.levels);
    let (settled, last) = (answering.first()?, answering.last()?);
    let fall = fall(answering).filter(is_of_credit)?;
    let found = RULE
        .found(
            Severity::Warning,
            Subject::Host,
            "The speed fell to a fraction that is usual for cloud machines whose CPU credit is used up. The run's totals then say \
             how long the machine had idled before.",
            "Find out on what machine it ran, and compare only the time before the fall.",
        )
        .with("fell after", text::seconds(fall.after_s))
        .with("requests a second before and after", [settled.rate, fall.rate].map(|rate| text::significant(rate, 3)))
        .with("left", text::percent(fall.left));
    let steal = |host: &HostOfRun| steal_over(host, [settled.from_s, fall.after_s, last.to_s]);
    let seen = imported.hosts.iter().filter_map(|host| Some((&host.file, steal(host)?)));
    Some(seen.fold(found, |found, (file, steal)| found.with(format!("steal before and after, by {file}"), steal)))
}

/// Whether a fall is as that of a machine without credit.
fn is_of_credit(fall: &Fall) -> bool {
    fall.is_only && LEFT.contains(&fall.left)
}

/// What a log says of steal before and after a fall: from the first of these moments to the second, and on to the third, seconds since the run
/// began; `None` where it has nothing of one of the two.
fn steal_over(host: &HostOfRun, [from_s, fall_s, to_s]: [f64; 3]) -> Option<String> {
    let [before, after] =
        [(from_s, fall_s), (fall_s, to_s)].map(|(from_s, to_s)| host.mean_between(from_s, to_s).map(|mean| mean.steal));
    let (before, after) = (before?, after?);
    let rose = if host.cores(after - before) > RISE_CORES { "it rose" } else { "it did not rise" };
    Some(format!("{} | {}: {rose}", text::percent(before), text::percent(after)))
}

/// A warning where the runs of a series fell to about a fifth, each the later the longer the machine had idled before it.
fn of_series(series: &SeriesOfRuns) -> Result<Option<Finding>, String> {
    let fallen: Vec<&RunOfSeries> = series.runs.iter().filter(|run| run.fall.is_some()).collect();
    let of_credit: Vec<&RunOfSeries> =
        fallen.iter().copied().filter(|run| run.fall.as_ref().is_some_and(is_of_credit)).collect();
    let idled: Vec<[f64; 2]> = of_credit.iter().filter_map(|run| Some([run.idle_s?, run.fall?.after_s])).collect();
    if idled.len() < FEWEST_RUNS {
        return Err(format!(
            "of {} {} fell to {:.0} to {:.0} % and stayed there, {} of these after a known idle time; it takes {FEWEST_RUNS}",
            text::plural(series.runs.len() as u64, "run"),
            of_credit.len(),
            100.0 * LEFT.start(),
            100.0 * LEFT.end(),
            idled.len()
        ));
    }
    let is_usual = of_credit.len() as f64 >= NEARLY_ALL * fallen.len() as f64;
    let Some(orders) = correlation::orders(&idled).filter(|orders| is_usual && orders.chance <= CHANCE) else {
        return Ok(None);
    };
    let between = |of: &dyn Fn(&RunOfSeries) -> Option<f64>, write: &dyn Fn(f64) -> String| {
        let values = robust::sorted(&of_credit.iter().filter_map(|run| of(run)).collect::<Vec<_>>());
        [values.first(), values.last()]
            .into_iter()
            .flatten()
            .map(|value| write(*value))
            .collect::<Vec<_>>()
            .join(" to ")
    };
    let rate = |rate: f64| text::with_unit(rate, "/s");
    let found = RULE.found(
        Severity::Warning,
        Subject::Host,
        "The longer the machine had idled, the later a run's speed fell, to a fraction that is usual for cloud machines whose CPU credit is \
         used up. Each run began with the credit that the pause before it had earned.",
        "Find out on what machine they ran. Compare the same time of each run before any fell, or measure on a machine without credits.",
    );
    Ok(Some(
        found
            .with("runs that fell so", format!("{} of {}", of_credit.len(), series.runs.len()))
            .with(
                "idle time before and time of the fall",
                format!(
                    "Kendall's τ = {:.2} over {} runs, by chance p {}",
                    orders.tau,
                    looked_at(orders.pairs, idled.len()),
                    chance(orders.chance)
                ),
            )
            .with("idle before", between(&|run| run.idle_s, &text::length))
            .with("fell after", between(&|run| Some(run.fall?.after_s), &text::length))
            .with("before the fall", between(&|run| Some(run.settled?.rate), &rate))
            .with("after it", between(&|run| Some(run.fall?.rate), &rate)),
    ))
}

/// A probability, not to more than four decimals.
fn chance(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".to_owned() } else { format!("= {}", text::significant(p, 2)) }
}

/// So many of all: `4`, or `the first 100 of 140`.
fn looked_at(some: usize, all: usize) -> String {
    if some < all { format!("the first {some} of {all}") } else { all.to_string() }
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
    use model::imported::SpeedLevel;

    use super::*;
    use crate::audit::testing::{falling, gravest, host, imported, values};
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
                SpeedLevel { from_s, to_s: from_s + 100.0, rate: *rate }
            };
            let levels: Vec<SpeedLevel> = rates.iter().enumerate().map(level).collect();
            of_import(&Imported { run: &imported(600, 10), levels: &levels, hosts: &[] })
                .map(|found| values(&found).swap_remove(0))
        };
        assert_eq!(found(&[7.5, 1.5]).as_deref(), Some("100 s"));
        assert_eq!(found(&[7.5, 2.5, 1.5]).as_deref(), Some("100 s"), "it takes a while");
        assert_eq!(found(&[7.5, 9.0, 1.5]).as_deref(), Some("3 min 20 s"), "it warmed up first");
        assert_eq!(found(&[7.5, 1.5, 7.5]), None, "it came back");
        assert_eq!(found(&[7.5, 3.0]), None);
        assert_eq!(found(&[7.5]), None);
    }

    #[test]
    fn a_log_says_whether_steal_rose_with_the_fall() {
        let level = |from_s, to_s, rate| SpeedLevel { from_s, to_s, rate };
        let levels = [level(0.0, 100.0, 7.5), level(100.0, 200.0, 1.5)];
        let steal = |hosts: &[HostOfRun]| {
            let found = of_import(&Imported { run: &imported(200, 7), levels: &levels, hosts }).unwrap();
            values(&found).into_iter().nth(3)
        };
        assert_eq!(steal(&[]), None);
        let risen = host(200, |second| if second < 100 { 0.0 } else { 0.6 });
        assert_eq!(steal(&[risen]).as_deref(), Some("0.0 % | 60.0 %: it rose"));
        assert_eq!(steal(&[host(200, |_| 0.01)]).as_deref(), Some("1.0 % | 1.0 %: it did not rise"));
        assert_eq!(steal(&[host(100, |_| 0.01)]), None, "it ends with the fall");
    }

    /// Runs that idled and fell after so many seconds, to this part of their speed.
    fn series(idled: &[f64], fell: &[f64], left: f64) -> Vec<RunOfSeries> {
        let run = |(idle_s, after_s): (&f64, &f64)| falling(Some(*idle_s), *after_s, left);
        idled.iter().zip(fell).map(run).collect()
    }

    fn of(runs: &[RunOfSeries]) -> Result<Option<Finding>, String> {
        of_series(&SeriesOfRuns { runs, scatter: &[] })
    }

    #[test]
    fn a_fall_the_later_the_longer_the_machine_idled_is_reported() {
        let (idled, fell) = ([600.0, 7_200.0, 3_600.0, 86_400.0], [900.0, 2_400.0, 1_800.0, 9_000.0]);
        let found = of(&series(&idled, &fell, 0.2)).unwrap().unwrap();
        let said = values(&found);
        assert_eq!(
            (said[0].as_str(), said[1].as_str()),
            ("4 of 4", "Kendall's τ = 1.00 over 4 runs, by chance p = 0.042"),
            "{said:?}"
        );
        assert_eq!((said[2].as_str(), said[3].as_str()), ("10 min to 24 h 0 min", "15 min to 2 h 30 min"));
        assert_eq!(
            of(&series(&idled, &[900.0, 1_800.0, 2_400.0, 9_000.0], 0.2)),
            Ok(None),
            "one of them is out of order"
        );
        assert!(of(&series(&idled, &fell, 0.5)).is_err(), "no machine's credit ends so");
        assert!(of(&series(&idled[..3], &fell[..3], 0.2)).is_err());
        // Most runs fall for another reason.
        let other = (0..2).map(|_| falling(Some(60.0), 500.0, 0.6));
        assert_eq!(of(&series(&idled, &fell, 0.2).into_iter().chain(other).collect::<Vec<_>>()), Ok(None));
    }

    #[test]
    fn of_very_many_runs_it_says_how_many_were_looked_at() {
        let rising: Vec<f64> = (1..=140).map(|index| 60.0 * f64::from(index)).collect();
        let found = of(&series(&rising, &rising, 0.2)).unwrap().unwrap();
        let said = values(&found);
        assert_eq!(
            (said[0].as_str(), said[1].as_str()),
            ("140 of 140", "Kendall's τ = 1.00 over the first 100 of 140 runs, by chance p < 0.0001")
        );
        let hundred = of(&series(&rising[..100], &rising[..100], 0.2)).unwrap().unwrap();
        assert!(values(&hundred)[1].contains("over 100 runs"), "{:?}", values(&hundred));
    }

    #[test]
    fn runs_whose_idle_time_is_not_known_say_why_they_are_silent() {
        let runs: Vec<RunOfSeries> = [500.0, 900.0, 2_000.0, 4_000.0].map(|after_s| falling(None, after_s, 0.2)).into();
        assert_eq!(
            of(&runs),
            Err("of 4 runs 4 fell to 15 to 30 % and stayed there, 0 of these after a known idle time; it takes 4"
                .to_owned())
        );
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
