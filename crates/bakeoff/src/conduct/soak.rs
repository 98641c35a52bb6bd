//! Soaks: one launch of each variant under one load for hours. What is seen is stored while it goes on.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use std::{mem, thread};

use jiff::Timestamp;
use load::Stop;
use model::{
    Phase, Sample, ServerUse, SoakHeap, SoakPlan, SoakRecord, SoakUse, SoakWindow, StudyRecord, VariantIndex, sample,
};
use store::{Store, StoreError};

use super::Conductor;
use super::error::ConductError;
use super::event::{Ending, Event, Relay};
use super::evidence::{Evidence, LoadOf, PhaseResult};
use super::launch::{Launch, Purpose, Run};
use super::lifetime::LaunchEnd;
use super::loading::{Extent, Judged};
use super::phases::{Inspected, Warm};
use super::prepared::Prepared;
use super::soaking::{Seen, Soaking};

/// What was seen is stored this often; windows are longer where a soak takes a day or more.
const STORED_EVERY: Duration = Duration::from_secs(60);

impl Conductor<'_> {
    /// Soaks each variant of the plan, one after another: each is to be loaded all of its time, by a host that is its own.
    pub(super) fn soak(&mut self, record: &mut StudyRecord, plan: &SoakPlan) -> Result<Ending, ConductError> {
        let left = plan.duration * plan.variants.len() as u32;
        self.watcher.see(&Event::Began { record, left: left..left });
        let study = record.study.clone();
        let prepared = Prepared::new(self.launcher, &study, self.folder, self.watcher)?;
        for (done, variant) in plan.variants.iter().enumerate() {
            if self.is_interrupted() {
                return Ok(Ending::Interrupted);
            }
            let left = plan.duration * (plan.variants.len() - done) as u32;
            self.watcher.see(&Event::SoakBegan { variant: *variant, left });
            let (soak, end) = self.soak_one(&prepared, *variant, plan, record);
            // What was seen is shown whatever came after it.
            record.soaks.push(soak);
            let has_ended = end?;
            if let Some(soak) = record.soaks.last() {
                self.watcher.see(&Event::SoakEnded(soak));
            }
            if !has_ended {
                return Ok(Ending::Interrupted);
            }
        }
        Ok(Ending::Soaked)
    }

    /// Soaks a variant, and stores what it shows. Whether it came to its end, well or not; else it was interrupted.
    fn soak_one(
        &mut self,
        prepared: &Prepared,
        variant: VariantIndex,
        plan: &SoakPlan,
        record: &StudyRecord,
    ) -> (SoakRecord, Result<bool, ConductError>) {
        let (interrupted, store) = (self.interrupted, self.store);
        let watcher = Mutex::new(&mut *self.watcher);
        let started = Timestamp::now().to_string();
        let mut keeper = Keeper::new(store, &record.run, SoakRecord::new(variant, started.clone()));
        let begun = keeper.store();
        if let Err(full) = begun {
            return (keeper.soak, Err(full.into()));
        }
        let (seen, shown) = mpsc::channel();
        let over = thread::scope(|scope| {
            let (watcher, keeper) = (&watcher, &mut keeper);
            let launch = scope.spawn(move || {
                let soaking = Soaking { plan, started, seen };
                let run = Run { record, interrupted, watcher, seat: None };
                prepared.soak(variant, run, &soaking)
            });
            keeper.keep(&shown, watcher);
            launch.join().unwrap_or_else(|panic| resume_unwind(panic))
        });
        let over = over.map(|LaunchEnd { record: ended, end }| {
            let has_ended = ended.is_some();
            if let Some(ended) = ended {
                keeper.soak = SoakRecord { windows: mem::take(&mut keeper.soak.windows), ..ended };
            }
            end.map(|()| has_ended)
        });
        // Whatever went wrong: what was seen is stored first.
        let stored = keeper.store();
        let end = match over.and_then(|end| end) {
            Ok(has_ended) => stored.map(|()| has_ended).map_err(Into::into),
            Err(error) => Err(error),
        };
        (keeper.soak, end)
    }
}

/// Keeps what a soak shows, and stores it from time to time. What cannot be stored now may be later.
struct Keeper<'a> {
    store: &'a Store,
    run: &'a str,
    soak: SoakRecord,
    /// Of its windows, how many are stored.
    stored: usize,
    last: Instant,
}

impl<'a> Keeper<'a> {
    fn new(store: &'a Store, run: &'a str, soak: SoakRecord) -> Self {
        Self { store, run, soak, stored: 0, last: Instant::now() }
    }

