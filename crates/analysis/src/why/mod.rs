//! Why the variants differ: what one more launch of each used and recorded, per request, ranked by how much of the difference
//! in CPU time it is.
//!
//! CPU time is divided exactly, by threads: compiling, collecting, the program. The parts add up to the whole, so each is a
//! share of the difference. What a recording counts (throwables, bytes, waits) has no CPU time of its own: it stands after
//! those, by its ratio. One launch explains; it proves nothing.

mod launch;
mod topics;
mod watched;

use model::profiling::{CpuUse, Profile, Sum, Sums, ThrowableKind};
use model::why::{Difference, Explanation, Unit, WatchedLaunch};
use model::{BASELINE, Comparison, Metric, StudyRecord, VariantIndex, Why, text};

use crate::compare::Primary;
use topics::{first, last};
use watched::{FEW, Watched};

/// Below this log ratio of CPU per request two launches count as alike: shares of so little say nothing.
const ALIKE: f64 = 0.05;
/// A part of the CPU time is reported when its difference is at least this share of the larger whole.
const LEAST_SHARE: f64 = 0.02;
/// Something counted is reported when it is at least so many times as much on one side as on the other.
const LEAST_RATIO: f64 = 1.25;
/// What the profiling runs of a record say, or why there are none; `None` where none was wanted.
pub fn why(record: &StudyRecord, comparisons: &[Comparison]) -> Option<Why> {
    let variants = 0..record.study.variants.len();
    let made = |variant| record.profiling_runs.iter().find(|made| made.variant == variant);
    let launches: Vec<WatchedLaunch> =
        variants.clone().filter_map(made).map(|made| launch::watched(record, made)).collect();
    let skipped = record.profiling_skipped.as_ref().map(|why| format!("There are no profiling runs: {why}."));
    if launches.is_empty() && skipped.is_none() {
        return None;
    }
    let watched: Vec<Option<Watched>> = variants.clone().map(|variant| Watched::of(made(variant)?)).collect();
    let explanation = |variant: VariantIndex| {
        let pair = Pair { record, baseline: watched[BASELINE]?, variant: watched[variant]?, index: variant };
        Some(pair.explanation(comparisons))
    };
    let explanations = variants.skip(BASELINE + 1).filter_map(explanation).collect();
    Some(Why { launches, explanations, topics: topics::topics(&watched), skipped })
}

/// A variant and the baseline, both watched.
struct Pair<'a> {
    record: &'a StudyRecord,
    baseline: Watched<'a>,
    variant: Watched<'a>,
    index: VariantIndex,
}

