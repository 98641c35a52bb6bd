//! Which logs of a machine belong to which runs.

use model::imported::{HostLog, HostOfRun, HostSample, HostShares, HostTimes, ImportedRun, Placed};
use model::text;

/// Part of a run that a log must cover to belong to it.
const LEAST: f64 = 0.5;

/// The logs of each of these runs, and why others belong to none, each with its file's name. Times of a log are taken for UTC. Where a
/// log or the run has no times and there is one run, the log belongs to that.
pub fn hosts_of(runs: &[ImportedRun], logs: Vec<HostLog>) -> (Vec<Vec<HostOfRun>>, Vec<String>) {
    let mut hosts = vec![Vec::new(); runs.len()];
    let mut unused = Vec::new();
    for log in logs {
        let before = hosts.iter().map(Vec::len).sum::<usize>();
        for (run, hosts) in runs.iter().zip(&mut hosts) {
            hosts.extend(beside(run, &log, runs.len() == 1));
        }
        if hosts.iter().map(Vec::len).sum::<usize>() == before {
            unused.push(format!("{}: {}", log.file, why_unused(runs, &log)));
        }
    }
    (hosts, unused)
}

/// A log as far as it lies in a run; `None` where it does not belong to it.
fn beside(run: &ImportedRun, log: &HostLog, is_only_run: bool) -> Option<HostOfRun> {
    let placed = match (log.times, run.began_ms) {
        (HostTimes::Since(_), Some(_)) => Placed::ByTime,
        _ if !is_only_run => return None,
        (HostTimes::Since(_), None) => Placed::FromTheBeginning,
        (HostTimes::Unknown, _) => Placed::Evenly,
    };
    let seconds = Some(run.seconds).filter(|seconds| *seconds > 0.0);
    let (offset_s, scale) = match placed {
        Placed::ByTime => (begins_after(run, log)?, 1.0),
        Placed::FromTheBeginning => (0.0, 1.0),
        Placed::Evenly => (0.0, seconds.unwrap_or(1.0) / log.samples.len() as f64),
    };
    let until_s = seconds.unwrap_or(f64::INFINITY);
    let place = |(index, sample): (usize, &HostSample)| match placed {
        Placed::ByTime | Placed::FromTheBeginning => HostSample { start_s: sample.start_s + offset_s, ..*sample },
        Placed::Evenly => HostSample { start_s: index as f64 * scale, length_s: scale, ..*sample },
    };
    let samples: Vec<HostSample> =
        log.samples.iter().enumerate().map(place).filter(|sample| sample.within_s(0.0, until_s) > 0.0).collect();
    let within = || samples.iter().map(|sample| sample.within_s(0.0, until_s));
    let covers = seconds.map(|seconds| (within().sum::<f64>() / seconds).min(1.0));
    let mean = HostShares::mean(samples.iter().map(|sample| sample.shares).zip(within()))?;
    covers.is_none_or(|covers| covers >= LEAST).then(|| HostOfRun {
        file: log.file.clone(),
        tool: log.tool.clone(),
        processors: log.processors,
        placed,
        covers,
        mean,
        samples,
    })
}

/// How long after a run a log begins, seconds; negative where it begins before it.
fn begins_after(run: &ImportedRun, log: &HostLog) -> Option<f64> {
    let HostTimes::Since(log_ms) = log.times else { return None };
    Some(log_ms.saturating_sub(run.began_ms?) as f64 / 1e3)
}

