//! The load generator was the bottleneck.

use model::{FindingId, Outcome, Severity, StudyRecord};

use super::{Context, Found, cell_name, launches, name};
use crate::{metrics, robust};

/// Cores used by the client's one thread from which on it may be what limits the load.
const CLIENT_CORES: f64 = 0.7;
/// Share of launches with a busy client that is worth a warning.
const SOME: f64 = 0.2;

/// For each variant and cell: invalid when the client used more than 0.7 of its one core in the median launch, a
/// warning when it did in a fifth of them.
pub fn rule(record: &StudyRecord, _: &Context) -> Vec<Found> {
    let mut all = Vec::new();
    for variant in 0..record.study.variants.len() {
        for cell in 0..record.plan.cells.len() {
            let cores: Vec<f64> = launches(record, variant)
                .filter(|trial| trial.outcome == Outcome::Completed)
                .flat_map(|trial| trial.cells.iter().filter(|measured| measured.cell == cell))
                .map(metrics::client_cores)
                .collect();
            let Some(typical) = robust::median(&cores) else { continue };
            let busy = cores.iter().filter(|cores| **cores > CLIENT_CORES).count();
            let severity = if typical > CLIENT_CORES {
                Severity::Invalid
            } else if busy as f64 >= SOME * cores.len() as f64 {
                Severity::Warning
            } else {
                continue;
            };
            all.push(
                Found::new(
                    FindingId::ClientSaturated,
                    severity,
                    format!("{}, {}", name(record, variant), cell_name(record, cell)),
                    "The client was so busy that its own speed limits what was measured: a faster server would look alike.",
                    "Give the client a faster or a quieter core, or ask for something that costs the server more.",
                )
                .about(variant)
                .with("client CPU, median launch", format!("{typical:.2} cores of 1"))
                .with("launches above 0.7", format!("{busy} of {}", cores.len())),
            );
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::found;
    use crate::fixture;

    #[test]
    fn a_busy_client_vetoes() {
        let mut record = fixture::record(5, 0.0);
        assert_eq!(found(rule, &record), []);
        let busy = |trial: &mut model::TrialRecord| {
            let fast = trial.cells.iter_mut().find(|cell| cell.cell == 1).unwrap();
            fast.intervals.iter_mut().for_each(|interval| interval.client_cpu_s = 0.9);
        };
        let mut ons = record.trials.iter_mut().filter(|trial| trial.variant == 1 && !trial.key.pilot);
        busy(ons.next().unwrap());
        ons.for_each(drop);
        assert_eq!(found(rule, &record), [(Severity::Warning, "on, pages@20".to_owned())]);
        record.trials.iter_mut().filter(|trial| trial.variant == 1 && !trial.key.pilot).for_each(busy);
        assert_eq!(found(rule, &record), [(Severity::Invalid, "on, pages@20".to_owned())]);
    }
}
