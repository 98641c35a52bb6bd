//! Variants answer the same request differently.
//!
//! What may differ is learnt from the answers of one variant: two of one launch differ by times and tokens, those of
//! different launches by ports, process ids and orders. Only what is beyond that counts.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use model::imported::{Fidelity, Requests};
use model::{
    AnswerSample, BASELINE, BodyLength, CellRecord, Fact, Finding, FindingId, Sample, Severity, StudyRecord, Subject,
    Tally, VariantIndex, text,
};

use super::evidence::Evidence;
use super::pair::Pair;
use super::rule::{Check, Rule, cell_name, launches, measured, name};
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("responses-differ"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/responses-differ.md"),
    checks: &[Check::Lasting(rule), Check::Pair { needs: Evidence::Kept(Fidelity::Summary), look: of_pair }],
};

/// Launches of each side that teach the natural variation of lengths.
const LAUNCHES_FOR_LENGTHS: usize = 2;
/// Launches of each side that teach which lines are stable: with fewer, one that takes either of two forms would pass.
const LAUNCHES_FOR_LINES: usize = 3;
/// A length this far off is another answer whatever varies, as a fraction of the longer.
const OTHER_ANSWER: f64 = 0.1;
/// While the natural variation is not known, a difference of this many bytes may be one: a counter, a time, a token.
const SMALL_CHANGE: u64 = 64;
/// Beyond natural variation, but so little that the work is nearly the same: a fraction of the longer.
const SAME_WORK: f64 = 0.01;
/// Share of the stable lines that may differ (a version in a footer) with the work still nearly the same.
const SAME_LINES: f64 = 0.1;
/// Differences of imported runs that are listed.
const LISTED: usize = 6;
/// Characters of a body that are quoted: enough to distinguish an error page from the page asked for.
const QUOTED: usize = 60;

/// One finding for each variant and workload that differs from the baseline: invalid, or a warning where the difference
/// is real but too small to change the work.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    let mut all = Vec::new();
    for variant in BASELINE + 1..record.study.variants.len() {
        let workloads = record.study.workloads.iter().enumerate();
        let parts = workloads
            .flat_map(|(index, workload)| workload.kind.steps().into_iter().map(move |step| (index, workload, step)));
        for (index, workload, step) in parts {
            let part = Part { workload: index, step };
            let sides = [BASELINE, variant].map(|variant| Side::of(record, variant, part));
            let mut differences = under_load(record, variant, part);
            let of_samples =
                if sides.iter().all(|side| !side.answers.is_empty()) { in_samples(&sides) } else { Vec::new() };
            let is_of_load_alone = of_samples.is_empty();
            differences.extend(of_samples);
            let Some(gravest) = differences.iter().map(|(severity, _)| *severity).max() else { continue };
            let mut found = RULE.found(
                gravest,
                Subject::Request { variant, workload: workload.name.clone(), step: step.map(str::to_owned) },
                "The variants answer the same request differently, so they do not do the same work.",
                "Look at both answers. Where the difference is meant, compare each variant with itself; else correct the server.",
            );
            found.facts = differences.into_iter().map(|(_, fact)| fact).collect();
            // Those seen by themselves are alike where they differ under load alone, and would say the contrary.
            for (side, variant) in sides.iter().zip([BASELINE, variant]).filter(|_| !is_of_load_alone) {
                if let Some(answer) = side.answers.first() {
                    found = found.with(format!("{} begins", name(record, variant)), quoted(&answer.excerpt));
                }
            }
            all.push(found);
        }
    }
    all
}

/// Invalid where two imported runs answer differently under one label: mostly with another kind of status, or with lengths that are
/// far from each other.
fn of_pair(pair: &Pair) -> Option<Finding> {
    let [first, second] = pair.runs.map(|audited| audited.run.by_label());
    let facts: Vec<Fact> = first
        .iter()
        .filter_map(|(label, one)| {
            second.iter().find(|(other, _)| other == label).map(|(_, other)| (*label, [*one, *other]))
        })
        .flat_map(|(label, sides)| of_requests(label, sides))
        .take(LISTED)
        .collect();
    let found = RULE.found(
        Severity::Invalid,
        Subject::Load,
        "The two answer the same request differently, so they do not do the same work.",
        "Look at an answer of each. An error page, a login page or a refusal is quick to send.",
    );
    (!facts.is_empty()).then_some(Finding { facts, ..found })
}