    /// Until nothing more is shown.
    fn keep(&mut self, shown: &Receiver<Seen>, watcher: &dyn Relay) {
        let mut is_reported = false;
        for seen in shown {
            let is_warm = matches!(seen, Seen::Warm(_));
            match seen {
                Seen::Warm(soak) => self.soak = *soak,
                Seen::Window(window) => self.soak.windows.push(*window),
            }
            if is_warm || self.last.elapsed() >= STORED_EVERY {
                let stored = self.store();
                if let Err(error) = &stored
                    && !is_reported
                {
                    watcher.pass_on(&Event::SoakNotStored(&error.to_string()));
                }
                is_reported = stored.is_err();
            }
        }
    }

    fn store(&mut self) -> Result<(), StoreError> {
        self.last = Instant::now();
        self.store.add_to_soak(self.run, &self.soak, &self.soak.windows[self.stored..])?;
        self.stored = self.soak.windows.len();
        Ok(())
    }
}

impl Prepared<'_> {
    /// Launches a variant to be soaked.
    fn soak<'a>(
        &'a self,
        variant: VariantIndex,
        run: Run<'a>,
        soaking: &'a Soaking<'a>,
    ) -> Result<LaunchEnd<SoakRecord>, ConductError> {
        let folder = self.folder.join(format!("soak-{}", variant + 1));
        let launch = Launch { prepared: self, purpose: Purpose::Soak(soaking), variant, run, folder };
        launch.over(|outcome, evidence| SoakRecord {
            outcome: Some(outcome),
            ..known(variant, &soaking.started, &evidence)
        })
    }
}

/// What is known of a soak but for its windows.
fn known(variant: VariantIndex, started: &str, evidence: &Evidence) -> SoakRecord {
    let warm_up = evidence.warm_up.as_ref();
    SoakRecord {
        launch: evidence.launch.clone(),
        settings: evidence.settings.clone(),
        warm_up_s: warm_up.map_or(0.0, |warm_up| sample::seconds(&warm_up.samples)),
        steady_at_s: warm_up.and_then(model::WarmUpRecord::steady_at_s),
        whole_heap_bytes: evidence.whole_heap_bytes,
        oom_kills: evidence.oom_kills,
        failed_tear_downs: evidence.failed_tear_downs.clone(),
        ..SoakRecord::new(variant, started.to_owned())
    }
}

impl Warm<'_> {
    /// Loads the server as long as is planned. What it shows goes to who keeps it, window by window: nothing of it stays here.
    pub fn soak(self, soaking: &Soaking) -> PhaseResult<Self> {
        let Self(Inspected { live, turn, mut evidence, workloads }) = self;
        let plan = soaking.plan;
        live.launch.enter(Phase::Measure, Some(plan.cell));
        evidence.whole_heap_bytes[0] = live.server.live_heap_bytes();
        let warm = known(live.launch.variant, &soaking.started, &evidence);
        // Nobody listens any more only where the other side has failed, which it reports itself.
        let _ = soaking.seen.send(Seen::Warm(Box::new(warm)));
        let load = live.cell_load(plan.cell, &workloads, Stop::After(plan.duration));
        let mut held = live.server.held();
        let mut open = OpenWindow::new(f64::from(plan.window_s));
        let of = LoadOf::One(live.workload_of(plan.cell));
        let (loaded, ended) = live.load(Phase::Measure, &load, Extent::Fixed(plan.duration), turn, &mut |sample| {
            evidence.add_sample(sample, of);
            if let Some(mut window) = open.add(sample) {
                if let Some(used) = &mut window.server {
                    used.held = held.sample();
                }
                let _ = soaking.seen.send(Seen::Window(Box::new(window)));
            }
            Judged::Taken
        });
        if let Some(window) = open.end() {
            let _ = soaking.seen.send(Seen::Window(Box::new(window)));
        }
        // Its samples were counted one by one.
        evidence.add_load(&[], loaded.left, of);
        let (mut evidence, ()) = evidence.then(ended)?;
        evidence.whole_heap_bytes[1] = live.server.live_heap_bytes();
        Ok(Self(Inspected { live, turn: loaded.turn, evidence, workloads }))
    }
}

/// A window that is not over.
struct OpenWindow {
    /// How long it is to be, seconds.
    length_s: f64,
    window: SoakWindow,
    /// Core-seconds of the host that others used and that were taken away, and for how long that is known.
    others: [f64; 2],
    host_s: f64,
}

