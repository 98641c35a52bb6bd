//! What makes a result untrue, or limits it: one rule a file, with its page of `docs/findings`. [`RULES`] lists them.

mod assertion_failed;
mod burst_credit;
mod busy_while_waiting;
mod client_paused;
mod client_saturated;
pub mod confounded;
mod connections_lost;
mod coordinated_omission;
mod errors;
mod host_noise;
mod memory_limit_hit;
mod no_block_used;
mod not_replicated;
mod not_steady;
mod options_overwritten;
mod out_of_ports;
mod pool_too_small;
mod quick_mode;
mod rate_not_kept;
mod regime_change;
mod responses_differ;
mod setting_inert;
mod setting_is_default;
mod setting_not_effective;
mod setting_refused;
mod setting_unknown;
mod setting_unverified;
mod settings;
mod shared_cores;
mod stall;
mod swapping;
mod tear_down_failed;
mod too_short;
mod trial_failed;

use std::cmp::Reverse;

use model::{
    CellIndex, CellRecord, Finding, FindingId, LoadRecord, Outcome, Severity, StudyRecord, Subject, TrialRecord,
    VariantIndex, text,
};

use crate::assess::Assessment;
use crate::compare::BASELINE;

/// How much more seldom than a verdict a veto that compares sides may be wrong: it takes a good result away, whatever the numbers say.
const RARER: usize = 10;

/// All rules. Findings that are equally grave stand in this order.
pub const RULES: &[Rule] = &[
    responses_differ::RULE,
    out_of_ports::RULE,
    errors::RULE,
    trial_failed::RULE,
    memory_limit_hit::RULE,
    tear_down_failed::RULE,
    setting_not_effective::RULE,
    setting_refused::RULE,
    setting_unknown::RULE,
    setting_is_default::RULE,
    setting_inert::RULE,
    setting_unverified::RULE,
    assertion_failed::RULE,
    options_overwritten::RULE,
    pool_too_small::RULE,
    confounded::RULE,
    client_saturated::RULE,
    rate_not_kept::RULE,
    client_paused::RULE,
    shared_cores::RULE,
    burst_credit::RULE,
    busy_while_waiting::RULE,
    connections_lost::RULE,
    host_noise::RULE,
    swapping::RULE,
    no_block_used::RULE,
    not_replicated::RULE,
    not_steady::RULE,
    regime_change::RULE,
    quick_mode::RULE,
    stall::RULE,
    coordinated_omission::RULE,
    too_short::RULE,
];

/// A rule: what it is called, what it may say, and what it looks at.
#[derive(Debug, Clone)]
pub struct Rule {
    /// What its findings are called.
    pub id: FindingId,
    /// How grave they are at most.
    pub gravest: Severity,
    /// The page on it, Markdown: what it means, an example, how it is decided, what to do.
    pub page: &'static str,
    checks: &'static [Check],
}

/// What a rule needs to look at, and its judgement on that: mostly nothing.
#[derive(Debug, Clone)]
enum Check {
    /// What is the same in every launch. Its vetoes stop a run at once: no further block would lift them.
    Lasting(OfRun),
    /// A run, as far as it has gone.
    Run(OfRun),
    /// One load by itself.
    Load(fn(&LoadRecord) -> Option<Finding>),
}

type OfRun = fn(&StudyRecord, &Assessment) -> Vec<Finding>;

impl Rule {
    fn found(&self, severity: Severity, subject: Subject, meaning: &str, remedy: &str) -> Finding {
        debug_assert!(severity <= self.gravest, "{}", self.id.name());
        let (meaning, remedy) = (meaning.to_owned(), remedy.to_owned());
        Finding { id: self.id.clone(), severity, subject, facts: Vec::new(), meaning, remedy }
    }
}

/// Everything that all rules find in a run, gravest first.
pub fn audit(assessment: &Assessment) -> Vec<Finding> {
    let of_rule = |rule: &Rule| {
        let lasting = assessment.lasting().iter().filter(|finding| finding.id == rule.id).cloned();
        let others = rule.checks.iter().flat_map(|check| match check {
            Check::Run(look) => look(assessment.record, assessment),
            Check::Lasting(_) | Check::Load(_) => Vec::new(),
        });
        lasting.chain(others).collect::<Vec<_>>()
    };
    gravest_first(RULES.iter().flat_map(of_rule).collect())
}

/// The findings that no further block would lift.
pub fn lasting(assessment: &Assessment) -> Vec<Finding> {
    let of_check = |check: &Check| match check {
        Check::Lasting(look) => look(assessment.record, assessment),
        Check::Run(_) | Check::Load(_) => Vec::new(),
    };
    RULES.iter().flat_map(|rule| rule.checks).flat_map(of_check).collect()
}

