//! What `bakeoff check` prints: a plan, in the order in which it will run.

use std::fmt::Write as _;
use std::ops::Range;
use std::time::Duration;

use model::study::{Isolation, Limits, WarmUp, WorkloadKind};
use model::text::{self, exactly, minutes};
use model::{Forecast, Launches, Mode, Reach, Study, StudyRecord, VariantIndex};

/// What a plan shows is said for these standard deviations of the difference within a block, log ratios: a quiet host's, a usual one and a noisy
/// one's.
const SPREADS: [f64; 3] = [0.01, 0.03, 0.1];
/// Blocks whose order is shown.
const SHOWN: usize = 5;

/// The plan of a run that has not begun, what would spoil the run, and the command that runs this very plan.
pub fn plan(record: &StudyRecord, forecast: &Forecast, doubts: &[String], command: &str) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_plan(&mut text, record, forecast);
    text.push('\n');
    for doubt in doubts {
        let _ = writeln!(text, "! {doubt}");
    }
    let _ = writeln!(text, "run it: {command}");
    text
}

/// That a run which may take so long may have no time for its profiling runs, and what time would do.
pub fn no_time_for_profiling(within: Duration, enough: Duration) -> String {
    format!(
        "{} may leave no time for launches that show why the variants differ: --budget {} does",
        exactly(within),
        compact(enough)
    )
}

/// Whole minutes as `--budget` takes them.
fn compact(time: Duration) -> String {
    format!("{}m", time.as_secs().div_ceil(60))
}

fn write_plan(out: &mut String, record: &StudyRecord, forecast: &Forecast) -> std::fmt::Result {
    let study = &record.study;
    writeln!(out, "{}", study.name)?;
    if let Some(question) = &study.question {
        writeln!(out, "  {question}")?;
    }
    write_variants(out, study)?;
    write_cells(out, record)?;
    write_host(out, study)?;
    write_assertions(out, study)?;
    write_schedule(out, record, forecast)?;
    write_order(out, record)
}

/// What is compared: of each variant what its levels set.
fn write_variants(out: &mut String, study: &Study) -> std::fmt::Result {
    writeln!(out, "\nvariants")?;
    for (index, variant) in study.variants.iter().enumerate() {
        let baseline = if index == 0 { "  (baseline)" } else { "" };
        writeln!(out, "  {}{baseline}", variant.name)?;
        for setting in &variant.treatment {
            let value = setting.written_value();
            let value = if value.is_empty() { String::new() } else { format!(" = {value}") };
            writeln!(out, "      {}{value}", setting.name)?;
        }
    }
    Ok(())
}

/// What is asked of each, and for how long.
fn write_cells(out: &mut String, record: &StudyRecord) -> std::fmt::Result {
    let (study, plan) = (&record.study, &record.plan);
    writeln!(out, "\ncells")?;
    for cell in &plan.cells {
        let asked = match &study.workloads[cell.workload].kind {
            WorkloadKind::Request { request, .. } => format!("{} {}", request.method, request.path),
            WorkloadKind::Scenarios { scenarios } => {
                let names: Vec<_> =
                    scenarios.scenarios.iter().flat_map(|one| &one.steps).map(|step| &*step.name).collect();
                format!("steps {}", names.join(", "))
            }
        };
        let length = exactly(cell.length(plan.schedule.measure));
        let length = match &cell.shape.find_limit {
            Some(find) => format!("{}, at most {length}", text::objective(&find.objective)),
            None => length,
        };
        writeln!(out, "  {:<24} {asked}, {length}", cell.name(&study.workloads))?;
    }
    Ok(())
}

