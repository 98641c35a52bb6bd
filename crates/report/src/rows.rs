//! The numbers of a report as one long table, a row a number, in base units: what CSV and spreadsheets are written from.

use std::borrow::Cow;

use model::attribution::{Contribution, ContributionKind};
use model::curve::CurvePoint;
use model::report::{CoreSeries, CoreUse, LaunchNumbers, Measurement, VariantSummary};
use model::scalability::{Bounds, Curve, Scalability};
use model::warm_up::{CumulativeResponses, Lifetime, Overtaking, WarmUpCost};
use model::{AgeCurve, Comparison, Effect, Metric, Report};

use crate::{tables, words};

/// The columns, in the order of [`Row::fields`].
pub const COLUMNS: [&str; 15] = [
    "of",
    "name",
    "role",
    "block",
    "variant",
    "cell",
    "metric",
    "value",
    "low",
    "high",
    "confidence",
    "blocks",
    "unit",
    "reading",
    "excluded",
];

/// What is in one column of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Field<'a> {
    /// Nothing.
    Empty,
    /// Words and names.
    Text(&'a str),
    /// A number, always finite.
    Number(f64),
}

/// One number, with all that distinguishes it from the others. Texts are empty and numbers absent where they do not apply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row<'a> {
    /// What it is of: `comparison`, `factor`, `interaction`, `cell`, `core-use`, `variant`, `break-even`, `lifetime`, `phase`, `age`, `curve`, `crossing`,
    /// `block`, `launch`, `second`.
    pub of: &'static str,
    /// Which one of those, where variant and cell do not say it: an effect of factors, a life, a workload.
    pub name: Cow<'a, str>,
    /// What a comparison is for.
    pub role: &'static str,
    /// Counted from one, as in every other report.
    pub block: Option<u32>,
    /// The variant's name.
    pub variant: &'a str,
    /// The cell's name; none for all cells together.
    pub cell: &'a str,
    /// What the number is.
    pub metric: Cow<'static, str>,
    /// The number. Changes are fractions: 0.05 is 5 % more.
    pub value: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Of that interval, 0..=1.
    pub confidence: Option<f64>,
    /// Blocks that it rests on.
    pub blocks: Option<u32>,
    /// Its unit.
    pub unit: &'static str,
    /// How it reads.
    pub reading: Cow<'a, str>,
    /// Why the block was excluded.
    pub excluded: &'a str,
}

impl Row<'_> {
    /// As many as there are [`COLUMNS`].
    pub fn fields(&self) -> [Field<'_>; COLUMNS.len()] {
        let text = |text| if str::is_empty(text) { Field::Empty } else { Field::Text(text) };
        let number = |value: Option<f64>| value.filter(|value| value.is_finite()).map_or(Field::Empty, Field::Number);
        let whole = |value: Option<u32>| number(value.map(f64::from));
        [
            text(self.of),
            text(&self.name),
            text(self.role),
            whole(self.block),
            text(self.variant),
            text(self.cell),
            text(&self.metric),
            number(self.value),
            number(self.low),
            number(self.high),
            number(self.confidence),
            whole(self.blocks),
            text(self.unit),
            text(&self.reading),
            text(self.excluded),
        ]
    }

    /// The same with an effect as a change.
    fn changed(self, effect: Option<&Effect>) -> Self {
        let change = |of: fn(&Effect) -> f64| effect.map(|effect| Effect::fraction(of(effect)));
        Self {
            value: change(|effect| effect.estimate),
            low: change(|effect| effect.low),
            high: change(|effect| effect.high),
            confidence: effect.map(|effect| effect.confidence),
            blocks: effect.map(|effect| effect.blocks),
            unit: FRACTION,
            ..self
        }
    }

    /// The same with an estimate and its 95 % interval.
    fn bounded(self, bounds: &Bounds) -> Self {
        let confidence = Some(INTERVAL);
        Self { value: Some(bounds.estimate), low: Some(bounds.low), high: bounds.high, confidence, ..self }
    }
}

const FRACTION: &str = "fraction";
const USERS: &str = "users";
/// Confidence of intervals that carry none of their own.
const INTERVAL: f64 = 0.95;
const EXTRAPOLATED: &str = "extrapolated";

