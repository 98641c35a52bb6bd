//! What makes a result untrue, or limits it: one rule a file, one page of `docs/findings` a rule.

pub mod assertion_failed;
pub mod burst_credit;
pub mod busy_while_waiting;
pub mod client_paused;
pub mod client_saturated;
pub mod confounded;
pub mod connections_lost;
pub mod coordinated_omission;
pub mod errors;
pub mod host_noise;
pub mod memory_limit_hit;
pub mod no_block_used;
pub mod not_replicated;
pub mod not_steady;
pub mod options_overwritten;
pub mod out_of_ports;
pub mod pool_too_small;
pub mod quick_mode;
pub mod rate_not_kept;
pub mod regime_change;
pub mod responses_differ;
pub mod setting_inert;
pub mod setting_is_default;
pub mod setting_not_effective;
pub mod setting_refused;
pub mod setting_unknown;
pub mod setting_unverified;
pub mod settings;
pub mod shared_cores;
pub mod stall;
pub mod swapping;
pub mod tear_down_failed;
pub mod too_short;
pub mod trial_failed;

use std::cmp::Reverse;

use model::{
    CellIndex, CellRecord, Fact, Finding, FindingId, LoadRecord, Outcome, Severity, StudyRecord, TrialRecord,
    VariantIndex, text,
};

use crate::assess::Assessment;
use crate::compare::BASELINE;

/// How much more seldom than a verdict a veto that compares sides may be wrong: it takes a good result away, whatever the numbers say.
const RARER: usize = 10;

/// A finding and the variant whose comparison it concerns.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The finding.
    pub finding: Finding,
    /// The variant; `None` concerns the whole run.
    pub variant: Option<VariantIndex>,
}

impl Found {
    fn new(id: FindingId, severity: Severity, subject: impl Into<String>, meaning: &str, remedy: &str) -> Self {
        let (subject, meaning, remedy) = (subject.into(), meaning.to_owned(), remedy.to_owned());
        Self { finding: Finding { id, severity, subject, facts: Vec::new(), meaning, remedy }, variant: None }
    }

    fn about(mut self, variant: VariantIndex) -> Self {
        self.variant = Some(variant);
        self
    }

    fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.finding.facts.push(Fact::new(name, value));
        self
    }

    /// With the last that the services of a trial wrote, unless it is shown already.
    fn with_last_words(self, trial: &TrialRecord, reported: &str) -> Self {
        trial.service_logs.iter().fold(self, |found, (name, log)| match text::last_words(log, |_| true) {
            Some(last) if !reported.contains(&last) => found.with(format!("service {name}'s last words"), last),
            _ => found,
        })
    }

    /// Whether it takes away the verdict on `variant`: its own and the baseline's findings do, and the run's.
    pub fn vetoes(&self, variant: VariantIndex) -> bool {
        let concerns = self.variant.is_none_or(|about| about == variant || about == BASELINE);
        self.finding.severity == Severity::Invalid && concerns
    }
}

/// A rule looks at a record and says what it found, mostly nothing.
pub type Rule = fn(&StudyRecord, &Assessment) -> Vec<Found>;

/// Rules about what is the same in every launch. Their vetoes stop a run at once: no further block would lift them.
const LASTING: [Rule; 8] = [
    responses_differ::rule,
    errors::always_unmet,
    setting_not_effective::rule,
    setting_refused::rule,
    setting_unknown::rule,
    setting_is_default::rule,
    assertion_failed::rule,
    confounded::rule,
];

const OTHERS: [Rule; 22] = [
    errors::rule,
    trial_failed::rule,
    memory_limit_hit::rule,
    tear_down_failed::rule,
    setting_inert::rule,
    setting_unverified::rule,
    options_overwritten::rule,
    pool_too_small::rule,
    client_saturated::rule,
    rate_not_kept::rule,
    client_paused::rule,
    shared_cores::rule,
    burst_credit::rule,
    busy_while_waiting::rule,
    connections_lost::rule,
    host_noise::rule,
    swapping::rule,
    no_block_used::rule,
    not_replicated::rule,
    not_steady::rule,
    regime_change::rule,
    quick_mode::rule,
];

/// Everything that all rules find, gravest first.
pub fn audit(assessment: &Assessment) -> Vec<Found> {
    let others = OTHERS.iter().flat_map(|rule| rule(assessment.record, assessment));
    let mut found: Vec<Found> = assessment.lasting().iter().cloned().chain(others).collect();
    found.sort_by_key(|found| (Reverse(found.finding.severity), found.finding.id));
    found
}

