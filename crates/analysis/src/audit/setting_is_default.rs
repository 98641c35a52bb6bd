//! Two variants are the same treatment: the values that make them differ are equal in the running processes.
//!
//! One level being the default is normal (off, where off is the default) and is no finding. It becomes one when the
//! other level ends up with the same value.

use model::study::{AskedSetting, SettingKind};
use model::{FindingId, Setting, SettingResult, Severity, StudyRecord, VariantIndex};

use super::{Context, Found, launches, name, settings};
use crate::compare::BASELINE;

/// For each two variants that differ in one factor: their live values of everything that the factor sets are equal.
///
/// Invalid against the baseline, else a warning; a warning as well when both levels ask for the same in so many words,
/// for then the study is an A/A test and knows it.
pub fn rule(record: &StudyRecord, _: &Context) -> Vec<Found> {
    let variants = record.study.variants.len();
    let pairs = (0..variants).flat_map(|first| (first + 1..variants).map(move |second| (first, second)));
    pairs.filter_map(|(first, second)| compare(record, first, second)).collect()
}

fn compare(record: &StudyRecord, first: VariantIndex, second: VariantIndex) -> Option<Found> {
    let factor = only_difference(record, first, second)?;
    let asked = |variant: VariantIndex| -> Vec<&AskedSetting> {
        record.study.variants[variant].treatment.iter().filter(|asked| asked.factor == factor).collect()
    };
    let (by_first, by_second) = (asked(first), asked(second));
    let settings: Vec<&AskedSetting> = by_first.iter().chain(&by_second).copied().collect();
    let values: Option<Vec<String>> = settings
        .iter()
        .map(|asked| {
            let value = effective(record, first, second, asked)?;
            let is_same = effective(record, second, first, asked)? == value
                || is_default(record, first, asked) && is_default(record, second, asked);
            is_same.then(|| settings::display(asked.kind.key(&asked.name), &value))
        })
        .collect();
    let mut values = values.filter(|values| !values.is_empty())?;
    values.dedup();
    let is_deliberate = by_first == by_second;
    let severity = if first == BASELINE && !is_deliberate { Severity::Invalid } else { Severity::Warning };
    let both = format!("{} and {}", name(record, first), name(record, second));
    let remedy = if is_deliberate {
        "In an A/A study, which measures chance itself, all is well. Else choose a level that differs."
    } else {
        "Choose a level that differs from what the process has anyway."
    };
    let found = Found::new(
        FindingId::SettingIsDefault,
        severity,
        format!("{both}: {factor}"),
        &format!("{both} are the same treatment: whatever differs between them is chance."),
        remedy,
    )
    .about(second);
    Some(values.into_iter().fold(found, |found, value| found.with("in both processes", value)))
}

/// The factor in which two variants differ, if it is only one.
fn only_difference(record: &StudyRecord, first: VariantIndex, second: VariantIndex) -> Option<&str> {
    let level = |variant: VariantIndex, factor: &str| record.study.variants[variant].levels.get(factor);
    let mut differing = record.study.factors.iter().filter(|f| level(first, &f.name) != level(second, &f.name));
    let factor = differing.next()?;
    differing.next().is_none().then_some(factor.name.as_str())
}

/// The value in a variant's process: as read there, else what the process of the one that it is compared with says is the default. Other
/// variants may have other defaults: these depend on what else is set.
fn effective(record: &StudyRecord, variant: VariantIndex, other: VariantIndex, asked: &AskedSetting) -> Option<String> {
    if let Some(read) = settings::reading(record, variant, asked) {
        return read.live.clone();
    }
    // What runs may have other defaults elsewhere.
    if asked.kind == SettingKind::Runtime || !have_equal_versions(record) {
        return None;
    }
    settings::reading(record, other, asked)?.default.clone()
}

/// Whether the variant has what it would have anyway: a variable of options has many values that come to that.
fn is_default(record: &StudyRecord, variant: VariantIndex, asked: &AskedSetting) -> bool {
    let is_default = |read: &Setting| read.result == SettingResult::AlreadyDefault;
    have_equal_versions(record) && settings::reading(record, variant, asked).is_none_or(is_default)
}