/// How long it is warmed and measured, what decides, and the time that all of it takes.
fn write_schedule(out: &mut String, record: &StudyRecord, forecast: &Forecast) -> std::fmt::Result {
    let (study, plan) = (&record.study, &record.plan);
    let decide = &study.decide;
    let schedule = &plan.schedule;
    let warm_up = match schedule.warm_up {
        WarmUp::Fixed(time) => format!("{} for every launch, all workloads mixed", exactly(time)),
        WarmUp::Pilot { cap } => {
            let finder = match schedule.launches {
                Launches::SideBySide => "the first block".to_owned(),
                Launches::OneAfterAnother => format!("{} pilot blocks", plan.pilot.len()),
            };
            format!("found by {finder}, at most {} a launch; then the same for every launch", exactly(cap))
        }
    };
    let launches = match schedule.launches {
        Launches::SideBySide => {
            "side by side: all variants of a block are alive at once, loaded in turns, and stopped while they wait"
        }
        Launches::OneAfterAnother => "one after another",
    };
    writeln!(out, "\nlaunches {launches}")?;
    writeln!(out, "warm-up  {warm_up}, by {}", text::plural(study.warm_up_users.into(), "user"))?;
    let cell = decide.cell.as_deref().unwrap_or("all cells together");
    let rope = decide.rope * 100.0;
    writeln!(out, "decides  {}, {cell}; differences within ±{rope} % do not matter", decide.primary)?;
    if !decide.secondary.is_empty() {
        let names: Vec<String> = decide.secondary.iter().map(ToString::to_string).collect();
        let names = names.join(", ");
        writeln!(out, "and      {names}: judged when the run has ended, with one error rate for all of them")?;
    }
    write_reach(out, decide.detect, &forecast.reach)?;
    let blocks = match (schedule.min_blocks, schedule.max_blocks) {
        (min, max) if min == max => max.to_string(),
        (min, max) => format!(
            "{min} to {max}, until the answer is known; how many have time is fixed once the first launches have shown how long a \
             block takes"
        ),
    };
    writeln!(
        out,
        "blocks   {blocks}; each launches every variant once; a fifth more may replace those that the host disturbed"
    )?;
    writeln!(out, "budget   {}: no block begins later{}", exactly(schedule.within), shortened(record))?;
    writeln!(out, "seed     {}", plan.seed)?;
    if let Some(time) = forecast.profiling.map(minutes) {
        let crowded = forecast.enough_for_profiling.map(|enough| no_time_for_profiling(schedule.within, enough));
        let crowded = crowded.map_or_else(String::new, |crowded| format!("; {crowded}"));
        writeln!(out, "why      a profiling run of each variant at the end: about {time} each{crowded}")?;
    }
    let time = range(&forecast.time);
    writeln!(out, "time     {time}, by when the answer is known; downloads and the setup hook come on top")
}

/// Which differences the run's time shows, and what more time would: by how much blocks may differ, which is not known yet.
fn write_reach(out: &mut String, detect: f64, reach: &[Reach]) -> std::fmt::Result {
    let detect = text::margin(detect);
    writeln!(out, "detect   {detect}; four of five runs find these differences, by how much blocks differ")?;
    let row = |out: &mut String, cells: [String; 5]| {
        let [time, blocks, rest @ ..] = cells;
        writeln!(out, "         {time:<12}  {blocks:<8}  {}", rest.map(|cell| format!("{cell:<8}")).concat().trim_end())
    };
    let [quiet, usual, noisy] = SPREADS.map(|spread| format!("by {}", text::margin(spread)));
    row(out, ["in".to_owned(), "blocks".to_owned(), quiet, usual, noisy])?;
    for reach in reach {
        let [quiet, usual, noisy] =
            SPREADS.map(|spread| format!("{} %", text::percent_digits(spread * reach.smallest)));
        row(out, [text::length(reach.seconds), text::count(reach.blocks.into()), quiet, usual, noisy])?;
    }
    writeln!(
        out,
        "         (blocks differ: the standard deviation of a block's difference, not known before the first blocks)"
    )
}

/// What of the study's lengths was shortened to fit into the budget, if anything was.
fn shortened(record: &StudyRecord) -> String {
    let (schedule, study) = (&record.plan.schedule, &record.study);
    let asked = match record.plan.mode {
        Mode::Full => &study.timing,
        Mode::Quick => &study.quick,
    };
    let mut shorter = Vec::new();
    match (asked.warm_up, schedule.warm_up) {
        (WarmUp::Pilot { cap }, WarmUp::Fixed(fixed)) => shorter.push(format!(
            "a fixed warm-up of {} in place of one until steady (at most {}), so that launches may not be steady by then",
            exactly(fixed),
            exactly(cap)
        )),
        (WarmUp::Pilot { cap: asked }, WarmUp::Pilot { cap }) if cap < asked => {
            shorter.push(format!("a warm-up of {} a launch at most in place of {}", exactly(cap), exactly(asked)));
        }
        _ => {}
    }
    if schedule.measure < asked.measure {
        shorter.push(format!("measurements of {} in place of {}", exactly(schedule.measure), exactly(asked.measure)));
    }
    if shorter.is_empty() { String::new() } else { format!("; to fit: {}", shorter.join("; ")) }
}

