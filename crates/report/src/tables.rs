//! The tables of a report, as text in cells. How they are drawn is each renderer's own affair.

pub mod attribution;
pub mod cores;
pub mod limits;
pub mod scalability;
pub mod steps;

use model::report::{Measurement, Percentile, ServerTime};
use model::warm_up::{Lifetime, Spread, WarmUpCost};
use model::why::{Row, Topic, WatchedLaunch};
use model::{ChangedSeries, Comparison, LevelChange, Metric, Reach, Report, Sample, Why, text};

use crate::number;
use crate::words::{self, Tone};

/// A table ready to be drawn.
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// What its numbers are; empty where that is clear.
    pub note: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub groups: Vec<Group>,
}

/// A column.
pub struct Column {
    /// Its heading.
    pub head: String,
    /// What is in it.
    pub holds: Holds,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Numbers, which align to the right and are never cut.
    Numbers,
    /// Our own words, which are never cut.
    Words,
    /// Names from outside, as long as somebody liked.
    Names,
}

impl Column {
    /// Whether it aligns to the right.
    pub fn is_numeric(&self) -> bool {
        self.holds == Holds::Numbers
    }
}

/// Rows that belong together.
pub struct Group {
    /// Their heading, where they have one.
    pub head: Option<String>,
    /// As many cells each as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// The text of a cell and how it reads.
#[derive(Clone)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// How it reads.
    pub tone: Tone,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), tone: Tone::Plain }
    }
}

/// How much a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What fits 80 columns.
    Brief,
    /// All of it.
    Full,
}

impl Table {
    pub fn new(caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), note: String::new(), columns: Vec::new(), groups: Vec::new() }
    }

    fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    fn column(mut self, head: &str, holds: Holds) -> Self {
        self.columns.push(Column { head: head.into(), holds });
        self
    }

    pub fn names(self, head: &str) -> Self {
        self.column(head, Holds::Names)
    }

    pub fn words(self, head: &str) -> Self {
        self.column(head, Holds::Words)
    }

    pub fn numbers(self, head: &str) -> Self {
        self.column(head, Holds::Numbers)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.groups.iter().all(|group| group.rows.is_empty())
    }
}

/// Which differences more time would show; empty where nothing is left undecided.
pub fn outlook(report: &Report) -> Table {
    let table = Table::new("What more time would show");
    let Some(outlook) = report.outlook.as_ref().filter(|_| words::is_undecided(report)) else { return table };
    let mut table = table.noted(words::outlook_note(outlook)).words("in").words("blocks").numbers("differences of");
    let row = |(index, reach): (usize, &Reach)| {
        let own = if index == 0 { ", this run's time" } else { "" };
        let least = format!("{} % and more", text::percent_digits(reach.smallest));
        vec![
            format!("{}{own}", text::length(reach.seconds)).into(),
            number::count(reach.blocks.into()).into(),
            least.into(),
        ]
    };
    let rows = outlook.reach.iter().enumerate().map(row).collect();
    table.groups.push(Group { head: None, rows });
    table
}

/// Every comparison with its interval and how it reads.
pub fn decision(report: &Report, detail: Detail) -> Table {
    let mut table = Table::new("Decision").noted(words::decision_note(report)).words("metric");
    let baseline = words::variant_name(report, 0);
    // With several, the groups name them.
    let variant = if report.variants.len() > 2 { "variant" } else { words::variant_name(report, 1) };
    table = table.numbers(baseline).numbers(variant).numbers("change [interval]");
    if detail == Detail::Full {
        table = table.numbers("blocks");
    }
    table = table.words("reading");

    let row = |comparison: &Comparison| {
        let mut cells: Vec<Cell> = vec![words::metric(comparison.metric).into()];
        cells.extend(comparison.typical.map(|value| or_none(value, |value| number::value(comparison.metric, value))));
        cells.push(or_none(comparison.effect.as_ref(), number::effect));
        if detail == Detail::Full {
            let blocks = comparison.effect.map_or(comparison.differences.len() as u64, |effect| effect.blocks.into());
            cells.push(number::count(blocks).into());
        }
        let (text, tone) = words::reading(report, comparison);
        cells.push(Cell { text: text.into(), tone });
        cells
    };
    for (head, comparisons) in words::comparison_groups(report) {
        table.groups.push(Group { head: Some(head), rows: comparisons.into_iter().map(row).collect() });
    }
    table
}

