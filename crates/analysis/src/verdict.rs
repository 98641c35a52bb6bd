//! The whole analysis of a record, and its judgement in words.

use std::time::Duration;

use model::report::{Judgement, SCHEMA_VERSION};
use model::{
    Arrivals, BASELINE, Comparison, Effect, FactValue, Finding, Interpretation, Launches, Metric, Mode, Report, Role,
    StudyRecord, Subject, VariantIndex, Verdict, text,
};

use crate::assess::Assessment;
use crate::audit::{self, confounded};
use crate::boundaries::FIRST_LOOK;
use crate::changepoint::SHORTEST;
use crate::compare::{self, Primary};
use crate::curve::{self, quick};
use crate::outlook::outlook;
use crate::step::Stop;
use crate::warming_up::warming_up;
use crate::way_out::way_out;
use crate::{cores, factorial, limit_summary, metrics, next, regimes, scalability, sequential, summary, why};

/// Characters of a fact that a sentence has room for.
const LONGEST_FACT: usize = 60;

/// Analyses a record, finished or not, into everything that a report shows. `goes_on` is the command that goes on with the run, where there is
/// one.
pub fn analyse(assessment: &Assessment, goes_on: Option<String>) -> Report {
    let record = assessment.record;
    let found = audit::audit(assessment, next::end(assessment));
    let numbers = metrics::launches(record);
    let mut comparisons = compare::comparisons(assessment, &numbers);
    let warming_up = warming_up(assessment);
    let curves = curve::curves(assessment, &comparisons, warming_up.as_ref());
    let phase = quick::Phase::of(assessment, &curves);
    let judgements = (BASELINE + 1..record.study.variants.len())
        .map(|variant| {
            let judgement = judge(assessment, &comparisons, &found, variant);
            let Some(phase) = &phase else { return judgement };
            let (verdict, sentence) = phase.reported(variant, judgement.verdict, judgement.sentence);
            Judgement { verdict, sentence, ..judgement }
        })
        .collect();
    let mut attribution = factorial::attribution(assessment);
    if let Some(phase) = &phase {
        phase.withhold(&mut comparisons, attribution.as_mut());
    }
    let cells = summary::cells(record);
    let launches = summary::launches(assessment, &numbers);
    let measurements = summary::measurements(assessment, &launches);
    Report {
        schema: SCHEMA_VERSION,
        version: record.version.clone(),
        run: record.run.clone(),
        started: record.started.clone(),
        name: record.study.name.clone(),
        question: record.study.question.clone(),
        mode: record.plan.mode,
        judgements,
        curves,
        limits: limits(record, &comparisons),
        variants: summary::variants(record),
        core_use: cores::core_use(record, &cells, &measurements),
        per_core: cores::per_core(assessment),
        cells,
        primary: record.study.decide.primary,
        rope: record.study.decide.rope,
        outlook: outlook(assessment),
        measurements,
        launches,
        found_limits: limit_summary::limit_summaries(assessment),
        attribution,
        scalability: scalability::scalability(assessment),
        blocks: summary::blocks(assessment),
        warm_ups: summary::warm_ups(record),
        warming_up,
        warm_up_length: record.warm_up_length,
        changed: regimes::changed(assessment).to_vec(),
        findings: found,
        host: record.host.clone(),
        differences: confounded::differences(record),
        reproduce: summary::reproduce(record, goes_on),
        why: why::why(record, &comparisons),
        comparisons,
    }
}