/// How the answers of two runs to one kind of request differ.
fn of_requests(label: &str, sides: [&Requests; 2]) -> Vec<Fact> {
    let codes = sides.map(usual_kind);
    let statuses = match &codes {
        [Some(first), Some(second)] if first.classes & second.classes == 0 => {
            Some(Fact::new(format!("{label}: most answers"), [first, second].map(|kind| kind.name.clone())))
        }
        _ => None,
    };
    let lengths = match sides.map(Requests::usual_length) {
        [Some(first), Some(second)] => {
            let gap = first.min.saturating_sub(second.max).max(second.min.saturating_sub(first.max));
            let is_other = gap > SMALL_CHANGE && gap as f64 > OTHER_ANSWER * first.max.max(second.max) as f64;
            is_other.then(|| Fact::new(format!("{label}: length, bytes"), [first, second].map(lengths)))
        }
        _ => None,
    };
    statuses.into_iter().chain(lengths).collect()
}

/// A kind of status: its first digit, or what a tool says of many at once.
struct Kind {
    name: String,
    /// The classes that it may be of: the bits 1 to 5 for the first digits, and bit 0 for no answer.
    classes: u8,
}

/// All classes, and those that tools take for good where they say no more.
const ALL_CLASSES: u8 = 0b11_1111;
const USUALLY_GOOD: u8 = 0b00_1100;

/// The kind of status that most answers have; `None` where the file has no statuses.
fn usual_kind(of: &Requests) -> Option<Kind> {
    let mut kinds: BTreeMap<String, (u64, u8)> = BTreeMap::new();
    for (code, count) in of.codes.iter().filter(|(code, _)| !code.is_empty()) {
        let name = match code.as_bytes() {
            [first @ b'1'..=b'5', b'0'..=b'9', b'0'..=b'9'] => format!("{}xx", char::from(*first)),
            _ => code.clone(),
        };
        let classes = classes(&name).unwrap_or(if of.good_codes.contains_key(code) {
            ALL_CLASSES
        } else {
            // The words of an error: what it was answered, if it was, is not known.
            ALL_CLASSES & !USUALLY_GOOD
        });
        let (all, of_kind) = kinds.entry(name).or_default();
        *all += count;
        *of_kind |= classes;
    }
    let usual = kinds.into_iter().max_by_key(|(_, (count, _))| *count);
    usual.map(|(name, (_, classes))| Kind { name, classes })
}

/// The classes of `2xx`, of `2xx or 3xx`, of `not 2xx`, and of Gatling's `OK`; `None` of other words.
fn classes(name: &str) -> Option<u8> {
    let of_digit = |class: &str| match class.as_bytes() {
        [digit @ b'1'..=b'5', b'x', b'x'] => Some(1_u8 << (digit - b'0')),
        _ => None,
    };
    let of_any = |names: &str| names.split(" or ").try_fold(0, |classes, class| Some(classes | of_digit(class)?));
    match name.strip_prefix("not ") {
        Some(others) => of_any(others).map(|classes| ALL_CLASSES & !1 & !classes),
        None if name == "OK" => Some(USUALLY_GOOD),
        None => of_any(name),
    }
}

fn lengths(BodyLength { min, max }: BodyLength) -> String {
    if min == max { text::count(min) } else { format!("{} to {}", text::count(min), text::count(max)) }
}

/// What is compared: a workload's one request, or one step of its scenarios.
#[derive(Clone, Copy)]
struct Part<'a> {
    workload: usize,
    step: Option<&'a str>,
}

impl Part<'_> {
    /// What names the step after the workload.
    fn suffix(self) -> String {
        self.step.map_or_else(String::new, |step| format!(", step {step}"))
    }

    /// What it was answered in a sample.
    fn tally(self, sample: &Sample) -> Option<&Tally> {
        match self.step {
            None => Some(&sample.tally),
            Some(step) => sample.walked.as_ref()?.steps.get(step).map(|step| &step.tally),
        }
    }
}