/// What every variant did in every cell, a group for each cell.
pub fn measurements(report: &Report, detail: Detail) -> Table {
    let full = detail == Detail::Full;
    let percents = percents(report, full);
    let has_cpu = report.measurements.iter().any(|measurement| measurement.cpu_per_request.is_some());
    let mut table = Table::new("Measurements").noted(words::MEASUREMENTS_NOTE).names("variant");
    if full {
        table = table.numbers("requests");
    }
    table = table.numbers("throughput");
    if full {
        table = table.numbers("lowest – highest");
    }
    for percent in &percents {
        table = table.numbers(&number::percentile(*percent));
    }
    if has_cpu {
        table = table.numbers(words::metric(Metric::CpuPerRequest));
    }
    table = table.numbers("failed");

    let row = |measurement: &Measurement| {
        let mut cells: Vec<Cell> = vec![words::variant_name(report, measurement.variant).into()];
        if full {
            cells.push(number::count(measurement.requests).into());
        }
        cells.push(number::rate(measurement.throughput).into());
        if full {
            let [low, high] = measurement.throughput_range.map(number::rate);
            cells.push(format!("{} – {high}", low.trim_end_matches("/s")).into());
        }
        for percent in &percents {
            cells.push(or_none(percentile(measurement, *percent), number::micros));
        }
        if has_cpu {
            cells.push(or_none(measurement.cpu_per_request, number::micros));
        }
        let tone = if measurement.failed_share > 0.0 { Tone::Bad } else { Tone::Plain };
        let failed = (measurement.requests > 0).then_some(measurement.failed_share);
        cells.push(Cell { tone, ..or_none(failed, number::share) });
        cells
    };
    for (index, cell) in report.cells.iter().enumerate() {
        let rows: Vec<_> =
            report.measurements.iter().filter(|measurement| measurement.cell == index).map(row).collect();
        if !rows.is_empty() {
            table.groups.push(Group { head: Some(cell.name.clone()), rows });
        }
    }
    table
}

/// What the server's time went into, a group for each cell; columns of which nothing is known are left out.
pub fn server_times(report: &Report) -> Table {
    type Written = fn(&ServerTime) -> Option<String>;
    let columns: [(&str, Written); 16] = [
        ("cores used", |time| time.cores.map(number::amount)),
        ("busiest core", |time| time.busiest_core.map(number::share)),
        ("services' CPU per request", |time| time.services_cpu_per_request.map(number::micros)),
        ("kernel CPU per request", |time| time.system_cpu_per_request.map(number::micros)),
        ("waits per request", |time| time.waits_per_request.map(number::amount)),
        ("preemptions per request", |time| time.preemptions_per_request.map(number::amount)),
        ("JIT per request", |time| time.jit_per_request.map(number::micros)),
        ("allocated per request", |time| time.allocated_per_request.map(number::bytes)),
        ("paused for GC", |time| time.gc_share.map(number::share)),
        ("at safepoints", |time| time.safepoint_share.map(number::share)),
        ("classes loaded", |time| time.classes_loaded.map(number::amount)),
        ("Ruby exceptions per request", |time| time.exceptions_per_request.map(number::amount)),
        ("JRuby compiled in the load", |time| time.jruby_compiled.map(number::amount)),
        ("collections per 1,000 requests", |time| time.collections_per_request.map(|each| number::amount(each * 1e3))),
        ("collecting per request", |time| time.collecting_per_request.map(number::micros)),
        ("objects per request", |time| time.objects_per_request.map(number::amount)),
    ];
    let known = |of: Written| report.measurements.iter().any(|measurement| of(&measurement.server).is_some());
    let columns: Vec<_> = columns.into_iter().filter(|(_, of)| known(*of)).collect();
    let mut table = Table::new("What the server's time went into").noted(words::SERVER_TIME_NOTE).names("variant");
    for (head, _) in &columns {
        table = table.numbers(head);
    }
    let row = |measurement: &Measurement| {
        let time = &measurement.server;
        let values = columns.iter().map(|(_, of)| or_none(of(time), |text| text));
        let name = || words::variant_name(report, measurement.variant).into();
        (!time.is_empty()).then(|| std::iter::once(name()).chain(values).collect())
    };
    for (index, cell) in report.cells.iter().enumerate() {
        let measured = report.measurements.iter().filter(|measurement| measurement.cell == index);
        let rows: Vec<_> = measured.filter_map(row).collect();
        if !rows.is_empty() {
            table.groups.push(Group { head: Some(cell.name.clone()), rows });
        }
    }
    table
}