/// The findings that no further block would lift.
pub fn lasting(assessment: &Assessment) -> Vec<Found> {
    LASTING.iter().flat_map(|rule| rule(assessment.record, assessment)).collect()
}

/// Whether these findings take away the verdict on every variant.
pub fn veto_all(record: &StudyRecord, found: &[Found]) -> bool {
    (BASELINE + 1..record.study.variants.len()).all(|variant| found.iter().any(|found| found.vetoes(variant)))
}

/// A rule about one load by itself.
pub type LoadRule = fn(&LoadRecord) -> Option<Found>;

const OF_A_LOAD: [LoadRule; 7] = [
    out_of_ports::rule,
    errors::of_a_load,
    client_saturated::of_a_load,
    rate_not_kept::of_a_load,
    stall::rule,
    coordinated_omission::rule,
    too_short::rule,
];

/// Everything that the rules for a load by itself find, gravest first.
pub fn audit_load(load: &LoadRecord) -> Vec<Finding> {
    let mut found: Vec<Finding> = OF_A_LOAD.iter().filter_map(|rule| Some(rule(load)?.finding)).collect();
    found.sort_by_key(|finding| Reverse(finding.severity));
    found
}

/// The page on a rule, Markdown: what it means, how it is decided, what to do.
pub fn explain(id: FindingId) -> &'static str {
    macro_rules! page {
        ($name:literal) => {
            include_str!(concat!("../../../../docs/findings/", $name, ".md"))
        };
    }
    match id {
        FindingId::ResponsesDiffer => page!("responses-differ"),
        FindingId::Errors => page!("errors"),
        FindingId::TrialFailed => page!("trial-failed"),
        FindingId::MemoryLimitHit => page!("memory-limit-hit"),
        FindingId::TearDownFailed => page!("tear-down-failed"),
        FindingId::SettingNotEffective => page!("setting-not-effective"),
        FindingId::SettingRefused => page!("setting-refused"),
        FindingId::SettingInert => page!("setting-inert"),
        FindingId::SettingUnknown => page!("setting-unknown"),
        FindingId::SettingIsDefault => page!("setting-is-default"),
        FindingId::SettingUnverified => page!("setting-unverified"),
        FindingId::AssertionFailed => page!("assertion-failed"),
        FindingId::OptionsOverwritten => page!("options-overwritten"),
        FindingId::PoolTooSmall => page!("pool-too-small"),
        FindingId::Confounded => page!("confounded"),
        FindingId::ClientSaturated => page!("client-saturated"),
        FindingId::RateNotKept => page!("rate-not-kept"),
        FindingId::ClientPaused => page!("client-paused"),
        FindingId::SharedCores => page!("shared-cores"),
        FindingId::BurstCredit => page!("burst-credit"),
        FindingId::BusyWhileWaiting => page!("busy-while-waiting"),
        FindingId::ConnectionsLost => page!("connections-lost"),
        FindingId::HostNoise => page!("host-noise"),
        FindingId::Swapping => page!("swapping"),
        FindingId::NoBlockUsed => page!("no-block-used"),
        FindingId::NotReplicated => page!("not-replicated"),
        FindingId::NotSteady => page!("not-steady"),
        FindingId::RegimeChange => page!("regime-change"),
        FindingId::QuickMode => page!("quick-mode"),
        FindingId::TooShort => page!("too-short"),
        FindingId::Stall => page!("stall"),
        FindingId::CoordinatedOmission => page!("coordinated-omission"),
        FindingId::OutOfPorts => page!("out-of-ports"),
    }
}

/// A variant's name, for subjects.
fn name(record: &StudyRecord, variant: VariantIndex) -> &str {
    record.study.variants.get(variant).map_or("?", |variant| variant.name.as_str())
}

/// A cell's name, for subjects.
fn cell_name(record: &StudyRecord, cell: usize) -> String {
    record.plan.cells.get(cell).map_or_else(|| "?".to_owned(), |cell| cell.name(&record.study.workloads))
}

/// The recorded trials of a variant, pilots included.
fn launches(record: &StudyRecord, variant: VariantIndex) -> impl Iterator<Item = &TrialRecord> {
    record.trials.iter().filter(move |trial| trial.variant == variant)
}

