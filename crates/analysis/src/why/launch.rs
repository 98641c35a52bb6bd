//! What is to be said of a watched launch by itself: what it was, what is missing of it, and where it differs from those measured.

use std::mem;
use std::path::Path;

use model::profiling::{CpuUse, ProfilingRun, Recording};
use model::why::WatchedLaunch;
use model::{Outcome, Setting, SettingResult, StudyRecord, VariantIndex, text};

use super::watched::Watched;

/// What MRI's launches lack.
pub(super) const ONLY_SAMPLES: &str =
    "MRI counts no exceptions, allocation or locks: there are samples of its methods.";

/// A launch as it is shown, with what there is to say of it.
pub fn watched(record: &StudyRecord, made: &ProfilingRun) -> WatchedLaunch {
    let observation = made.observation.as_ref();
    let (recording, missing) = match (&made.outcome, observation.map(|observation| &observation.recording)) {
        (Outcome::Failed(failed), recording) => {
            let file = recording.and_then(Recording::file).map(Path::to_owned);
            (file, Some(format!("The launch failed: {}.", failed.reason)))
        }
        (Outcome::Completed, Some(Recording::Jfr { file, profile })) => {
            let lost = (profile.lost_bytes > 0).then(|| {
                format!("{} of the recording were lost: counts are too low.", text::bytes(profile.lost_bytes as f64))
            });
            (Some(file.clone()), lost)
        }
        (Outcome::Completed, Some(Recording::Stackprof { file, .. })) => {
            (Some(file.clone()), Some(ONLY_SAMPLES.to_owned()))
        }
        (Outcome::Completed, Some(Recording::None { reason })) => {
            (None, Some(format!("There is no recording: {reason}.")))
        }
        (Outcome::Completed, None) => (None, Some("Nothing was seen.".to_owned())),
    };
    WatchedLaunch {
        variant: made.variant,
        load: made.load.clone(),
        requests: observation.map_or(0, |observation| observation.requests),
        elapsed_s: observation.map_or(0.0, |observation| observation.elapsed_s),
        cpu_per_request: Watched::of(made).and_then(|watched| watched.cpu(CpuUse::without_recorder_s)),
        recording,
        missing,
        deviations: made
            .settings
            .iter()
            .filter_map(|setting| deviation(record, made.variant, setting))
            .chain(kills(record, made))
            .chain(left_behind(made))
            .collect(),
    }
}

/// What to say of a launch whose processes were killed for lack of memory as in none that was measured, or were not as in all of them; only
/// launches that went well count.
fn kills(record: &StudyRecord, made: &ProfilingRun) -> Option<String> {
    let is_whole = |outcome: &Outcome| *outcome == Outcome::Completed;
    let own = record.trials.iter().filter(|trial| trial.variant == made.variant);
    let mut measured = own.filter(|trial| is_whole(&trial.outcome)).peekable();
    measured.peek().filter(|_| is_whole(&made.outcome))?;
    let reported = |killed: bool| if killed { "some" } else { "none" };
    let now = made.oom_kills > 0;
    measured.all(|trial| (trial.oom_kills > 0) != now).then(|| {
        format!(
            "The kernel killed {} of its processes for lack of memory in this launch, and {} in those measured: it shows something else \
             than they did.",
            reported(now),
            reported(!now)
        )
    })
}

/// What to say of users who left something behind as they ended: in `made` as in any other launch, only the progress shows it else.
fn left_behind(made: &ProfilingRun) -> Option<String> {
    let failed = made.failed_tear_downs.as_ref()?;
    Some(format!(
        "{} did not get through the tear-down in this launch; the first: {}.",
        text::plural(failed.users, "user"),
        failed.first
    ))
}

