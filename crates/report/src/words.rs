//! The words all renderers share, so that all of them say the same.

use model::attribution::{Contribution, ContributionKind};
use model::histogram::LEAST_BEYOND;
use model::report::{BlockSummary, Judgement, VariantSummary};
use model::scalability::{Crossing, Scalability};
use model::search::Behaviour;
use model::verdict::FEWEST_BLOCKS;
use model::warm_up::{CumulativeResponses, Lifetime, Spread};
use model::why::{Unit, WatchedLaunch};
use model::{
    AgeCurve, CellIndex, Comparison, Finding, Interpretation, LevelChange, Metric, Mode, Outlook, Report, Role,
    Setting, SettingResult, SettingSource, Severity, VariantIndex, Verdict, Why,
};

use model::text;
pub use model::text::{launches, plural};

use crate::number;

/// `text` without its middle where it is too long: names of cells and variants differ at either end.
pub fn squeezed(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.into();
    }
    let kept = most.saturating_sub(1);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(length - tail)).collect()
}

/// What contributions are.
pub const ATTRIBUTION_NOTE: &str = "Each factor's effect is averaged over the levels of the others; an interaction is what two factors' levels \
    give together beyond the sum of both. Estimated within blocks; all intervals hold at once.";

/// What the charts over the number of users show.
pub const CONCURRENCY_CAPTION: &str = "Thin lines are 95 % intervals of the median launch; with fewer than six launches they reach from the \
    lowest to the highest. Where there are four numbers of users or more, the line through throughput is the fitted law.";

/// What the use of the cores is.
pub const CORE_USE_NOTE: &str = "Cores that the server used in the cell in which it answers most, median launch, of those that it may use. Client and \
    services take theirs from the same ones, unless the client is kept to its own.";

/// What is seen of each processor.
pub const PER_CORE_CAPTION: &str = "How busy each processor of the host was, whoever used it, while one launch of each variant was measured: the darker, \
    the busier. Lines stand where a cell begins.";

/// What a fitted law says.
pub const SCALABILITY_NOTE: &str = "Universal scalability law X(N) = λN / (1 + σ(N−1) + κN(N−1)), fitted to the launches' mean \
    throughput; intervals by refitting resampled blocks: exploratory, leads and not verdicts. The misfit is the largest distance from the law.";

/// What the chart of a search shows.
pub const LIMIT_CAPTION: &str = "Each step of one launch of each variant; hollow where the objective did not hold. What lies in the shaded part is \
    too late. Steps in which too much was never answered are missing.";

/// What efficiency is.
pub const EFFICIENCY_NOTE: &str = "Efficiency is the law's throughput with N users as a part of N times that of one.";

/// How something reads, for renderers that have colour. A word and a sign always stand beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Nothing to say.
    Plain,
    /// An improvement.
    Good,
    /// A deterioration, or a veto.
    Bad,
    /// No difference that matters.
    Same,
    /// Not known.
    Unsure,
}

impl Tone {
    /// The tone of a verdict.
    pub fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Better { .. } => Self::Good,
            Verdict::Worse { .. } | Verdict::Invalid { .. } => Self::Bad,
            Verdict::Equivalent { .. } => Self::Same,
            Verdict::Inconclusive { .. } => Self::Unsure,
        }
    }

    /// The tone of a finding.
    pub fn of_severity(severity: Severity) -> Self {
        match severity {
            Severity::Note => Self::Plain,
            Severity::Warning => Self::Unsure,
            Severity::Invalid => Self::Bad,
        }
    }
}

/// Sign and word for how a comparison reads, and its tone. Where the verdict is vetoed, no number of that variant
/// reads as anything.
pub fn reading(report: &Report, comparison: &Comparison) -> (&'static str, Tone) {
    if is_vetoed(report, comparison.variant) {
        return ("✗ not valid", Tone::Bad);
    }
    match comparison.interpretation {
        _ if comparison.effect.is_none() => ("? too few blocks", Tone::Unsure),
        Interpretation::Better if comparison.role == Role::Exploratory => ("~ perhaps better", Tone::Unsure),
        Interpretation::Worse if comparison.role == Role::Exploratory => ("~ perhaps worse", Tone::Unsure),
        Interpretation::Better => ("▲ better", Tone::Good),
        Interpretation::Worse => ("▼ worse", Tone::Bad),
        Interpretation::Equivalent => ("= equivalent", Tone::Same),
        Interpretation::Inconclusive => ("? inconclusive", Tone::Unsure),
        Interpretation::NotJudged => ("– not judged", Tone::Plain),
    }
}