fn why_unused(runs: &[ImportedRun], log: &HostLog) -> String {
    let nearest = runs
        .iter()
        .filter_map(|run| Some((run, begins_after(run, log)?)))
        .min_by(|(_, one), (_, other)| one.abs().total_cmp(&other.abs()));
    match nearest {
        _ if runs.is_empty() => format!("this is a log of {}: name a file of results, too", log.tool),
        _ if runs.len() > 1 && log.times == HostTimes::Unknown => {
            "it has no times, and there are several runs".to_owned()
        }
        Some((run, after_s)) => {
            let side = if after_s < 0.0 { "before" } else { "after" };
            format!(
                "it covers less than half of each run. Its times, taken for UTC, begin {} {side} {}",
                text::length(after_s.abs()),
                run.file
            )
        }
        None if runs.len() > 1 => "none of the runs has times, and there are several".to_owned(),
        None => format!("it covers less than half of {}", runs.first().map_or("the run", |run| run.file.as_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{host_log, imported};

    /// A run that began so many seconds after 1970.
    fn run(began_s: Option<i64>, seconds: usize) -> ImportedRun {
        ImportedRun { began_ms: began_s.map(|began_s| 1_000 * began_s), ..imported(seconds, 10) }
    }

    #[test]
    fn a_log_belongs_to_the_runs_of_which_it_covers_half() {
        let runs = [run(Some(1_000), 100), run(Some(1_200), 100), run(Some(1_290), 400)];
        let log = host_log(HostTimes::Since(1_050_000), 300, |second| if second < 20 { 0.3 } else { 0.0 });
        let (hosts, unused) = hosts_of(&runs, vec![log]);
        assert_eq!(hosts.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 0]);
        assert_eq!(unused, [""; 0]);
        let first = &hosts[0][0];
        assert_eq!((first.covers, first.placed, first.samples.len()), (Some(0.5), Placed::ByTime, 50));
        assert!((first.mean.steal - 0.3 * 20.0 / 50.0).abs() < 1e-9, "{:?}", first.mean);
        assert_eq!((first.samples[0].start_s, hosts[1][0].mean.steal), (50.0, 0.0));
    }

    #[test]
    fn a_log_of_another_time_says_by_how_much() {
        let log = host_log(HostTimes::Since(3_601_000), 100, |_| 0.0);
        let (hosts, unused) = hosts_of(&[run(Some(1), 100)], vec![log.clone()]);
        assert_eq!((hosts, unused.len()), (vec![Vec::new()], 1));
        assert!(unused[0].contains("taken for UTC, begin 60 min after a.jtl"), "{unused:?}");
        let (_, unused) = hosts_of(&[], vec![log]);
        assert!(unused[0].contains("name a file of results"), "{unused:?}");
    }

    #[test]
    fn without_times_a_log_belongs_to_the_only_run() {
        let log = host_log(HostTimes::Unknown, 50, |second| if second < 25 { 0.0 } else { 0.2 });
        let (hosts, _) = hosts_of(&[run(Some(0), 100)], vec![log.clone()]);
        assert_eq!((hosts[0][0].placed, hosts[0][0].covers), (Placed::Evenly, Some(1.0)));
        assert!((hosts[0][0].mean_between(50.0, 100.0).unwrap().steal - 0.2).abs() < 1e-9);
        let (hosts, unused) = hosts_of(&[run(Some(0), 100), run(Some(0), 100)], vec![log]);
        assert!(hosts.iter().all(Vec::is_empty) && unused[0].contains("there are several runs"), "{unused:?}");
    }

    #[test]
    fn a_run_without_times_begins_with_the_log() {
        let log = |seconds| vec![host_log(HostTimes::Since(7_000_000), seconds, |_| 0.0)];
        let (hosts, _) = hosts_of(&[run(None, 100)], log(60));
        assert_eq!((hosts[0][0].placed, hosts[0][0].covers), (Placed::FromTheBeginning, Some(0.6)));
        let (hosts, unused) = hosts_of(&[run(None, 100)], log(40));
        assert!(hosts[0].is_empty() && unused[0].contains("less than half of a.jtl"), "{unused:?}");
        let (hosts, _) = hosts_of(&[ImportedRun { seconds: 0.0, ..run(None, 100) }], log(40));
        assert_eq!((hosts[0][0].covers, hosts[0][0].samples.len()), (None, 40));
    }
}
