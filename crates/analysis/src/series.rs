//! Imported runs of one kind, looked at together: when each one's speed fell, how far they lie apart, and what the same time of each ranks.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use model::imported::{AuditedRun, ImportedRun, Interval, Ranked, Ranking, RunOfSeries, Scatter};

use crate::settled::{MOSTLY_FAILED, answering, fall};
use crate::{correlation, robust, student};

/// Part by which the users of runs may differ that count as the same: some may never have been at work at once.
const SAME_USERS: f64 = 0.05;
/// Fewest runs whose rates have a scatter, or that are ranked.
const FEWEST: usize = 3;
/// Fewest requests of a run that its rate in a time rests on: their own chance is 2 %.
const LEAST_REQUESTS: f64 = 2_500.0;
/// How seldom a further pair of runs lies further apart than is said.
const ALPHA: f64 = 0.05;

/// Clocks of the world lie apart by so much at most, milliseconds.
const ZONES_MS: i64 = 26 * 3600 * 1000;

/// The runs in order of time, those without a time last, and each with what it came from.
pub fn in_order(audited: &[AuditedRun]) -> Vec<(RunOfSeries, &AuditedRun)> {
    let mut audited: Vec<&AuditedRun> = audited.iter().collect();
    audited.sort_by_key(|one| (one.run.began_ms.is_none(), one.run.began_ms, one.run.file.as_str()));
    let names = names(&audited.iter().map(|one| one.run.file.as_str()).collect::<Vec<_>>());
    // Of absolute times, and of those of a zone that nobody knows.
    let mut ended_ms_of: [Option<i64>; 2] = [None; 2];
    let run_of = |(one, name): (&'_ AuditedRun, String)| {
        let run = &one.run;
        let before_ms = &mut ended_ms_of[usize::from(run.has_local_time)];
        let idle_ms = run.began_ms.zip(*before_ms).and_then(|(began_ms, end_ms)| {
            let may_lie_between = |other: &&AuditedRun| may_lie_between(&other.run, run, [end_ms, began_ms]);
            (!audited.iter().any(may_lie_between)).then(|| began_ms.saturating_sub(end_ms))
        });
        *before_ms = (*before_ms).max(end_ms(run));
        let answering = answering(run, &one.levels);
        RunOfSeries {
            file: run.file.clone(),
            name,
            began_ms: run.began_ms,
            has_local_time: run.has_local_time,
            idle_s: idle_ms.filter(|ms| *ms >= 0).map(|ms| ms as f64 / 1e3),
            seconds: run.seconds,
            users: run.users,
            requests: run.all.ended(),
            good: run.all.good,
            failed_share: run.all.failed_share(),
            settled: answering.first().copied(),
            fall: fall(answering),
            support: one.support,
        }
    };
    let runs: Vec<RunOfSeries> = audited.iter().copied().zip(names).map(run_of).collect();
    runs.into_iter().zip(audited).collect()
}

/// When a run ended, milliseconds since 1970.
fn end_ms(run: &ImportedRun) -> Option<i64> {
    run.began_ms.map(|began_ms| began_ms.saturating_add((run.seconds * 1e3) as i64))
}

/// Whether another run, whose time is of another kind, may have been in a time of this one's kind.
fn may_lie_between(other: &ImportedRun, run: &ImportedRun, [from_ms, to_ms]: [i64; 2]) -> bool {
    let is_near = other.began_ms.is_some_and(|began_ms| began_ms.saturating_sub(ZONES_MS) < to_ms)
        && end_ms(other).is_some_and(|end_ms| end_ms.saturating_add(ZONES_MS) > from_ms);
    other.has_local_time != run.has_local_time && is_near
}

