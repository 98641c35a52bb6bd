//! What makes a result untrue, or limits it: one rule a file, with its page of `docs/findings`. [`RULES`] lists them.

mod assertion_failed;
mod below_noise;
mod burst_credit;
mod busy_while_waiting;
mod client_paused;
mod client_saturated;
mod compare_matched_window;
pub mod confounded;
mod connections_lost;
mod coordinated_omission;
mod count_is_drop_time;
mod error_burst;
mod errors;
mod evidence;
mod host_noise;
mod latency_drift;
mod limit_not_found;
mod memory_leak;
mod memory_limit_hit;
mod mixed_success_codes;
mod never_sent;
mod no_block_used;
mod not_replicated;
mod not_steady;
mod one_number_twice;
mod options_overwritten;
mod out_of_ports;
mod pair;
mod pool_too_small;
mod quick_mode;
mod rate_not_kept;
mod regime_change;
mod resource_leak;
mod responses_differ;
mod rise;
mod rule;
mod server_state;
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
mod table_units;
mod tear_down_failed;
mod timeout_pileup;
mod too_short;
mod tool_warning;
mod trial_failed;
mod warmup_included;

use std::cmp::Reverse;

use model::imported::{
    AuditedPair, AuditedRun, AuditedSeries, AuditedSettings, HostOfRun, ImportedRun, RunOfSeries, Settings, Silence,
    Support,
};
use model::{Finding, LoadRecord, Severity, Soaked};

use crate::assess::Assessment;
use crate::effective::{in_effect, overwritten};
use crate::levels::levels;
use crate::matched::is_seen_in_one_run;
use crate::series;
use crate::step::Stop;
use pair::Pair;
use rule::{Check, Context, Imported, InEffect, SeriesOfRuns};

pub use client_saturated::is_client_the_limit;
pub use rule::{Rule, veto_all, vetoes, vetoing};

/// All rules. Findings that are equally grave stand in this order.
pub const RULES: &[Rule] = &[
    responses_differ::RULE,
    out_of_ports::RULE,
    errors::RULE,
    error_burst::RULE,
    mixed_success_codes::RULE,
    timeout_pileup::RULE,
    trial_failed::RULE,
    memory_limit_hit::RULE,
    memory_leak::RULE,
    resource_leak::RULE,
    latency_drift::RULE,
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
    server_state::RULE,
    client_saturated::RULE,
    rate_not_kept::RULE,
    limit_not_found::RULE,
    client_paused::RULE,
    shared_cores::RULE,
    burst_credit::RULE,
    busy_while_waiting::RULE,
    connections_lost::RULE,
    host_noise::RULE,
    swapping::RULE,
    no_block_used::RULE,
    not_replicated::RULE,
    compare_matched_window::RULE,
    below_noise::RULE,
    not_steady::RULE,
    regime_change::RULE,
    warmup_included::RULE,
    count_is_drop_time::RULE,
    quick_mode::RULE,
    stall::RULE,
    coordinated_omission::RULE,
    too_short::RULE,
    table_units::RULE,
    one_number_twice::RULE,
    never_sent::RULE,
    tool_warning::RULE,
];

/// Everything that all rules find in a run that has ended so, or may go on; gravest first.
pub fn audit(assessment: &Assessment, end: Option<&Stop>) -> Vec<Finding> {
    let context = Context { assessment, lasting: lasting(assessment), end };
    let of_rule = |rule: &Rule| {
        let lasting = context.lasting.iter().filter(|finding| finding.id == rule.id).cloned();
        let others = rule.checks.iter().filter_map(|check| check.of_run(assessment, &context)).flatten();
        lasting.chain(others).collect::<Vec<_>>()
    };
    gravest_first(RULES.iter().flat_map(of_rule).collect())
}

/// The findings that no further block would lift.
pub fn lasting<'a>(assessment: &'a Assessment) -> &'a [Finding] {
    let looks = || checks().filter_map(|check| if let Check::Lasting(look) = check { Some(look) } else { None });
    assessment.lasting.get_or_init(|| looks().flat_map(|look| look(assessment.record, assessment)).collect())
}