/// All numbers of a report. Those without a value are there for how they read.
pub fn rows(report: &Report) -> Vec<Row<'_>> {
    let contributions = report.attribution.iter().flat_map(|attribution| &attribution.contributions);
    let costs = report.warming_up.iter().flat_map(|warming_up| &warming_up.variants);
    let mut rows: Vec<Row> = report.comparisons.iter().map(|comparison| compared(report, comparison)).collect();
    rows.extend(contributions.map(|contribution| contributed(report, contribution)));
    rows.extend(report.measurements.iter().flat_map(|measurement| measured(report, measurement)));
    rows.extend(report.core_use.iter().flat_map(|used| use_of_cores(report, used)));
    rows.extend(report.variants.iter().flat_map(launched));
    rows.extend(costs.flat_map(|cost| warming_up(report, cost)));
    rows.extend(words::cumulative_responses(report).flat_map(|responses| paid(report, responses)));
    rows.extend(words::curves(report).flat_map(|curve| lived_through(report, curve)));
    rows.extend(report.scalability.iter().flat_map(|scaling| scaled(report, scaling)));
    rows.extend(blocks(report));
    rows.extend(report.launches.iter().flat_map(|launch| measured_once(report, launch)));
    rows.extend(report.per_core.iter().flat_map(|series| second_by_second(report, series)));
    rows.retain(|row| row.value.is_some_and(f64::is_finite) || (row.value.is_none() && !row.reading.is_empty()));
    rows
}

fn compared<'a>(report: &'a Report, comparison: &Comparison) -> Row<'a> {
    Row {
        of: "comparison",
        role: words::role(comparison.role),
        variant: words::variant_name(report, comparison.variant),
        cell: comparison.cell.map_or("", |cell| words::cell_name(report, cell)),
        metric: comparison.metric.name().into(),
        reading: without_sign(words::reading(report, comparison).0).into(),
        ..Row::default()
    }
    .changed(comparison.effect.as_ref())
}

fn contributed<'a>(report: &Report, contribution: &'a Contribution) -> Row<'a> {
    Row {
        of: match contribution.kind {
            ContributionKind::Main => "factor",
            ContributionKind::Interaction => "interaction",
        },
        name: contribution.name.as_str().into(),
        metric: report.primary.name().into(),
        reading: without_sign(words::contribution_reading(report, contribution).0).into(),
        ..Row::default()
    }
    .changed(contribution.effect.as_ref())
}

/// What one variant did in one cell, over all used launches.
fn measured<'a>(report: &'a Report, measurement: &Measurement) -> Vec<Row<'a>> {
    let put = |metric: Cow<'static, str>, value: Option<f64>, unit: &'static str| Row {
        of: "cell",
        variant: words::variant_name(report, measurement.variant),
        cell: words::cell_name(report, measurement.cell),
        metric,
        value,
        unit,
        ..Row::default()
    };
    let (rate, us, bytes) = (Metric::Throughput.unit(), Metric::CpuPerRequest.unit(), Metric::Memory.unit());
    let time = &measurement.server;
    let [lowest, highest] = measurement.throughput_range;
    let share = (measurement.requests > 0).then_some(measurement.failed_share);
    let users = report.cells.get(measurement.cell).and_then(|cell| cell.concurrency);
    let mut rows: Vec<Row> = [
        (USERS, users.map(f64::from), USERS),
        ("requests", Some(measurement.requests as f64), "requests"),
        ("failed-share", share, FRACTION),
        (Metric::Throughput.name(), Some(measurement.throughput), rate),
        ("throughput-lowest", Some(lowest), rate),
        ("throughput-highest", Some(highest), rate),
    ]
    .into_iter()
    .map(|(metric, value, unit)| put(metric.into(), value, unit))
    .collect();
    rows.extend(measurement.percentiles.iter().map(|percentile| {
        put(format!("p{}", percentile.percent).into(), Some(percentile.us as f64), Metric::P50.unit())
    }));
    rows.extend(
        [
            (Metric::CpuPerRequest.name(), measurement.cpu_per_request, us),
            ("requests-per-cpu-second", measurement.cpu_per_request.map(tables::per_cpu_second), "requests"),
            ("memory", measurement.memory_bytes, bytes),
            ("client-cpu-per-request", measurement.client_cpu_per_request, us),
            ("services-cpu-per-request", time.services_cpu_per_request, us),
            ("system-cpu-per-request", time.system_cpu_per_request, us),
            ("jit-per-request", time.jit_per_request, us),
            ("allocated-per-request", time.allocated_per_request, bytes),
            ("gc-share", time.gc_share, FRACTION),
            ("safepoint-share", time.safepoint_share, FRACTION),
            ("classes-loaded", time.classes_loaded, "classes"),
            ("waits-per-request", time.waits_per_request, "switches"),
            ("preemptions-per-request", time.preemptions_per_request, "switches"),
            ("cores-used", time.cores, "cores"),
            ("busiest-core", time.busiest_core, FRACTION),
        ]
        .into_iter()
        .map(|(metric, value, unit)| put(metric.into(), value, unit)),
    );
    for (metric, spread) in &measurement.spreads {
        let row = rows.iter_mut().find(|row| row.metric == metric.name());
        if let (Some(row), Some([low, high])) = (row, spread.interval) {
            (row.low, row.high, row.confidence) = (Some(low), Some(high), Some(INTERVAL));
        }
    }
    rows
}