/// Start-up, warm-up and memory of every variant.
pub fn variants(report: &Report) -> Table {
    let mut table = Table::new("Launches")
        .noted(words::LAUNCHES_NOTE)
        .names("variant")
        .numbers("completed")
        .numbers("failed")
        .numbers("first good answer")
        .numbers("steady after")
        .numbers("peak memory");
    let row = |variant: &model::report::VariantSummary| {
        let failed = variant.failed.len() as u64;
        vec![
            variant.name.as_str().into(),
            number::count(variant.completed.into()).into(),
            Cell { text: number::count(failed), tone: if failed > 0 { Tone::Bad } else { Tone::Plain } },
            or_none(variant.ready_s, number::seconds),
            words::steadiness(variant).into(),
            or_none(variant.memory_bytes, |n| number::bytes(n as f64)),
        ]
    };
    table.groups.push(Group { head: None, rows: report.variants.iter().map(row).collect() });
    table
}

/// How each variant warms up.
pub fn warm_ups(report: &Report, detail: Detail) -> Table {
    let full = detail == Detail::Full;
    let mut table = Table::new("Warm-up").names("variant").numbers("warm after").numbers("requests until warm");
    if full {
        table = table.noted(words::WARM_UP_NOTE).numbers("steady rate").numbers("speed in the first second");
    }
    table = table.numbers(if full { "speed in the first 10 s" } else { "first 10 s" });
    if full {
        table = table.numbers("costs, at steady speed");
    }
    table = table.numbers("settled");
    let written = |spread: Option<Spread>, write: fn(f64) -> String| {
        or_none(spread, |spread| if full { words::spread(&spread, write) } else { write(spread.median) })
    };
    let row = |cost: &WarmUpCost| {
        let mut cells: Vec<Cell> = vec![
            words::variant_name(report, cost.variant).into(),
            written(cost.seconds, number::seconds),
            written(cost.requests, |n| number::count(n.round() as u64)),
        ];
        if full {
            cells.push(written(cost.steady_rate, number::rate));
            cells.push(written(cost.first_second, number::share));
        }
        cells.push(written(cost.first_ten_seconds, number::share));
        if full {
            cells.push(written(cost.lost_s, number::seconds));
        }
        let [settled, of] = cost.settled;
        let tone = if settled < of { Tone::Unsure } else { Tone::Plain };
        cells.push(Cell { text: format!("{settled} of {of}"), tone });
        cells
    };
    let costs = report.warming_up.iter().flat_map(|warming_up| &warming_up.variants);
    // Without any steady launch there is nothing that it would cost.
    let rows: Vec<_> = costs.map(row).collect();
    let is_known = report.warming_up.iter().flat_map(|all| &all.variants).any(|cost| cost.settled[0] > 0);
    table.groups.push(Group { head: None, rows: if is_known { rows } else { Vec::new() } });
    table
}

/// Which variant serves more in its life, for services that are redeployed every so often.
pub fn lives(report: &Report) -> Table {
    let several = report.variants.len() > 2;
    let mut table = Table::new("Redeployed every so often: who serves more")
        .noted(words::LIVES_NOTE)
        .words("redeployed every")
        .numbers(words::variant_name(report, 0))
        .numbers(if several { "variant" } else { words::variant_name(report, 1) })
        .numbers("change [interval]")
        .names("reading");
    for responses in words::cumulative_responses(report) {
        let row = |life: &Lifetime| {
            let (text, tone) = words::life_reading(report, responses.variant, life);
            let [baseline, variant] = life.served.map(|served| number::count(served.round() as u64).into());
            let effect = or_none(life.effect.as_ref(), number::effect);
            vec![words::life(life.seconds).into(), baseline, variant, effect, Cell { text, tone }]
        };
        let head = several.then(|| words::variant_name(report, responses.variant).to_owned());
        table.groups.push(Group { head, rows: responses.lifetimes.iter().map(row).collect() });
    }
    table
}