fn judge(assessment: &Assessment, comparisons: &[Comparison], found: &[Finding], variant: VariantIndex) -> Judgement {
    let record = assessment.record;
    let primary = comparisons.iter().find(|c| c.role == Role::Primary && c.variant == variant);
    let vetoing: Vec<&Finding> = found.iter().filter(|finding| audit::vetoes(finding, variant)).collect();
    let verdict = match primary {
        _ if !vetoing.is_empty() => Verdict::Invalid { findings: audit::vetoing(vetoing.iter().copied()) },
        Some(primary) => weigh(assessment, primary),
        None => inconclusive(assessment, None),
    };
    let names = record.compared(variant);
    let more = match &verdict {
        // The first finding is the first vetoing rule's.
        Verdict::Invalid { .. } => vetoing.first().map(|finding| fact(record, finding, names)),
        Verdict::Inconclusive { effect: Some(_), .. } if is_same(record, variant) => {
            Some("Both are the same server: whatever differs between them is chance.".to_owned())
        }
        Verdict::Inconclusive { effect: Some(effect), needs } => {
            Some(way_out(record, effect, needs.blocks, next::end(assessment).is_some()))
        }
        _ => None,
    };
    let sentence = sentence(record, &verdict, names, more.as_deref());
    Judgement { variant, verdict, sentence }
}

/// Whether a variant is launched as the baseline is: no number of blocks should find them different.
fn is_same(record: &StudyRecord, variant: VariantIndex) -> bool {
    let [own, baselines] = [variant, BASELINE].map(|index| &record.study.variants[index]);
    own.server == baselines.server && own.treatment == baselines.treatment
}

/// The verdict that the primary comparison supports where nothing vetoes it.
fn weigh(assessment: &Assessment, primary: &Comparison) -> Verdict {
    match (primary.effect, primary.interpretation) {
        (Some(effect), Interpretation::Better) => Verdict::Better { effect },
        (Some(effect), Interpretation::Worse) => Verdict::Worse { effect },
        (Some(effect), Interpretation::Equivalent) => Verdict::Equivalent { effect },
        (effect, _) => inconclusive(assessment, effect),
    }
}

fn inconclusive(assessment: &Assessment, effect: Option<Effect>) -> Verdict {
    let (record, used) = (assessment.record, assessment.used());
    let schedule = &record.plan.schedule;
    let primary = Primary::of(record);
    let least = FIRST_LOOK.max(schedule.min_blocks as usize);
    let reason = if !compare::is_judged(record, primary.metric, primary.cell) {
        format!(
            "A closed loop gives no verdict on {}: while the server stalls, its users wait and ask nothing.",
            primary.metric
        )
    } else if let Some(hopeless @ Stop::VariantFails { variant }) = next::end(assessment) {
        format!(
            "The run ended because {hopeless}, and a block counts only where every variant was measured. Mend {variant}, or \
             leave it out of the study, and run again."
        )
    } else if used < least {
        format!(
            "{} of at least {least} blocks could be used.",
            if used == 0 { "None".to_owned() } else { used.to_string() }
        )
    } else if effect.is_none() {
        format!("{} could not be measured in enough blocks.", primary.metric)
    } else if used < record.most_blocks() as usize {
        format!("The run ended after {used} blocks, before the interval was conclusive.")
    } else {
        format!("All {used} blocks were used and the interval is still inconclusive.")
    };
    let mut needs = sequential::needs(effect.as_ref(), primary.margin, reason);
    needs.blocks = needs.blocks.map(|blocks| blocks.max(schedule.min_blocks));
    Verdict::Inconclusive { effect, needs }
}