impl OpenWindow {
    /// Part of a window that the last of a soak has to have.
    const WHOLE: f64 = 0.5;
    /// A sample may be a little shorter than a second.
    const EARLY_S: f64 = 0.25;

    fn new(length_s: f64) -> Self {
        Self { length_s, window: SoakWindow::default(), others: [0.0; 2], host_s: 0.0 }
    }

    /// Adds a sample; the window, where it is over with that.
    fn add(&mut self, sample: &Sample) -> Option<SoakWindow> {
        let window = &mut self.window;
        if window.length_s == 0.0 {
            window.start_s = sample.start_s;
        }
        window.length_s += sample.length_s;
        window.tally.merge(&sample.tally);
        window.latency.merge(sample.latency());
        if let Some(used) = &sample.server {
            add(window.server.get_or_insert_default(), used);
        }
        if let Some(host) = &sample.host {
            self.host_s += sample.length_s;
            for (sum, cores) in self.others.iter_mut().zip([host.others_cores, host.steal_cores]) {
                *sum += cores * sample.length_s;
            }
        }
        (self.window.length_s >= self.length_s - Self::EARLY_S).then(|| self.close())
    }

    /// The window as far as it has come, where that is enough.
    fn end(mut self) -> Option<SoakWindow> {
        (self.window.length_s >= self.length_s * Self::WHOLE).then(|| self.close())
    }

    fn close(&mut self) -> SoakWindow {
        let mut window = mem::take(&mut self.window);
        let host_s = mem::take(&mut self.host_s);
        let [others, steal] = mem::take(&mut self.others).map(|sum| (host_s > 0.0).then(|| sum / host_s));
        (window.others_cores, window.steal_cores) = (others, steal);
        window.latency.pack();
        window
    }
}

/// Adds a second: of what is held, that of its end counts.
fn add(window: &mut SoakUse, second: &ServerUse) {
    window.cpu_s += second.cpu_s;
    (window.rss_bytes, window.threads) = (second.rss_bytes, second.threads);
    window.ended += second.ended.unwrap_or(0);
    if let Some(gc) = second.jvm.as_ref().and_then(|jvm| jvm.gc.as_ref()) {
        let heap = window.heap.get_or_insert_with(SoakHeap::default);
        heap.after_bytes = gc.heap_after_bytes.or(heap.after_bytes);
        heap.live_bytes = gc.live_bytes.or(heap.live_bytes);
        heap.paused_s += gc.paused_s();
    }
}

#[cfg(test)]
mod tests {
    use model::{GcUse, HostUse, JvmUse, Tally};

    use super::*;

    fn second(start_s: f64, rss_bytes: u64) -> Sample {
        let gc = GcUse { heap_after_bytes: Some(rss_bytes / 2), pauses_s: vec![0.01], ..GcUse::default() };
        let jvm = Some(JvmUse { counters: None, gc: Some(gc) });
        let mut sample = Sample {
            start_s,
            length_s: 1.0,
            tally: Tally { good: 10, ..Tally::default() },
            server: Some(ServerUse { cpu_s: 0.5, rss_bytes, threads: 7, jvm, ..ServerUse::default() }),
            host: Some(HostUse { others_cores: 0.2, ..HostUse::default() }),
            ..Sample::default()
        };
        sample.service.record(1_000);
        sample
    }

    #[test]
    fn a_window_has_the_sum_of_its_seconds_and_what_was_held_at_its_end() {
        let mut open = OpenWindow::new(3.0);
        assert_eq!(open.add(&second(0.0, 100)), None);
        assert_eq!(open.add(&second(1.0, 200)), None);
        let window = open.add(&second(2.0, 300)).unwrap();
        assert_eq!((window.start_s, window.length_s, window.tally.good, window.latency.count()), (0.0, 3.0, 30, 3));
        let used = window.server.unwrap();
        assert_eq!((used.cpu_s, used.rss_bytes, used.threads), (1.5, 300, 7));
        let heap = used.heap.unwrap();
        assert_eq!((heap.after_bytes, heap.live_bytes), (Some(150), None));
        assert!((heap.paused_s - 0.03).abs() < 1e-9 && (window.others_cores.unwrap() - 0.2).abs() < 1e-9);
        // The next begins where it ended; what is left at the end counts where it is most of a window.
        assert_eq!(open.add(&second(3.0, 400)), None);
        assert_eq!(OpenWindow { ..OpenWindow::new(3.0) }.end(), None);
        open.add(&second(4.0, 500));
        let rest = open.end().unwrap();
        assert_eq!((rest.start_s, rest.length_s), (3.0, 2.0));
    }
}
