//! The load generator was the bottleneck.

use model::{Finding, FindingId, Histogram, LoadRecord, Sample, Severity, StudyRecord, Subject, sample};

use super::rule::{Check, Rule, measured};
use crate::assess::Assessment;
use crate::{metrics, robust};

pub const RULE: Rule = Rule {
    id: FindingId::new("client-saturated"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/client-saturated.md"),
    checks: &[
        Check::Run(rule),
        Check::Load(of_a_load),
        Check::NoImport("no tool's file keeps the CPU time of the load generator"),
    ],
};

/// Cores used by the client's one thread from which on it may be what limits the load.
const CLIENT_CORES: f64 = 0.7;
/// Send delay of the client that is too much: so many µs, and such a share of the median response time.
const LATE_US: f64 = 1_000.0;
const LATE_SHARE: f64 = 0.05;
/// Share of launches with a busy client that is worth a warning.
const SOME: f64 = 0.2;

/// For each variant and cell: invalid when the client used more than 0.7 of its one core in the median launch, a
/// warning when it did in a fifth of them. In an open loop invalid as well when it was late itself ([`late`]), in all
/// launches together.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    let mut all = Vec::new();
    for variant in 0..record.study.variants.len() {
        for cell in 0..record.plan.cells.len() {
            let measured = measured(record, variant, cell);
            let cores: Vec<f64> = measured.iter().map(|cell| metrics::client_cores(cell)).collect();
            let Some(typical) = robust::median(&cores) else { continue };
            let busy = cores.iter().filter(|cores| **cores > CLIENT_CORES).count();
            let late = late(measured.iter().flat_map(|cell| &cell.samples));
            let severity = if typical > CLIENT_CORES || late.is_some() {
                Severity::Invalid
            } else if busy as f64 >= SOME * cores.len() as f64 {
                Severity::Warning
            } else {
                continue;
            };
            let found = RULE.found(
                severity,
                Subject::Cell { variant, cell },
                "The client was so busy that its own speed limits what was measured: a faster server would look alike.",
                "Give the client a faster or a quieter core, or ask for something that costs the server more.",
            )
            .with("client CPU, median launch", format!("{typical:.2} cores of 1"))
            .with("launches above 0.7", format!("{busy} of {}", cores.len()));
            all.push(with_send_delay(found, late));
        }
    }
    all
}

/// Whether it was the client whose speed limited a load of an open loop by one thread.
pub fn is_client_the_limit(samples: &[Sample]) -> bool {
    let cpu_s: f64 = samples.iter().map(|sample| sample.client_cpu_s).sum();
    cpu_s > CLIENT_CORES * sample::seconds(samples) || late(samples.iter()).is_some()
}

/// The 99th percentile of an open loop's own send delay, µs, where it is too much: above 1 ms, and above a twentieth of the
/// median response time.
fn late<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> Option<u64> {
    let open = samples.filter_map(|sample| sample.open.as_ref());
    let (send_delay, response): (Histogram, Histogram) =
        (open.clone().map(|open| &open.send_delay).sum(), open.map(|open| &open.response).sum());
    let late = send_delay.supported_quantile(0.99)?;
    (late as f64 > LATE_US.max(LATE_SHARE * response.quantile(0.5) as f64)).then_some(late)
}

fn with_send_delay(found: Finding, late: Option<u64>) -> Finding {
    match late {
        Some(late) => found.with("its own send delay, 99th percentile", format!("{:.1} ms", late as f64 / 1e3)),
        None => found,
    }
}

