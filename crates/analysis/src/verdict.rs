//! The whole analysis of a record, and its judgement in words.

use model::report::{Judgement, SCHEMA_VERSION};
use model::{
    Comparison, Effect, Finding, FindingId, Interpretation, Metric, Mode, Report, StudyRecord, VariantIndex, Verdict,
};

use crate::audit::{self, Context, Found, confounded};
use crate::blocks;
use crate::boundaries::{Boundaries, FIRST_LOOK};
use crate::compare::{self, BASELINE, Primary};
use crate::{sequential, summary};

/// Analyses a record, finished or not, into everything that a report shows.
pub fn analyse(record: &StudyRecord, boundaries: &Boundaries) -> Report {
    let context = Context::new(record, boundaries);
    let found = audit::audit(record, &context);
    let comparisons = compare::comparisons(record, &context.blocks, boundaries);
    let used = blocks::used(&context.blocks).count();
    let judgements = (BASELINE + 1..record.study.variants.len())
        .map(|variant| judge(record, &comparisons, &found, used, variant))
        .collect();
    Report {
        schema: SCHEMA_VERSION,
        version: record.version.clone(),
        run: record.run.clone(),
        started: record.started.clone(),
        name: record.study.name.clone(),
        question: record.study.question.clone(),
        mode: record.plan.mode,
        judgements,
        limits: limits(record, &comparisons),
        variants: summary::variants(record),
        cells: summary::cells(record),
        primary: record.study.decide.primary,
        rope: record.study.decide.rope,
        measurements: summary::measurements(record, &context.blocks),
        blocks: summary::blocks(record, &context.blocks),
        warm_ups: summary::warm_ups(record),
        warm_up_cut: record.warm_up_cut,
        findings: found.into_iter().map(|found| found.finding).collect::<Vec<Finding>>(),
        host: record.host.clone(),
        differences: confounded::differences(record),
        reproduce: summary::reproduce(record),
        comparisons,
    }
}

fn judge(
    record: &StudyRecord,
    comparisons: &[Comparison],
    found: &[Found],
    used: usize,
    variant: VariantIndex,
) -> Judgement {
    let primary = comparisons.iter().find(|c| c.role == model::Role::Primary && c.variant == variant);
    let mut vetoes: Vec<FindingId> =
        found.iter().filter(|found| found.vetoes(variant)).map(|found| found.finding.id).collect();
    vetoes.sort_unstable();
    vetoes.dedup();
    let verdict = match primary {
        _ if !vetoes.is_empty() => Verdict::Invalid { findings: vetoes },
        Some(primary) => weigh(record, primary, used),
        None => undecided(record, None, used),
    };
    let names = [variant, BASELINE].map(|index| record.study.variants[index].name.as_str());
    let sentence = sentence(record, &verdict, names) + &quick_caveat(record, &verdict);
    Judgement { variant, verdict, sentence }
}

/// The verdict that the primary comparison supports where nothing vetoes it.
fn weigh(record: &StudyRecord, primary: &Comparison, used: usize) -> Verdict {
    match (primary.effect, primary.interpretation) {
        (Some(effect), Interpretation::Better) => Verdict::Better { effect },
        (Some(effect), Interpretation::Worse) => Verdict::Worse { effect },
        (Some(effect), Interpretation::Equivalent) => Verdict::Equivalent { effect },
        (effect, _) => undecided(record, effect, used),
    }
}

fn undecided(record: &StudyRecord, effect: Option<Effect>, used: usize) -> Verdict {
    let schedule = &record.plan.schedule;
    let primary = Primary::of(record);
    let least = FIRST_LOOK.max(schedule.min_blocks as usize);
    let reason = if compare::is_tail(primary.metric) {
        format!(
            "A closed loop gives no verdict on {}: while the server stalls, its users wait and ask nothing.",
            primary.metric
        )
    } else if used < least {
        format!(
            "{} of at least {least} blocks could be used.",
            if used == 0 { "None".to_owned() } else { used.to_string() }
        )
    } else if effect.is_none() {
        format!("{} could not be measured in enough blocks.", primary.metric)
    } else if used < schedule.max_blocks as usize {
        format!("The run ended after {used} blocks, before the interval was decided.")
    } else {
        format!("All {used} blocks were used and the interval is still undecided.")
    };
    Verdict::Inconclusive { effect, needs: sequential::needs(effect.as_ref(), primary.margin, reason) }
}

