//! A run as it is watched on stderr: a live line on a terminal, plain lines elsewhere.

use std::io::{self, IsTerminal, Write as _};
use std::ops::Range;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use model::profiling::Recording;
use model::search::SearchEnd;
use model::{
    Effect, Metric, Outcome, Phase, Polarity, ProfilingRun, SoakRecord, StudyRecord, TrialKey, TrialRecord,
    VariantIndex, WarmUpRecord, sample,
    text::{self, exactly, minutes},
};

use crate::conduct::{Ending, Event, Silent, Watcher};

/// The watcher that fits: silence when asked for, a live line on a terminal, else plain lines.
pub fn watcher(quiet: bool) -> Box<dyn Watcher> {
    if quiet {
        Box::new(Silent)
    } else if io::stderr().is_terminal() {
        Box::new(LiveLine::new())
    } else {
        Box::new(PlainLines { names: Names::default() })
    }
}

/// What events leave out because the record says it once.
#[derive(Debug, Default)]
struct Names {
    variants: Vec<String>,
    cells: Vec<String>,
    blocks: [u32; 2],
    primary: Option<Metric>,
}

impl Names {
    fn of(record: &StudyRecord) -> Self {
        Self {
            variants: record.study.variants.iter().map(|variant| variant.name.clone()).collect(),
            cells: record.plan.cells.iter().map(|cell| cell.name(&record.study.workloads)).collect(),
            blocks: [record.plan.schedule.min_blocks, record.most_blocks()],
            primary: Some(record.study.decide.primary),
        }
    }

    /// Keeps up with what changes them.
    fn follow(&mut self, event: &Event) {
        match event {
            Event::Began { record, .. } => *self = Self::of(record),
            Event::HorizonFixed { blocks, .. } => self.blocks[1] = *blocks,
            _ => {}
        }
    }

    fn variant(&self, variant: VariantIndex) -> &str {
        self.variants.get(variant).map_or("?", String::as_str)
    }

    fn trial(&self, key: TrialKey, variant: VariantIndex) -> String {
        let [min, max] = self.blocks;
        let number = key.block + 1;
        let place = if key.pilot {
            format!("pilot {number}")
        } else if number > max {
            format!("block {number}, a spare one")
        } else if min == max {
            format!("block {number} of {max}")
        } else {
            format!("block {number} of {min}–{max}")
        };
        format!("{place}, {}", self.variant(variant))
    }

    fn profiling_run(&self, variant: VariantIndex) -> String {
        format!("profiling run, {}", self.variant(variant))
    }

    fn soak(&self, variant: VariantIndex) -> String {
        format!("soak, {}", self.variant(variant))
    }

    /// The interval so far of one variant.
    fn look(&self, variant: VariantIndex, effect: Effect) -> String {
        let (metric, better) = match self.primary {
            Some(metric) if metric.polarity() == Polarity::HigherIsBetter => (metric.name(), "higher is better"),
            Some(metric) => (metric.name(), "lower is better"),
            None => ("?", "?"),
        };
        format!(
            "{metric} of {} so far {} ({better}), {}",
            self.variant(variant),
            text::effect(&effect),
            text::plural(effect.blocks.into(), "block")
        )
    }

    fn phase(&self, phase: Phase, cell: Option<usize>) -> String {
        match phase {
            Phase::Prepare => "preparing".to_owned(),
            Phase::Launch => "starting".to_owned(),
            Phase::Inspect => "reading settings, asking for answers".to_owned(),
            Phase::WarmUp => "warming".to_owned(),
            Phase::Measure => {
                format!("measuring {}", cell.and_then(|cell| self.cells.get(cell)).map_or("?", String::as_str))
            }
            Phase::Watch => "watching".to_owned(),
            Phase::Stop => "stopping".to_owned(),
        }
    }
}

/// One line for each thing that matters: for logs and pipes.
struct PlainLines {
    names: Names,
}

impl Watcher for PlainLines {
    fn see(&mut self, event: &Event) {
        self.names.follow(event);
        if let Some(line) = line(&self.names, event) {
            // A closed stderr is no reason to lose a run.
            let _ = writeln!(io::stderr(), "{line}");
        }
    }
}

