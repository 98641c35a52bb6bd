//! Files that are of one and the same run.

use std::cmp::Reverse;

use model::imported::{AuditedRun, ImportedRun};

/// Part of the shorter of two runs that both have in common when they are one.
const IN_COMMON: f64 = 0.5;
/// Clocks of the world lie apart by multiples of so many seconds, and by so many at most.
const ZONE_S: f64 = 900.0;
const FURTHEST_S: f64 = 26.0 * 3600.0;
/// How far two records of one run may be off, seconds: one of them is written late.
const LATE_S: f64 = 10.0;
/// Part by which their requests may differ.
const MISCOUNTED: f64 = 0.01;

/// The runs, each once, in their order: of files that are of the same run the one that keeps most. With why others are left out.
pub fn distinct(audited: Vec<AuditedRun>) -> (Vec<AuditedRun>, Vec<String>) {
    let mut most_first: Vec<usize> = (0..audited.len()).collect();
    let keeps = |index: &usize| {
        let run = &audited[*index].run;
        (Reverse(run.fidelity), Reverse(run.all.ended()), *index)
    };
    most_first.sort_by_key(keeps);
    let mut first_of: Vec<Option<String>> = vec![None; audited.len()];
    let mut kept: Vec<usize> = Vec::new();
    for index in most_first {
        let run = &audited[index].run;
        let same = kept.iter().find_map(|other| Some((&audited[*other].run, sameness(run, &audited[*other].run)?)));
        match same {
            Some((other, why)) => {
                first_of[index] = Some(format!("{}: it is of the same run as {}: {why}", run.file, other.file));
            }
            None => kept.push(index),
        }
    }
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    for (run, reason) in audited.into_iter().zip(first_of) {
        match reason {
            Some(reason) => left_out.push(reason),
            None => runs.push(run),
        }
    }
    (runs, left_out)
}

/// Why two files are of the same run; `None` where they are not.
fn sameness(one: &ImportedRun, other: &ImportedRun) -> Option<&'static str> {
    let (is_same, why) = match (began_s(one), began_s(other)) {
        (Some(first), Some(second)) if one.has_local_time == other.has_local_time => {
            (has_much_in_common([first, second], [one.seconds, other.seconds]), "their times overlap")
        }
        (Some(first), Some(second)) => (
            is_of_another_zone(first - second) && is_as_long(one, other),
            "but for the time zone they have the same time, and count the same requests",
        ),
        _ => (is_copy(one, other), "their content is the same"),
    };
    is_same.then_some(why)
}

/// When a run began, seconds since 1970; `None` where its file does not say so, or not how long it took.
fn began_s(run: &ImportedRun) -> Option<f64> {
    run.began_ms.filter(|_| run.seconds > 0.0).map(|ms| ms as f64 / 1e3)
}

fn has_much_in_common(began: [f64; 2], seconds: [f64; 2]) -> bool {
    let ended = [began[0] + seconds[0], began[1] + seconds[1]];
    let common = ended[0].min(ended[1]) - began[0].max(began[1]);
    common > IN_COMMON * seconds[0].min(seconds[1])
}

fn is_of_another_zone(apart_s: f64) -> bool {
    let off = (apart_s - (apart_s / ZONE_S).round() * ZONE_S).abs();
    off <= LATE_S && apart_s.abs() <= FURTHEST_S
}

fn is_as_long(one: &ImportedRun, other: &ImportedRun) -> bool {
    let (first, second) = (one.all.ended(), other.all.ended());
    let is_counted_alike = first.abs_diff(second) as f64 <= MISCOUNTED * first.max(second) as f64;
    is_counted_alike && (one.seconds - other.seconds).abs() <= LATE_S
}

fn is_copy(one: &ImportedRun, other: &ImportedRun) -> bool {
    let times = |run: &ImportedRun| (run.began_ms, run.seconds, run.interval_s);
    one.all.ended() == other.all.ended()
        && times(one) == times(other)
        && (&one.all, &one.labels, &one.intervals) == (&other.all, &other.labels, &other.intervals)
        && (one.stated, &one.stated_quantiles) == (other.stated, &other.stated_quantiles)
}

#[cfg(test)]
mod tests {
    use model::imported::Fidelity;

    use super::*;
    use crate::audit::testing::imported;
    use crate::audit_imported;

    fn of(file: &str, began_s: Option<i64>, seconds: usize) -> ImportedRun {
        ImportedRun { file: file.to_owned(), began_ms: began_s.map(|s| 1_000 * s), ..imported(seconds, 10) }
    }

    /// The files that are kept, and those that are left out.
    fn files(runs: Vec<ImportedRun>) -> (Vec<String>, Vec<String>) {
        let audited = runs.into_iter().map(|run| audit_imported(run, Vec::new())).collect();
        let (runs, left_out) = distinct(audited);
        (runs.into_iter().map(|audited| audited.run.file).collect(), left_out)
    }

    #[test]
    fn runs_at_the_same_time_are_one() {
        let (kept, left_out) =
            files(vec![of("a.jtl", Some(0), 100), of("b.jtl", Some(50), 400), of("a.gz", Some(0), 100)]);
        assert_eq!(kept, ["a.jtl", "b.jtl"], "half is not more than half");
        assert_eq!(left_out, ["a.gz: it is of the same run as a.jtl: their times overlap"]);
        let (kept, _) = files(vec![of("a", Some(0), 100), of("b", Some(49), 400)]);
        assert_eq!(kept, ["b"], "it has more requests");
        let (kept, left_out) = files(vec![of("a", Some(0), 100), of("b", Some(100), 100), of("c", Some(201), 100)]);
        assert_eq!((kept.len(), left_out.len()), (3, 0));
    }

    #[test]
    fn of_a_log_without_a_zone_and_a_result_file_the_latter_is_kept() {
        let log = |began_s: i64, rate| ImportedRun {
            file: "jmeter.log".to_owned(),
            fidelity: Fidelity::Intervals,
            has_local_time: true,
            began_ms: Some(1_000 * began_s),
            ..imported(1_000, rate)
        };
        let jtl = || of("a.jtl", Some(100_000), 1_000);
        let (kept, left_out) = files(vec![log(100_000 + 5 * 3_600 + 1_800 + 2, 10), jtl()]);
        assert_eq!((kept, left_out.len()), (vec!["a.jtl".to_owned()], 1));
        assert!(
            left_out[0].starts_with("jmeter.log: it is of the same run as a.jtl: but for the time zone"),
            "{left_out:?}"
        );
        for other in [log(100_000 + 3_600 + 400, 10), log(103_600, 11), log(100_000 + 48 * 3_600, 10)] {
            assert_eq!(files(vec![other, jtl()]).0.len(), 2);
        }
    }

    #[test]
    fn without_times_only_a_copy_is_the_same_run() {
        let untimed =
            |file: &str, rate: u64| ImportedRun { began_ms: None, file: file.to_owned(), ..imported(100, rate) };
        let (kept, left_out) = files(vec![untimed("a", 10), untimed("b", 11), untimed("c", 10)]);
        assert_eq!(kept, ["a", "b"]);
        assert_eq!(left_out, ["c: it is of the same run as a: their content is the same"]);
        assert_eq!(files(vec![untimed("a", 10), of("b", Some(0), 100)]).0.len(), 2);
    }
}