/// The verdict as a sentence; `names` are the variant's and the baseline's. `more` is the fact that a veto rests on, or what
/// would settle an inconclusive question.
fn sentence(record: &StudyRecord, verdict: &Verdict, names: [&str; 2], more: Option<&str>) -> String {
    let primary = Primary::of(record);
    let metric = primary.metric;
    let at = primary
        .cell
        .map_or_else(String::new, |cell| format!(" at {}", record.plan.cells[cell].name(&record.study.workloads)));
    let rope = text::margin(record.study.decide.rope);
    let [name, baseline] = names;
    match verdict {
        Verdict::Better { effect } | Verdict::Worse { effect } => {
            let reach = effect.overlaps(sequential::margin(record.study.decide.rope));
            let caveat = if reach {
                format!("; the interval reaches into ±{rope}, so the difference may be too small to matter")
            } else {
                String::new()
            };
            let latency = compare::latency_name(record, primary.cell);
            let difference = difference(metric, latency, effect, names);
            format!("{difference}{at} {}, {} blocks{caveat}", size_span(effect), effect.blocks)
        }
        Verdict::Equivalent { effect } => format!(
            "{name} and {baseline} are equivalent within ±{rope}{at}: {}, {} blocks",
            text::effect(effect),
            effect.blocks
        ),
        Verdict::Inconclusive { effect: Some(effect), needs } => {
            let more = more
                .filter(|_| compare::is_judged(record, metric, primary.cell))
                .map_or_else(String::new, |more| format!(" {more}"));
            let direction = if metric.polarity() == model::Polarity::HigherIsBetter {
                "higher is better"
            } else {
                "lower is better"
            };
            format!(
                "{name} against {baseline} is inconclusive{at}: {metric} {} ({direction}), {} blocks. {}{more}",
                text::effect(effect),
                effect.blocks,
                needs.reason
            )
        }
        Verdict::Inconclusive { effect: None, needs } => {
            format!("{name} against {baseline} is inconclusive: {}", needs.reason)
        }
        Verdict::Invalid { findings } => {
            let mut names: Vec<String> = findings.iter().map(|id| id.name().to_owned()).collect();
            if let (Some(first), Some(fact)) = (names.first_mut(), more) {
                *first = format!("{first} ({fact})");
            }
            format!("{name} against {baseline} is no valid comparison, so there is no verdict: {}", names.join(", "))
        }
    }
}

/// What a veto rests on, in short: its first fact, beside the variants' names where each has a value.
fn fact(record: &StudyRecord, finding: &Finding, [name, baseline]: [&str; 2]) -> String {
    let subject = finding.subject.text(&record.names());
    let short = |value: &str| text::shortened(value, LONGEST_FACT);
    // A setting's subject has its colon already.
    let mark = if matches!(finding.subject, Subject::Setting { .. } | Subject::Factor { .. }) { "," } else { ":" };
    match finding.facts.first().map(|fact| (&fact.name, &fact.value)) {
        None => subject,
        Some((what, FactValue::One(value))) => format!("{subject}{mark} {what} {}", short(value)),
        Some((what, FactValue::Sides([of_baseline, of_variant]))) => {
            format!("{what}: {baseline} {}, {name} {}", short(of_baseline), short(of_variant))
        }
    }
}

/// "on is 4.8 % faster than off", whatever the metric; `latency` is what a latency is called here.
fn difference(metric: Metric, latency: &str, effect: &Effect, [name, baseline]: [&str; 2]) -> String {
    let (up, down) = metric.comparatives();
    let word = if effect.estimate > 0.0 { up } else { down };
    let size = format!("{} %", text::percent_digits(effect.estimate));
    match metric {
        Metric::Throughput => format!("{name} is {size} {word} than {baseline}"),
        Metric::P50 => format!("the median {latency} of {name} is {size} {word} than that of {baseline}"),
        Metric::P90 => {
            format!("the 90th percentile of {latency} of {name} is {size} {word} than that of {baseline}")
        }
        Metric::P99 => {
            format!("the 99th percentile of {latency} of {name} is {size} {word} than that of {baseline}")
        }
        Metric::P99_9 => {
            format!("the 99.9th percentile of {latency} of {name} is {size} {word} than that of {baseline}")
        }
        Metric::CpuPerRequest => format!("{name} needs {size} {word} CPU per request than {baseline}"),
        Metric::StartUp => format!("{name} is ready {size} {word} than {baseline}"),
        Metric::WarmUpTime => format!("{name} takes {size} {word} time to warm up than {baseline}"),
        Metric::WarmUpRequests => format!("{name} takes {size} {word} requests to warm up than {baseline}"),
        Metric::Memory => format!("{name} needs {size} {word} memory than {baseline}"),
        Metric::Capacity => format!("the capacity of {name} is {size} {word} than that of {baseline}"),
        Metric::Goodput => {
            format!("the goodput of {name} at twice its capacity is {size} {word} than that of {baseline}")
        }
        Metric::RecoveryTime => format!("{name} takes {size} {word} to recover from overload than {baseline}"),
    }
}