/// The beginning of a body in quotes, on one line.
fn quoted(excerpt: &str) -> String {
    let words: Vec<&str> = excerpt.split_whitespace().collect();
    format!("\"{}\"", text::shortened(&words.join(" "), QUOTED))
}

type Difference = (Severity, Fact);

fn difference(severity: Severity, what: &str, sides: [String; 2]) -> Difference {
    (severity, Fact::new(what, sides))
}

/// The answers of one variant to one workload's request.
struct Side<'a> {
    answers: Vec<&'a AnswerSample>,
    launches: usize,
}

impl<'a> Side<'a> {
    fn of(record: &'a StudyRecord, variant: VariantIndex, part: Part) -> Self {
        let is_part = |answer: &&AnswerSample| answer.workload == part.workload && answer.step.as_deref() == part.step;
        let by_launch: Vec<Vec<&AnswerSample>> = launches(record, variant)
            .map(|trial| trial.answers.iter().filter(is_part).collect())
            .filter(|answers: &Vec<_>| !answers.is_empty())
            .collect();
        Self { launches: by_launch.len(), answers: by_launch.into_iter().flatten().collect() }
    }

    /// What most of its answers have.
    fn typical<T: Ord>(&self, of: impl Fn(&AnswerSample) -> T) -> Option<T> {
        most_frequent(self.answers.iter().map(|answer| (of(answer), 1)))
    }

    fn lengths(&self) -> Option<BodyLength> {
        let lengths = self.answers.iter().map(|answer| BodyLength { min: answer.length, max: answer.length });
        lengths.reduce(BodyLength::covering)
    }

    /// Lines that every answer has.
    fn stable_lines(&self) -> BTreeSet<&str> {
        let mut lines =
            self.answers.iter().map(|answer| answer.lines.iter().map(String::as_str).collect::<BTreeSet<_>>());
        let first = lines.next().unwrap_or_default();
        lines.fold(first, |stable, lines| &stable & &lines)
    }

    /// Lines that any answer has.
    fn all_lines(&self) -> HashSet<&str> {
        self.answers.iter().flat_map(|answer| answer.lines.iter().map(String::as_str)).collect()
    }
}

fn most_frequent<T: Ord>(counts: impl Iterator<Item = (T, u64)>) -> Option<T> {
    let mut sums: BTreeMap<T, u64> = BTreeMap::new();
    for (value, count) in counts {
        *sums.entry(value).or_default() += count;
    }
    sums.into_iter().max_by_key(|(_, count)| *count).map(|(value, _)| value)
}

/// What differs between the answers that were looked at closely.
fn in_samples(sides: &[Side; 2]) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut differ = |what: &str, of: &dyn Fn(&AnswerSample) -> String| {
        if let [Some(baseline), Some(variant)] = sides.each_ref().map(|side| side.typical(of))
            && baseline != variant
        {
            differences.push(difference(Severity::Invalid, what, [baseline, variant]));
        }
    };
    differ("status", &|answer| answer.status.to_string());
    differ("content type", &|answer| media_type(&answer.content_type));
    let launches = sides.iter().map(|side| side.launches).min().unwrap_or_default();
    if let [Some(baseline), Some(variant)] = sides.each_ref().map(Side::lengths) {
        differences.extend(compare_lengths("length", baseline, variant, launches));
    }
    if launches >= LAUNCHES_FOR_LINES {
        differences.extend(compare_lines(sides));
    }
    differences
}

/// `text/html; charset=UTF-8` and `text/html;charset=utf-8` are one.
fn media_type(content_type: &str) -> String {
    content_type.to_lowercase().split_whitespace().collect()
}

fn compare_lengths(what: &str, baseline: BodyLength, variant: BodyLength, launches: usize) -> Option<Difference> {
    let gap = baseline.min.saturating_sub(variant.max).max(variant.min.saturating_sub(baseline.max));
    let natural = (baseline.max - baseline.min).max(variant.max - variant.min);
    let relative = gap as f64 / baseline.max.max(variant.max).max(1) as f64;
    if gap <= natural {
        return None;
    }
    let severity = if launches < LAUNCHES_FOR_LENGTHS {
        (relative > OTHER_ANSWER && gap > SMALL_CHANGE).then_some(Severity::Invalid)?
    } else if relative > SAME_WORK {
        Severity::Invalid
    } else {
        Severity::Warning
    };
    Some(difference(severity, what, [baseline, variant].map(span)))
}