/// The verdict as a sentence; `names` are the variant's and the baseline's.
fn sentence(record: &StudyRecord, verdict: &Verdict, names: [&str; 2]) -> String {
    let metric = record.study.decide.primary;
    let cell = record.study.decide.cell.as_ref().filter(|_| metric.is_per_cell());
    let at = cell.map_or_else(String::new, |cell| format!(" at {cell}"));
    let rope = number(record.study.decide.rope * 100.0);
    let [name, baseline] = names;
    match verdict {
        Verdict::Better { effect } | Verdict::Worse { effect } => {
            let reach = effect.overlaps(sequential::margin(record.study.decide.rope));
            let caveat = if reach {
                format!("; the interval reaches into ±{rope} %, so the difference may be too small to matter")
            } else {
                String::new()
            };
            format!("{}{at} {}, {} blocks{caveat}", difference(metric, effect, names), size_span(effect), effect.blocks)
        }
        Verdict::Equivalent { effect } => format!(
            "{name} and {baseline} are equivalent within ±{rope} %{at}: {} {}, {} blocks",
            signed(effect.estimate),
            signed_span(effect),
            effect.blocks
        ),
        Verdict::Inconclusive { effect: Some(effect), needs } => {
            let more = needs
                .blocks
                .filter(|_| !compare::is_tail(metric))
                .map_or_else(String::new, |blocks| format!(" To settle it would take about {blocks} blocks."));
            let direction = if metric.polarity() == model::Polarity::HigherIsBetter {
                "higher is better"
            } else {
                "lower is better"
            };
            format!(
                "{name} against {baseline} is undecided{at}: {metric} {} {} ({direction}), {} blocks. {}{more}",
                signed(effect.estimate),
                signed_span(effect),
                effect.blocks,
                needs.reason
            )
        }
        Verdict::Inconclusive { effect: None, needs } => {
            format!("{name} against {baseline} is undecided: {}", needs.reason)
        }
        Verdict::Invalid { findings } => {
            let names: Vec<&str> = findings.iter().map(|id| id.name()).collect();
            format!("{name} against {baseline} is no valid comparison, so there is no verdict: {}", names.join(", "))
        }
    }
}

/// What the sentence of a quick run must not be read without.
fn quick_caveat(record: &StudyRecord, verdict: &Verdict) -> String {
    let measured = matches!(verdict, Verdict::Better { .. } | Verdict::Worse { .. } | Verdict::Equivalent { .. });
    match record.warm_up_cut {
        Some(cut) if measured && record.plan.mode == Mode::Quick => {
            format!(" (quick run: after only {:.0} s of warm-up)", cut.seconds)
        }
        _ => String::new(),
    }
}

/// "on is 4.8 % faster than off", whatever the metric.
fn difference(metric: Metric, effect: &Effect, [name, baseline]: [&str; 2]) -> String {
    let (up, down) = metric.comparatives();
    let word = if effect.estimate > 0.0 { up } else { down };
    let size = format!("{} %", size(effect.estimate));
    match metric {
        Metric::Throughput => format!("{name} is {size} {word} than {baseline}"),
        Metric::P50 => format!("the median service time of {name} is {size} {word} than that of {baseline}"),
        Metric::P90 => {
            format!("the 90th percentile of service time of {name} is {size} {word} than that of {baseline}")
        }
        Metric::P99 => {
            format!("the 99th percentile of service time of {name} is {size} {word} than that of {baseline}")
        }
        Metric::CpuPerRequest => format!("{name} needs {size} {word} CPU per request than {baseline}"),
        Metric::StartUp => format!("{name} is ready {size} {word} than {baseline}"),
        Metric::Memory => format!("{name} needs {size} {word} memory than {baseline}"),
    }
}

/// The size of a log ratio in per cent.
fn size(log_ratio: f64) -> String {
    number((Effect::fraction(log_ratio) * 100.0).abs())
}

fn signed(log_ratio: f64) -> String {
    let percent = Effect::fraction(log_ratio) * 100.0;
    let sign = if percent < -0.05 { "−" } else { "+" };
    format!("{sign}{} %", number(percent.abs()))
}