/// Sign and word for how an effect of factors reads, and its tone.
pub fn contribution_reading(report: &Report, one: &Contribution) -> (&'static str, Tone) {
    let is_main = one.kind == ContributionKind::Main;
    match one.interpretation {
        _ if one.variants.iter().any(|variant| is_vetoed(report, *variant)) => ("✗ not valid", Tone::Bad),
        _ if one.effect.is_none() => ("? too few blocks", Tone::Unsure),
        Interpretation::Better if is_main => ("▲ better", Tone::Good),
        Interpretation::Worse if is_main => ("▼ worse", Tone::Bad),
        Interpretation::Better => ("▲ better together", Tone::Good),
        Interpretation::Worse => ("▼ worse together", Tone::Bad),
        Interpretation::Equivalent if is_main => ("= equivalent", Tone::Same),
        Interpretation::Equivalent => ("= none", Tone::Same),
        Interpretation::Inconclusive | Interpretation::NotJudged => ("? inconclusive", Tone::Unsure),
    }
}

/// What a comparison is for, in a word.
pub fn role(role: Role) -> &'static str {
    match role {
        Role::Primary => "primary",
        Role::Secondary => "secondary",
        Role::Exploratory => "exploratory",
    }
}

/// Whether what a variant's numbers say is vetoed.
pub fn is_vetoed(report: &Report, variant: VariantIndex) -> bool {
    let vetoed = |judgement: &Judgement| matches!(judgement.verdict, Verdict::Invalid { .. });
    report.judgements.iter().any(|judgement| judgement.variant == variant && vetoed(judgement))
}

/// What was served in all, of every variant that is not vetoed.
pub fn cumulative_responses(report: &Report) -> impl Iterator<Item = &CumulativeResponses> {
    let all = report.warming_up.iter().flat_map(|warming_up| &warming_up.cumulative_responses);
    all.filter(|responses| !is_vetoed(report, responses.variant))
}

/// The curves over a server's life, but for those of variants that are vetoed.
pub fn curves(report: &Report) -> impl Iterator<Item = &AgeCurve> {
    report.curves.iter().filter(|curve| !is_vetoed(report, curve.variant))
}

/// The sentence that stands under a verdict's own.
pub fn over_its_life(curve: &AgeCurve) -> String {
    format!("over a server's life: {}", curve.sentence)
}

/// Sign and word for how a phase of a server's life reads.
pub fn phase_reading(reading: Interpretation) -> (&'static str, &'static str) {
    match reading {
        Interpretation::Better => ("▲", "faster"),
        Interpretation::Worse => ("▼", "slower"),
        Interpretation::Equivalent => ("=", "level"),
        Interpretation::Inconclusive | Interpretation::NotJudged => ("?", "inconclusive"),
    }
}

/// What the picture of a server's life shows.
pub fn curve_caption(report: &Report) -> String {
    let margin = curves(report).next().map_or(0.0, |curve| curve.margin.exp_m1());
    let decided = curves(report).any(|curve| curve.decided.is_some());
    let marker =
        if decided { " The marker with its bar is the number that decides, where it was measured." } else { "" };
    format!(
        "Speed under the warm-up's load at each age of a launch, against {} at the same age. The band is the 95 % interval at each age, \
         for that age alone. The words above hold for all phases together. Shaded: ±{}, which is level.{marker}",
        variant_name(report, 0),
        number::margin(margin)
    )
}