fn span(length: BodyLength) -> String {
    let most = text::plural(length.max, "byte");
    if length.min == length.max { most } else { format!("{} to {most}", text::count(length.min)) }
}

/// Lines that all answers of one side have and no answer of the other.
fn compare_lines(sides: &[Side; 2]) -> Option<Difference> {
    let share = |side: &Side, other: &Side| {
        let (stable, others) = (side.stable_lines(), other.all_lines());
        let own = stable.iter().filter(|line| !others.contains(**line)).count();
        if own == 0 { 0.0 } else { own as f64 / stable.len() as f64 }
    };
    let shares = [share(&sides[0], &sides[1]), share(&sides[1], &sides[0])];
    let most = shares[0].max(shares[1]);
    let severity = if most > SAME_LINES { Severity::Invalid } else { Severity::Warning };
    (most > 0.0).then(|| difference(severity, "stable lines that only this side has", shares.map(text::percent)))
}

/// What differs between the answers under load: the most frequent status, and lengths.
fn under_load(record: &StudyRecord, variant: VariantIndex, part: Part) -> Vec<Difference> {
    let cells = record.plan.cells.iter().enumerate().filter(|(_, cell)| cell.workload == part.workload);
    cells.flat_map(|(cell, _)| in_cell(record, variant, cell, part)).collect()
}

fn in_cell(record: &StudyRecord, variant: VariantIndex, cell: usize, part: Part) -> Vec<Difference> {
    let tallies = |variant| -> Vec<_> {
        let cells = measured(record, variant, cell).into_iter();
        let whole = |cell: &CellRecord| cell.samples.iter().filter_map(|sample| part.tally(sample)).sum::<Tally>();
        cells.map(whole).filter(|tally| !tally.statuses.is_empty()).collect()
    };
    let sides = [tallies(BASELINE), tallies(variant)];
    let place = format!("{}{}", cell_name(record, cell), part.suffix());
    let mut differences = Vec::new();
    let statuses = sides.each_ref().map(|tallies| {
        most_frequent(tallies.iter().flat_map(|tally| tally.statuses.iter().map(|(status, count)| (*status, *count))))
    });
    if let [Some(baseline), Some(variant)] = statuses
        && baseline != variant
    {
        let statuses = [baseline, variant].map(|status| status.to_string());
        differences.push(difference(Severity::Invalid, &format!("most frequent status, {place}"), statuses));
    }
    let lengths = [BASELINE, variant].map(|variant| good_lengths(record, variant, cell, part));
    if let [Some(baseline), Some(variant)] =
        lengths.each_ref().map(|of| of.iter().copied().reduce(BodyLength::covering))
    {
        let launches = lengths.iter().map(Vec::len).min().unwrap_or_default();
        differences.extend(compare_lengths(&format!("length under load, {place}"), baseline, variant, launches));
    }
    differences
}