impl Pair<'_> {
    fn explanation(&self, comparisons: &[Comparison]) -> Explanation {
        let names = self.names();
        let [name, baseline] = names;
        let whole = self.both(|watched| watched.cpu(CpuUse::without_recorder_s));
        let subject = match whole {
            Some([of_baseline, of_variant]) => format!(
                "{name} uses {} of server CPU per request, {baseline} {}: {}",
                text::micros(of_variant),
                text::micros(of_baseline),
                text::change((of_variant / of_baseline).ln())
            ),
            None => format!("{name} against {baseline}: their CPU time could not be read"),
        };
        let mut parts = whole.map(|whole| self.parts(whole)).unwrap_or_default();
        parts.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let mut counted = self.counted();
        counted.sort_by(|a, b| ratio(b.values).total_cmp(&ratio(a.values)));
        Explanation {
            variant: self.index,
            subject,
            differences: parts.into_iter().chain(counted).collect(),
            caution: self.caution(whole, comparisons),
        }
    }

    fn names(&self) -> [&str; 2] {
        self.record.compared(self.index)
    }

    /// A quantity of baseline and variant.
    fn both(&self, of: impl Fn(&Watched) -> Option<f64>) -> Option<[f64; 2]> {
        Some([of(&self.baseline)?, of(&self.variant)?])
    }

    fn profiles(&self) -> Option<[&Profile; 2]> {
        Some([self.baseline.profile()?, self.variant.profile()?])
    }

    /// The parts of the CPU time that differ.
    fn parts(&self, whole: [f64; 2]) -> Vec<Difference> {
        let difference = whole[1] - whole[0];
        let differs = (whole[1] / whole[0]).ln().abs() >= ALIKE;
        let part = |topic: &str, what: &str, of: fn(&CpuUse) -> f64, details: Vec<String>| {
            let values = self.both(|watched| watched.cpu(of))?;
            let own = values[1] - values[0];
            let explains = differs.then(|| own / difference);
            let share = explains.map(|share| {
                let percent = text::significant((share * 100.0).abs().round(), 2);
                if share >= 0.0 {
                    format!(", {percent} % of the difference")
                } else {
                    format!(", against the difference ({percent} %)")
                }
            });
            let mut sentence = self.against(what, Unit::Micros, values) + &share.unwrap_or_default();
            for detail in details {
                sentence.push_str("; ");
                sentence.push_str(&detail);
            }
            let is_reported = own.abs() >= LEAST_SHARE * whole[0].max(whole[1]);
            is_reported.then(|| Difference { topic: topic.to_owned(), sentence, unit: Unit::Micros, values, explains })
        };
        [
            part("JIT compilation", "of JIT compilation", |cpu| cpu.jit_s, self.of_compiling()),
            part("garbage collection", "of garbage collection and safepoints", |cpu| cpu.gc_s, self.of_collecting()),
            part("program", "in the program's own threads", CpuUse::program_s, self.of_program()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// `on: 8.40 ms of JIT compilation per request against 0.10 ms`.
    fn against(&self, what: &str, unit: Unit, [baseline, variant]: [f64; 2]) -> String {
        let written = |value| match unit {
            Unit::Micros => text::micros(value),
            Unit::Bytes => text::bytes(value),
            Unit::Count => text::trimmed(text::significant(value, 3)),
        };
        format!("{}: {} {what} per request against {}", self.names()[0], written(variant), written(baseline))
    }

    fn of_compiling(&self) -> Vec<String> {
        let Some(profiles) = self.profiles() else { return Vec::new() };
        let mut details = Vec::new();
        if let Some((reason, [baseline, variant])) =
            most_different(profiles.map(|profile| &profile.failed), |sum| sum.count as f64, first)
        {
            let counts = [variant, baseline].map(|count| text::count(count as u64));
            details.push(format!("compilations fail with '{reason}' ({} against {} in all)", counts[0], counts[1]));
        }
        let compiled = profiles.map(|profile| text::count(profile.compiled.count));
        details.push(format!("{} compilations against {}", compiled[1], compiled[0]));
        let given_up = profiles.map(|profile| text::count(profile.deoptimizations.count));
        if given_up[0] != given_up[1] {
            details.push(format!("compiled code is given up {} times against {}", given_up[1], given_up[0]));
        }
        details
    }

    fn of_collecting(&self) -> Vec<String> {
        let Some(profiles) = self.profiles() else { return Vec::new() };
        let [baseline, variant] = profiles.map(|profile| text::count(profile.collections.count));
        vec![format!("{variant} collections against {baseline}")]
    }

    /// Where the program itself spends more or less, by samples.
    fn of_program(&self) -> Vec<String> {
        let (Some(baseline), Some(variant)) = (self.baseline.stack_samples(), self.variant.stack_samples()) else {
            return Vec::new();
        };
        let Some(cpu) = self.both(|watched| watched.cpu(CpuUse::program_s)) else { return Vec::new() };
        if baseline.by != variant.by {
            return Vec::new();
        }
        let samples = [baseline, variant];
        let share = |index: usize| {
            let all = samples[index].methods.count as f64;
            move |sum: &Sum| sum.count as f64 / all * cpu[index]
        };
        let packages = baseline.packages.zip(variant.packages).map(<[&Sums; 2]>::from);
        let methods = Some(samples.map(|sampled| sampled.methods));
        let ruby = Some(samples.map(|sampled| sampled.ruby_methods));
        let places: [(&str, Option<[&Sums; 2]>, Key); 3] =
            [("package", packages, first), ("method", methods, first), ("Ruby method", ruby, last)];
        let reported = |(what, sums, key): (&str, Option<[&Sums; 2]>, Key)| {
            let sums = sums?;
            let grouped = [0, 1].map(|index| topics::grouped(sums[index], share(index), key));
            let (place, [baseline, variant]) = largest_difference(&grouped)?;
            let [variant, baseline] = [variant, baseline].map(text::micros);
            Some(format!("{what} that differs most, by samples: {place} ({variant} against {baseline})"))
        };
        places.into_iter().filter_map(reported).collect()
    }

    /// What differs and has no CPU time of its own.
    fn counted(&self) -> Vec<Difference> {
        if self.profiles().is_none() {
            return Vec::new();
        }
        let mut reported = Vec::new();
        let mut tell =
            |topic: &str, what: &str, unit: Unit, floor: f64, of: &dyn Fn(&Watched) -> f64, detail: Option<String>| {
                let values = [of(&self.baseline), of(&self.variant)];
                if (values[1] - values[0]).abs() >= floor && ratio(values) >= LEAST_RATIO.ln() {
                    let detail = detail.map(|detail| format!(", {detail}")).unwrap_or_default();
                    let sentence = self.against(what, unit, values) + &detail;
                    reported.push(Difference { topic: topic.to_owned(), sentence, unit, values, explains: None });
                }
            };
        for (kind, what) in [
            (ThrowableKind::RubyRaise, "Ruby raises"),
            (ThrowableKind::ControlFlow, "throwables for control flow"),
            (ThrowableKind::Java, "exceptions of Java code"),
        ] {
            let of = |watched: &Watched| watched.per_request(watched.throwables(kind) as f64);
            tell("exceptions", what, Unit::Count, 0.01, &of, self.commonest(kind));
        }
        let profile =
            |of: fn(&Profile) -> f64| move |watched: &Watched| watched.per_request(watched.profile().map_or(0.0, of));
        tell("allocation", "allocated", Unit::Bytes, 1.0, &profile(|profile| profile.allocations.amount), None);
        tell("locks", "of waiting for locks", Unit::Micros, 1.0, &profile(|profile| profile.locks.amount * 1e6), None);
        tell("threads", "threads started", Unit::Count, 0.05, &profile(|profile| profile.threads_started as f64), None);
        reported
    }

    /// What is thrown most often where there is more of it.
    fn commonest(&self, kind: ThrowableKind) -> Option<String> {
        let sides = [&self.variant, &self.baseline];
        let more = sides.into_iter().max_by(|a, b| {
            let rate = |watched: &Watched| watched.per_request(watched.throwables(kind) as f64);
            rate(a).total_cmp(&rate(b))
        })?;
        let groups = more.profile()?.throwables.top.iter();
        let top = groups.filter(|sum| ThrowableKind::of(sum) == kind).max_by_key(|sum| sum.count)?;
        let place =
            top.key.get(2).filter(|place| !place.is_empty()).map_or_else(String::new, |place| format!(" at {place}"));
        Some(format!("most of them {}{place}", first(top)?))
    }

    /// What has to be known before the explanation is believed.
    fn caution(&self, whole: Option<[f64; 2]>, comparisons: &[Comparison]) -> Option<String> {
        let few = [self.baseline, self.variant]
            .iter()
            .map(|watched| watched.observation.requests)
            .min()
            .filter(|least| *least < FEW);
        if let Some(few) = few {
            return Some(format!("One of the launches was watched for {} requests only.", text::count(few)));
        }
        let seen = whole.map(|[baseline, variant]| (variant / baseline).ln())?;
        let cell = Primary::of(self.record).cell;
        let measured = comparisons
            .iter()
            .find(|c| c.metric == Metric::CpuPerRequest && c.cell == cell && c.variant == self.index)?
            .effect?;
        let agrees = (measured.low..=measured.high).contains(&seen);
        (!agrees).then(|| {
            format!(
                "In these launches CPU per request differs by {}, in the measured ones by {}: recording, or this one launch, \
                 changes something. Where the two disagree, the measured ones count.",
                text::change(seen),
                text::effect(&measured)
            )
        })
    }
}

/// A part of a key, where it is not empty.
type Key = fn(&Sum) -> Option<&str>;

/// The group whose amounts differ most between baseline and variant.
fn most_different<'a>(
    sums: [&'a Sums; 2],
    amount: impl Fn(&Sum) -> f64 + Copy,
    key: impl Fn(&Sum) -> Option<&str> + Copy,
) -> Option<(String, [f64; 2])> {
    let grouped = sums.map(|sums: &'a Sums| topics::grouped(sums, amount, key));
    largest_difference(&grouped)
}

fn largest_difference(grouped: &[indexmap::IndexMap<String, f64>; 2]) -> Option<(String, [f64; 2])> {
    let of = |key: &String| [0, 1].map(|side: usize| grouped[side].get(key).copied().unwrap_or(0.0));
    let gap = |values: [f64; 2]| (values[1] - values[0]).abs();
    let keys = grouped.iter().flat_map(|groups| groups.keys());
    let values = keys.map(|key| (key.clone(), of(key))).filter(|(_, values)| gap(*values) > 0.0);
    values.max_by(|(_, a), (_, b)| gap(*a).total_cmp(&gap(*b)))
}

fn size(difference: &Difference) -> f64 {
    (difference.values[1] - difference.values[0]).abs()
}

/// How many times as much, as a log without a sign; infinite where one side has none.
fn ratio([baseline, variant]: [f64; 2]) -> f64 {
    if baseline <= 0.0 && variant <= 0.0 { 0.0 } else { (variant / baseline).ln().abs() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use model::profiling::{Observation, ProfilingRun, Recording, StackSamples};
    use model::{Effect, Interpretation, ProfilingSkipped, Role};

    use super::*;
    use crate::fixture;

    fn record(mut on: ProfilingRun, change: impl FnOnce(&mut Profile)) -> StudyRecord {
        let mut record = fixture::record(5, 0.0);
        let Some(Observation { recording: Recording::Jfr { profile, .. }, .. }) = &mut on.observation else {
            panic!("a recording")
        };
        change(profile);
        record.profiling_runs = vec![fixture::profiling_run(0, 10_000, 100.0), on];
        record
    }

    fn measured(estimate: f64) -> Comparison {
        Comparison {
            role: Role::Exploratory,
            metric: Metric::CpuPerRequest,
            cell: None,
            variant: 1,
            typical: [None, None],
            differences: Vec::new(),
            effect: Some(Effect {
                estimate,
                low: estimate - 0.1,
                high: estimate + 0.1,
                resolution: 0.0,
                blocks: 5,
                confidence: 0.95,
            }),
            interpretation: Interpretation::Worse,
        }
    }

    #[test]
    fn what_explains_most_stands_first() {
        let record = record(fixture::profiling_run(1, 5_000, 8_400.0), |profile| {
            profile.failed = fixture::sums(&[(&["call site target change"], 312, 1.9), (&["out of nodes"], 1, 3.0)]);
            profile.throwables = fixture::sums(&[
                (&["org.jruby.exceptions.ArgumentError", "", "page (app:4)"], 25_000, 0.0),
                (&["java.lang.Exception", "walk", "page (app:4)"], 25_000, 0.0),
                (&["org.jruby.ir.runtime.IRBreakJump", "", "page (app:5)"], 10, 0.0),
            ]);
            profile.thrown = profile.throwables.clone();
        });
        let why = why(&record, &[]).unwrap();
        let explanation = &why.explanations[0];
        assert_eq!(explanation.subject, "on uses 9.40 ms of server CPU per request, off 1.10 ms: ×8.5");
        let [jit, raises] = &explanation.differences[..] else { panic!("{explanation:#?}") };
        assert_eq!(
            jit.sentence,
            "on: 8.40 ms of JIT compilation per request against 100 µs, 100 % of the difference; compilations fail with \
             'call site target change' (312 against 0 in all); 0 compilations against 0"
        );
        assert!((jit.explains.unwrap() - 1.0).abs() < 1e-9);
        // Ten jumps in five thousand requests are not reported; nor are stacks that were only looked at.
        assert_eq!(
            raises.sentence,
            "on: 5 Ruby raises per request against 0, most of them org.jruby.exceptions.ArgumentError at page (app:4)"
        );
        assert!(raises.values[0] == 0.0 && (raises.values[1] - 5.0).abs() < 1e-12, "{raises:?}");
        assert_eq!(explanation.caution, None);
        let reported =
            why.topics.iter().flat_map(|topic| &topic.rows).find(|row| row.what.starts_with("Ruby raises")).unwrap();
        assert_eq!(reported.values, [Some(0.0), Some(5.0)]);
    }

    /// Only the largest groups are known by their place.
    #[test]
    fn raises_of_all_places_are_summed() {
        let record = record(fixture::profiling_run(1, 10_000, 100.0), |profile| {
            profile.throwables =
                fixture::sums(&[(&["org.jruby.exceptions.ArgumentError", "", "page (app:4)"], 5_000, 0.0)]);
            profile.thrown = fixture::sums(&[(&["org.jruby.exceptions.ArgumentError", ""], 20_000, 0.0)]);
        });
        let why = why(&record, &[]).unwrap();
        assert_eq!(
            why.explanations[0].differences[0].sentence,
            "on: 2 Ruby raises per request against 0, most of them org.jruby.exceptions.ArgumentError at page (app:4)"
        );
        let topic = why.topics.iter().find(|topic| topic.title == "Exceptions").unwrap();
        let rows: Vec<_> = topic.rows.iter().map(|row| (row.what.as_str(), row.values[1])).collect();
        let place = "– org.jruby.exceptions.ArgumentError at page (app:4)";
        assert_eq!(rows, [("Ruby raises", Some(2.0)), (place, Some(0.5))]);
    }

    #[test]
    fn parts_of_the_cpu_time_add_up() {
        let mut on = fixture::profiling_run(1, 10_000, 1_000.0);
        on.observation.as_mut().unwrap().cpu = Some(CpuUse { total_s: 30.0, jit_s: 6.0, gc_s: 3.0, recorder_s: 1.0 });
        let why = why(&record(on, |_| {}), &[]).unwrap();
        let explained: Vec<_> =
            why.explanations[0].differences.iter().map(|d| (d.topic.as_str(), d.explains.unwrap())).collect();
        assert_eq!(
            explained.iter().map(|(topic, _)| *topic).collect::<Vec<_>>(),
            ["program", "JIT compilation", "garbage collection"]
        );
        assert!((explained.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-9, "{explained:?}");
    }

    #[test]
    fn launches_that_disagree_with_the_measured_ones_say_so() {
        let record = record(fixture::profiling_run(1, 10_000, 1_100.0), |_| {});
        // 2.1 ms against 1.1 ms.
        assert_eq!(why(&record, &[measured((2.1_f64 / 1.1).ln())]).unwrap().explanations[0].caution, None);
        let caution = why(&record, &[measured(0.0)]).unwrap().explanations[0].caution.clone().unwrap();
        assert!(
            caution.starts_with("In these launches CPU per request differs by +90.9 %, in the measured ones by 0.0 %"),
            "{caution}"
        );
    }

    fn sampled(mut run: ProfilingRun, spinning: u64) -> ProfilingRun {
        let methods =
            fixture::sums(&[(&["Object#spin (app:3)"], spinning, 0.0), (&["(marking)"], 1_000 - spinning, 0.0)]);
        let ruby_methods = fixture::sums(&[(&["Object#spin (app:3)"], spinning, 0.0)]);
        let stack_samples = Box::new(StackSamples { methods, ruby_methods });
        run.observation.as_mut().unwrap().recording =
            Recording::Stackprof { file: "/run/probe.7.stackprof".into(), stack_samples };
        run
    }

    #[test]
    fn samples_of_mri_tell_its_methods_and_nothing_else() {
        let mut record = fixture::record(5, 0.0);
        let mut on = sampled(fixture::profiling_run(1, 5_000, 0.0), 900);
        on.observation.as_mut().unwrap().cpu = Some(CpuUse { total_s: 10.0, ..CpuUse::default() });
        record.profiling_runs = vec![sampled(fixture::profiling_run(0, 10_000, 0.0), 500), on];
        let why = why(&record, &[]).unwrap();
        let [program] = &why.explanations[0].differences[..] else { panic!("{why:#?}") };
        // Of 2 ms 90 %, of 1 ms 50 %.
        let method = "method that differs most, by samples: Object#spin (app:3) (1.80 ms against 500 µs)";
        assert!(program.sentence.ends_with(&format!("; {method}; Ruby {method}")), "{program:#?}");
        let titles: Vec<_> = why.topics.iter().map(|topic| topic.title.as_str()).collect();
        assert_eq!(titles, ["CPU time", "Hottest methods of MRI", "Hottest Ruby methods of MRI"]);
        let rows: Vec<_> = why.topics[1].rows.iter().map(|row| row.what.as_str()).collect();
        assert_eq!(rows, ["Object#spin (app:3)", "(marking)"]);
        assert_eq!(why.launches[1].recording.as_deref(), Some(Path::new("/run/probe.7.stackprof")));
        assert_eq!(why.launches[1].missing.as_deref(), Some(launch::ONLY_SAMPLES));
    }

    /// What one of them does not count is not zero, and the other calls the same places by other names.
    #[test]
    fn a_jvm_and_mri_are_not_compared_by_what_they_recorded() {
        let mut record = fixture::record(5, 0.0);
        record.profiling_runs =
            vec![fixture::profiling_run(0, 10_000, 100.0), sampled(fixture::profiling_run(1, 5_000, 8_400.0), 900)];
        let Some(Observation { recording: Recording::Jfr { profile, .. }, .. }) =
            &mut record.profiling_runs[0].observation
        else {
            panic!()
        };
        profile.stack_samples = fixture::sums(&[(&["spin (app)"], 1_000, 0.0)]);
        profile.throwables =
            fixture::sums(&[(&["org.jruby.exceptions.ArgumentError", "", "page (app:4)"], 25_000, 0.0)]);
        profile.thrown = profile.throwables.clone();
        let why = why(&record, &[]).unwrap();
        let reported: Vec<_> =
            why.explanations[0].differences.iter().map(|reported| reported.sentence.as_str()).collect();
        assert!(
            reported.iter().all(|sentence| !sentence.contains("raises") && !sentence.contains("spin")),
            "{reported:#?}"
        );
        let of = |title: &str| why.topics.iter().find(|topic| topic.title == title).unwrap().rows[0].values.clone();
        assert!(matches!(of("Hottest methods")[..], [Some(_), None]), "{why:#?}");
        assert!(matches!(of("Hottest methods of MRI")[..], [None, Some(_)]), "{why:#?}");
        assert!(matches!(of("Exceptions")[..], [Some(_), None]), "{why:#?}");
    }

    #[test]
    fn a_launch_without_a_recording_says_why() {
        let mut record = record(fixture::profiling_run(1, 10_000, 100.0), |_| {});
        let observation = record.profiling_runs[1].observation.as_mut().unwrap();
        observation.recording = Recording::None { reason: "this Ruby keeps no record of itself".into() };
        observation.requests = 50;
        let why = why(&record, &[]).unwrap();
        assert_eq!(
            why.launches[1].missing.as_deref(),
            Some("There is no recording: this Ruby keeps no record of itself.")
        );
        assert!(why.explanations[0].caution.as_ref().unwrap().contains("50 requests only"));
        record.profiling_runs.clear();
        assert_eq!(super::why(&record, &[]), None);
        record.profiling_skipped =
            Some(ProfilingSkipped::NoRoom { budget: Duration::from_secs(100), time: Duration::from_secs(40) });
        assert_eq!(
            super::why(&record, &[]).unwrap().skipped.as_deref(),
            Some("There are no profiling runs: they would take about 40 s, more than was left of the budget of 2 min.")
        );
    }
}