/// The names of files without the folder that all have in common, and without what follows their first dot where they differ before it;
/// else without the extension that all have in common.
fn names(files: &[&str]) -> Vec<String> {
    let names = without_common(files);
    let stem = |name: &String| {
        let last = name.rfind('/').map_or(0, |slash| slash + 1);
        let dot = name[last..].find('.').filter(|dot| *dot > 0);
        dot.map_or_else(|| name.clone(), |dot| name[..last + dot].to_owned())
    };
    let stems: Vec<String> = names.iter().map(stem).collect();
    let differing = stems.iter().collect::<BTreeSet<_>>().len();
    if differing == names.len() { stems } else { names }
}

fn without_common(files: &[&str]) -> Vec<String> {
    let Some((first, others)) = files.split_first() else { return Vec::new() };
    let head = |other: &&str| first.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let tail =
        |other: &&str| first.bytes().rev().zip(other.bytes().rev()).take_while(|(one, other)| one == other).count();
    let shared = others.iter().map(head).min().unwrap_or(first.len());
    let folder = first.bytes().take(shared).collect::<Vec<_>>().iter().rposition(|byte| *byte == b'/');
    let begin = folder.map_or(0, |slash| slash + 1);
    let shared = others.iter().map(tail).min().unwrap_or(0);
    let extension = first.bytes().skip(first.len() - shared).position(|byte| byte == b'.');
    let left_out = extension.map_or(0, |dot| shared - dot);
    // Slashes and dots are one byte each, so the cuts lie between characters.
    let name =
        |file: &&str| file.get(begin..file.len() - left_out).filter(|name| !name.is_empty()).unwrap_or(file).to_owned();
    files.iter().map(name).collect()
}

/// Whether two numbers of users count as the same.
pub fn are_same_users(one: u32, other: u32) -> bool {
    f64::from(one.max(other)) <= (1.0 + SAME_USERS) * f64::from(one.min(other))
}

/// The runs by their users, fewest first; those whose files do not say so are alike.
pub fn of_same_users<'a>(runs: impl Iterator<Item = &'a RunOfSeries>) -> Vec<Vec<&'a RunOfSeries>> {
    let mut runs: Vec<&RunOfSeries> = runs.collect();
    runs.sort_by_key(|run| run.users);
    let is_like = |group: &[&RunOfSeries], run: &RunOfSeries| match (group.first().map(|first| first.users), run.users)
    {
        (Some(Some(first)), Some(users)) => are_same_users(first, users),
        (Some(first), users) => first == users,
        (None, _) => false,
    };
    runs.into_iter().fold(Vec::new(), |mut groups: Vec<Vec<&RunOfSeries>>, run| {
        match groups.last_mut().filter(|group| is_like(group, run)) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
        groups
    })
}

/// How far the settled rates lie apart, of the runs of each number of users of which there are three.
pub fn scatter(runs: &[RunOfSeries]) -> Vec<Scatter> {
    of_same_users(runs.iter().filter(|run| run.settled.is_some())).iter().filter_map(|group| of_alike(group)).collect()
}

fn of_alike(group: &[&RunOfSeries]) -> Option<Scatter> {
    let rates: Vec<f64> = group.iter().filter_map(|run| Some(run.settled?.rate)).collect();
    let variation = variation(&rates)?;
    let median = robust::median(&rates)?;
    let furthest = (0..rates.len()).max_by(|a, b| (rates[*a] - median).abs().total_cmp(&(rates[*b] - median).abs()))?;
    let others: Vec<f64> =
        rates.iter().enumerate().filter(|(index, _)| *index != furthest).map(|(_, rate)| *rate).collect();
    let without = self::variation(&others).filter(|without| *without < variation / 2.0);
    Some(Scatter {
        users: group[0].users,
        runs: group.len(),
        range: [rates.iter().copied().fold(f64::INFINITY, f64::min), rates.iter().copied().fold(0.0, f64::max)],
        variation,
        smallest: student::critical(ALPHA, rates.len() - 1) * std::f64::consts::SQRT_2 * variation,
        without: without.map(|without| (group[furthest].name.clone(), without)),
    })
}