/// Where a variant answers most, and with how many of the cores.
fn use_of_cores<'a>(report: &'a Report, used: &CoreUse) -> impl Iterator<Item = Row<'a>> {
    let (variant, cell) = (words::variant_name(report, used.variant), words::cell_name(report, used.cell));
    [
        (Metric::Throughput.name(), used.throughput, Metric::Throughput.unit()),
        ("cores-used", used.cores, "cores"),
        ("cores-available", used.available, "cores"),
        ("cores-share", used.cores / used.available, FRACTION),
    ]
    .into_iter()
    .map(move |(metric, value, unit)| Row {
        of: "core-use",
        variant,
        cell,
        metric: metric.into(),
        value: Some(value),
        unit,
        ..Row::default()
    })
}

/// What one launch gave in one cell.
fn measured_once<'a>(report: &'a Report, launch: &LaunchNumbers) -> impl Iterator<Item = Row<'a>> {
    let (variant, cell) = (words::variant_name(report, launch.variant), words::cell_name(report, launch.cell));
    let block = report.blocks.iter().find(|block| block.block == launch.key.block);
    let excluded = block.and_then(|block| block.excluded.as_deref()).unwrap_or("");
    let number = launch.key.block + 1;
    let values: Vec<_> = launch.values.iter().map(|(metric, value)| (*metric, *value)).collect();
    values.into_iter().map(move |(metric, value)| Row {
        of: "launch",
        block: Some(number),
        variant,
        cell,
        metric: metric.name().into(),
        value: Some(value),
        unit: metric.unit(),
        excluded,
        ..Row::default()
    })
}

/// How busy each processor was in each second of one launch.
fn second_by_second<'a>(report: &'a Report, series: &CoreSeries) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for (second, from_s) in series.from_s.iter().enumerate() {
        let begun = series.cells.iter().rfind(|(_, began)| began <= from_s);
        let put = |metric: Cow<'static, str>, value, unit| Row {
            of: "second",
            name: format!("second {}", second + 1).into(),
            block: Some(series.key.block + 1),
            variant: words::variant_name(report, series.variant),
            cell: begun.map_or("", |(cell, _)| words::cell_name(report, *cell)),
            metric,
            value: Some(value),
            unit,
            ..Row::default()
        };
        rows.push(put("since-ready".into(), *from_s, "s"));
        let busy = series.busy.iter().enumerate();
        rows.extend(busy.map(|(core, busy)| put(format!("cpu-{core}-busy").into(), busy[second], FRACTION)));
    }
    rows
}

/// A variant's launches: how many, how soon they answered, and the highest memory seen in any.
fn launched(variant: &VariantSummary) -> impl Iterator<Item = Row<'_>> {
    let (start_up, memory) = (Metric::StartUp, Metric::Memory);
    [
        ("launches-completed", Some(variant.completed.into()), "launches"),
        ("launches-failed", Some(variant.failed.len() as f64), "launches"),
        (start_up.name(), variant.ready_s, start_up.unit()),
        (memory.name(), variant.memory_bytes.map(|bytes| bytes as f64), memory.unit()),
    ]
    .into_iter()
    .map(|(metric, value, unit)| Row {
        of: "variant",
        variant: &variant.name,
        metric: metric.into(),
        value,
        unit,
        ..Row::default()
    })
}