/// The interval of a difference whose direction the sentence names: sizes, smaller first.
fn size_span(effect: &Effect) -> String {
    let (near, far) = if effect.estimate > 0.0 { (effect.low, effect.high) } else { (effect.high, effect.low) };
    format!("[{}, {}]", text::percent_digits(near), text::percent_digits(far))
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
    match (&record.plan.fallback, record.plan.schedule.launches) {
        (Some(why), _) => limits.push(format!("Launches went one after another, so that each met a host of its own: {why}.")),
        (None, Launches::SideBySide) => limits.push(
            "Launches ran side by side: each speed is that of a server beside others that wait. The ratio of two is what the \
             verdict is about."
                .to_owned(),
        ),
        (None, Launches::OneAfterAnother) => {}
    }
    if let Some(length) = record.warm_up_length.filter(|length| !length.established) {
        limits.push(format!(
            "Speeds are those after {:.0} s of warm-up; that every variant is steady by then was not established.",
            length.seconds
        ));
    }
    let shown = |metric| comparisons.iter().any(|comparison| comparison.metric == metric);
    let shapes = || record.plan.cells.iter().map(|cell| &cell.shape.arrivals);
    if shapes().any(|shape| !shape.is_open()) && (shown(Metric::P90) || shown(Metric::P99) || shown(Metric::P99_9)) {
        limits.push(
            "In a closed loop percentiles are of service time, and no verdict on tail latency is given, because while the server \
             stalls its users wait and ask nothing."
                .to_owned(),
        );
    }
    if shapes().any(Arrivals::is_open) && shown(Metric::Throughput) {
        limits.push(
            "In an open loop the rate is the study's: throughput says only whether a variant keeps up with it. Latency counts \
             from when a request was due."
                .to_owned(),
        );
    }
    if record.plan.cells.iter().any(|cell| cell.shape.find_limit.is_some()) {
        limits.push(
            "Where a limit was looked for, measurements are those of the highest rate that held, which is another one for each \
             variant."
                .to_owned(),
        );
    }
    let two_levels = Duration::from_secs(2 * SHORTEST as u64);
    if record.plan.cells.iter().all(|cell| cell.length(record.plan.schedule.measure) < two_levels) {
        limits.push(format!(
            "Each measurement takes less than {} s: whether a launch's speed changed meanwhile (regime-change) cannot be seen.",
            two_levels.as_secs()
        ));
    }
    let asks_at_once = |shape: &Arrivals| matches!(shape, Arrivals::Closed { think: None, .. });
    if shapes().any(asks_at_once) && shown(Metric::Throughput) && shown(Metric::P50) {
        limits.push(
            "In a closed loop without think time mean latency is users / throughput (Little's law): throughput and latency \
             are one result, not two that confirm each other."
                .to_owned(),
        );
    }
    let has = |role| comparisons.iter().any(|comparison| comparison.role == role);
    if has(Role::Exploratory) {
        let other =
            if has(Role::Secondary) { "that are neither primary nor secondary" } else { "other than the primary one" };
        limits.push(format!(
            "Comparisons {other} are exploratory: each interval holds by itself, none is corrected for their number. Take \
             them as leads."
        ));
    }
    limits
}

#[cfg(test)]
mod tests {
    use crate::boundaries::{Boundaries, Looks};

    use model::{FindingId, Setting, SettingResult, Severity};

    use super::*;
    use crate::{assess, fixture};