/// The standard deviation as a part of the mean; `None` of fewer than three.
fn variation(rates: &[f64]) -> Option<f64> {
    let n = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / n;
    let squares = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
    (rates.len() >= FEWEST && mean > 0.0).then(|| (squares / (n - 1.0)).sqrt() / mean)
}

/// A run that may be ranked, and the time before its speed fell.
type Candidate<'a> = (&'a RunOfSeries, &'a ImportedRun, [f64; 2]);

/// Good requests in all held against the longest time that all runs have in common in which all users were at work and none had fallen.
/// A run half of whose requests failed in it is not ranked, and named beside the ranking. Where the time has too few requests, the run that
/// fell first is not ranked, and so on.
pub fn ranking(runs: &[(RunOfSeries, &AuditedRun)]) -> (Option<Ranking>, Vec<String>) {
    let time = |(run, one): &(RunOfSeries, &AuditedRun)| {
        let (first, last) = (one.levels.first()?, answering(&one.run, &one.levels).last()?);
        Some([first.from_s, run.fall.map_or(last.to_s, |fall| fall.after_s)])
    };
    let is_lost = |(run, _): &&(RunOfSeries, &AuditedRun)| run.failed_share >= MOSTLY_FAILED;
    let mut failing: Vec<String> = runs.iter().filter(is_lost).map(|(run, _)| run.name.clone()).collect();
    let others = runs.iter().filter(|both| !is_lost(both));
    let mut candidates: Vec<Candidate> = others.filter_map(|both| Some((&both.0, &both.1.run, time(both)?))).collect();
    candidates.sort_by(|a, b| b.2[1].total_cmp(&a.2[1]));
    while candidates.len() >= FEWEST {
        let from_s = candidates.iter().map(|(.., time)| time[0]).fold(0.0, f64::max);
        let to_s = candidates.iter().map(|(.., time)| time[1]).fold(f64::INFINITY, f64::min);
        let is_failing = |(_, of, _): &Candidate| {
            ended_in(of, from_s, to_s).is_some_and(|(ended, _)| ended.failed_share() >= MOSTLY_FAILED)
        };
        if let Some(index) = candidates.iter().position(is_failing) {
            failing.push(candidates.remove(index).0.name.clone());
            continue;
        }
        let rate = |(run, of, _): &Candidate| {
            let (ended, length_s) = ended_in(of, from_s, to_s)?;
            let (good, failed_share) = (ended.good as f64, ended.failed_share());
            let rate = Some(good / length_s).filter(|_| good >= LEAST_REQUESTS)?;
            Some(Ranked { name: run.name.clone(), good: run.good, rate, failed_share })
        };
        if let Some(mut ranked) = candidates.iter().map(rate).collect::<Option<Vec<Ranked>>>() {
            ranked.sort_by_key(|run| Reverse(run.good));
            let both: Vec<[f64; 2]> = ranked.iter().map(|run| [run.good as f64, run.rate]).collect();
            let ranking = Ranking { window_s: [from_s, to_s], ranked, agreement: correlation::of_ranks(&both) };
            return (Some(ranking), failing);
        }
        candidates.pop();
    }
    (None, failing)
}