/// In which order the first blocks launch and measure.
fn write_order(out: &mut String, record: &StudyRecord) -> std::fmt::Result {
    let (study, plan) = (&record.study, &record.plan);
    writeln!(out, "\norder")?;
    for (kind, blocks) in [("pilot", &plan.pilot), ("block", &plan.blocks)] {
        for (index, block) in blocks.iter().take(SHOWN).enumerate() {
            let names: Vec<&str> =
                block.trials.iter().map(|trial| study.variants[trial.variant].name.as_str()).collect();
            let cells: Vec<String> = block.trials.first().map_or_else(Vec::new, |trial| {
                trial.cells.iter().map(|cell| plan.cells[*cell].name(&study.workloads)).collect()
            });
            let cells = if cells.is_empty() { String::new() } else { format!("   {}", cells.join(", ")) };
            writeln!(out, "  {kind} {:>2}  {}{cells}", index + 1, names.join(", "))?;
        }
        if blocks.len() > SHOWN {
            let more = match blocks.len() - SHOWN {
                1 => "1 more block".to_owned(),
                more => format!("{more} more blocks"),
            };
            writeln!(out, "  {more} (--json lists them)")?;
        }
    }
    Ok(())
}

/// What of the machine the processes get, where the study says anything of it.
fn write_host(out: &mut String, study: &Study) -> std::fmt::Result {
    let Isolation { server_cpus, client_cpus, own_network } = &study.host;
    let numbers = |cpus: &[usize]| cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut lines = Vec::new();
    for (name, cpus) in [("server_cpus", server_cpus), ("client_cpus", client_cpus)] {
        if !cpus.is_empty() {
            lines.push((name, numbers(cpus)));
        }
    }
    if *own_network {
        lines.push(("network", "own: each trial has a loopback interface of its own".to_owned()));
    }
    let limits = |limits: &Limits| {
        let cpus = limits.cpus.map(|cpus| format!("{cpus} cores"));
        let memory = limits.memory_bytes.map(|bytes| text::bytes(bytes as f64));
        let both: Vec<String> = cpus.into_iter().chain(memory).collect();
        if both.is_empty() { "none".to_owned() } else { both.join(", ") }
    };
    if study.variants.iter().any(|variant| !variant.server.limits.is_none()) {
        lines.push(("limits", of_each(study, |index| limits(&study.variants[index].server.limits))));
    }
    if !lines.is_empty() {
        writeln!(out, "\nhost")?;
    }
    lines.into_iter().try_for_each(|(name, value)| writeln!(out, "  {name:<12} {value}"))
}

/// What has to be seen in the running servers.
fn write_assertions(out: &mut String, study: &Study) -> std::fmt::Result {
    let Some(first) = study.variants.first().filter(|first| !first.assertions.is_empty()) else { return Ok(()) };
    writeln!(out, "\nassertions")?;
    for (number, assertion) in first.assertions.iter().enumerate() {
        let when = if assertion.after { "after the loads" } else { "before the loads" };
        let expected = |index: usize| study.variants[index].assertions[number].expect.text().to_owned();
        writeln!(out, "  {:<24} {}, {when}; expected {}", assertion.name, assertion.read, of_each(study, expected))?;
    }
    Ok(())
}

/// A value once where all variants have the same, else each variant's.
fn of_each(study: &Study, value: impl Fn(VariantIndex) -> String) -> String {
    let values: Vec<String> = (0..study.variants.len()).map(value).collect();
    if values.iter().all(|other| *other == values[0]) {
        return values[0].clone();
    }
    let named = study.variants.iter().zip(values).map(|(variant, value)| format!("{}: {value}", variant.name));
    named.collect::<Vec<_>>().join("; ")
}

fn range(time: &Range<Duration>) -> String {
    if time.start == time.end {
        format!("about {}", minutes(time.end))
    } else {
        format!("{} to {}", minutes(time.start), minutes(time.end))
    }
}