/// Where the curves of variants cross, a sentence each, with the workload's name where there are several. Nothing of a variant
/// that is vetoed.
pub fn crossings(report: &Report, scaling: &Scalability) -> Vec<String> {
    let valid = scaling.crossings.iter().filter(|crossing| !is_vetoed(report, crossing.variant));
    let sentence = |crossing: &Crossing| match report.scalability.len() {
        0 | 1 => crossing.sentence.clone(),
        _ => format!("{}: {}", scaling.workload, crossing.sentence),
    };
    valid.map(sentence).collect()
}

/// Sign of a severity; its word stands beside it.
pub fn severity_sign(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "i",
        Severity::Warning => "!",
        Severity::Invalid => "✗",
    }
}

/// The comparisons by what they are for, by variant and by cell, each group with its heading: what decides first.
pub fn comparison_groups(report: &Report) -> Vec<(String, Vec<&Comparison>)> {
    let mut groups: Vec<(String, Vec<&Comparison>)> = Vec::new();
    for role in [Role::Primary, Role::Secondary, Role::Exploratory] {
        let suffix = if role == Role::Primary { "decides" } else { self::role(role) };
        for variant in 1..report.variants.len() {
            let belongs = |comparison: &&Comparison| comparison.role == role && comparison.variant == variant;
            let first = groups.len();
            for comparison in report.comparisons.iter().filter(belongs) {
                let mut head = place(report, comparison);
                if report.variants.len() > 2 {
                    head = format!("{} · {head}", variant_name(report, variant));
                }
                head.push_str(" · ");
                head.push_str(suffix);
                match groups[first..].iter_mut().find(|(known, _)| *known == head) {
                    Some((_, comparisons)) => comparisons.push(comparison),
                    None => groups.push((head, vec![comparison])),
                }
            }
        }
    }
    groups
}

/// What the numbers of the decision's table are.
pub fn decision_note(report: &Report) -> String {
    let mut values = format!(
        "Changes against {} are of the differences within blocks, values are medians over the launches compared: two values \
             need not differ by just the change beside them.",
        variant_name(report, 0)
    );
    if report.comparisons.iter().any(|comparison| comparison.role == Role::Secondary) {
        values.push_str(SECONDARY_NOTE);
    }
    let short: Vec<&Comparison> = report.comparisons.iter().filter(|comparison| comparison.effect.is_none()).collect();
    if short.is_empty() {
        return values;
    }
    let is_percentile = |of: &&Comparison| of.metric.quantile().is_some();
    let percentile = if short.iter().any(is_percentile) {
        format!("; a launch has a percentile when {LEAST_BEYOND} requests lie beyond it")
    } else {
        String::new()
    };
    format!("{values} An interval takes {FEWEST_BLOCKS} blocks in which both sides have the number{percentile}.")
}

/// What holds for secondary comparisons.
const SECONDARY_NOTE: &str = " Secondary metrics were judged together when the run had ended (Holm): at most one study in twenty calls \
                              any of them better or worse that does not differ; each interval is as wide as that takes.";

/// What the numbers of the measurements' table are: others than the decision's.
pub const MEASUREMENTS_NOTE: &str = "Medians over launches; percentiles over all requests of all launches together.";

/// What the numbers of the table of steps are.
pub const STEPS_NOTE: &str = "Throughput: median over launches of good answers to this step. Percentiles: service time, over all requests of all launches together. Not sent: a step before it had failed.";

/// What the numbers of the table of the server's time are.
pub const SERVER_TIME_NOTE: &str = "Medians over launches, per good answer. Services' CPU is beside the server's CPU per request, kernel CPU a part of it; JIT is the time of the JVM's compiler threads. The busiest core is the host's, whoever used it; waits and preemptions are context switches of the server's threads; at safepoints all Java threads stand still, for collections or anything else. Collections, the time of collecting and objects allocated are MRI's.";

/// What the numbers of the launches' table are.
pub const LAUNCHES_NOTE: &str = "Medians over launches; memory is the highest seen.";

/// What stands before the command that goes on with an unfinished run.
pub const GOES_ON: &str = "This run has not come to its end. It goes on with:";

/// What has to be known of everything that explains a verdict.
pub const WHY_NOTE: &str = "One more launch of each variant, after the verdict and no part of it, was watched under load and \
                            recorded. It explains, and proves nothing: another launch may show something else. What explains \
                            most of the difference in server CPU stands first.";