    fn analyse(record: &StudyRecord) -> Report {
        super::analyse(&assess(record, &Boundaries::standard()), None)
    }

    fn effect(percent: [f64; 3]) -> Effect {
        let [low, estimate, high] = percent.map(|percent| (percent / 100.0_f64).ln_1p());
        Effect { estimate, low, high, resolution: 0.0, blocks: 9, confidence: 0.95 }
    }

    fn say(metric: Metric, verdict: &Verdict) -> String {
        let mut record = fixture::empty(fixture::study(), Mode::Full);
        record.study.decide.primary = metric;
        sentence(&record, verdict, ["on", "off"], None)
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
                &Verdict::Invalid { findings: vec![FindingId::new("responses-differ"), FindingId::new("errors")] },
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
    fn a_short_measurement_limits_what_is_said() {
        let mut record = fixture::record(9, 0.05);
        let is_reported = |record: &StudyRecord| {
            analyse(record).limits.iter().any(|limit| limit.contains("Each measurement takes less than 20 s"))
        };
        assert!(is_reported(&record));
        record.plan.schedule.measure = Duration::from_secs(20);
        assert!(!is_reported(&record));
    }

    #[test]
    fn a_rate_that_all_keep_up_with() {
        let report = analyse(&fixture::open(9, 0.05));
        let judgement = &report.judgements[0];
        assert!(matches!(judgement.verdict, Verdict::Better { .. }), "{judgement:?}");
        assert!(judgement.sentence.starts_with("the median response time of on is "), "{}", judgement.sentence);
        assert_eq!(report.findings, []);
        assert!(report.limits.iter().any(|limit| limit.contains("keeps up")), "{:?}", report.limits);
        assert!(!report.limits.iter().any(|limit| limit.contains("Little's law")), "{:?}", report.limits);
        assert_eq!(
            report.cells.iter().map(|cell| (&*cell.name, cell.concurrency)).collect::<Vec<_>>(),
            [("pages@1000/s", None), ("pages@4000/s", None)]
        );
        let same = analyse(&fixture::open(20, 0.0));
        assert!(matches!(same.judgements[0].verdict, Verdict::Equivalent { .. }), "{:?}", same.judgements);
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
        let report = analyse(&fixture::record(2, 0.5));
        assert!(matches!(report.judgements[0].verdict, Verdict::Inconclusive { effect: None, .. }));
        assert_eq!(
            report.judgements[0].sentence,
            "on against off is inconclusive: 2 of at least 5 blocks could be used."
        );
        assert!(report.findings.iter().any(|finding| finding.id.name() == "not-replicated"));
    }

    #[test]
    fn a_quick_run_without_an_answer_is_no_dead_end() {
        let mut record = fixture::record_of(fixture::study(), 5, 0.0, 0.05, 3);
        record.plan.mode = Mode::Quick;
        record.plan.schedule.max_blocks = 5;
        record.horizon = Some(5);
        record.study.timing.measure = Duration::from_secs(60);
        let judgement = &analyse(&record).judgements[0];
        assert!(matches!(judgement.verdict, Verdict::Inconclusive { effect: Some(_), .. }), "{judgement:?}");
        for part in ["All 5 blocks were used", "If the estimate stays as it is, about ", "without --quick"] {
            assert!(judgement.sentence.contains(part), "{}", judgement.sentence);
        }
        assert!(!judgement.sentence.contains("--resume"), "{}", judgement.sentence);
    }

    /// 22 answers against 23, launch for launch: the difference may be one of when the window ended.
    #[test]
    fn one_answer_more_in_every_launch_is_no_difference() {
        let counted = |blocks, answers: [u64; 2]| {
            let mut record = fixture::record(blocks, 0.0);
            for trial in &mut record.trials {
                trial.cells = (0..2).map(|cell| fixture::series(cell, &[answers[trial.variant]])).collect();
            }
            analyse(&record).judgements.swap_remove(0)
        };
        for blocks in [5, 9, 30] {
            for answers in [[22, 23], [23, 22]] {
                let judgement = counted(blocks, answers);
                let Verdict::Inconclusive { effect: Some(effect), needs } = &judgement.verdict else {
                    panic!("{blocks} blocks: {judgement:?}")
                };
                assert!((effect.resolution - 1.0 / 22.0).abs() < 1e-12, "{effect:?}");
                assert_eq!(needs.blocks, None);
                assert!(judgement.sentence.contains("Measure for longer"), "{}", judgement.sentence);
                assert!(!judgement.sentence.contains("would take about"), "{}", judgement.sentence);
            }
            assert_eq!(counted(blocks, [22, 24]).verdict.word(), "better");
            assert_eq!(counted(blocks, [24, 22]).verdict.word(), "worse");
            assert_eq!(counted(blocks, [22, 22]).verdict.word(), "inconclusive");
            assert_eq!(counted(blocks, [2_200, 2_200]).verdict.word(), "equivalent");
            assert_eq!(counted(blocks, [2_200, 2_300]).verdict.word(), "better");
        }
    }

    #[test]
    fn a_veto_names_the_fact_that_it_rests_on() {
        let mut record = fixture::record(5, 0.0);
        let on = record.trials.iter_mut().filter(|trial| trial.variant == 1);
        on.flat_map(|trial| &mut trial.answers).for_each(|answer| answer.length = 14);
        assert_eq!(
            analyse(&record).judgements[0].sentence,
            "on against off is no valid comparison, so there is no verdict: responses-differ (length: off 15,118 bytes, on \
             14 bytes)"
        );
        let mut record = fixture::record(5, 0.0);
        let settings =
            record.trials.iter_mut().filter(|trial| trial.variant == 1).flat_map(|trial| &mut trial.settings);
        settings.for_each(|setting| setting.result = SettingResult::Overridden);
        assert_eq!(
            analyse(&record).judgements[0].sentence,
            "on against off is no valid comparison, so there is no verdict: setting-not-effective (on: \
             compile.invokedynamic, requested compile.invokedynamic = true)"
        );
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
        assert_eq!(*verdict, Verdict::Invalid { findings: vec![FindingId::new("setting-not-effective")] });
        assert_eq!(report.findings[0].severity, Severity::Invalid);
    }

    /// A study of three variants: `off`, `on`, `fast`.
    fn three() -> model::Study {
        let mut study = fixture::study();
        study.factors[0].levels.push("fast".to_owned());
        study.variants.push(fixture::variant("fast", "true"));
        study
    }

    #[test]
    fn a_healthy_variant_says_why_a_run_ended_that_another_could_not_be_measured_in() {
        let mut record = fixture::record_of(three(), 1, 0.05, 0.01, 3);
        record.trials.iter_mut().filter(|trial| trial.variant == 1).for_each(fixture::fail);
        let judgements =
            super::analyse(&assess(&record, &Boundaries::for_variants(3, Looks::STANDARD)), None).judgements;
        assert_eq!(judgements[0].verdict.word(), "invalid");
        assert_eq!(
            judgements[1].sentence,
            "fast against off is inconclusive: The run ended because the first 2 launches of on failed, and a block counts only \
             where every variant was measured. Mend on, or leave it out of the study, and run again."
        );
    }

    #[test]
    fn another_variants_veto_spares_this_one() {
        let record = fixture::record_of(three(), 9, 0.05, 0.01, 3);
        let boundaries = Boundaries::for_variants(3, Looks::STANDARD);
        let mut spoilt = record.clone();
        let settings = spoilt.trials.iter_mut().filter(|t| t.variant == 1).flat_map(|t| &mut t.settings);
        settings.for_each(|setting| setting.result = SettingResult::Overridden);
        let verdicts: Vec<&str> =
            super::analyse(&assess(&spoilt, &boundaries), None).judgements.iter().map(|j| j.verdict.word()).collect();
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