/// Everything that all rules find in a load by itself, gravest first.
pub fn audit_load(load: &LoadRecord) -> Vec<Finding> {
    let of_check = |check: &Check| match check {
        Check::Load(look) => look(load),
        Check::Lasting(_) | Check::Run(_) => None,
    };
    gravest_first(RULES.iter().flat_map(|rule| rule.checks).filter_map(of_check).collect())
}

fn gravest_first(mut found: Vec<Finding>) -> Vec<Finding> {
    found.sort_by_key(|finding| Reverse(finding.severity));
    found
}

/// Whether a finding takes away the verdict on `variant`: its own and the baseline's do, and those about no single variant.
pub fn vetoes(finding: &Finding, variant: VariantIndex) -> bool {
    let concerns = finding.subject.variant().is_none_or(|about| about == variant || about == BASELINE);
    finding.severity == Severity::Invalid && concerns
}

/// Whether these findings take away the verdict on every variant.
pub fn veto_all(record: &StudyRecord, found: &[Finding]) -> bool {
    (BASELINE + 1..record.study.variants.len()).all(|variant| found.iter().any(|finding| vetoes(finding, variant)))
}

/// The rules that take verdicts away by these findings, in their order.
pub fn vetoing<'a>(found: impl IntoIterator<Item = &'a Finding>) -> Vec<FindingId> {
    let mut rules: Vec<FindingId> = found.into_iter().map(|finding| finding.id.clone()).collect();
    rules.dedup();
    rules
}

/// With the last that the services of a trial wrote, unless it is shown already.
fn with_last_words(finding: Finding, trial: &TrialRecord, reported: &str) -> Finding {
    trial.service_logs.iter().fold(finding, |finding, (name, log)| match text::last_words(log, |_| true) {
        Some(last) if !reported.contains(&last) => finding.with(format!("service {name}'s last words"), last),
        _ => finding,
    })
}

/// A variant's name.
fn name(record: &StudyRecord, variant: VariantIndex) -> &str {
    record.study.variants.get(variant).map_or("?", |variant| variant.name.as_str())
}

/// A cell's name.
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

    /// What a rule finds: severities, and subjects in words.
    pub fn found(rule: OfRun, record: &StudyRecord) -> Vec<(Severity, String)> {
        let boundaries = Boundaries::standard();
        let names = record.names();
        let found = rule(record, &crate::assess(record, &boundaries));
        found.into_iter().map(|finding| (finding.severity, finding.subject.text(&names))).collect()
    }

    /// A load of so many seconds in a closed loop of ten, at so many good answers a second, each after 5 ms.
    pub fn load(seconds: u32, rate: u32) -> LoadRecord {
        let sample = |second: u32| {
            let mut service = model::Histogram::new();
            (0..rate).for_each(|_| service.record(5_000));
            model::Sample {
                start_s: f64::from(second),
                length_s: 1.0,
                tally: model::Tally { good: rate.into(), ..model::Tally::default() },
                bins: vec![rate / 10; 10],
                service,
                client_cpu_s: 0.1,
                ..model::Sample::default()
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

    /// The values of a finding's facts, as printed.
    pub fn values(finding: &Finding) -> Vec<String> {
        finding.facts.iter().map(|fact| fact.value.to_string()).collect()
    }

    /// The gravest severity that a rule finds.
    pub fn gravest(rule: OfRun, record: &StudyRecord) -> Option<Severity> {
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
        assert_eq!(ids, [client_saturated::RULE.id, too_short::RULE.id]);
    }

    #[test]
    fn every_rule_has_a_page_that_tells_the_four_things() {
        for Rule { id, gravest, page, .. } in RULES {
            assert!(page.starts_with(&format!("# {}\n", id.name())), "{}", id.name());
            for heading in ["## What it means", "## Example", "## How it is decided", "## What to do"] {
                assert!(page.contains(heading), "{}: {heading}", id.name());
            }
            let severity = page.split("\n\n").find(|part| part.starts_with("Severity: ")).unwrap();
            let said = [Severity::Note, Severity::Warning, Severity::Invalid].into_iter();
            assert_eq!(said.filter(|one| severity.contains(one.name())).max(), Some(*gravest), "{}", id.name());
        }
    }

    #[test]
    fn the_book_lists_every_rule_once() {
        let contents = include_str!("../../../../docs/SUMMARY.md");
        let listed: Vec<&str> = contents
            .lines()
            .filter_map(|line| line.trim().strip_prefix("- [")?.strip_suffix(".md)")?.split_once("](findings/"))
            .map(|(name, page)| if name == page { name } else { panic!("{name} leads to {page}") })
            .collect();
        let mut rules: Vec<&str> = RULES.iter().map(|rule| rule.id.name()).collect();
        rules.sort_unstable();
        assert_eq!(listed, rules);
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
        assert_eq!(found[0].id, setting_not_effective::RULE.id);
        assert_eq!(found.last().unwrap().id, quick_mode::RULE.id);
        assert!(vetoes(&found[0], 1) && !vetoes(found.last().unwrap(), 1));
    }
}