/// Lengths of good answers in each launch: of samples without any failure, for a tally does not say whose lengths it has.
fn good_lengths(record: &StudyRecord, variant: VariantIndex, cell: usize, part: Part) -> Vec<BodyLength> {
    let of_launch = |measured: &CellRecord| {
        let tallies = measured.samples.iter().filter_map(|sample| part.tally(sample));
        let good = tallies.filter(|tally| tally.failed() == 0);
        good.filter_map(|tally| tally.body_length).reduce(BodyLength::covering)
    };
    measured(record, variant, cell).into_iter().filter_map(of_launch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{found, gravest, imported, in_pair, values};
    use crate::boundaries::Boundaries;
    use crate::fixture;

    fn change_answers(record: &mut StudyRecord, variant: usize, change: impl Fn(&mut AnswerSample)) {
        let trials = record.trials.iter_mut().filter(|trial| trial.variant == variant);
        trials.flat_map(|trial| &mut trial.answers).for_each(change);
    }

    #[test]
    fn times_and_process_ids_are_natural() {
        assert_eq!(found(rule, &fixture::record(5, 0.0)), []);
    }

    /// The CI server's settings page: one side answered a short error page, very fast.
    #[test]
    fn an_error_page_is_another_answer_even_in_the_first_launch() {
        let mut record = fixture::record(0, 0.0);
        record.trials.truncate(2);
        change_answers(&mut record, 0, |answer| answer.length = 1_266);
        assert_eq!(found(rule, &record), [(Severity::Invalid, "on against off, pages".to_owned())]);
    }

    #[test]
    fn bodies_are_quoted_in_short() {
        assert_eq!(quoted("<html>\n  <body>"), "\"<html> <body>\"");
        assert_eq!(quoted(&"hello ".repeat(60)).chars().count(), QUOTED + 2);
    }

    #[test]
    fn lengths_under_load_count_too() {
        let mut record = fixture::record(3, 0.0);
        let trials = record.trials.iter_mut().filter(|trial| trial.variant == 1);
        for sample in trials.flat_map(|trial| &mut trial.cells).flat_map(|cell| &mut cell.samples) {
            sample.tally.body_length = Some(BodyLength { min: 1_266, max: 1_266 });
        }
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    #[test]
    fn bodies_that_are_alike_are_not_quoted_for_statuses_that_differ_under_load() {
        let mut record = fixture::record(3, 0.0);
        let quotes = |record: &StudyRecord| {
            let found = rule(record, &crate::assess(record, &Boundaries::standard()));
            assert_eq!(found.len(), 1);
            found.iter().flat_map(|found| &found.facts).filter(|it| it.name.ends_with(" begins")).count()
        };
        let trials = record.trials.iter_mut().filter(|trial| trial.variant == 1);
        for sample in trials.flat_map(|trial| &mut trial.cells).flat_map(|cell| &mut cell.samples) {
            sample.tally.statuses = [(500, sample.tally.good)].into();
        }
        assert_eq!(quotes(&record), 0);
        change_answers(&mut record, 1, |answer| answer.status = 500);
        assert_eq!(quotes(&record), 2);
    }

    #[test]
    fn what_a_launch_that_failed_was_answered_is_no_answer_of_the_variants() {
        let mut record = fixture::record(1, 0.0);
        let last = record.trials.iter().rposition(|trial| trial.variant == 1).unwrap();
        let mut cells = record.trials[last].cells.clone();
        for sample in cells.iter_mut().flat_map(|cell| &mut cell.samples) {
            sample.tally.statuses = [(500, sample.tally.good)].into();
        }
        fixture::fail(&mut record.trials[last]);
        record.trials[last].cells = cells;
        assert_eq!(found(rule, &record), []);
        record.trials[last].outcome = model::Outcome::Completed;
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    #[test]
    fn lengths_of_failed_answers_do_not_hide_those_of_good_ones() {
        let mut record = fixture::record(3, 0.0);
        let trials = record.trials.iter_mut().filter(|trial| trial.variant == 1);
        for cell in trials.flat_map(|trial| &mut trial.cells) {
            for sample in &mut cell.samples {
                sample.tally.body_length = Some(BodyLength { min: 1_266, max: 1_266 });
            }
            let failing = &mut cell.samples[0].tally;
            failing.failures.insert(model::Failure::Status, 1);
            failing.body_length = Some(BodyLength { min: 1_266, max: 20_000 });
        }
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    #[test]
    fn a_few_bytes_are_nothing_until_it_is_known_what_varies() {
        let with_lengths = |lengths: [u64; 2], trials| {
            let mut record = fixture::record(3, 0.0);
            record.trials.truncate(trials);
            for trial in &mut record.trials {
                trial.answers.iter_mut().for_each(|answer| answer.length = lengths[trial.variant]);
            }
            gravest(rule, &record)
        };
        assert_eq!(with_lengths([20, 60], 2), None);
        assert_eq!(with_lengths([20, 60], 4), Some(Severity::Invalid));
        assert_eq!(with_lengths([20, 100], 2), Some(Severity::Invalid));
    }

    #[test]
    fn status_and_type_count() {
        for change in
            [|a: &mut AnswerSample| a.status = 302, |a: &mut AnswerSample| a.content_type = "text/plain".into()]
        {
            let mut record = fixture::record(2, 0.0);
            change_answers(&mut record, 1, change);
            assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
        }
        let mut record = fixture::record(2, 0.0);
        change_answers(&mut record, 1, |answer| answer.content_type = "text/html;charset=UTF-8".into());
        assert_eq!(gravest(rule, &record), None);
    }

    #[test]
    fn a_length_that_varies_on_both_sides_is_natural() {
        let mut record = fixture::record(4, 0.0);
        for (i, trial) in record.trials.iter_mut().enumerate() {
            trial.answers.iter_mut().for_each(|answer| answer.length += [0, 400, 900][i % 3]);
        }
        assert_eq!(gravest(rule, &record), None);
    }

    #[test]
    fn a_version_in_the_footer_is_a_warning_and_another_page_a_veto() {
        let mut record = fixture::record(5, 0.0);
        change_answers(&mut record, 1, |answer| {
            answer.lines[3] = "version-10".to_owned();
            answer.length += 2;
        });
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
        change_answers(&mut record, 1, |answer| answer.lines[..18].iter_mut().for_each(|line| line.insert(0, 'x')));
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    #[test]
    fn tools_that_name_statuses_differently_are_no_difference_of_the_answers() {
        let differ = |codes: [&str; 2]| {
            let run = |code: &str| {
                let mut run = imported(100, 10);
                run.all.codes.insert(code.to_owned(), 1_000);
                run
            };
            let found = in_pair(&RULE, codes.map(run)).is_some();
            assert_eq!(in_pair(&RULE, [codes[1], codes[0]].map(run)).is_some(), found, "{codes:?} reversed");
            found
        };
        for alike in [
            ["2xx or 3xx", "2xx"],
            ["2xx or 3xx", "302"],
            ["not 2xx or 3xx", "404"],
            ["not 2xx", "503"],
            ["not 2xx", "not 2xx or 3xx"],
            ["OK", "200"],
            ["OK", "2xx or 3xx"],
            ["status.find.is(200), but actually found 404", "404"],
        ] {
            assert!(!differ(alike), "{alike:?}");
        }
        for other in [
            ["2xx or 3xx", "404"],
            ["2xx or 3xx", "not 2xx or 3xx"],
            ["2xx", "302"],
            ["OK", "KO"],
            ["200", "connection refused"],
            ["4xx", "5xx"],
        ] {
            assert!(differ(other), "{other:?}");
        }
    }

    #[test]
    fn an_error_page_is_no_answer_to_the_same_request() {
        let with = |code: &str, min: u64, max: u64| {
            let mut run = imported(100, 10);
            run.all.codes.insert(code.to_owned(), 1_000);
            let length = Some(BodyLength { min, max });
            if code.starts_with("not") {
                (run.all.good, run.all.failed, run.all.failed_length) = (0, 1_000, length);
            } else {
                run.all.body_length = length;
            }
            run
        };
        let facts = |runs| in_pair(&RULE, runs).iter().flat_map(values).collect::<Vec<_>>();
        assert_eq!(
            facts([with("2xx", 15_118, 15_118), with("not 2xx", 1_266, 1_266)]),
            ["2xx | not 2xx", "15,118 | 1,266"]
        );
        assert_eq!(facts([with("200", 15_118, 15_118), with("201", 15_110, 15_118)]), [""; 0]);
        assert_eq!(facts([with("200", 800, 2_000), with("200", 900, 2_500)]), [""; 0], "lengths that overlap");
        assert_eq!(facts([with("200", 100, 100), with("200", 150, 150)]), [""; 0], "a token more or less");
        // An error among the pages does not hide that the pages differ, and is none of them.
        let failing = |mut run: model::imported::ImportedRun| {
            (run.all.failed, run.all.failed_length) = (1, Some(BodyLength { min: 1_266, max: 1_266 }));
            run
        };
        assert_eq!(facts([failing(with("200", 15_118, 15_118)), with("200", 1_266, 1_266)]), ["15,118 | 1,266"]);
        assert_eq!(facts([failing(with("200", 15_118, 15_118)), with("200", 15_118, 15_118)]), [""; 0]);
    }
}