/// Medians over launches.
fn warming_up<'a>(report: &'a Report, cost: &WarmUpCost) -> impl Iterator<Item = Row<'a>> {
    let variant = words::variant_name(report, cost.variant);
    let (time, requests) = (Metric::WarmUpTime, Metric::WarmUpRequests);
    [
        (time.name(), cost.seconds, time.unit()),
        (requests.name(), cost.requests, requests.unit()),
        ("warm-up-steady-rate", cost.steady_rate, Metric::Throughput.unit()),
        ("warm-up-first-second", cost.first_second, FRACTION),
        ("warm-up-first-ten-seconds", cost.first_ten_seconds, FRACTION),
        ("warm-up-cost", cost.lost_s, time.unit()),
    ]
    .into_iter()
    .filter_map(move |(metric, spread, unit)| {
        let spread = spread?;
        Some(Row {
            of: "variant",
            variant,
            metric: metric.into(),
            value: Some(spread.median),
            low: spread.interval.map(|[low, _]| low),
            high: spread.interval.map(|[_, high]| high),
            confidence: spread.interval.map(|_| INTERVAL),
            unit,
            ..Row::default()
        })
    })
}

/// When a warm-up has paid (0: at once; no number: not within thirty days), and who serves more in a life.
fn paid<'a>(report: &'a Report, responses: &'a CumulativeResponses) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    if let Some(even) = &responses.break_even {
        type Taken = fn(&Overtaking) -> Option<f64>;
        let seconds: Taken = |when| match when {
            Overtaking::AtOnce => Some(0.0),
            Overtaking::After { seconds, .. } => Some(*seconds),
            Overtaking::Never => None,
        };
        let requests: Taken = |when| match when {
            Overtaking::AtOnce => Some(0.0),
            Overtaking::After { requests, .. } => Some(*requests),
            Overtaking::Never => None,
        };
        let leader = words::variant_name(report, even.leader);
        let when = if even.estimate == Overtaking::Never { " after thirty days or more" } else { "" };
        rows.extend([("seconds", seconds, "s"), ("requests", requests, "requests")].map(|(metric, taken, unit)| Row {
            of: "break-even",
            variant: words::variant_name(report, responses.variant),
            metric: metric.into(),
            value: taken(&even.estimate),
            low: taken(&even.low),
            high: taken(&even.high),
            confidence: Some(even.confidence),
            blocks: Some(even.blocks),
            unit,
            reading: format!("{leader} leads in the end{when}").into(),
            ..Row::default()
        }));
    }
    rows.extend(responses.lifetimes.iter().flat_map(|life| lived(report, responses, life)));
    rows
}

fn lived<'a>(report: &'a Report, responses: &CumulativeResponses, life: &Lifetime) -> [Row<'a>; 3] {
    let name: Cow<str> = words::life(life.seconds).into();
    let row = |variant, metric: &'static str, value, unit, reading: Cow<'a, str>| Row {
        of: "lifetime",
        name: name.clone(),
        variant: words::variant_name(report, variant),
        metric: metric.into(),
        value,
        unit,
        reading,
        ..Row::default()
    };
    let seen = if life.extrapolated { EXTRAPOLATED } else { "" };
    let [baseline, variant] = life.served;
    let (reading, _) = words::life_reading(report, responses.variant, life);
    [
        row(0, "served", Some(baseline), "requests", seen.into()),
        row(responses.variant, "served", Some(variant), "requests", seen.into()),
        row(responses.variant, "served-change", None, FRACTION, without_sign(&reading).to_owned().into())
            .changed(life.effect.as_ref()),
    ]
}