/// Changes of level inside a measurement, largest first; with too many, the largest.
pub fn changes(report: &Report) -> Table {
    const MOST: usize = 20;
    let mut table = Table::new("Changes while measured")
        .noted(words::CHANGES_NOTE)
        .names("variant")
        .words("launch")
        .names("cell")
        .words("metric")
        .words("change")
        .names("moved with it");
    let inside = report.changed.iter().filter_map(|series| Some((series, series.cell?)));
    let mut changes: Vec<_> =
        inside.flat_map(|(series, cell)| series.changes.iter().map(move |change| (series, cell, change))).collect();
    changes.sort_by(|a, b| b.2.log_ratio().abs().total_cmp(&a.2.log_ratio().abs()));
    let row = |(series, cell, change): (&ChangedSeries, usize, &LevelChange)| {
        let causes: Vec<_> = change.causes.iter().map(|cause| format!("{} {}", cause.name, cause.value)).collect();
        vec![
            words::variant_name(report, series.variant).into(),
            series.key.to_string().into(),
            words::cell_name(report, cell).into(),
            words::metric(series.metric).into(),
            words::level_change(series.metric, change).into(),
            if causes.is_empty() { number::NONE.into() } else { causes.join(", ").into() },
        ]
    };
    table.groups.push(Group { head: None, rows: changes.into_iter().take(MOST).map(row).collect() });
    table
}

/// The settings as read back from the running processes: the factors', and those of all variants that did not come out
/// as asked.
pub fn settings(report: &Report) -> Table {
    let mut table = Table::new("Settings, read back from the running process")
        .names("variant")
        .names("setting")
        .names("requested")
        .names("running")
        .names("default")
        .words("read by")
        .words("result");
    let reported = |value: &Option<String>| or_none(value.as_deref(), str::to_owned);
    let mut rows = Vec::new();
    for variant in &report.variants {
        for setting in variant.settings.iter().filter(|setting| !setting.shared || !words::is_as_requested(setting)) {
            let (text, tone) = words::setting_result(setting);
            rows.push(vec![
                variant.name.as_str().into(),
                setting.name.as_str().into(),
                if setting.requested.is_empty() { "as named".into() } else { setting.requested.as_str().into() },
                reported(&setting.live),
                reported(&setting.default),
                words::setting_source(setting.source).into(),
                Cell { text, tone },
            ]);
        }
    }
    table.groups.push(Group { head: None, rows });
    table
}

/// How the variants' processes differed, and whether a factor says so.
pub fn differences(report: &Report) -> Table {
    let mut table = Table::new("Differences between the processes").names("what");
    for variant in &report.variants {
        table = table.names(&variant.name);
    }
    table = table.names("declared by");
    let row =
        |difference: &model::report::EnvironmentDifference| {
            let mut cells: Vec<Cell> = vec![difference.aspect.to_string().into()];
            cells.extend((0..report.variants.len()).map(|index| {
                Cell::from(difference.values.get(index).and_then(Option::as_deref).unwrap_or(number::NONE))
            }));
            cells.push(match &difference.factor {
                Some(factor) => format!("factor {factor}").into(),
                None => Cell { text: "✗ nothing: a confounder".into(), tone: Tone::Bad },
            });
            cells
        };
    table.groups.push(Group { head: None, rows: report.differences.iter().map(row).collect() });
    table
}

/// The profiling runs.
pub fn watched(why: &Why, report: &Report) -> Table {
    let mut table = Table::new("Launches watched")
        .noted(words::WATCHED_NOTE)
        .names("variant")
        .names("load")
        .numbers("requests")
        .numbers("seconds")
        .numbers("server CPU per request");
    let row = |launch: &WatchedLaunch| {
        vec![
            words::variant_name(report, launch.variant).into(),
            launch.load.as_str().into(),
            number::count(launch.requests).into(),
            format!("{:.1}", launch.elapsed_s).into(),
            or_none(launch.cpu_per_request, number::micros),
        ]
    };
    table.groups.push(Group { head: None, rows: why.launches.iter().map(row).collect() });
    table
}

