//! How much of the processors the variants use, and when.

use model::report::{CellName, CoreSeries, CoreUse, Measurement};
use model::{HostUse, StudyRecord, TrialRecord, VariantIndex};

use crate::assess::Assessment;
use crate::blocks::{self, Trials};

/// Shortest sample that is shown, seconds: what is left at a load's end says little.
const SHORTEST: f64 = 0.5;

/// For each variant and workload in a closed loop, the cell in which it answers most.
pub fn core_use(record: &StudyRecord, cells: &[CellName], measurements: &[Measurement]) -> Vec<CoreUse> {
    let mut most: Vec<CoreUse> = Vec::new();
    for measurement in measurements {
        let Some(cell) = cells.get(measurement.cell).filter(|cell| cell.concurrency.is_some()) else { continue };
        let Some(cores) = measurement.server.cores else { continue };
        let here = CoreUse {
            variant: measurement.variant,
            cell: measurement.cell,
            throughput: measurement.throughput,
            cores,
            available: available(record, measurement.variant),
        };
        let is_rival = |known: &&mut CoreUse| {
            known.variant == here.variant && cells.get(known.cell).is_some_and(|known| known.workload == cell.workload)
        };
        match most.iter_mut().find(is_rival) {
            Some(known) if known.throughput >= here.throughput => {}
            Some(known) => *known = here,
            None => most.push(here),
        }
    }
    most
}

/// Cores that a variant's server may use.
fn available(record: &StudyRecord, variant: VariantIndex) -> f64 {
    let kept_to = record.study.host.server_cpus.len();
    let cpus = if kept_to == 0 { f64::from(record.host.cpus) } else { kept_to as f64 };
    let limit = record.study.variants[variant].server.limits.cpus;
    limit.map_or(cpus, |limit| limit.min(cpus))
}

/// The launches of the first used block, second by second.
pub fn per_core(assessment: &Assessment) -> Vec<CoreSeries> {
    let record = assessment.record;
    let trials = Trials::of(record);
    let Some(block) = blocks::used(&assessment.blocks).next() else { return Vec::new() };
    let launches = (0..record.study.variants.len()).filter_map(|variant| trials.get(block, variant));
    launches.filter_map(series).collect()
}

fn series(trial: &TrialRecord) -> Option<CoreSeries> {
    let cells = trial.cells.iter().map(|cell| (cell.cell, cell.since_ready_s)).collect();
    let seconds = trial.cells.iter().flat_map(|cell| {
        let shown = cell.whole().filter(|sample| sample.length_s >= SHORTEST);
        shown.filter_map(|sample| Some((cell.since_ready_s + sample.start_s, sample.host.as_ref()?)))
    });
    let seconds: Vec<(f64, &HostUse)> = seconds.filter(|(_, host)| !host.per_core.is_empty()).collect();
    let count = seconds.iter().map(|(_, host)| host.per_core.len()).min()?;
    let busy = |core: usize| seconds.iter().map(|(_, host)| host.per_core[core]).collect();
    Some(CoreSeries {
        key: trial.key,
        variant: trial.variant,
        cells,
        from_s: seconds.iter().map(|(from_s, _)| *from_s).collect(),
        busy: (0..count).map(busy).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Boundaries, assess, fixture, metrics, summary};

    fn used(record: &StudyRecord) -> Vec<CoreUse> {
        let boundaries = Boundaries::standard();
        let assessment = assess(record, &boundaries);
        let numbers = summary::launches(&assessment, &metrics::launches(record));
        core_use(record, &summary::cells(record), &summary::measurements(&assessment, &numbers))
    }

    /// The fixture's servers use half a core each second, which gives 1,000 and 4,000 answers.
    #[test]
    fn the_cell_with_most_answers_says_how_many_cores_are_used_of_those_there_are() {
        let mut record = fixture::record(6, 0.0);
        record.host.cpus = 8;
        let reported: Vec<_> = used(&record).iter().map(|it| (it.variant, it.cell, it.available.to_bits())).collect();
        assert_eq!(reported, [(0, 1, 8f64.to_bits()), (1, 1, 8f64.to_bits())]);
        assert!(used(&record).iter().all(|it| (it.cores - 0.5).abs() < 0.01 && it.throughput > 3_900.0));
        record.study.host.server_cpus = vec![0, 1];
        record.study.variants[1].server.limits.cpus = Some(1.5);
        let available: Vec<f64> = used(&record).iter().map(|it| it.available).collect();
        assert!((available[0] - 2.0).abs() < 1e-9 && (available[1] - 1.5).abs() < 1e-9, "{available:?}");
        // In an open loop the rate is the study's.
        assert_eq!(used(&fixture::open(6, 0.0)), []);
    }

    #[test]
    fn each_processor_is_followed_through_one_launch_of_each_variant() {
        let mut record = fixture::record(6, 0.0);
        assert_eq!(per_core(&assess(&record, &Boundaries::standard())), [], "nothing was seen of the host");
        for trial in &mut record.trials {
            for sample in trial.cells.iter_mut().flat_map(|cell| &mut cell.samples) {
                let per_core = vec![0.25, if sample.start_s < 2.0 { 1.0 } else { 0.5 }];
                sample.host = Some(HostUse { per_core, ..HostUse::default() });
            }
        }
        let series = per_core(&assess(&record, &Boundaries::standard()));
        assert_eq!(series.iter().map(|series| series.variant).collect::<Vec<_>>(), [0, 1]);
        let first = &series[0];
        assert_eq!((first.cells.len(), first.busy.len(), first.from_s.len()), (2, 2, 8));
        assert_eq!(first.busy[1][..4], [1.0, 1.0, 0.5, 0.5]);
        assert!((first.from_s[0] - 50.0).abs() < 1e-9, "{:?}", first.from_s);

        // A ramp-up is seen, too.
        for cell in record.trials.iter_mut().flat_map(|trial| &mut trial.cells) {
            cell.ramp_up = cell.samples.drain(..1).collect();
        }
        assert_eq!(per_core(&assess(&record, &Boundaries::standard())), series);
    }
}