/// Invalid when the client's threads used more than 0.7 of a core each in a step or stage of the load, or when an open
/// loop's client was late itself ([`late`]).
fn of_a_load(load: &LoadRecord) -> Option<Finding> {
    let parts = load.parts();
    let cores = |part: &Sample| part.client_cpu_s / part.length_s / load.threads as f64;
    let busiest = parts.iter().max_by(|(_, one), (_, other)| cores(one).total_cmp(&cores(other)));
    let (name, busiest) = busiest.map(|(name, part)| (name, cores(part)))?;
    let late = late(load.samples.iter());
    if busiest <= CLIENT_CORES && late.is_none() {
        return None;
    }
    let shown = format!("{busiest:.2} cores of 1 a thread");
    let found = RULE
        .found(
            Severity::Invalid,
            Subject::Client,
            "The client was so busy that its own speed limits what was measured: a faster server would look alike.",
            "Give it more threads (--threads) where there are cores for them, or a machine of its own.",
        )
        .with("client CPU", if parts.len() > 1 { format!("{shown}, at {name}") } else { shown });
    Some(with_send_delay(found, late))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{found, load};
    use crate::fixture;

    #[test]
    fn a_client_that_is_late_itself_vetoes() {
        let mut late = load(100, 100);
        assert_eq!(of_a_load(&late), None);
        for sample in &mut late.samples {
            let mut open = sample::OpenLoop { due: 100, ..Default::default() };
            (0..100).for_each(|_| open.response.record(30_000));
            (0..100).for_each(|number| open.send_delay.record(if number < 90 { 50 } else { 1_400 }));
            sample.open = Some(open);
        }
        // A twentieth of 30 ms is 1.5 ms.
        assert_eq!(of_a_load(&late), None);
        late.samples.iter_mut().for_each(|sample| sample.open.as_mut().unwrap().send_delay.record(1_600));
        late.samples.iter_mut().for_each(|sample| sample.open.as_mut().unwrap().send_delay.record(1_600));
        assert_eq!(of_a_load(&late).map(|found| found.severity), Some(Severity::Invalid));
    }

    #[test]
    fn a_client_that_is_busy_in_one_step_of_a_load_vetoes() {
        let mut record = load(30, 100);
        let step = |users| model::Step { users, length: std::time::Duration::from_secs(10) };
        record.arrivals = model::Arrivals::Closed { think: None, steps: vec![step(1), step(10), step(500)] };
        assert_eq!(of_a_load(&record), None);
        record.samples[20..].iter_mut().for_each(|sample| sample.client_cpu_s = 0.9);
        let found = of_a_load(&record).unwrap();
        assert!(found.facts.iter().any(|fact| fact.value == "0.90 cores of 1 a thread, at 500".into()), "{found:?}");
    }

    #[test]
    fn a_client_that_is_late_in_a_study_vetoes() {
        let mut record = fixture::open(6, 0.0);
        assert_eq!(found(rule, &record), []);
        let ons = record.trials.iter_mut().filter(|trial| trial.variant == 1).flat_map(|trial| &mut trial.cells);
        let slow = ons.filter(|cell| cell.cell == 0).flat_map(|cell| &mut cell.samples);
        slow.filter_map(|sample| sample.open.as_mut())
            .for_each(|open| (0..20).for_each(|_| open.send_delay.record(1_600)));
        assert_eq!(found(rule, &record), [(Severity::Invalid, "on, pages@1000/s".to_owned())]);
    }

    #[test]
    fn a_busy_client_vetoes() {
        let mut record = fixture::record(5, 0.0);
        assert_eq!(found(rule, &record), []);
        let busy = |trial: &mut model::TrialRecord| {
            let fast = trial.cells.iter_mut().find(|cell| cell.cell == 1).unwrap();
            fast.samples.iter_mut().for_each(|sample| sample.client_cpu_s = 0.9);
        };
        let mut ons = record.trials.iter_mut().filter(|trial| trial.variant == 1 && !trial.key.pilot);
        busy(ons.next().unwrap());
        ons.for_each(drop);
        assert_eq!(found(rule, &record), [(Severity::Warning, "on, pages@20".to_owned())]);
        record.trials.iter_mut().filter(|trial| trial.variant == 1 && !trial.key.pilot).for_each(busy);
        assert_eq!(found(rule, &record), [(Severity::Invalid, "on, pages@20".to_owned())]);
    }
}
