//! What a plan comes to before anything of it has run.

use model::{Forecast, StudyRecord};

use crate::assess::assess;
use crate::boundaries::Boundaries;
use crate::{budget, pace, reach};

/// What the plan of a run that has not begun takes, and what it can show.
pub fn forecast(record: &StudyRecord) -> Forecast {
    let boundaries = Boundaries::for_study(record);
    let assessment = assess(record, &boundaries);
    Forecast {
        time: pace::time_left(&assessment),
        reach: reach::planned(record),
        profiling: record.plan.schedule.profiling.then(|| pace::profiling_time(&assessment)),
        enough_for_profiling: budget::more_for_profiling(record),
    }
}