/// A line that is drawn over and over, with the plain lines scrolling above it.
struct LiveLine {
    names: Names,
    bar: ProgressBar,
    trial: String,
    phase: String,
    /// Time left, and when that was so.
    left: (Range<Duration>, Instant),
}

impl LiveLine {
    fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed_precise}  {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self {
            names: Names::default(),
            bar,
            trial: String::new(),
            phase: String::new(),
            left: (Duration::ZERO..Duration::ZERO, Instant::now()),
        }
    }

    fn draw(&self, rate: &str) {
        let (left, at) = &self.left;
        let left = left.start.saturating_sub(at.elapsed())..left.end.saturating_sub(at.elapsed());
        self.bar.set_message(format!("{} · {}{rate} · {}", self.trial, self.phase, time_left(&left)));
    }
}

impl Watcher for LiveLine {
    fn see(&mut self, event: &Event) {
        self.names.follow(event);
        match event {
            Event::Began { left, .. } | Event::TrialEnded { left, .. } => self.left = (left.clone(), Instant::now()),
            Event::Preparing(what) => self.bar.set_message((*what).to_owned()),
            Event::TrialBegan(trial) => self.trial = self.names.trial(trial.key, trial.variant),
            Event::ProfilingBegan { variant } => self.trial = self.names.profiling_run(*variant),
            Event::SoakBegan { variant, left } => {
                self.trial = self.names.soak(*variant);
                self.left = (*left..*left, Instant::now());
            }
            Event::PhaseBegan { phase, cell } => {
                self.phase = self.names.phase(*phase, *cell);
                self.draw("");
            }
            Event::Progressed { variant, rate, failed } => {
                if let Some(block) = self.trial.rsplit_once(", ").map(|(block, _)| block.to_owned()) {
                    self.trial = format!("{block}, {}", self.names.variant(*variant));
                }
                let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
                self.draw(&format!(" · {rate:.0}/s{failed}"));
            }
            _ => {}
        }
        if let Some(line) = line(&self.names, event) {
            self.bar.println(line);
        }
        if matches!(event, Event::Ended(_)) {
            self.bar.finish_and_clear();
        }
    }
}

/// What an event reads as on a line of its own; most events of a trial have none.
fn line(names: &Names, event: &Event) -> Option<String> {
    match event {
        Event::Began { record, left } if record.plan.soak.is_some() => {
            let run = format!("{}: soak {}, seed {}", record.study.name, record.run, record.plan.seed);
            Some(format!("{run}, {} and the warm-ups", time_left(left)))
        }
        Event::Began { record, left } => Some(format!(
            "{}: run {}, seed {}, {} trials stored, {}{}",
            record.study.name,
            record.run,
            record.plan.seed,
            record.trials.len(),
            time_left(left),
            crowded(record).map_or_else(String::new, |crowded| format!("; {crowded}"))
        )),
        Event::Preparing(what) => Some((*what).to_owned()),
        Event::FellBack(why) => Some(format!("launches go one after another: {why}")),
        Event::TrialEnded { trial, left } => {
            Some(format!("{}: {} ({})", names.trial(trial.key, trial.variant), outcome(trial), time_left(left)))
        }
        Event::TearDownsFailed(failed) => {
            Some(format!("{} failed, the first: {}", text::plural(failed.users, "tear-down"), failed.first))
        }
        Event::WarmUpLengthFixed(length) => Some(format!(
            "warm-up: {} for every launch{}",
            exactly(Duration::from_secs_f64(length.seconds)),
            if length.established { ", by when all were steady" } else { "; launches may not be steady by then" }
        )),
        Event::HorizonFixed { blocks, aside } => {
            let profiling = match aside {
                None => String::new(),
                Some(Duration::ZERO) => "; then no time is left to see why the variants differ".to_owned(),
                Some(aside) => format!("; {} are kept to see why the variants differ", minutes(*aside)),
            };
            Some(format!("{} at most: so many have time{profiling}", text::plural(u64::from(*blocks), "block")))
        }
        Event::Looked(effects) => {
            let known = effects.iter().enumerate().filter_map(|(index, effect)| Some((index + 1, (*effect)?)));
            let lines: Vec<String> = known.map(|(variant, effect)| names.look(variant, effect)).collect();
            (!lines.is_empty()).then(|| lines.join("; "))
        }
        Event::Foreseen(outlook) => Some(text::outlook(outlook)),
        Event::Excluded { block, reason } => {
            Some(format!("block {} is excluded, another takes its place: {reason}", block + 1))
        }
        Event::ProfilingEnded(run) => Some(format!("{}: {}", names.profiling_run(run.variant), watched(run))),
        Event::SoakNotStored(why) => Some(format!("not stored yet, tried again later: {why}")),
        Event::SoakEnded(soak) => Some(format!("{}: {}", names.soak(soak.variant), soaked(soak))),
        Event::ProfilingSkipped(why) => Some(format!("no profiling runs: {why}")),
        Event::Ended(ending) => Some(match ending {
            Ending::Finished(why) => why.to_string(),
            Ending::Budget(budget) => format!("the budget of {} does not allow another block", minutes(*budget)),
            Ending::Soaked => "all is soaked".to_owned(),
            Ending::Interrupted => "interrupted".to_owned(),
        }),
        Event::TrialBegan(_)
        | Event::ProfilingBegan { .. }
        | Event::SoakBegan { .. }
        | Event::PhaseBegan { .. }
        | Event::Progressed { .. } => None,
    }
}