/// What the numbers of the table of launches watched are.
pub const WATCHED_NOTE: &str = "CPU without the recorder's own threads; what recording costs the others is in it.";

/// A quantity per request.
pub fn per_request(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Micros => number::micros(value),
        Unit::Bytes => number::bytes(value),
        Unit::Count => text::trimmed(text::significant(value, 3)),
    }
}

/// What the profiling runs lack, or what has to be known of them: a sentence each.
pub fn lacking(report: &Report, why: &Why) -> Vec<String> {
    let of_launch = |launch: &WatchedLaunch| {
        let reported = |sentence: &String| format!("{}: {sentence}", variant_name(report, launch.variant));
        launch.missing.iter().chain(&launch.deviations).map(reported).collect::<Vec<_>>()
    };
    why.skipped.iter().cloned().chain(why.launches.iter().flat_map(of_launch)).collect()
}

/// What the limits that were found are.
pub fn found_limits_note() -> String {
    let [sheds, collapses] = Behaviour::SHARES.map(number::share);
    format!(
        "Medians over launches. Capacity is the highest rate at which the objective holds. Then twice that is asked: goodput is what is \
         answered well and in time meanwhile. From {sheds} of the capacity on a server sheds, below {collapses} it collapses. Recovery \
         is the time until the objective holds again at half the capacity."
    )
}

/// A metric as people read it.
pub fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::Throughput => "throughput",
        Metric::P50 => "p50",
        Metric::P90 => "p90",
        Metric::P99 => "p99",
        Metric::P99_9 => "p99.9",
        Metric::CpuPerRequest => "CPU/req",
        Metric::StartUp => "start-up",
        Metric::WarmUpTime => "until warm",
        Metric::WarmUpRequests => "req until warm",
        Metric::Memory => "memory",
        Metric::Capacity => "capacity",
        Metric::Goodput => "goodput",
        Metric::RecoveryTime => "recovery",
    }
}

/// Full or quick.
pub fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Full => "full run",
        Mode::Quick => "quick run",
    }
}

const ALL_CELLS: &str = "all cells";

/// Where a comparison was measured.
pub fn place(report: &Report, comparison: &Comparison) -> String {
    match comparison.cell {
        Some(cell) => cell_name(report, cell).into(),
        None if !comparison.metric.is_per_cell() => "each launch".into(),
        // All of one is that one.
        None if report.cells.len() == 1 => cell_name(report, 0).into(),
        None => ALL_CELLS.into(),
    }
}

/// A variant's name.
pub fn variant_name(report: &Report, variant: VariantIndex) -> &str {
    report.variants.get(variant).map_or("?", |summary| &summary.name)
}

/// A cell's name.
pub fn cell_name(report: &Report, cell: CellIndex) -> &str {
    report.cells.get(cell).map_or("?", |cell| &cell.name)
}

/// The facts that stand under a verdict's sentence: what it does not say itself.
pub fn verdict_facts(report: &Report, judgement: &Judgement) -> Vec<String> {
    let effect = match &judgement.verdict {
        Verdict::Better { effect } | Verdict::Worse { effect } | Verdict::Equivalent { effect } => Some(effect),
        Verdict::Inconclusive { effect, .. } => effect.as_ref(),
        // The sentence names what vetoes it; no number bears on the question.
        Verdict::Invalid { .. } => return Vec::new(),
    };
    let mut facts = Vec::new();
    if let Some(effect) = effect {
        let decides =
            |comparison: &&Comparison| comparison.role == Role::Primary && comparison.variant == judgement.variant;
        let of = report.comparisons.iter().find(decides).map_or_else(String::new, |comparison| {
            let of = if place(report, comparison) == ALL_CELLS { "over" } else { "of" };
            format!("{} {of} {}, ", metric(comparison.metric), place(report, comparison))
        });
        facts.push(format!("{of}{} interval", number::margin(effect.confidence)));
    }
    if let Verdict::Inconclusive { needs, .. } = &judgement.verdict
        && let Some(smallest) = needs.smallest_effect
        // Both at once would be two numbers for nearly the same question.
        && report.outlook.is_none()
    {
        facts.push(format!(
            "the smallest difference that it could have distinguished from none: {}",
            number::size(smallest)
        ));
    }
    let excluded = report.blocks.iter().filter(|block| block.excluded.is_some()).count();
    if excluded > 0 {
        let verb = if excluded == 1 { "was" } else { "were" };
        facts.push(format!("{} {verb} excluded", plural(excluded as u64, "block")));
    }
    // Without an interval there is nothing to be valid.
    if effect.is_some() {
        facts.push("valid: nothing found vetoes it".into());
    }
    facts
}

