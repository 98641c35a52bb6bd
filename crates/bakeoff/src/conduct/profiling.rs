//! One more launch of a variant, watched and recorded: it explains what the others measured, and is no part of it.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use load::{Load, Stop};
use model::profiling::{Observation, Recording};
use model::{Arrivals, CellIndex, Phase, Profile, ProfilingRun, StudyRecord, VariantIndex, sample};

use super::error::{ConductError, TrialError};
use super::evidence::{Evidence, LoadOf, PhaseResult};
use super::launch::{Launch, Purpose, Run};
use super::lifetime::LaunchEnd;
use super::loading::{Extent, Judged};
use super::phases::{Inspected, Warm};
use super::prepared::Prepared;

impl Prepared<'_> {
    /// Launches a variant to be watched.
    pub fn profile<'a>(&'a self, variant: VariantIndex, run: Run<'a>) -> Result<LaunchEnd<ProfilingRun>, ConductError> {
        let started = Timestamp::now().to_string();
        let load = load_name(run.record);
        let folder = self.folder.join(format!("profiling-{}", variant + 1));
        let launch = Launch { prepared: self, purpose: Purpose::Profiling, variant, run, folder };
        launch.over(|outcome, evidence| {
            let Evidence { settings, observation, oom_kills, failed_tear_downs, .. } = evidence;
            ProfilingRun { variant, started, outcome, load, settings, observation, oom_kills, failed_tear_downs }
        })
    }
}

/// What the server is asked while it is watched: the cell that decides, else all workloads mixed.
fn decisive_cell(record: &StudyRecord) -> Option<CellIndex> {
    record.deciding_cell().or((record.plan.cells.len() == 1).then_some(0))
}

fn load_name(record: &StudyRecord) -> String {
    match decisive_cell(record) {
        Some(cell) => record.plan.cells[cell].name(&record.study.workloads),
        None => "all workloads mixed".to_owned(),
    }
}

impl Warm<'_> {
    /// Watches the server, from a moment at which nothing is asked of it to another: so every request that it worked on
    /// meanwhile is counted, and no other. Where the launch fails under it, what was seen until then is kept.
    pub fn watch(self) -> PhaseResult<Self> {
        let Self(Inspected { live, mut turn, evidence, workloads }) = self;
        let record = live.launch.run.record;
        let cell = decisive_cell(record);
        live.launch.enter(Phase::Watch, cell);
        let of = cell.map_or(LoadOf::all(&record.study.workloads), |cell| LoadOf::One(live.workload_of(cell)));
        let window = analysis::profiling_window(record);
        let load = match cell {
            Some(cell) => Ok(watched_load(live.cell_load(cell, &workloads, Stop::External), record, cell)),
            None => live.mixed_load(&workloads, Stop::External),
        };
        let (mut evidence, load) = evidence.then(load)?;
        let recorder = live.server.record();
        let mut cpu = live.server.watch_cpu();
        let began = Instant::now();
        let (mut requests, mut ended) = (0, Ok(()));
        while ended.is_ok()
            && let Some(count) = next_count(&load, window, began.elapsed(), requests)
        {
            let load = Load { stop: Stop::Count(count), ..load.clone() };
            let loaded;
            (loaded, ended) = live.load(Phase::Watch, &load, Extent::Fixed(window), turn, &mut |_| {
                cpu.sample();
                Judged::Continue
            });
            turn = loaded.turn;
            evidence.add_load(&loaded.samples, loaded.left, of);
            let before = requests;
            requests += sample::tally(&loaded.samples).ended();
            // A load that ends by itself has been made; one that got nowhere would never end.
            if count == u64::MAX || requests == before {
                break;
            }
        }
        if !matches!(ended, Err(TrialError::Interrupted)) {
            let elapsed_s = began.elapsed().as_secs_f64();
            let cpu = cpu.end();
            let recording = match recorder {
                Ok(recorder) => recorder.end(),
                Err(reason) => Recording::None { reason },
            };
            let recording = match recording {
                Recording::None { reason } => Recording::None { reason: live.launch.prepared.launcher.mask(&reason) },
                made => made,
            };
            evidence.observation = Some(Observation { requests, elapsed_s, cpu, recording });
        }
        let (evidence, ()) = evidence.then(ended)?;
        Ok(Self(Inspected { live, turn, evidence, workloads }))
    }
}

/// The load of a cell as it is watched: where its limit was looked for, at a rate that all variants keep.
fn watched_load(load: Load, record: &StudyRecord, cell: CellIndex) -> Load {
    match analysis::limit::watched_rate(record, cell) {
        Some(rate) => Load { arrivals: Arrivals::Open(Profile::constant(rate)), ..load },
        None => load,
    }
}

/// How many requests to ask for next, so that all end at about the end of the window; `None` at its end. A closed loop begins
/// with a few, which show how fast it is.
fn next_count(load: &Load, window: Duration, elapsed: Duration, requests: u64) -> Option<u64> {
    let left = window.saturating_sub(elapsed);
    if requests == 0 {
        return Some(match &load.arrivals {
            arrivals if arrivals.length().is_some() => u64::MAX,
            Arrivals::Open(profile) => profile.due_within(window).ceil().max(1.0) as u64,
            Arrivals::Closed { .. } => 5 * u64::from(load.connections),
        });
    }
    let rate = requests as f64 / elapsed.as_secs_f64();
    (left > window / 10).then(|| (rate * left.as_secs_f64()).ceil().max(1.0) as u64)
}

#[cfg(test)]
mod tests {
    use load::{RequestSource, Target};

    use super::*;

    #[test]
    fn a_window_is_filled_with_whole_requests() {
        let target = Target::from(std::net::SocketAddr::from(([127, 0, 0, 1], 80)));
        let closed = Load { connections: 20, ..Load::new(target, RequestSource::Requests(Vec::new()), Stop::External) };
        let [window, second] = [Duration::from_secs(10), Duration::from_secs(1)];
        assert_eq!(next_count(&closed, window, Duration::ZERO, 0), Some(100));
        assert_eq!(next_count(&closed, window, second, 100), Some(900));
        assert_eq!(next_count(&closed, window, window.saturating_sub(second / 2), 950), None);
        let open = Load { arrivals: Arrivals::Open(Profile::constant(300.0)), ..closed.clone() };
        assert_eq!(next_count(&open, window, Duration::ZERO, 0), Some(3_000));
        assert_eq!(next_count(&open, window, window, 3_000), None);
    }
}