/// That a run which has not begun may have no time for its profiling runs, if so.
fn crowded(record: &StudyRecord) -> Option<String> {
    let enough = analysis::more_for_profiling(record)?;
    Some(report::no_time_for_profiling(record.plan.schedule.within, enough))
}

/// What came of a trial, in short.
fn outcome(trial: &TrialRecord) -> String {
    if let Outcome::Failed(failed) = &trial.outcome {
        return format!("FAILED: {}", failed.reason);
    }
    let seconds: f64 = trial.cells.iter().map(|cell| sample::seconds(&cell.samples)).sum();
    let good: u64 = trial.cells.iter().map(|cell| sample::tally(&cell.samples).good).sum();
    match trial.warm_up.as_ref().and_then(WarmUpRecord::steady_at_s) {
        _ if seconds > 0.0 => format!("{:.0}/s{}", good as f64 / seconds, searched(trial)),
        _ if !trial.cells.is_empty() => format!("measured{}", searched(trial)),
        Some(steady) => format!("steady after {steady:.0} s"),
        None => "not steady within the cap".to_owned(),
    }
}

/// What came of a trial's searches for the limit, in short; nothing where it has none.
fn searched(trial: &TrialRecord) -> String {
    let searches = trial.cells.iter().filter_map(|cell| cell.search.as_ref());
    let came = searches.map(|search| match search.end {
        SearchEnd::Found { low, high } => format!(", limit between {low:.0}/s and {high:.0}/s"),
        _ => ", no limit found".to_owned(),
    });
    came.collect()
}

/// What came of a soak, in short.
fn soaked(soak: &SoakRecord) -> String {
    let lasted = text::seconds(soak.seconds());
    match &soak.outcome {
        Some(Outcome::Failed(failed)) => format!("FAILED after {lasted}: {}", failed.reason),
        Some(Outcome::Completed) => format!("soaked for {lasted}"),
        None => format!("interrupted after {lasted}"),
    }
}

/// What came of a profiling run, in short.
fn watched(run: &ProfilingRun) -> String {
    match (&run.outcome, &run.observation) {
        (Outcome::Failed(failed), _) => format!("FAILED: {}", failed.reason),
        (Outcome::Completed, Some(observation)) => match &observation.recording {
            Recording::None { reason } => format!("no recording: {reason}"),
            _ => format!("{} requests of {} recorded", text::count(observation.requests), run.load),
        },
        (Outcome::Completed, None) => "nothing seen".to_owned(),
    }
}

fn time_left(left: &Range<Duration>) -> String {
    let [least, most] = [minutes(left.start), minutes(left.end)];
    if least == most { format!("{most} left") } else { format!("{least} to {most} left") }
}
