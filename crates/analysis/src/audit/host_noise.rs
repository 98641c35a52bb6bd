//! Something else used the host.

use std::collections::BTreeMap;

use model::imported::HostOfRun;
use model::{BASELINE, Finding, FindingId, HostUse, Severity, StudyRecord, Subject, TrialRecord, VariantIndex, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule};
use crate::assess::Assessment;
use crate::blocks::{self, BlockStatus, CANARY_MOVED, OTHERS_CORES, PRESSURE_SHARE, STEAL_CORES, THROTTLED_SHARE};
use crate::compare;
use crate::{robust, sequential};

pub const RULE: Rule = Rule {
    id: FindingId::new("host-noise"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/host-noise.md"),
    checks: &[Check::Run(rule), Check::Imported { needs: Evidence::HostLog, look: of_import }],
};

/// Canary times from which on their scatter is reported: those before and after five launches. Of fewer, two that chance put
/// apart would already make a scatter.
const FEWEST_CANARIES: usize = 10;
/// The figure whose owner is named.
const OTHERS: &str = "other processes, median launch";
/// Launches from which on the scatter of their frequencies is reported.
const FEWEST_LAUNCHES: usize = 5;

/// A warning when the median launch was disturbed, the canary scatters, or disturbed blocks had to be used because no
/// spare ones were left; a note when disturbed blocks could be excluded. The facts are what is beyond its floor.
/// And a warning for each variant from which the hypervisor or other processes took more, or less, than from the baseline, block by
/// block.
fn rule(record: &StudyRecord, assessment: &Assessment) -> Vec<Finding> {
    let others = (0..record.study.variants.len()).filter(|variant| *variant != BASELINE);
    let one_sided =
        others.flat_map(|variant| DISTURBERS.iter().filter_map(move |taker| taker.one_sided(assessment, variant)));
    disturbed(record, assessment).into_iter().chain(one_sided).collect()
}

/// Somebody who takes processors from what is measured.
struct Disturber {
    name: &'static str,
    what: &'static str,
    cores: fn(&HostUse) -> f64,
    /// Cores up to which it makes no difference.
    floor: f64,
    remedy: &'static str,
}

const DISTURBERS: [Disturber; 2] = [
    Disturber {
        name: "The hypervisor",
        what: "steal while it was measured, difference",
        cores: |host| host.steal_cores,
        floor: STEAL_CORES,
        remedy: "Use a machine whose processors are its own. Where one side uses more of them than the other, that may be why.",
    },
    Disturber {
        name: "Other processes",
        what: "other processes while it was measured, difference",
        cores: |host| host.others_cores,
        floor: OTHERS_CORES,
        remedy: "End them. Where a variant has others work for it that it did not start, their work is a part of its cost: start them as \
                 a `[[service]]`.",
    },
];

impl Disturber {
    /// What is taken and goes with a variant is a part of the difference: blocks cancel only what is taken from both sides alike.
    fn one_sided(&self, assessment: &Assessment, variant: VariantIndex) -> Option<Finding> {
        let pairs = compare::pairs(assessment, variant, |trial| self.taken(trial));
        let differences: Vec<f64> = pairs.into_iter().map(|(_, [baseline, own])| own - baseline).collect();
        let effect = sequential::interval(&differences, assessment.boundaries)
            .filter(|effect| effect.excludes_zero() && effect.estimate.abs() > self.floor)?;
        let written = |cores: f64| format!("{cores:+.2}").replace('-', "−");
        let [estimate, low, high] = [effect.estimate, effect.low, effect.high].map(written);
        let found = RULE.found(
            Severity::Warning,
            Subject::Against { variant, cell: None },
            &format!(
                "{} took more from one side than from the other, in the same blocks. Blocks do not cancel that: a part of the \
                 difference may be theirs.",
                self.name
            ),
            self.remedy,
        );
        Some(found.with(self.what, format!("{estimate} cores [{low}, {high}]")))
    }

    /// Cores taken while a launch was measured, the mean over its cells.
    fn taken(&self, trial: &TrialRecord) -> Option<f64> {
        let measured = || trial.cells.iter().flat_map(|cell| &cell.samples);
        let seen = || measured().filter_map(|sample| Some(((self.cores)(sample.host.as_ref()?), sample.length_s)));
        let seconds: f64 = seen().map(|(_, length_s)| length_s).sum();
        (seconds > 0.0).then(|| seen().map(|(cores, length_s)| cores * length_s).sum::<f64>() / seconds)
    }
}

fn disturbed(record: &StudyRecord, assessment: &Assessment) -> Option<Finding> {
    let beyond: Vec<Figure> = figures(record).into_iter().filter(Figure::is_beyond).collect();
    let excluded: Vec<_> = assessment.blocks.iter().filter(|block| block.status == BlockStatus::Excluded).collect();
    let kept = assessment
        .blocks
        .iter()
        .filter(|block| block.status == BlockStatus::Used && !block.disturbances.is_empty())
        .count();
    if beyond.is_empty() && kept == 0 && excluded.is_empty() {
        return None;
    }
    let (severity, meaning) = if !beyond.is_empty() || kept > 0 {
        (
            Severity::Warning,
            "Others used the host during the run. Randomised blocks keep the comparison fair, but the intervals are wider and the \
             speeds themselves may not repeat elsewhere.",
        )
    } else {
        (
            Severity::Note,
            "The host was disturbed now and then; those blocks were excluded, all variants of each, and repeated.",
        )
    };
    let found = RULE.found(severity, Subject::Host, meaning, "Stop what else runs, or use a machine of its own.");
    let found = beyond.iter().fold(found, |found, figure| found.with(figure.name, figure.reported()));
    let is_others = beyond.iter().any(|figure| figure.name == OTHERS);
    let found = match noisy_neighbour(record).filter(|_| is_others) {
        Some(neighbour) => found.with("the busiest of them", neighbour),
        None => found,
    };
    let counts = [("blocks excluded", excluded.len()), ("disturbed blocks that count all the same", kept)];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let found = counts.fold(found, |found, (what, count)| found.with(what, count.to_string()));
    let reasons = excluded.iter().filter_map(|block| Some((block.index, block.disturbances.first()?)));
    Some(reasons.fold(found, |found, (index, reason)| found.with(format!("block {}", index + 1), reason.as_str())))
}

/// A warning where a log of a machine beside an imported run shows steal. What others used it does not tell apart from the server's part.
fn of_import(imported: &Imported) -> Option<Finding> {
    let stolen: Vec<&HostOfRun> =
        imported.hosts.iter().filter(|host| host.cores(host.mean.steal) > STEAL_CORES).collect();
    let found = RULE.found(
        Severity::Warning,
        Subject::Host,
        "The hypervisor gave time of this machine's processors to others during the run. The server may be faster on a machine of its own.",
        "Run it again when the neighbours are quiet, or on a machine whose processors are its own.",
    );
    let all = stolen.iter().fold(found, |found, host| {
        let taken = match host.processors {
            Some(processors) => format!("{} of {processors}", cores(host.cores(host.mean.steal))),
            None => format!("{} of the machine, {} or more", text::percent(host.mean.steal), cores(host.mean.steal)),
        };
        let value = format!("{taken}, beyond the floor of {}", cores(STEAL_CORES));
        found.with(format!("steal, by {}", host.file), value)
    });
    (!stolen.is_empty()).then_some(all)
}

/// The program of others that used the most processor time in all launches together, and in how many it was the busiest.
fn noisy_neighbour(record: &StudyRecord) -> Option<String> {
    let mut programs: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for most in record.trials.iter().filter_map(|trial| trial.host.noisy_neighbour.as_ref()) {
        programs.entry(&most.name).or_default().push(most.cores);
    }
    let (name, used) = programs
        .into_iter()
        .max_by(|(_, one), (_, other)| one.iter().sum::<f64>().total_cmp(&other.iter().sum::<f64>()))?;
    let median = robust::median(&used)?;
    Some(format!("{name}, in {} of {} launches, {} in their median", used.len(), record.trials.len(), cores(median)))
}

/// A figure of the whole run, and the floor that it has to exceed to be noise.
struct Figure {
    name: &'static str,
    value: f64,
    floor: f64,
    write: fn(f64) -> String,
}

impl Figure {
    fn is_beyond(&self) -> bool {
        self.value > self.floor
    }

    fn reported(&self) -> String {
        format!("{}, beyond the floor of {}", (self.write)(self.value), (self.write)(self.floor))
    }
}

fn figures(record: &StudyRecord) -> [Figure; 7] {
    let median = |of: fn(&TrialRecord) -> f64| {
        robust::median(&record.trials.iter().map(of).collect::<Vec<_>>()).unwrap_or_default()
    };
    let figure = |name, value, floor, write: fn(f64) -> String| Figure { name, value, floor, write };
    [
        figure("steal, median launch", median(|trial| trial.host.steal_cores), STEAL_CORES, cores),
        figure(OTHERS, median(|trial| trial.host.others_cores), OTHERS_CORES, cores),
        figure(
            "bakeoff's control group throttled by its CPU quota, median launch",
            median(blocks::throttled_share),
            THROTTLED_SHARE,
            text::percent,
        ),
        figure(
            "the server's control group throttled by its CPU quota, median launch",
            // A quota that the study itself sets is no noise.
            if record.study.variants.iter().any(|variant| variant.server.limits.cpus.is_some()) {
                0.0
            } else {
                median(blocks::server_throttled_share)
            },
            THROTTLED_SHARE,
            text::percent,
        ),
        figure(
            "some task waited for a processor though there was room, median launch",
            pressure(record).unwrap_or_default(),
            PRESSURE_SHARE,
            text::percent,
        ),
        figure(
            "scatter of a fixed computation's time",
            scatter(record).unwrap_or_default(),
            CANARY_MOVED,
            text::percent,
        ),
        figure(
            "scatter of the processor's frequency",
            frequency(record).unwrap_or_default(),
            CANARY_MOVED,
            text::percent,
        ),
    ]
}

/// How long tasks waited in the median launch; `None` where the kernel does not say, or where the study has its own tasks wait: it
/// keeps them to some of the processors, or to a quota.
fn pressure(record: &StudyRecord) -> Option<f64> {
    let host = &record.study.host;
    let is_confined = !host.server_cpus.is_empty()
        || !host.client_cpus.is_empty()
        || record.study.variants.iter().any(|variant| variant.server.limits.cpus.is_some());
    let launches: Vec<f64> = record.trials.iter().filter_map(blocks::pressure_share).collect();
    robust::median(&launches).filter(|_| !is_confined)
}

/// Standard deviation of the canary's times as a fraction of their median; `None` with too few of them.
fn scatter(record: &StudyRecord) -> Option<f64> {
    let canaries: Vec<f64> = record.trials.iter().flat_map(blocks::canaries).collect();
    if canaries.len() < FEWEST_CANARIES {
        return None;
    }
    Some(robust::sigma(&canaries)? / robust::median(&canaries)?)
}

/// The same of the launches' median frequency; `None` with too few of them, or where it cannot be read.
fn frequency(record: &StudyRecord) -> Option<f64> {
    let of = |trial: &TrialRecord| {
        let measured = trial.cells.iter().flat_map(|cell| &cell.samples);
        robust::median(&measured.filter_map(|sample| sample.host.as_ref()?.mhz).collect::<Vec<_>>())
    };
    let launches: Vec<f64> = record.trials.iter().filter_map(of).collect();
    (launches.len() >= FEWEST_LAUNCHES).then_some(robust::sigma(&launches)? / robust::median(&launches)?)
}

fn cores(cores: f64) -> String {
    format!("{cores:.2} cores")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{gravest, host, imported, values};
    use crate::boundaries::Boundaries;
    use crate::fixture;

    /// What the finding reports, if there is one.
    fn facts(record: &StudyRecord) -> Vec<(String, String)> {
        let boundaries = Boundaries::standard();
        let found = rule(record, &crate::assess(record, &boundaries));
        found.into_iter().flat_map(|found| found.facts).map(|item| (item.name, item.value.to_string())).collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn only_what_is_beyond_its_floor_is_reported() {
        let mut record = fixture::record(6, 0.0);
        record.trials.iter_mut().for_each(|trial| trial.host.steal_cores = 0.1);
        let steal = pair("steal, median launch", "0.10 cores, beyond the floor of 0.03 cores");
        assert_eq!(facts(&record), [steal]);
        let mut record = fixture::record(6, 0.0);
        record.trials[9].host.others_cores = 1.0;
        let variant = &record.study.variants[record.trials[9].variant].name;
        let reason = pair("block 3", &format!("{variant}: other processes used 1.00 cores"));
        assert_eq!(facts(&record), [pair("blocks excluded", "1"), reason]);
    }

    fn scattered(number: usize) -> f64 {
        0.01 * (number * 7 % 5) as f64
    }

    #[test]
    fn steal_that_goes_with_a_variant_is_reported() {
        let stolen = |blocks: usize, of: fn(usize, usize) -> f64| {
            let mut record = fixture::record(blocks, 0.0);
            for (number, trial) in record.trials.iter_mut().enumerate() {
                let steal_cores = of(trial.variant, number);
                for sample in trial.cells.iter_mut().flat_map(|cell| &mut cell.samples) {
                    sample.host = Some(HostUse { steal_cores, ..HostUse::default() });
                }
            }
            record
        };
        let reported = facts(&stolen(8, |variant, number| 0.1 * variant as f64 + scattered(number)));
        let [(what, cores)] = &reported[..] else { panic!("{reported:?}") };
        assert_eq!(what, "steal while it was measured, difference");
        assert!(cores.starts_with("+0.") && cores.contains("cores [+0."), "{cores}");
        // As much from both, however much; too little to matter; too few blocks; one launch of many.
        assert_eq!(facts(&stolen(8, |_, number| 0.3 + scattered(number))), []);
        assert_eq!(facts(&stolen(8, |variant, _| 0.02 * variant as f64)), []);
        assert_eq!(facts(&stolen(2, |variant, _| 0.1 * variant as f64)), []);
        assert_eq!(facts(&stolen(8, |_, number| if number == 9 { 0.3 } else { 0.0 })), []);
    }

    #[test]
    fn others_that_go_with_a_variant_are_reported() {
        let mut record = fixture::record(8, 0.0);
        for (number, trial) in record.trials.iter_mut().enumerate() {
            let others_cores = 0.4 * trial.variant as f64 + scattered(number);
            for sample in trial.cells.iter_mut().flat_map(|cell| &mut cell.samples) {
                sample.host = Some(HostUse { others_cores, ..HostUse::default() });
            }
        }
        let reported = facts(&record);
        let [(what, cores)] = &reported[..] else { panic!("{reported:?}") };
        assert_eq!(what, "other processes while it was measured, difference");
        assert!(cores.starts_with("+0.") && cores.contains("cores [+0."), "{cores}");
    }

    #[test]
    fn the_busiest_of_others_is_named() {
        let mut record = fixture::record(6, 0.0);
        for (number, trial) in record.trials.iter_mut().enumerate() {
            let name = if number < 3 { "sh" } else { "cargo" };
            trial.host.others_cores = 1.0;
            trial.host.noisy_neighbour = Some(model::NoisyNeighbour { name: name.to_owned(), pid: 7, cores: 0.75 });
        }
        let others = pair(OTHERS, "1.00 cores, beyond the floor of 0.25 cores");
        let named = pair("the busiest of them", "cargo, in 13 of 16 launches, 0.75 cores in their median");
        assert_eq!(facts(&record), [others, named]);
        let mut record = fixture::record(6, 0.0);
        record.trials[9].host.others_cores = 1.0;
        record.trials[9].host.noisy_neighbour =
            Some(model::NoisyNeighbour { name: "sh".to_owned(), pid: 7, cores: 0.75 });
        let reported = facts(&record).pop().unwrap().1;
        assert!(reported.ends_with(": other processes used 1.00 cores, sh 0.75 of them"), "{reported}");
    }

    #[test]
    fn a_scatter_takes_ten_canaries() {
        let mut record = fixture::record(1, 0.0);
        record.trials.iter_mut().for_each(|trial| trial.canary_ns = [1_000_000, 1_100_000]);
        record.trials.truncate(5);
        let scatter = pair("scatter of a fixed computation's time", "7.1 %, beyond the floor of 3.0 %");
        assert_eq!(facts(&record), [scatter]);
        record.trials.truncate(4);
        assert_eq!(facts(&record), []);
    }

    #[test]
    fn a_quota_is_reported_of_whom_it_throttles() {
        let mut record = fixture::record(6, 0.0);
        let samples = record.trials.iter_mut().flat_map(|trial| &mut trial.cells).flat_map(|cell| &mut cell.samples);
        samples.for_each(|sample| sample.server.as_mut().unwrap().throttled_s = Some(sample.length_s / 4.0));
        let name = "the server's control group throttled by its CPU quota, median launch";
        assert_eq!(facts(&record)[0], pair(name, "25.0 %, beyond the floor of 1.0 %"));
    }

    #[test]
    fn a_frequency_that_differs_between_launches_is_reported() {
        let frequency = |mhz: fn(usize) -> f64| {
            let mut record = fixture::record(6, 0.0);
            for (number, trial) in record.trials.iter_mut().enumerate() {
                for sample in trial.cells.iter_mut().flat_map(|cell| &mut cell.samples) {
                    sample.host = Some(HostUse { mhz: Some(mhz(number)), ..HostUse::default() });
                }
            }
            facts(&record)
        };
        assert_eq!(frequency(|_| 3_000.0), []);
        let [(name, value)] = &frequency(|number| 3_000.0 + 300.0 * (number % 2) as f64)[..] else { panic!() };
        assert_eq!(name, "scatter of the processor's frequency");
        assert!(value.ends_with("beyond the floor of 3.0 %"), "{value}");
    }

    #[test]
    fn waiting_for_a_processor_is_noise_where_there_was_room() {
        let waited = |own_cores: f64, pressure: f64, change: fn(&mut StudyRecord)| {
            let mut record = fixture::record(6, 0.0);
            for sample in record.trials.iter_mut().flat_map(|trial| &mut trial.cells).flat_map(|cell| &mut cell.samples)
            {
                sample.host = Some(HostUse {
                    elapsed_s: sample.length_s,
                    busy_cores: own_cores + 0.2,
                    others_cores: 0.2,
                    per_core: vec![0.5; 4],
                    pressure: Some(pressure),
                    ..HostUse::default()
                });
            }
            change(&mut record);
            facts(&record)
        };
        let name = "some task waited for a processor though there was room, median launch";
        assert_eq!(waited(2.5, 0.75, |_| ()), [pair(name, "75.0 %, beyond the floor of 50.0 %")]);
        assert_eq!(waited(2.5, 0.4, |_| ()), [], "client and server wake each other up");
        assert_eq!(waited(3.5, 0.9, |_| ()), [], "the launch's own work filled the host");
        assert_eq!(waited(2.5, 0.9, |record| record.study.host.server_cpus = vec![0]), [], "the study wants it so");
        let limited = |record: &mut StudyRecord| record.study.variants[0].server.limits.cpus = Some(0.5);
        assert_eq!(waited(2.5, 0.9, limited), []);
    }

    #[test]
    fn noise_is_reported() {
        let mut record = fixture::record(6, 0.0);
        assert_eq!(gravest(rule, &record), None);
        record.trials[9].host.others_cores = 1.0;
        assert_eq!(gravest(rule, &record), Some(Severity::Note));
        record.trials.iter_mut().for_each(|trial| trial.host.steal_cores = 0.1);
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
    }

    #[test]
    fn disturbed_blocks_beyond_the_spare_ones_are_reported() {
        let mut record = fixture::record(6, 0.0);
        record.plan.schedule.spare_blocks = 0;
        record.trials[9].host.others_cores = 1.0;
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
    }

    #[test]
    fn steal_beside_an_imported_run_is_reported() {
        let run = imported(100, 10);
        let found = |hosts: &[HostOfRun]| {
            of_import(&Imported { run: &run, levels: &[], hosts }).map(|found| values(&found).swap_remove(0))
        };
        let stolen = host(100, |second| if second % 2 == 0 { 0.2 } else { 0.0 });
        assert_eq!(
            found(std::slice::from_ref(&stolen)).as_deref(),
            Some("0.20 cores of 2, beyond the floor of 0.03 cores")
        );
        let unknown = HostOfRun { processors: None, ..stolen };
        let said = found(&[host(100, |_| 0.0), unknown]);
        assert_eq!(said.as_deref(), Some("10.0 % of the machine, 0.10 cores or more, beyond the floor of 0.03 cores"));
        assert_eq!(found(&[host(100, |_| 0.01)]), None);
    }

    #[test]
    fn without_a_log_an_imported_run_has_no_host() {
        let silent = crate::audit_imported(imported(100, 10), Vec::new()).silent;
        let own = silent.iter().find(|silence| silence.id == RULE.id).unwrap();
        assert_eq!(own.lacks, "no log of the machine covers the run (mpstat, sar -u, vmstat -t)");
        let silent = crate::audit_imported(imported(100, 10), vec![host(100, |_| 0.0)]).silent;
        assert!(silent.iter().all(|silence| silence.id != RULE.id));
    }
}