/// The interval of a difference whose direction the sentence names: sizes, smaller first.
fn size_span(effect: &Effect) -> String {
    let (near, far) = if effect.estimate > 0.0 { (effect.low, effect.high) } else { (effect.high, effect.low) };
    format!("[{}, {}]", size(near), size(far))
}

fn signed_span(effect: &Effect) -> String {
    let bound = |log_ratio| signed(log_ratio).trim_end_matches(" %").to_owned();
    format!("[{}, {}]", bound(effect.low), bound(effect.high))
}

/// One decimal, none where it is zero.
fn number(value: f64) -> String {
    format!("{value:.1}").trim_end_matches(".0").to_owned()
}

/// What the run cannot support.
fn limits(record: &StudyRecord, comparisons: &[Comparison]) -> Vec<String> {
    let mut limits = Vec::new();
    if record.plan.mode == Mode::Quick {
        limits.push(
            "This was a quick run: it sees large effects only, and says nothing about speed in the long run."
                .to_owned(),
        );
    }
    if let Some(cut) = record.warm_up_cut.filter(|cut| !cut.established) {
        limits.push(format!(
            "Speeds are those after {:.0} s of warm-up; that every variant is steady by then was not established.",
            cut.seconds
        ));
    }
    let shown = |metric| comparisons.iter().any(|comparison| comparison.metric == metric);
    if shown(Metric::P90) || shown(Metric::P99) {
        limits.push(
            "The load is a closed loop: percentiles are of service time, and no verdict on tail latency is given, because while \
             the server stalls its users wait and ask nothing."
                .to_owned(),
        );
    }
    if shown(Metric::Throughput) && shown(Metric::P50) {
        limits.push(
            "In a closed loop without think time mean latency is users / throughput (Little's law): throughput and latency \
             are one result, not two that confirm each other."
                .to_owned(),
        );
    }
    if comparisons.iter().any(|comparison| comparison.role == model::Role::Exploratory) {
        limits.push(
            "Comparisons other than the primary one are exploratory: each interval holds by itself, none is corrected for \
             their number. Take them as leads."
                .to_owned(),
        );
    }
    limits
}

#[cfg(test)]
mod tests {
    use model::{Setting, SettingResult, Severity};

    use super::*;
    use crate::fixture;

    fn analyse(record: &StudyRecord) -> Report {
        super::analyse(record, &Boundaries::standard())
    }

    fn effect(percent: [f64; 3]) -> Effect {
        let [low, estimate, high] = percent.map(|percent| (percent / 100.0_f64).ln_1p());
        Effect { estimate, low, high, blocks: 9, confidence: 0.95 }
    }

    fn say(metric: Metric, verdict: &Verdict) -> String {
        let mut record = fixture::empty(fixture::study(), Mode::Full);
        record.study.decide.primary = metric;
        sentence(&record, verdict, ["on", "off"])
    }

    #[test]
    fn sentences() {
        let better = |effect| Verdict::Better { effect };
        let up = effect([3.1, 4.8, 6.4]);
        let down = effect([-6.4, -4.8, -3.1]);
        let said = [
            say(Metric::Throughput, &better(up)),
            say(Metric::Throughput, &Verdict::Worse { effect: down }),
            say(Metric::Throughput, &better(effect([0.4, 2.0, 3.6]))),
            say(Metric::CpuPerRequest, &better(down)),
            say(Metric::P50, &better(down)),
            say(Metric::StartUp, &better(down)),
            say(Metric::Memory, &Verdict::Worse { effect: up }),
            say(Metric::Throughput, &Verdict::Equivalent { effect: effect([-1.1, -0.3, 0.6]) }),
            say(
                Metric::Throughput,
                &Verdict::Invalid { findings: vec![FindingId::ResponsesDiffer, FindingId::Errors] },
            ),
        ];
        insta::assert_snapshot!(said.join("\n"));
    }