/// What ended in the intervals that lie in a time, and their length, seconds; `None` where there are none.
fn ended_in(run: &ImportedRun, from_s: f64, to_s: f64) -> Option<(Interval, f64)> {
    let [from, to] = [(from_s / run.interval_s).ceil(), (to_s / run.interval_s).floor()].map(|at| at as usize);
    let within = run.intervals.get(from..to).filter(|within| !within.is_empty())?;
    Some((within.iter().sum(), within.len() as f64 * run.interval_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::imported;
    use crate::audit_imported;

    /// A run that ends so many requests in a second, of which so many failed.
    fn audited(file: &str, ended: u64, failed: u64) -> AuditedRun {
        let mut run = imported(1_000, ended - failed);
        run.file = file.to_owned();
        run.all.failed = 1_000 * failed;
        run.intervals.iter_mut().for_each(|interval| interval.failed = failed);
        audit_imported(run, Vec::new())
    }

    #[test]
    fn good_requests_are_ranked_and_a_run_of_errors_is_not() {
        let of = |audited: &[AuditedRun]| {
            let in_order = in_order(audited);
            let (ranking, failing) = ranking(&in_order);
            let ranked = ranking.map_or_else(Vec::new, |ranking| ranking.ranked);
            (ranked.into_iter().map(|run| (run.name, run.good, run.failed_share)).collect::<Vec<_>>(), failing)
        };
        let named = |name: &str, good, failed_share| (name.to_owned(), good, failed_share);
        let sound = [audited("a", 100, 0), audited("b", 110, 0), audited("c", 120, 30)];
        let ranked = vec![named("b", 110_000, 0.0), named("a", 100_000, 0.0), named("c", 90_000, 0.25)];
        assert_eq!(of(&sound), (ranked.clone(), Vec::new()));
        let errors = [&sound[..], &[audited("d", 1_000, 999)]].concat();
        assert_eq!(of(&errors), (ranked, vec!["d".to_owned()]));
        assert_eq!(of(&errors[1..]), (Vec::new(), vec!["d".to_owned()]), "two are left");
    }

    #[test]
    fn scatter_is_that_of_good_requests() {
        let of = |audited: &[AuditedRun]| {
            let runs: Vec<RunOfSeries> = in_order(audited).into_iter().map(|(run, _)| run).collect();
            scatter(&runs).into_iter().map(|one| (one.runs, one.range.map(f64::round))).collect::<Vec<_>>()
        };
        let runs = [audited("a", 100, 0), audited("b", 102, 0), audited("c", 125, 25), audited("d", 1_000, 999)];
        assert_eq!(of(&runs), [(3, [100.0, 102.0])]);
    }

    #[test]
    fn the_idle_time_is_that_between_times_of_one_kind() {
        let day_s = 24 * 3_600;
        let idle = |runs: &[(i64, bool)]| {
            let audited: Vec<AuditedRun> = runs
                .iter()
                .map(|(began_s, has_local_time)| {
                    let began_ms = Some(1_000 * began_s);
                    let run = ImportedRun { began_ms, has_local_time: *has_local_time, ..imported(100, 10) };
                    audit_imported(run, Vec::new())
                })
                .collect();
            in_order(&audited).into_iter().map(|(run, _)| run.idle_s).collect::<Vec<_>>()
        };
        assert_eq!(idle(&[(0, false), (300, false), (350, false)]), [None, Some(200.0), None]);
        assert_eq!(idle(&[(0, true), (300, true)]), [None, Some(200.0)]);
        assert_eq!(idle(&[(0, false), (300, true)]), [None, None]);
        assert_eq!(idle(&[(0, false), (7_200, true), (7_500, false)]), [None; 3], "the log's may lie between");
        assert_eq!(idle(&[(0, false), (300, false), (9 * day_s, true)]), [None, Some(200.0), None]);
    }

    #[test]
    fn names_leave_out_what_all_have_in_common() {
        assert_eq!(names(&["old/run-1.jtl.gz", "old/run-2.jtl.gz"]), ["run-1", "run-2"]);
        assert_eq!(names(&["old/a/x.txt", "old/b/x.txt"]), ["a/x", "b/x"]);
        assert_eq!(names(&["old/run-1.jtl.gz", "old/run-2.jmeter.log"]), ["run-1", "run-2"]);
        assert_eq!(names(&["old/run-1.jtl", "old/run-1.jtl.gz"]), ["run-1.jtl", "run-1.jtl.gz"]);
        assert_eq!(names(&["old/run-1.jtl"]), ["run-1"]);
        assert_eq!(names(&["a", "a"]), ["a", "a"]);
        assert_eq!(names(&["ä/.x", "ö/.x"]), ["ä/", "ö/"]);
        assert!(names(&[]).is_empty());
    }
}
