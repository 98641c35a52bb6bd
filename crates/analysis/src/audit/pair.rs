//! What a rule looks at that holds the second of two imported runs against the first.

use model::imported::{AuditedRun, Matched, OptionDifference, Totals};

use super::evidence::Evidence;
use crate::effective::differences;
use crate::ended::Ended;
use crate::matched::matched;

pub struct Pair<'a> {
    pub runs: [&'a AuditedRun; 2],
    /// What whole runs would say; `None` where a file does not say how long its run took.
    pub totals: Option<Totals>,
    /// What both did in the same time, if there is such a time.
    pub matched: Option<Matched>,
    /// The options in effect that differ; `None` where a side has no settings.
    pub options: Option<Vec<OptionDifference>>,
}

impl<'a> Pair<'a> {
    pub fn of(runs: [&'a AuditedRun; 2]) -> Self {
        let seconds = runs.map(|audited| audited.run.seconds);
        let good = runs.map(|audited| audited.run.all.good);
        let rates = [0, 1].map(|side| good[side] as f64 / seconds[side]);
        let totals = seconds.iter().all(|seconds| *seconds > 0.0).then_some(Totals { good, rates });
        let settings = runs.map(|audited| &audited.settings);
        let in_effect = settings.map(|files| files.iter().flat_map(|file| file.in_effect.clone()).collect::<Vec<_>>());
        let are_known = settings.iter().all(|files| !files.is_empty());
        let options = are_known.then(|| differences([&in_effect[0], &in_effect[1]]));
        Self { runs, totals, matched: matched(runs), options }
    }

    /// What either run lacks of it, a clause with the file's name; `None` where all is there.
    pub fn lack(&self, needs: Evidence) -> Option<String> {
        self.runs
            .iter()
            .find_map(|AuditedRun { run, hosts, .. }| Some(format!("{}: {}", run.file, needs.lack(run, hosts)?)))
    }

    /// Requests that were sent and failed, and all that were sent, of each: over the same time, where there is one. What was never sent has
    /// no time in a file; it is taken to lie as all that failed does.
    pub fn failures(&self) -> [(f64, f64); 2] {
        self.runs.map(|AuditedRun { run, .. }| match &self.matched {
            Some(Matched { from_s, to_s, .. }) => {
                let ended = Ended::between(run, *from_s, *to_s);
                let failed = ended.failed * run.all.failed_when_sent() as f64 / run.all.failed.max(1) as f64;
                (failed, ended.good + failed)
            }
            None => (run.all.failed_when_sent() as f64, run.all.sent() as f64),
        })
    }

    /// The names of the files.
    pub fn files(&self) -> [String; 2] {
        self.runs.map(|audited| audited.run.file.clone())
    }
}