/// What to say of a setting that came out otherwise than in any launch of the variant that was measured.
fn deviation(record: &StudyRecord, variant: VariantIndex, setting: &Setting) -> Option<String> {
    let is_it = |other: &&Setting| other.key == setting.key && other.name == setting.name;
    let measured = record.trials.iter().filter(|trial| trial.variant == variant);
    let readings: Vec<&Setting> = measured.flat_map(|trial| &trial.settings).filter(is_it).collect();
    let is_read = |setting: &Setting| !matches!(setting.result, SettingResult::Unverified { .. });
    let is_alike = |other: &Setting| mem::discriminant(&other.result) == mem::discriminant(&setting.result);
    if !is_read(setting) || readings.is_empty() || readings.iter().any(|other| is_alike(other)) {
        return None;
    }
    let value = |setting: &Setting| setting.live.clone().unwrap_or_else(|| "absent".to_owned());
    let (name, now) = (&setting.name, value(setting));
    Some(match readings.into_iter().find(|other| is_read(other)) {
        Some(other) => format!(
            "{name} is {now} in this launch, and was {} in those measured: it shows something else than they did.",
            value(other)
        ),
        None => format!(
            "{name} is {now} in this launch, and was not read in those measured: whether it shows the same is not known."
        ),
    })
}

#[cfg(test)]
mod tests {
    use model::FailedTearDowns;

    use super::*;
    use crate::fixture;

    /// Both variants measured and watched.
    fn record() -> StudyRecord {
        let profiling_runs = [0, 1].map(|variant| fixture::profiling_run(variant, 10_000, 100.0)).to_vec();
        StudyRecord { profiling_runs, ..fixture::record(5, 0.0) }
    }

    /// What is said of the second one's launch.
    fn deviations(record: &StudyRecord) -> Vec<String> {
        watched(record, &record.profiling_runs[1]).deviations
    }

    #[test]
    fn a_launch_that_alone_is_killed_or_spared_says_so() {
        let mut record = record();
        record.profiling_runs[1].oom_kills = 2;
        let alone =
            "The kernel killed some of its processes for lack of memory in this launch, and none in those measured: ";
        assert!(deviations(&record)[0].starts_with(alone), "{:?}", deviations(&record));
        let own = record.trials.iter_mut().filter(|trial| trial.variant == 1);
        own.skip(1).for_each(|trial| trial.oom_kills = 1);
        assert_eq!(deviations(&record), [""; 0]);
        record.profiling_runs[1].oom_kills = 0;
        assert_eq!(deviations(&record), [""; 0], "one that was measured was spared, too");
        record.trials.iter_mut().for_each(|trial| trial.oom_kills = 1);
        assert!(deviations(&record)[0].contains("killed none of its processes"), "{:?}", deviations(&record));
        record.trials.iter_mut().for_each(fixture::fail);
        assert_eq!(deviations(&record), [""; 0], "none was measured to its end");
    }

    #[test]
    fn a_launch_whose_users_leave_something_behind_says_so() {
        let mut record = record();
        record.profiling_runs[1].failed_tear_downs =
            Some(FailedTearDowns { users: 2, first: "step `log out` failed".into() });
        let reported = "2 users did not get through the tear-down in this launch; the first: step `log out` failed.";
        assert_eq!(deviations(&record), [reported]);
    }

    #[test]
    fn a_launch_with_another_setting_says_so() {
        let mut record = record();
        assert_eq!(deviations(&record), [""; 0]);
        let setting = &mut record.profiling_runs[1].settings[0];
        setting.result = SettingResult::Unverified { reason: "jcmd did not answer".into() };
        assert_eq!(deviations(&record), [""; 0], "not read is not another value");
        let setting = &mut record.profiling_runs[1].settings[0];
        (setting.live, setting.result) = (Some("false".into()), SettingResult::Overridden);
        assert_eq!(
            deviations(&record),
            [
                "compile.invokedynamic is false in this launch, and was true in those measured: it shows something else than they \
              did."
            ]
        );
        let measured =
            record.trials.iter_mut().filter(|trial| trial.variant == 1).flat_map(|trial| &mut trial.settings);
        measured.for_each(|setting| {
            setting.result = SettingResult::Unverified { reason: "jcmd did not answer".into() };
        });
        assert_eq!(
            deviations(&record),
            [
                "compile.invokedynamic is false in this launch, and was not read in those measured: whether it shows the \
              same is not known."
            ]
        );
    }
}