/// A topic of the profiling runs: quantities per request.
pub fn topic(topic: &Topic, report: &Report) -> Table {
    let mut table = Table::new(format!("{}, per request", topic.title)).noted(topic.note.as_str()).names("what");
    for variant in &report.variants {
        table = table.numbers(&variant.name);
    }
    let row = |row: &Row| {
        let values = row.values.iter().map(|value| or_none(*value, |value| words::per_request(row.unit, value)));
        std::iter::once(Cell::from(row.what.as_str())).chain(values).collect()
    };
    table.groups.push(Group { head: None, rows: topic.rows.iter().map(row).collect() });
    table
}

/// Versions of what runs each variant.
pub fn versions(report: &Report) -> Table {
    let mut table = Table::new("Versions").names("what");
    for variant in &report.variants {
        table = table.names(&variant.name);
    }
    let mut names: Vec<&String> = Vec::new();
    for name in report.variants.iter().flat_map(|variant| variant.versions.keys()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let row = |name: &String| {
        let versions = report
            .variants
            .iter()
            .map(|variant| Cell::from(variant.versions.get(name).map_or(number::NONE, String::as_str)));
        std::iter::once(Cell::from(name.as_str())).chain(versions).collect()
    };
    table.groups.push(Group { head: None, rows: names.into_iter().map(row).collect() });
    table
}

/// The steps or stages of a load. Latency is service time in a closed loop, response time in an open one.
pub fn parts(parts: &[(String, Sample)], is_open: bool) -> Table {
    let latency = if is_open { "response time" } else { "service time" };
    let mut table = Table::new(if is_open { "Stage by stage" } else { "Step by step" })
        .noted(format!("Percentiles are of {latency}, as far as the number of answers supports them."))
        .names(if is_open { "rate" } else { "users" })
        .numbers("good")
        .numbers("p50")
        .numbers("p99")
        .numbers("failed")
        .numbers("client cores");
    let row = |(load, whole): &(String, Sample)| {
        let percentile = |q| or_none(whole.latency().supported_quantile(q), |us| number::micros(us as f64));
        vec![
            load.as_str().into(),
            number::rate(whole.tally.good as f64 / whole.length_s).into(),
            percentile(0.5),
            percentile(0.99),
            number::share(whole.tally.failed_share()).into(),
            format!("{:.2}", whole.client_cpu_s / whole.length_s).into(),
        ]
    };
    table.groups.push(Group { head: None, rows: parts.iter().map(row).collect() });
    table
}

/// A value as it is written, or the sign that there is none.
fn or_none<T>(value: Option<T>, write: impl FnOnce(T) -> String) -> Cell {
    value.map_or_else(|| number::NONE.into(), |value| write(value).into())
}

/// The percentiles that occur, in order; only the usual ones unless all are wanted.
pub fn percents(report: &Report, all: bool) -> Vec<f64> {
    let measured = report.measurements.iter().flat_map(|measurement| &measurement.percentiles);
    let mut percents: Vec<f64> = measured
        .map(|percentile| percentile.percent)
        .filter(|percent| all || [50.0, 90.0, 99.0].iter().any(|usual| same(*usual, *percent)))
        .collect();
    percents.sort_by(f64::total_cmp);
    percents.dedup_by(|a, b| same(*a, *b));
    percents
}

/// Answers per second of CPU time, of CPU time per answer in µs.
pub fn per_cpu_second(cpu_us: f64) -> f64 {
    1e6 / cpu_us
}

/// One of a measurement's percentiles, µs.
pub fn percentile(measurement: &Measurement, percent: f64) -> Option<f64> {
    among(&measurement.percentiles, percent)
}

/// One of these percentiles, µs.
fn among(percentiles: &[Percentile], percent: f64) -> Option<f64> {
    let found = percentiles.iter().find(|percentile| same(percentile.percent, percent));
    found.map(|found| found.us as f64)
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}