/// What was measured of a cell in the launches of a variant that ended well.
fn measured(record: &StudyRecord, variant: VariantIndex, cell: CellIndex) -> Vec<&CellRecord> {
    launches(record, variant)
        .filter(|trial| trial.outcome == Outcome::Completed)
        .flat_map(|trial| trial.cells.iter().filter(|measured| measured.cell == cell))
        .collect()
}

fn percent(fraction: f64) -> String {
    format!("{:.1} %", fraction * 100.0)
}

#[cfg(test)]
pub(crate) mod testing {
    use model::load::Transport;

    use super::*;
    use crate::Boundaries;

    /// What a rule finds: severities and subjects.
    pub fn found(rule: Rule, record: &StudyRecord) -> Vec<(Severity, String)> {
        let boundaries = Boundaries::standard();
        let found = rule(record, &crate::assess(record, &boundaries));
        found.into_iter().map(|found| (found.finding.severity, found.finding.subject)).collect()
    }

    /// A load of so many seconds in a closed loop of ten, at so many good answers a second, each after 5 ms.
    pub fn load(seconds: u32, rate: u32) -> LoadRecord {
        let sample = |second: u32| {
            let mut service = model::Histogram::new();
            (0..rate).for_each(|_| service.record(5_000));
            model::Sample {
                start_s: f64::from(second),
                round: 0,
                length_s: 1.0,
                tally: model::Tally { good: rate.into(), ..model::Tally::default() },
                bins: vec![rate / 10; 10],
                service,
                open: None,
                walked: None,
                bytes: 0,
                client_cpu_s: 0.1,
                server: None,
                host: None,
            }
        };
        LoadRecord {
            url: "http://127.0.0.1:8080/".into(),
            followed: Vec::new(),
            redirects_to: None,
            method: Some("GET".into()),
            addresses: Vec::new(),
            transport: Transport { http: "HTTP/1.1".into(), tls: None },
            connections: 10,
            threads: 1,
            backend: model::Backend::Epoll,
            kernel_time: true,
            arrivals: model::Arrivals::default(),
            status: Some(200),
            length: Some(20),
            scenario: None,
            abandoned: 0,
            samples: (0..seconds).map(sample).collect(),
        }
    }

    /// The gravest severity that a rule finds.
    pub fn gravest(rule: Rule, record: &StudyRecord) -> Option<Severity> {
        found(rule, record).into_iter().map(|(severity, _)| severity).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Boundaries, fixture};

    #[test]
    fn a_clean_study_has_no_findings() {
        let boundaries = Boundaries::standard();
        for record in [fixture::record(6, 0.0), fixture::record(9, 0.05), fixture::open(9, 0.05)] {
            assert_eq!(audit(&crate::assess(&record, &boundaries)), []);
        }
    }

    #[test]
    fn a_clean_load_has_no_findings_and_the_gravest_comes_first() {
        assert_eq!(audit_load(&testing::load(40, 1_000)), []);
        let mut load = testing::load(20, 1_000);
        load.samples.iter_mut().for_each(|sample| sample.client_cpu_s = 0.9);
        let ids: Vec<FindingId> = audit_load(&load).into_iter().map(|finding| finding.id).collect();
        assert_eq!(ids, [FindingId::ClientSaturated, FindingId::TooShort]);
    }

    #[test]
    fn every_rule_has_a_page_that_tells_the_three_things() {
        for id in FindingId::ALL {
            let page = explain(id);
            assert!(page.starts_with(&format!("# {}\n", id.name())), "{}", id.name());
            for heading in ["## What it means", "## How it is decided", "## What to do"] {
                assert!(page.contains(heading), "{}: {heading}", id.name());
            }
        }
    }

    #[test]
    fn the_gravest_comes_first_and_a_baselines_veto_counts_for_all() {
        let mut record = fixture::record(6, 0.0);
        record.plan.mode = model::Mode::Quick;
        record
            .trials
            .iter_mut()
            .filter(|t| t.variant == 0)
            .for_each(|t| t.settings[0].result = model::SettingResult::Overridden);
        let boundaries = Boundaries::standard();
        let found = audit(&crate::assess(&record, &boundaries));
        assert_eq!(found[0].finding.id, FindingId::SettingNotEffective);
        assert_eq!(found.last().unwrap().finding.id, FindingId::QuickMode);
        assert!(found[0].vetoes(1) && !found.last().unwrap().vetoes(1));
    }
}