/// Whether a verdict is inconclusive for want of blocks.
pub fn is_undecided(report: &Report) -> bool {
    let wants_more = |judgement: &Judgement| matches!(&judgement.verdict, Verdict::Inconclusive { needs, .. } if needs.smallest_effect.is_some());
    report.judgements.iter().any(wants_more)
}

/// What the numbers of the table of what more time would show are.
pub fn outlook_note(outlook: &Outlook) -> String {
    let detect = number::margin(outlook.detect);
    let needed = text::needed(outlook)
        .map_or_else(String::new, |needed| format!(" The {detect} that the study cares about takes about {needed}."));
    format!(
        "Four of five runs find such differences, if blocks go on to differ as they did: by {} % (standard deviation).{needed}",
        text::percent_digits(outlook.spread)
    )
}

/// What stands under all verdicts: what holds for each of them.
pub fn caveats(report: &Report) -> String {
    let warnings = report.findings.iter().filter(|finding| finding.severity == Severity::Warning).count();
    let limited = match warnings {
        0 => String::new(),
        1 => "1 warning limits what this says. ".into(),
        n => format!("{n} warnings limit what this says. "),
    };
    format!("{limited}Differences below {} count as none.", number::margin(report.rope))
}

/// The line that says which run this is.
pub fn run_line(report: &Report) -> String {
    format!("{} · {} · {} · bakeoff {}", report.run, to_the_second(&report.started), mode(report.mode), report.version)
}