    #[test]
    fn a_clear_difference() {
        let report = analyse(&fixture::record(9, 0.05));
        let judgement = &report.judgements[0];
        assert!(matches!(judgement.verdict, Verdict::Better { .. }), "{judgement:?}");
        assert!(judgement.sentence.starts_with("on is "), "{}", judgement.sentence);
        assert!(report.findings.is_empty());
        assert_eq!((report.variants.len(), report.cells.len(), report.measurements.len()), (2, 2, 4));
        assert_eq!((report.blocks.len(), report.warm_ups.len(), report.differences.len()), (9, 22, 1));
        assert!(report.limits.iter().any(|limit| limit.contains("Little's law")));
    }

    #[test]
    fn no_difference() {
        let report = analyse(&fixture::record(24, 0.0));
        assert!(matches!(report.judgements[0].verdict, Verdict::Equivalent { .. }), "{:?}", report.judgements);
    }

    #[test]
    fn polarity_decides_what_is_better() {
        let mut record = fixture::record(9, 0.05);
        record.study.decide.primary = Metric::CpuPerRequest;
        let judgement = &analyse(&record).judgements[0];
        assert!(matches!(judgement.verdict, Verdict::Better { effect } if effect.estimate < 0.0), "{judgement:?}");
    }

    #[test]
    fn too_few_blocks_give_no_verdict() {
        let report = analyse(&fixture::record(4, 0.5));
        assert!(matches!(report.judgements[0].verdict, Verdict::Inconclusive { effect: None, .. }));
        assert_eq!(report.judgements[0].sentence, "on against off is undecided: 4 of at least 5 blocks could be used.");
        assert!(report.findings.iter().any(|finding| finding.id == FindingId::NotReplicated));
    }

    #[test]
    fn nothing_stored_yet_is_no_error() {
        let report = analyse(&fixture::empty(fixture::study(), Mode::Quick));
        assert!(matches!(report.judgements[0].verdict, Verdict::Inconclusive { effect: None, .. }));
        assert!(report.blocks.is_empty());
    }

    #[test]
    fn a_tail_gets_no_verdict_in_a_closed_loop() {
        let mut record = fixture::record(9, 0.5);
        record.study.decide.primary = Metric::P90;
        let judgement = &analyse(&record).judgements[0];
        assert!(judgement.sentence.contains("no verdict on p90"), "{}", judgement.sentence);
        assert!(matches!(judgement.verdict, Verdict::Inconclusive { .. }));
    }

    #[test]
    fn a_veto_stands_whatever_the_numbers_say() {
        let mut record = fixture::record(9, 0.5);
        let settings = record.trials.iter_mut().filter(|t| t.variant == 1).flat_map(|t| &mut t.settings);
        settings.for_each(|setting: &mut Setting| setting.result = SettingResult::Overridden);
        let report = analyse(&record);
        let verdict = &report.judgements[0].verdict;
        assert_eq!(*verdict, Verdict::Invalid { findings: vec![FindingId::SettingNotEffective] });
        assert_eq!(report.findings[0].severity, Severity::Invalid);
    }

    #[test]
    fn another_variants_veto_spares_this_one() {
        let mut study = fixture::study();
        study.factors[0].levels.push("fast".to_owned());
        study.variants.push(fixture::variant("fast", "true"));
        let record = fixture::record_of(study, 9, 0.05, 0.01, 3);
        let boundaries = Boundaries::for_variants(3);
        let mut spoilt = record.clone();
        let settings = spoilt.trials.iter_mut().filter(|t| t.variant == 1).flat_map(|t| &mut t.settings);
        settings.for_each(|setting| setting.result = SettingResult::Overridden);
        let verdicts: Vec<&str> =
            super::analyse(&spoilt, &boundaries).judgements.iter().map(|j| j.verdict.word()).collect();
        assert_eq!(verdicts, ["invalid", "better"]);
    }

    /// Whole studies of one server against itself, through audit and verdict: seldom a difference, never an alarm.
    #[test]
    fn clean_studies_of_equal_variants() {
        let (mut different, studies) = (0, 60);
        for seed in 0..studies {
            let report = analyse(&fixture::record_of(fixture::study(), 12, 0.0, 0.01, seed));
            assert!(
                report.findings.iter().all(|finding| finding.severity != Severity::Invalid),
                "{:?}",
                report.findings
            );
            different +=
                u32::from(matches!(report.judgements[0].verdict, Verdict::Better { .. } | Verdict::Worse { .. }));
        }
        // Three standard errors above 5 % of 60.
        assert!(different <= 8, "{different}");
    }
}