/// Everything that all rules find in a load by itself, gravest first.
pub fn audit_load(load: &LoadRecord) -> Vec<Finding> {
    gravest_first(checks().filter_map(|check| if let Check::Load(look) = check { look(load) } else { None }).collect())
}

/// Everything that all rules find in soaks, gravest first.
pub fn audit_soaks(soaks: &[Soaked]) -> Vec<Finding> {
    let looks = || checks().filter_map(|check| if let Check::Soak(look) = check { Some(look) } else { None });
    gravest_first(soaks.iter().flat_map(|soak| looks().flat_map(move |look| look(soak))).collect())
}

/// The checks of all rules.
fn checks() -> impl Iterator<Item = &'static Check> {
    RULES.iter().flat_map(|rule| rule.checks)
}

/// Everything that all rules find in an imported run with the logs of its machines, gravest first, and what it supports.
pub fn audit_imported(run: ImportedRun, hosts: Vec<HostOfRun>) -> AuditedRun {
    let levels = levels(&run);
    let imported = Imported { run: &run, levels: &levels, hosts: &hosts };
    let (findings, silent) = heard(|check| match check {
        Check::Imported { needs, look } => Some(needs.lack(&run, &hosts).map_or_else(|| Ok(look(&imported)), Err)),
        Check::NoImport(lacks) => Some(Err((*lacks).to_owned())),
        _ => None,
    });
    // Without levels nobody knows whether its speed changed.
    let support = support(&findings, !levels.is_empty());
    AuditedRun { support, levels, hosts, findings, silent, run, settings: Vec::new() }
}

/// Everything that all rules find in the second of two imported runs against the first, gravest first, and what the comparison
/// supports.
pub fn audit_pair(runs: [&AuditedRun; 2]) -> AuditedPair {
    let pair = Pair::of(runs);
    let (findings, silent) = heard(|check| match check {
        Check::Pair { needs, look } => Some(pair.lack(*needs).map_or_else(|| Ok(look(&pair)), Err)),
        _ => None,
    });
    // Between none and one that is too small to be seen there is no direction.
    let has_direction =
        pair.matched.and_then(|matched| matched.speed()).is_some_and(|speed| is_seen_in_one_run(&speed));
    let support = support(&findings, has_direction);
    let Pair { totals, matched, ref options, .. } = pair;
    AuditedPair { files: pair.files(), totals, matched, support, findings, silent, options: options.clone() }
}

/// What the checks of all rules find, gravest first, and those that lack something. `hear` gives neither for a check of something else.
fn heard(hear: impl Fn(&Check) -> Option<Result<Option<Finding>, String>>) -> (Vec<Finding>, Vec<Silence>) {
    let (mut findings, mut silent) = (Vec::new(), Vec::new());
    for rule in RULES {
        for heard in rule.checks.iter().filter_map(&hear) {
            match heard {
                Ok(found) => findings.extend(found),
                Err(lacks) => silent.push(Silence { id: rule.id.clone(), lacks }),
            }
        }
    }
    (gravest_first(findings), silent)
}

/// What is in effect at the end of a file of settings, and everything that all rules find in it.
pub fn audit_settings(settings: Settings) -> AuditedSettings {
    let (options, overwritten) = (in_effect(&settings), overwritten(&settings));
    let in_effect = InEffect { options: &options, overwritten: &overwritten };
    let look = |check: &Check| if let Check::Settings(look) = check { look(&in_effect) } else { None };
    let findings = gravest_first(checks().filter_map(look).collect());
    AuditedSettings { settings, in_effect: options, findings }
}

/// What results support with these findings, and with a speed or direction that they show or without one.
fn support(findings: &[Finding], is_shown: bool) -> Support {
    if findings.iter().any(|finding| finding.severity == Severity::Invalid) {
        Support::NotSupported
    } else if is_shown {
        Support::DirectionOnly
    } else {
        Support::CannotTell
    }
}