/// An RFC 3339 time without the fraction of its second.
pub fn to_the_second(time: &str) -> String {
    let Some((whole, rest)) = time.split_once('.') else { return time.into() };
    format!("{whole}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Findings, gravest first whatever order they come in.
pub fn findings(report: &Report) -> Vec<&Finding> {
    let mut findings: Vec<_> = report.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// Between facts on one line.
pub const BETWEEN: &str = " · ";

/// The facts of a finding, one by one.
pub fn facts(finding: &Finding) -> Vec<String> {
    finding.facts.iter().map(|item| format!("{} {}", item.name, item.value)).collect()
}

/// How many launches of a variant became steady, and when.
pub fn steadiness(variant: &VariantSummary) -> String {
    let [steady, of] = variant.steady;
    match (variant.steady_s, of) {
        (_, 0) => number::NONE.into(),
        (Some(s), _) => format!("{} ({steady} of {of})", number::seconds(s)),
        (None, _) => format!("never ({steady} of {of})"),
    }
}

/// A change of level: `1,000/s → 850/s after 14 s (−15.0 %)`.
pub fn level_change(metric: Metric, change: &LevelChange) -> String {
    let [before, after] = [change.before, change.after].map(|level| number::value(metric, level));
    let size = text::change(change.log_ratio());
    format!("{before} → {after} after {} ({size})", number::round(&number::seconds(change.at_s)))
}

/// What the numbers of the table of warm-ups are.
pub const WARM_UP_NOTE: &str = "Medians over launches found steady, [95 % interval of the median]; of the warm-up's own load: users \
                                who ask all workloads at once. Warm: from when on the rate is no more than 5 % below its steady \
                                one.";

/// What the numbers of the table of lives are.
pub const LIVES_NOTE: &str = "All that a launch answers well from its launch to the next, start-up and warm-up included, median \
                              launch; beyond what was seen it goes on at its steady rate. Exploratory: each interval holds by itself.";

/// A number over launches, with its interval where it has one.
pub fn spread(spread: &Spread, write: impl Fn(f64) -> String) -> String {
    match spread.interval {
        Some([low, high]) => format!("{} [{}, {}]", write(spread.median), write(low), write(high)),
        None => write(spread.median),
    }
}

/// Which of the two serves more in a life.
pub fn life_reading(report: &Report, variant: VariantIndex, life: &Lifetime) -> (String, Tone) {
    let more = |index| format!("{} serves more", variant_name(report, index));
    match life.reading {
        Interpretation::Better => (more(variant), Tone::Plain),
        Interpretation::Worse => (more(0), Tone::Plain),
        Interpretation::Equivalent => ("= equivalent".into(), Tone::Same),
        Interpretation::Inconclusive | Interpretation::NotJudged => ("? inconclusive".into(), Tone::Unsure),
    }
}

/// A life from launch to launch: `5 min`, `1 h`, `1 day 12 h`.
pub fn life(seconds: f64) -> String {
    if seconds < 3_600.0 {
        return number::seconds(seconds);
    }
    let whole = seconds.round() as u64;
    let part = |n: u64, unit: &str| (n > 0).then(|| format!("{n} {unit}"));
    let days = whole / 86_400;
    let parts = [
        (days > 0).then(|| plural(days, "day")),
        part(whole % 86_400 / 3_600, "h"),
        part(whole % 3_600 / 60, "min"),
        part(whole % 60, "s"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// What the table of changes is.
pub const CHANGES_NOTE: &str =
    "Changes of level by 5 % or more that lasted ten seconds or more, and what else moved at that moment.";

/// Sign and word for how a setting came out, and its tone.
pub fn setting_result(setting: &Setting) -> (String, Tone) {
    match &setting.result {
        SettingResult::InEffect => ("✓ in effect".into(), Tone::Good),
        SettingResult::AlreadyDefault => ("= the default anyway".into(), Tone::Plain),
        SettingResult::Overridden => ("✗ another value".into(), Tone::Bad),
        SettingResult::Unknown { nearest: None } => ("✗ no such name".into(), Tone::Bad),
        SettingResult::Unknown { nearest: Some(nearest) } => (format!("✗ no such name; nearest: {nearest}"), Tone::Bad),
        SettingResult::Unverified { reason } => (format!("? not read: {reason}"), Tone::Unsure),
        SettingResult::Refused { reason } => (format!("✗ refused: {reason}"), Tone::Bad),
        SettingResult::Inert { reason, .. } => (format!("! without effect: {reason}"), Tone::Unsure),
    }
}

/// Whether the process has what was asked for, and it does something.
pub fn is_as_requested(setting: &Setting) -> bool {
    matches!(setting.result, SettingResult::InEffect | SettingResult::AlreadyDefault)
}

/// Who reported a setting's live value.
pub fn setting_source(source: SettingSource) -> &'static str {
    match source {
        SettingSource::InProcess => "the process itself",
        SettingSource::Jcmd => "jcmd",
        SettingSource::Proc => "/proc",
        SettingSource::Preflight => "a preflight",
        SettingSource::Jmx => "JMX",
        SettingSource::Http => "an answer",
        SettingSource::Command => "a command",
        SettingSource::Unread => number::NONE,
    }
}

/// A block's number as people count.
pub fn block_number(block: &BlockSummary) -> u32 {
    block.block + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lives_that_differ_have_names_that_differ() {
        let reported = [148.0, 300.0, 3_600.0, 3_601.0, 5_400.0, 86_400.0, 129_600.0, 30.0 * 86_400.0].map(life);
        assert_eq!(reported, ["2 min 28 s", "5 min", "1 h", "1 h 1 s", "1 h 30 min", "1 day", "1 day 12 h", "30 days"]);
    }

    #[test]
    fn times_are_reported_to_the_second() {
        assert_eq!(to_the_second("2026-11-21T11:41:34.291614828Z"), "2026-11-21T11:41:34Z");
        assert_eq!(to_the_second("2026-11-21T11:41:34.5+01:00"), "2026-11-21T11:41:34+01:00");
        assert_eq!(to_the_second("2026-11-21T11:41:34Z"), "2026-11-21T11:41:34Z");
    }
}
