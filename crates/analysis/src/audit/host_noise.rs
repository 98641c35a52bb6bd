//! Something else used the host.

use model::{FindingId, Severity, StudyRecord, TrialRecord};

use super::{Context, Found, percent};
use crate::blocks::{self, CANARY_MOVED, Fate, OTHERS_CORES, STEAL_CORES, THROTTLED_SHARE};
use crate::robust;

/// A warning when the median launch was disturbed, the canary scatters, or disturbed blocks had to be used because no
/// spare ones were left; a note when disturbed blocks could be set aside.
pub fn rule(record: &StudyRecord, context: &Context) -> Vec<Found> {
    let median = |of: fn(&TrialRecord) -> f64| {
        robust::median(&record.trials.iter().map(of).collect::<Vec<_>>()).unwrap_or_default()
    };
    let steal = median(|trial| trial.host.steal_cores);
    let others = median(|trial| trial.host.others_cores);
    let throttled = median(blocks::throttled_share);
    let canaries: Vec<f64> = record.trials.iter().flat_map(blocks::canaries).collect();
    let scatter = robust::median(&canaries).zip(robust::sigma(&canaries)).map_or(0.0, |(usual, sigma)| sigma / usual);
    let aside: Vec<_> = context.blocks.iter().filter(|block| block.fate == Fate::SetAside).collect();
    let kept = context.blocks.iter().filter(|block| block.fate == Fate::Used && !block.disturbances.is_empty()).count();

    let is_noisy =
        steal > STEAL_CORES || others > OTHERS_CORES || throttled > THROTTLED_SHARE || scatter > CANARY_MOVED;
    if !is_noisy && kept == 0 && aside.is_empty() {
        return Vec::new();
    }
    let (severity, meaning) = if is_noisy || kept > 0 {
        (
            Severity::Warning,
            "Others used the host during the run. Randomised blocks keep the comparison fair, but the intervals are wider and the \
             speeds themselves may not repeat elsewhere.",
        )
    } else {
        (
            Severity::Note,
            "The host was disturbed now and then; those blocks were set aside, all variants of each, and repeated.",
        )
    };
    let found = Found::new(
        FindingId::HostNoise,
        severity,
        "the host",
        meaning,
        "Stop what else runs, or use a machine of its own.",
    )
    .with("steal, median launch", format!("{steal:.2} cores"))
    .with("other processes, median launch", format!("{others:.2} cores"))
    .with("throttled, median launch", percent(throttled))
    .with("scatter of a fixed spin", percent(scatter))
    .with("blocks set aside", aside.len().to_string())
    .with("disturbed blocks that count all the same", kept.to_string());
    let reasons = aside.iter().filter_map(|block| Some((block.index, block.disturbances.first()?)));
    vec![reasons.fold(found, |found, (index, reason)| found.with(format!("block {}", index + 1), reason))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::gravest;
    use crate::fixture;

    #[test]
    fn noise_is_told() {
        let mut record = fixture::record(6, 0.0);
        assert_eq!(gravest(rule, &record), None);
        record.trials[9].host.others_cores = 1.0;
        assert_eq!(gravest(rule, &record), Some(Severity::Note));
        record.trials.iter_mut().for_each(|trial| trial.host.steal_cores = 0.1);
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
    }

    #[test]
    fn disturbed_blocks_beyond_the_spare_ones_are_told() {
        let mut record = fixture::record(6, 0.0);
        record.plan.schedule.spare_blocks = 0;
        record.trials[9].host.others_cores = 1.0;
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
    }
}