/// What imported runs of one kind say together, and what all rules find in them. `name` is what their files' names have in common, if that is
/// what makes them a series.
pub fn audit_series(name: Option<String>, audited: &[AuditedRun]) -> AuditedSeries {
    let in_order = series::in_order(audited);
    let (ranking, failing) = series::ranking(&in_order);
    let runs: Vec<RunOfSeries> = in_order.into_iter().map(|(run, _)| run).collect();
    let scatter = series::scatter(&runs);
    let of_runs = SeriesOfRuns { runs: &runs, scatter: &scatter };
    let (findings, silent) = heard(|check| if let Check::Series(look) = check { Some(look(&of_runs)) } else { None });
    AuditedSeries { name, scatter, ranking, failing, findings, silent, runs }
}

fn gravest_first(mut found: Vec<Finding>) -> Vec<Finding> {
    found.sort_by_key(|finding| Reverse(finding.severity));
    found
}

#[cfg(test)]
pub(crate) mod testing {
    use indexmap::IndexMap;
    use model::imported::{
        Fall, Fidelity, HostLog, HostOfRun, HostSample, HostShares, HostTimes, ImportedRun, Interval, Lines, Placed,
        Requests, RunOfSeries, Settings, SpeedLevel, Stated, Support,
    };
    use model::load::Transport;
    use model::soaked::SoakEnd;
    use model::{Finding, Gauge, LoadRecord, Severity, Soaked, StudyRecord};

    use super::rule::{Context, OfRun, OfWhole, Rule};
    use crate::{Boundaries, next};

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

    /// A run of ten users that ends as many requests in each second.
    pub fn imported(seconds: usize, rate: u64) -> ImportedRun {
        let good = seconds as u64 * rate;
        ImportedRun {
            file: "a.jtl".into(),
            format: "jtl".into(),
            tool: "JMeter".into(),
            fidelity: Fidelity::Samples,
            url: None,
            users: Some(10),
            has_counted_users: false,
            began_ms: Some(0),
            has_local_time: false,
            seconds: seconds as f64,
            all: Requests { good, ..Requests::default() },
            labels: IndexMap::new(),
            interval_s: 1.0,
            intervals: vec![Interval { good: rate, users: 10, ..Interval::default() }; seconds],
            stated_quantiles: Vec::new(),
            stated: Stated::default(),
            warnings: Vec::new(),
            lines: Lines { read: good, ..Lines::default() },
        }
    }

    /// A log of a machine of two processors that is idle but for such steal in each second.
    pub fn host_log(times: HostTimes, seconds: usize, steal: impl Fn(usize) -> f64) -> HostLog {
        let sample = |second: usize| {
            let steal = steal(second);
            let shares = HostShares { steal, idle: 1.0 - steal, ..HostShares::default() };
            HostSample { start_s: second as f64, length_s: 1.0, shares }
        };
        HostLog {
            file: "mpstat.txt".into(),
            tool: "mpstat".into(),
            processors: Some(2),
            times,
            samples: (0..seconds).map(sample).collect(),
            lines: Lines::default(),
        }
    }

    /// The same beside a run that began with it.
    pub fn host(seconds: usize, steal: impl Fn(usize) -> f64) -> HostOfRun {
        let HostLog { file, tool, processors, samples, .. } = host_log(HostTimes::Since(0), seconds, steal);
        let mean = HostShares::mean(samples.iter().map(|sample| (sample.shares, sample.length_s))).unwrap();
        HostOfRun { file, tool, processors, placed: Placed::ByTime, covers: Some(1.0), mean, samples }
    }

    /// What a rule finds in a file of settings.
    pub fn in_settings(rule: &Rule, settings: Settings) -> Option<Finding> {
        super::audit_settings(settings).findings.into_iter().find(|finding| finding.id == rule.id)
    }

    /// What a rule finds in the second of two imported runs against the first.
    pub fn in_pair(rule: &Rule, runs: [ImportedRun; 2]) -> Option<Finding> {
        let [first, second] = runs.map(|run| super::audit_imported(run, Vec::new()));
        super::audit_pair([&first, &second]).findings.into_iter().find(|finding| finding.id == rule.id)
    }