fn have_equal_versions(record: &StudyRecord) -> bool {
    let versions =
        |variant| launches(record, variant).find_map(|trial| trial.launch.as_ref()).map(|launch| &launch.versions);
    (1..record.study.variants.len()).all(|variant| versions(variant) == versions(BASELINE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{found, gravest};
    use crate::boundaries::Boundaries;
    use crate::fixture;

    fn set(record: &mut StudyRecord, variant: usize, change: impl Fn(&mut Vec<Setting>)) {
        record.trials.iter_mut().filter(|t| t.variant == variant).for_each(|trial| change(&mut trial.settings));
    }

    #[test]
    fn one_level_being_the_default_is_normal() {
        assert_eq!(found(rule, &fixture::record(5, 0.0)), []);
        // Also when the baseline asks for nothing and has the default unread.
        let mut record = fixture::record(5, 0.0);
        record.study.variants[0].treatment.clear();
        set(&mut record, 0, Vec::clear);
        assert_eq!(found(rule, &record), []);
    }

    #[test]
    fn a_level_that_asks_for_the_default_is_no_treatment() {
        let mut record = fixture::record(5, 0.0);
        record.study.variants[0].treatment.clear();
        set(&mut record, 0, Vec::clear);
        set(&mut record, 1, |settings| settings[0].default = Some("true".to_owned()));
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    /// Two factors: what is the default with one level of the other is not with its other level.
    #[test]
    fn a_default_is_that_of_the_pair() {
        let mut record = fixture::record(5, 0.0);
        let factors = [("memory", ["small", "large"]), ("threads", ["any", "two"])];
        record.study.factors = factors
            .map(|(name, levels)| model::study::Factor {
                name: name.to_owned(),
                levels: levels.map(str::to_owned).to_vec(),
            })
            .to_vec();
        let [off, _] = &record.study.variants[..] else { panic!("two variants") };
        let kind = SettingKind::JvmFlag;
        let asked = |factor: &str, name: &str| AskedSetting {
            factor: factor.to_owned(),
            kind,
            name: name.to_owned(),
            value: String::new(),
        };
        let variants: Vec<_> = [("small", "any"), ("small", "two"), ("large", "any"), ("large", "two")]
            .into_iter()
            .map(|(memory, threads)| {
                let mut variant = off.clone();
                variant.name = format!("{memory}/{threads}");
                variant.levels =
                    [("memory", memory), ("threads", threads)].map(|(f, l)| (f.to_owned(), l.to_owned())).into();
                variant.treatment = vec![asked("memory", if memory == "small" { "-Xmx1g" } else { "-Xmx4g" })];
                variant.treatment.extend((threads == "two").then(|| asked("threads", "-XX:ConcGCThreads=2")));
                variant
            })
            .collect();
        record.study.variants = variants;
        let trial = record.trials[0].clone();
        let threads = |default: &str| Setting {
            kind,
            name: "-XX:ConcGCThreads=2".to_owned(),
            default: Some(default.to_owned()),
            ..fixture::setting("2")
        };
        let memory = |name: &str| Setting { kind, name: name.to_owned(), ..fixture::setting(name) };
        record.trials = (0..4)
            .map(|variant| {
                let mut settings = vec![memory(if variant < 2 { "-Xmx1g" } else { "-Xmx4g" })];
                // Of the small heap one thread is the default, of the large one two are.
                settings.extend((variant % 2 == 1).then(|| threads(if variant == 1 { "1" } else { "2" })));
                model::TrialRecord { variant, settings, ..trial.clone() }
            })
            .collect();
        let of = |found: Vec<(Severity, String)>| found.into_iter().map(|(_, subject)| subject).collect::<Vec<_>>();
        assert_eq!(of(found(rule, &record)), ["large/any and large/two: threads"]);
    }

    /// Levels of `JAVA_OPTS`, each with its result; none for a level that leaves it alone.
    fn options(levels: [Option<(&str, SettingResult)>; 2]) -> StudyRecord {
        let mut record = fixture::record(5, 0.0);
        for (variant, level) in levels.into_iter().enumerate() {
            let (kind, name) = (SettingKind::Env, "JAVA_OPTS".to_owned());
            let asked = |text: &str| AskedSetting {
                factor: record.study.factors[0].name.clone(),
                kind,
                name: name.clone(),
                value: text.to_owned(),
            };
            record.study.variants[variant].treatment = level.iter().map(|(text, _)| asked(text)).collect();
            let read = level.map(|(text, result)| {
                let default = (result == SettingResult::AlreadyDefault).then(|| text.to_owned());
                Setting { kind, name: name.clone(), default, result, ..fixture::setting(text) }
            });
            set(&mut record, variant, |settings| *settings = read.iter().cloned().collect());
        }
        record
    }

    #[test]
    fn a_variable_of_options_is_compared_whole() {
        use SettingResult::{AlreadyDefault, InEffect};
        let judge = |levels| gravest(rule, &options(levels));
        let [serial, parallel] = ["-XX:+UseSerialGC", "-XX:+UseParallelGC"];
        assert_eq!(judge([Some((serial, InEffect)), Some((parallel, InEffect))]), None);
        assert_eq!(judge([Some((serial, AlreadyDefault)), Some((parallel, InEffect))]), None);
        assert_eq!(judge([None, Some((parallel, InEffect))]), None);
        // Texts that differ and come to the same.
        let threads = "-XX:+UseThreadPriorities";
        let both = [Some((serial, AlreadyDefault)), Some((threads, AlreadyDefault))];
        assert_eq!(judge(both), Some(Severity::Invalid));
        assert_eq!(judge([None, Some((threads, AlreadyDefault))]), Some(Severity::Invalid));
    }

    #[test]
    fn an_a_a_test_is_told_so() {
        let mut record = fixture::record(5, 0.0);
        record.study.variants[1].treatment = record.study.variants[0].treatment.clone();
        set(&mut record, 1, |settings| settings[0] = fixture::setting("false"));
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
        let boundaries = Boundaries::standard();
        let found = rule(&record, &Context::new(&record, &boundaries));
        let meaning = "off and on are the same treatment: whatever differs between them is chance.";
        assert_eq!(found[0].finding.meaning, meaning);
    }
}
