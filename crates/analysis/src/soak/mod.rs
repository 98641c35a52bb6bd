//! What became of servers that were loaded for hours: how what they hold and how they answer went.

mod course;
mod gauges;

use model::report::Reproduce;
use model::soaked::{Limit, Reading, SCHEMA_VERSION, SoakEnd};
use model::{Course, Gauge, Outcome, SoakPlan, SoakRecord, SoakReport, Soaked, StudyRecord, Tally, text};
use runtimes::{Key, jvm};

use crate::audit;
use crate::summary;

pub use course::course;

/// Part of the growth of a heap that collections of all of it, before the load and after, have to find again.
const CONFIRMED: f64 = 0.5;
const HOUR_S: f64 = 3_600.0;

/// The report of a run that soaks; `None` of a run that compares.
pub fn soaked(record: &StudyRecord) -> Option<SoakReport> {
    let plan = record.plan.soak.as_ref()?;
    let soaks: Vec<Soaked> = record.soaks.iter().map(|soak| of_soak(record, plan, soak)).collect();
    let findings = audit::audit_soaks(&soaks);
    Some(SoakReport {
        schema: SCHEMA_VERSION,
        version: record.version.clone(),
        run: record.run.clone(),
        started: record.started.clone(),
        name: record.study.name.clone(),
        question: record.study.question.clone(),
        cell: record.plan.cells.get(plan.cell).map_or_else(String::new, |cell| cell.name(&record.study.workloads)),
        planned_s: plan.duration.as_secs_f64(),
        window_s: f64::from(plan.window_s),
        variant_names: record.names().variants,
        soaks,
        findings,
        host: record.host.clone(),
        reproduce: again(record, plan),
    })
}

/// The command that does it again, with as many variants.
fn again(record: &StudyRecord, plan: &SoakPlan) -> Reproduce {
    let whole = summary::reproduce(record, None);
    let variants = &record.study.variants;
    let chosen = plan.variants.iter().filter_map(|index| variants.get(*index));
    let chosen: Vec<String> = chosen.map(|variant| format!(" --variant '{}'", variant.name)).collect();
    let chosen = if plan.variants.len() == variants.len() { String::new() } else { chosen.concat() };
    Reproduce { command: format!("{} --soak {}s{chosen}", whole.command, plan.duration.as_secs()), ..whole }
}

fn of_soak(record: &StudyRecord, plan: &SoakPlan, soak: &SoakRecord) -> Soaked {
    let tally: Tally = soak.windows.iter().map(|window| &window.tally).sum();
    let too_short = too_short(plan, soak);
    let courses = Gauge::ALL.into_iter().filter_map(|gauge| {
        let drawn = of_gauge(soak, gauge, too_short.is_none())?;
        Some(Course { limit: limit(record, soak, gauge), ..drawn })
    });
    let courses = courses.collect();
    Soaked {
        variant: soak.variant,
        seconds: soak.seconds(),
        end: match &soak.outcome {
            Some(Outcome::Completed) => SoakEnd::Completed,
            Some(Outcome::Failed(failed)) => SoakEnd::Failed(failed.clone()),
            None => SoakEnd::Interrupted,
        },
        warm_up_s: soak.warm_up_s,
        steady_at_s: soak.steady_at_s,
        requests: tally.ended(),
        failed_share: tally.failed_share(),
        too_short,
        courses,
    }
}

/// How a gauge went, if it was read at all; without a word on it where nothing can be said.
fn of_gauge(soak: &SoakRecord, gauge: Gauge, is_read: bool) -> Option<Course> {
    let seconds = soak.seconds();
    let points = gauges::points(&soak.windows, gauge);
    let of = if is_read { course } else { course::unread };
    let found = (!points.is_empty()).then(|| of(gauge, points, seconds));
    match (gauge, &found) {
        (Gauge::Heap, None | Some(Course { reading: Reading::Unknown, .. })) => {
            let any = gauges::heap_after_any(&soak.windows);
            (!any.is_empty()).then(|| confirmed(of(gauge, any, seconds), soak))
        }
        _ => found,
    }
}

/// A heap of which young collections alone were seen: what they leave grows by old garbage, too. What the program holds is known before the
/// load and after it, where a collection of all could be asked for.
fn confirmed(heap: Course, soak: &SoakRecord) -> Course {
    let (Reading::Rising | Reading::Slowing, Some(trend)) = (heap.reading, heap.trend) else { return heap };
    let rise = trend.per_hour * soak.seconds() / HOUR_S;
    let [Some(before), Some(after)] = soak.whole_heap_bytes else {
        let doubt = "Only young collections were seen, and they leave old garbage: part of the growth may be that.";
        return Course { doubt: Some(doubt.to_owned()), ..heap };
    };
    let held = after as f64 - before as f64;
    let reading = if held >= CONFIRMED * rise { heap.reading } else { Reading::Level };
    let doubt = (reading == Reading::Level).then(|| {
        format!(
            "It rose after young collections, which leave old garbage; collections of all of it left {} before the load and {} after.",
            text::bytes(before as f64),
            text::bytes(after as f64)
        )
    });
    Course { reading, doubt, ..heap }
}

/// What a gauge cannot exceed: the heap's `-Xmx`, the memory that `limits.memory` allows.
fn limit(record: &StudyRecord, soak: &SoakRecord, gauge: Gauge) -> Option<Limit> {
    match gauge {
        Gauge::Memory => {
            let allowed = record.study.variants.get(soak.variant)?.server.limits.memory_bytes?;
            Some(Limit { name: "limits.memory".to_owned(), value: allowed as f64 })
        }
        Gauge::Heap => {
            let given = soak.launch.as_ref()?.command.iter().map(|option| jvm::given(option));
            // Of several the last counts.
            let largest = given.rev().find(|given| given.key == Key::JvmFlag("MaxHeapSize".to_owned()))?;
            Some(Limit { name: "-Xmx".to_owned(), value: jvm::bytes(&largest.value)? as f64 })
        }
        _ => None,
    }
}

fn too_short(plan: &SoakPlan, soak: &SoakRecord) -> Option<String> {
    let fewest = SoakPlan::FEWEST_WINDOWS;
    (soak.windows.len() < fewest as usize).then(|| {
        format!(
            "It was loaded for {}. Nothing can be said of how anything moves in less than {}: that is {fewest} windows of {} s.",
            text::seconds(soak.seconds()),
            text::seconds(f64::from(fewest * plan.window_s)),
            plan.window_s
        )
    })
}