    /// A run of a series that began at 7.5/s after it had idled so long, and fell to a part of that.
    pub fn falling(idle_s: Option<f64>, after_s: f64, left: f64) -> RunOfSeries {
        let rate = 7.5 * left;
        RunOfSeries {
            file: "a.jtl".into(),
            name: "a".into(),
            began_ms: Some(0),
            has_local_time: false,
            idle_s,
            seconds: 14_400.0,
            users: Some(50),
            requests: (7.5 * after_s + rate * (14_400.0 - after_s)) as u64,
            good: (7.5 * after_s + rate * (14_400.0 - after_s)) as u64,
            failed_share: 0.0,
            settled: Some(SpeedLevel { from_s: 1.0, to_s: after_s, rate: 7.5 }),
            fall: Some(Fall { after_s, rate, left, is_only: true }),
            support: Support::NotSupported,
        }
    }

    /// Four hours of a variant that answers ten requests a second, of which one thing went so (by hours).
    pub fn soaked(gauge: Gauge, value: impl Fn(f64) -> f64) -> Soaked {
        const SECONDS: f64 = 14_400.0;
        let middle = |window: u32| f64::from(window) * 15.0 + 7.5;
        let points = (0..960).map(middle).map(|at| [at, value(at / 3_600.0)]).collect();
        Soaked {
            variant: 0,
            seconds: SECONDS,
            end: SoakEnd::Completed,
            warm_up_s: 60.0,
            steady_at_s: Some(40.0),
            requests: 144_000,
            failed_share: 0.0,
            too_short: None,
            courses: vec![crate::course(gauge, points, SECONDS)],
        }
    }

    /// The values of a finding's facts, as printed.
    pub fn values(finding: &Finding) -> Vec<String> {
        finding.facts.iter().map(|fact| fact.value.to_string()).collect()
    }

    /// What a rule finds that judges a run as a whole.
    pub(super) fn of_whole(rule: OfWhole, record: &StudyRecord) -> Vec<Finding> {
        let boundaries = Boundaries::standard();
        let assessment = &crate::assess(record, &boundaries);
        let lasting = super::lasting(assessment);
        rule(record, &Context { assessment, lasting, end: next::end(assessment) })
    }

    /// The gravest severity that a rule finds.
    pub fn gravest(rule: OfRun, record: &StudyRecord) -> Option<Severity> {
        found(rule, record).into_iter().map(|(severity, _)| severity).max()
    }
}

#[cfg(test)]
mod tests {
    use model::{FindingId, Severity, StudyRecord};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::boundaries::normal;
    use crate::{Boundaries, fixture, next};

    fn audited(record: &StudyRecord) -> Vec<Finding> {
        let boundaries = Boundaries::standard();
        let assessment = crate::assess(record, &boundaries);
        audit(&assessment, next::end(&assessment))
    }

    #[test]
    fn every_rule_that_looks_at_results_of_other_tools_is_named_where_they_are_described() {
        let described = include_str!("../../../../docs/audit.md");
        let is_of_imported =
            |check: &Check| matches!(check, Check::Imported { .. } | Check::Pair { .. } | Check::Series(_));
        for rule in RULES.iter().filter(|rule| rule.checks.iter().any(is_of_imported)) {
            let link = format!("[{0}](findings/{0}.md)", rule.id.name());
            assert!(described.contains(&link), "docs/audit.md lacks {link}");
        }
    }