/// The phases of a server's life, and the difference at each age.
fn lived_through<'a>(report: &'a Report, curve: &AgeCurve) -> Vec<Row<'a>> {
    let row = |of, name: String| Row {
        of,
        name: name.into(),
        variant: words::variant_name(report, curve.variant),
        metric: Metric::Throughput.name().into(),
        unit: FRACTION,
        ..Row::default()
    };
    let phases = curve.phases.iter().map(|phase| {
        let name = format!("{:.1} s to {:.1} s", phase.from_s, phase.to_s);
        Row { reading: words::phase_reading(phase.reading).1.into(), ..row("phase", name) }.changed(Some(&phase.effect))
    });
    let at = |point: &CurvePoint, name: String| Row {
        value: Some(Effect::fraction(point.estimate)),
        low: point.interval.map(|[low, _]| Effect::fraction(low)),
        high: point.interval.map(|[_, high]| Effect::fraction(high)),
        confidence: point.interval.map(|_| INTERVAL),
        blocks: Some(point.blocks),
        ..row("age", name)
    };
    let ages = curve.points.iter().map(|point| at(point, format!("{:.1} s to {:.1} s", point.from, point.to)));
    let answers =
        curve.by_requests.iter().map(|point| at(point, format!("answers {:.0} to {:.0}", point.from, point.to)));
    phases.chain(ages).chain(answers).collect()
}

/// The laws fitted to a workload, what was measured beside them, and where two cross.
fn scaled<'a>(report: &'a Report, scaling: &'a Scalability) -> Vec<Row<'a>> {
    let mut rows: Vec<Row> = scaling.curves.iter().flat_map(|curve| fitted(report, scaling, curve)).collect();
    let crossings = scaling.crossings.iter().filter(|crossing| !words::is_vetoed(report, crossing.variant));
    for crossing in crossings {
        let row = Row {
            of: "crossing",
            name: scaling.workload.as_str().into(),
            variant: words::variant_name(report, crossing.variant),
            ..Row::default()
        };
        let at = Row { metric: USERS.into(), unit: USERS, reading: crossing.sentence.as_str().into(), ..row.clone() };
        rows.push(crossing.users.as_ref().map_or_else(|| at.clone(), |users| at.clone().bounded(users)));
        rows.push(Row { metric: "resamples-that-cross".into(), value: Some(crossing.share), unit: FRACTION, ..row });
    }
    rows
}

fn fitted<'a>(report: &'a Report, scaling: &'a Scalability, curve: &Curve) -> Vec<Row<'a>> {
    let row = |metric: &'static str, unit| Row {
        of: "curve",
        name: scaling.workload.as_str().into(),
        variant: words::variant_name(report, curve.variant),
        metric: metric.into(),
        blocks: Some(curve.blocks),
        unit,
        ..Row::default()
    };
    let rate = Metric::Throughput.unit();
    let mut rows = vec![
        row("lambda", rate).bounded(&curve.lambda),
        row("sigma", "").bounded(&curve.sigma),
        row("kappa", "").bounded(&curve.kappa),
    ];
    if let Some(peak) = &curve.peak {
        let reading: Cow<str> = if peak.is_measured { "" } else { EXTRAPOLATED }.into();
        rows.push(Row { reading: reading.clone(), ..row("peak-users", USERS).bounded(&peak.users) });
        rows.push(Row { reading, value: Some(peak.throughput), ..row("peak-throughput", rate) });
    }
    rows.push(Row { value: Some(curve.misfit), ..row("misfit", FRACTION) });
    for point in &curve.points {
        let is_here = |cell: &&model::report::CellName| {
            cell.workload == scaling.workload && cell.concurrency == Some(point.users)
        };
        let cell = report.cells.iter().find(is_here).map_or("", |cell| &cell.name);
        rows.extend(
            [
                ("throughput-mean", Some(point.throughput), rate),
                ("throughput-fitted", Some(point.fitted), rate),
                ("efficiency", Some(point.efficiency), FRACTION),
                ("cores-used", point.cores, "cores"),
            ]
            .map(|(metric, value, unit)| Row { cell, value, ..row(metric, unit) }),
        );
    }
    rows
}

/// The primary metric of every launch.
fn blocks(report: &Report) -> impl Iterator<Item = Row<'_>> {
    report.blocks.iter().flat_map(move |block| {
        block.values.iter().enumerate().map(move |(variant, value)| Row {
            of: "block",
            block: Some(words::block_number(block)),
            variant: words::variant_name(report, variant),
            metric: report.primary.name().into(),
            value: *value,
            unit: report.primary.unit(),
            excluded: block.excluded.as_deref().unwrap_or(""),
            ..Row::default()
        })
    })
}

/// `better` of `▲ better`.
fn without_sign(reading: &str) -> &str {
    reading.trim_start_matches(['▲', '▼', '~', '=', '?', '✗', '–']).trim_start()
}
