//! What would settle an inconclusive question, in words.

use model::{Effect, Metric, Mode, StudyRecord, text};

use crate::boundaries::LAST_LOOK;

/// About how many blocks would, and how they are to be had; where no number of blocks would (`None`), what would instead. `is_over` is a
/// run that has ended for good.
pub fn way_out(record: &StudyRecord, effect: &Effect, blocks: Option<u32>, is_over: bool) -> String {
    blocks.map_or_else(|| too_coarse(record, effect), |blocks| more_blocks(record, blocks, is_over))
}

/// What is counted in a launch is too little, however many launches there are.
fn too_coarse(record: &StudyRecord, effect: &Effect) -> String {
    let metric = record.study.decide.primary;
    let finest = text::percent_digits(effect.resolution);
    let what = "No number of blocks would settle it:";
    let is_shorter = record.study.timing.measure > record.plan.schedule.measure;
    let longer = match metric {
        Metric::Throughput | Metric::CpuPerRequest if is_shorter => "Run without --quick, which measures for longer",
        Metric::Throughput | Metric::CpuPerRequest => "Measure for longer (`[measure] duration`)",
        Metric::Capacity => {
            return format!(
                "{what} a limit is looked for no more finely than {finest} %. A larger `[decide] rope` may fit the question."
            );
        }
        _ => return format!("{what} {metric} is known no more finely than {finest} % here."),
    };
    format!(
        "{what} so little is counted in each launch that {metric} is known no more finely than {finest} %. {longer}: twice as long \
         tells half as much."
    )
}

fn more_blocks(record: &StudyRecord, blocks: u32, is_over: bool) -> String {
    let (schedule, full) = (&record.plan.schedule, &record.study.timing);
    let is_quick = record.plan.mode == Mode::Quick;
    // What a launch reports once does not become surer by measuring its cells for longer.
    let longer_helps = record.study.decide.primary.is_per_cell();
    let allowed = full.max_blocks;
    let about = format!("If the estimate stays as it is, about {} blocks settle it", text::count(blocks.into()));
    let horizon = record.most_blocks();
    if blocks <= horizon {
        return format!(
            "{about}{}.",
            if is_over { "" } else { ": go on with this run (the command is at the report's end)" }
        );
    }
    if is_quick && blocks <= allowed {
        return format!("{about}: run without --quick, which allows up to {allowed}.");
    }
    if blocks <= schedule.max_blocks {
        let time = schedule.within * blocks / horizon.max(1);
        return format!(
            "{about}, more than the {horizon} for which there was time: give a new run {} (`--budget`).",
            text::minutes(time)
        );
    }
    let far = if blocks > 2 * allowed { "far " } else { "" };
    let excess = format!("{about}, {far}more than the {allowed} the study allows:");
    if blocks as usize <= LAST_LOOK {
        let first = if is_quick { "run without --quick and raise" } else { "raise" };
        let longer = if longer_helps { " measure for longer," } else { "" };
        return format!("{excess} {first} `[decide] blocks.max` ({LAST_LOOK} at most),{longer} or use a quieter host.");
    }
    let way = if !longer_helps {
        "Use a quieter host."
    } else if full.measure > schedule.measure {
        "A run without --quick measures for longer and may need fewer."
    } else {
        "Measure for longer (`[measure] duration`), or use a quieter host."
    };
    format!("{excess} the difference is too small, or the launches too different, for this design. {way}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::fixture;

    #[test]
    fn an_inconclusive_run_says_what_would_settle_it() {
        let mut quick = fixture::empty(fixture::study(), Mode::Quick);
        assert_eq!(quick.plan.schedule.max_blocks, 6);
        let way = |record: &StudyRecord, blocks| more_blocks(record, blocks, true);
        assert_eq!(
            way(&quick, 14),
            "If the estimate stays as it is, about 14 blocks settle it: run without --quick, which allows up to 30."
        );
        quick.study.timing.measure = Duration::from_secs(60);
        assert_eq!(
            way(&quick, 1_493),
            "If the estimate stays as it is, about 1,493 blocks settle it, far more than the 30 the study allows: the difference is \
             too small, or the launches too different, for this design. A run without --quick measures for longer and may need fewer."
        );
        quick.study.timing.max_blocks = 10;
        assert!(way(&quick, 14).contains("more than the 10 the study allows: run without --quick and raise"));

        let mut full = fixture::empty(fixture::study(), Mode::Full);
        assert_eq!(
            more_blocks(&full, 21, false),
            "If the estimate stays as it is, about 21 blocks settle it: go on with this run (the command is at the report's end)."
        );
        assert_eq!(way(&full, 21), "If the estimate stays as it is, about 21 blocks settle it.");
        assert!(
            way(&full, 31)
                .contains("31 blocks settle it, more than the 30 the study allows: the difference is too small")
        );
        assert!(way(&full, 31).ends_with("Measure for longer (`[measure] duration`), or use a quieter host."));
        full.study.timing.max_blocks = 10;
        full.plan.schedule.max_blocks = 10;
        assert_eq!(
            way(&full, 14),
            "If the estimate stays as it is, about 14 blocks settle it, more than the 10 the study allows: raise `[decide] blocks.max` \
             (30 at most), measure for longer, or use a quieter host."
        );
        full.plan.schedule.max_blocks = 30;
        full.study.timing.max_blocks = 30;
        full.horizon = Some(10);
        assert_eq!(
            way(&full, 14),
            "If the estimate stays as it is, about 14 blocks settle it, more than the 10 for which there was time: give a new run 1 h 43 min \
             (`--budget`)."
        );
        full.horizon = None;
        full.plan.schedule.max_blocks = 10;
        full.study.timing.max_blocks = 10;
        // Nothing of a launch is known better for measuring longer.
        for metric in [Metric::StartUp, Metric::Memory, Metric::WarmUpTime, Metric::WarmUpRequests] {
            full.study.decide.primary = metric;
            assert!(way(&full, 14).ends_with("raise `[decide] blocks.max` (30 at most), or use a quieter host."));
            full.plan.schedule.measure = full.study.timing.measure / 2;
            assert!(way(&full, 31).ends_with("for this design. Use a quieter host."), "{}", way(&full, 31));
        }
    }

    #[test]
    fn what_is_counted_too_coarsely_is_not_sent_for_more_blocks() {
        let effect = Effect { estimate: 0.03, low: -0.02, high: 0.08, resolution: 0.05, blocks: 30, confidence: 0.95 };
        let mut record = fixture::empty(fixture::study(), Mode::Full);
        let way = |record: &StudyRecord| way_out(record, &effect, None, true);
        assert_eq!(
            way(&record),
            "No number of blocks would settle it: so little is counted in each launch that throughput is known no more finely \
             than 5.1 %. Measure for longer (`[measure] duration`): twice as long tells half as much."
        );
        record.study.timing.measure *= 2;
        assert!(
            way(&record).contains("Run without --quick, which measures for longer: twice as long"),
            "{}",
            way(&record)
        );
        record.study.decide.primary = Metric::StartUp;
        assert_eq!(
            way(&record),
            "No number of blocks would settle it: start-up is known no more finely than 5.1 % here."
        );
    }
}