    #[test]
    fn a_clean_study_has_no_findings() {
        for record in [fixture::record(6, 0.0), fixture::record(9, 0.05), fixture::open(9, 0.05)] {
            assert_eq!(audited(&record), []);
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

    /// A file of four hours that began after so many hours, at 7.5/s with some noise until its fall.
    fn simulated(number: u32, began_h: f64, falls_after_s: Option<usize>, rng: &mut ChaCha8Rng) -> AuditedRun {
        let mut run = testing::imported(14_400, 7);
        (run.file, run.began_ms) = (format!("old/run-{number}.jtl"), Some((began_h * 3.6e6) as i64));
        for (second, interval) in run.intervals.iter_mut().enumerate() {
            let rate = if falls_after_s.is_some_and(|at| second >= at) { 1.5 } else { 7.5 };
            // A whole number that is the rate in the mean.
            interval.good = (rate * (1.0 + 0.2 * normal(rng)).max(0.0) + rng.random::<f64>()).floor() as u64;
        }
        run.all.good = run.intervals.iter().map(|interval| interval.good).sum();
        audit_imported(run, Vec::new())
    }

    /// Runs that idle longer and longer before they begin, and fall the later for it.
    fn falling(n: u32, rng: &mut ChaCha8Rng) -> Vec<AuditedRun> {
        let run = |number: u32| {
            let before_h: f64 = (0..number).map(|earlier| 4.0 + f64::from(earlier + 1)).sum();
            simulated(number, before_h, Some(900 + 900 * number as usize), rng)
        };
        (0..n).map(run).collect()
    }

    #[test]
    fn a_series_with_a_planted_fall_is_seen_through() {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut runs = falling(6, &mut rng);
        runs.reverse();
        let series = audit_series(None, &runs);
        let ids: Vec<&str> = series.findings.iter().map(|finding| finding.id.name()).collect();
        assert_eq!(ids, ["count-is-drop-time", "burst-credit", "not-replicated"]);
        assert_eq!(series.silent, []);
        for (number, run) in series.runs.iter().enumerate() {
            let (fall, idle_h) = (run.fall.unwrap(), run.idle_s.map(|idle| (idle / 3_600.0).round() as usize));
            assert_eq!(run.name, format!("run-{number}"), "in order of time");
            assert!(fall.is_only && (fall.after_s - (900 + 900 * number) as f64).abs() <= 70.0, "{fall:?}");
            assert_eq!(idle_h, (number > 0).then_some(number));
        }
        let ranking = series.ranking.unwrap();
        assert_eq!((ranking.ranked.len(), ranking.ranked[0].name.as_str()), (6, "run-5"));
        assert!((ranking.window_s[1] - 900.0).abs() <= 70.0, "{ranking:?}");
        assert!(ranking.ranked.iter().all(|run| (run.rate / 7.5 - 1.0).abs() < 0.03), "{ranking:?}");
        assert!(series.scatter[0].variation < 0.02, "{:?}", series.scatter);
    }

    #[test]
    fn a_series_without_a_fall_is_ranked_as_its_totals_are() {
        let mut rng = ChaCha8Rng::seed_from_u64(12);
        let run = |number: u32| simulated(number, 5.0 * f64::from(number), None, &mut rng);
        let series = audit_series(Some("a".to_owned()), &(0..5).map(run).collect::<Vec<_>>());
        let ids: Vec<&str> = series.findings.iter().map(|finding| finding.id.name()).collect();
        assert_eq!(ids, ["not-replicated"]);
        assert_eq!(
            series.silent.iter().map(|silence| silence.id.name()).collect::<Vec<_>>(),
            ["burst-credit", "count-is-drop-time"]
        );
        assert!(series.ranking.unwrap().agreement.unwrap() > 0.8);
        assert!(series.runs.iter().all(|run| run.fall.is_none()));
    }

    #[test]
    fn a_series_of_summaries_has_nothing_to_rank() {
        let mut run = testing::imported(10, 60);
        run.intervals.clear();
        let series = audit_series(None, &[audit_imported(run, Vec::new())]);
        assert_eq!((series.ranking, series.findings.len(), series.silent.len()), (None, 0, 3));
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
        let found = audited(&record);
        assert_eq!(found[0].id, setting_not_effective::RULE.id);
        assert_eq!(found.last().unwrap().id, quick_mode::RULE.id);
        assert!(vetoes(&found[0], 1) && !vetoes(found.last().unwrap(), 1));
    }
}
