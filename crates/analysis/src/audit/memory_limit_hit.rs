//! Processes of a server were killed for lack of memory, and it went on without them.

use model::{BASELINE, Finding, FindingId, Outcome, Severity, StudyRecord, Subject, VariantIndex, text};

use super::rule::{Check, RARER, Rule, launches};
use crate::assess::Assessment;
use crate::boundaries::{Boundaries, LAST_LOOK};

pub const RULE: Rule = Rule {
    id: FindingId::new("memory-limit-hit"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/memory-limit-hit.md"),
    checks: &[Check::Run(rule)],
};

/// For each variant of which, or of whose baseline, the kernel killed processes in launches that went well: invalid when one
/// side was hit in more of its launches than chance explains, else a warning. A tenth of the study's α is shared out over variants and
/// over the looks that a run may take, one a block: it may be looked at, and end, after each of them.
fn rule(record: &StudyRecord, assessment: &Assessment) -> Vec<Finding> {
    let sides: Vec<Side> = (0..record.study.variants.len()).map(|variant| Side::of(record, variant)).collect();
    let hit = (BASELINE + 1..sides.len()).filter(|variant| sides[BASELINE].hit + sides[*variant].hit > 0);
    let alpha = of_a_look(assessment.boundaries);
    hit.map(|variant| against_baseline(variant, [&sides[BASELINE], &sides[variant]], alpha)).collect()
}

/// How often one look may find equal sides different, so that all looks at all variants together do so a tenth as often as verdicts may be
/// wrong, by Bonferroni's inequality.
fn of_a_look(boundaries: &Boundaries) -> f64 {
    boundaries.alpha() / (RARER * LAST_LOOK) as f64
}

/// The launches of a variant that went well.
struct Side {
    launches: usize,
    /// Those in which processes were killed.
    hit: usize,
    kills: u64,
    limit: Option<u64>,
}

impl Side {
    fn of(record: &StudyRecord, variant: VariantIndex) -> Self {
        let completed = || launches(record, variant).filter(|trial| trial.outcome == Outcome::Completed);
        Self {
            launches: completed().count(),
            hit: completed().filter(|trial| trial.oom_kills > 0).count(),
            kills: completed().map(|trial| trial.oom_kills).sum(),
            limit: record.study.variants[variant].server.limits.memory_bytes,
        }
    }
}

fn against_baseline(variant: VariantIndex, sides: [&Side; 2], alpha: f64) -> Finding {
    let differs = chance(sides.map(|side| side.hit), sides.map(|side| side.launches)) <= alpha;
    let (severity, meaning) = if differs {
        (
            Severity::Invalid,
            "The kernel killed processes of one side's servers for needing more memory than `limits.memory` allows, and those went on \
             without them: what differs is whether the server lives within its limit, not how fast it is.",
        )
    } else {
        (
            Severity::Warning,
            "The kernel killed processes of servers for needing more memory than `limits.memory` allows. The servers went on without them, \
             so these are the speeds of servers that lose their workers.",
        )
    };
    let both = |of: &dyn Fn(&Side) -> String| sides.map(of);
    RULE.found(
        severity,
        Subject::Against { variant, cell: None },
        meaning,
        "Raise `limits.memory`, or have the server need less (a smaller heap, fewer workers), and run again.",
    )
    .with("launches with processes killed", both(&|side| format!("{} of {}", side.hit, side.launches)))
    .with("processes killed", both(&|side| text::count(side.kills)))
    .with("limit", both(&|side| side.limit.map_or_else(|| "none".to_owned(), |bytes| text::bytes(bytes as f64))))
}

/// How probable it is, where both sides are hit equally often, that so many of their launches are hit or any split of as many that is no more
/// probable: Fisher's exact test, two-sided (Fisher, Statistical Methods for Research Workers, 5th ed., §21.02).
fn chance(hit: [usize; 2], launches: [usize; 2]) -> f64 {
    let all = hit[0] + hit[1];
    let ways = |first: usize| choose(launches[0], first) * choose(launches[1], all - first);
    let splits = || (all.saturating_sub(launches[1])..=all.min(launches[0])).map(ways);
    // Equally probable ones may differ by rounding.
    let as_rare = ways(hit[0]) * (1.0 + 1e-9);
    splits().filter(|ways| *ways <= as_rare).sum::<f64>() / splits().sum::<f64>()
}

/// In how many ways `taken` of `of` can be taken.
fn choose(of: usize, taken: usize) -> f64 {
    (0..taken).map(|nth| (of - nth) as f64 / (nth + 1) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{found, gravest, values};
    use crate::boundaries::Boundaries;
    use crate::fixture;

    /// Has processes killed in so many launches of each variant.
    fn hit(record: &mut StudyRecord, launches: [usize; 2]) {
        for (variant, count) in launches.into_iter().enumerate() {
            let own = record.trials.iter_mut().filter(|trial| trial.variant == variant);
            own.take(count).for_each(|trial| trial.oom_kills = 2);
        }
    }

    fn gravest_of(launches: [usize; 2]) -> Option<Severity> {
        // Eight blocks and two pilots: ten launches a side.
        let mut record = fixture::record(8, 0.0);
        hit(&mut record, launches);
        gravest(rule, &record)
    }

    #[test]
    fn one_side_that_does_not_live_within_its_limit_is_no_comparison() {
        assert_eq!(gravest_of([0, 0]), None);
        for alike in [[0, 1], [8, 0], [10, 10], [10, 2], [2, 9]] {
            assert_eq!(gravest_of(alike), Some(Severity::Warning), "{alike:?}");
        }
        for other in [[0, 10], [10, 0], [1, 10], [9, 0]] {
            assert_eq!(gravest_of(other), Some(Severity::Invalid), "{other:?}");
        }
    }

    #[test]
    fn both_sides_are_reported() {
        let mut record = fixture::record(6, 0.0);
        hit(&mut record, [0, 8]);
        record.study.variants[1].server.limits.memory_bytes = Some(64 << 20);
        let boundaries = Boundaries::standard();
        let found = rule(&record, &crate::assess(&record, &boundaries));
        let [only] = &found[..] else { panic!("{found:?}") };
        assert_eq!(values(only), ["0 of 8 | 8 of 8", "0 | 16", "none | 64.0 MiB"]);
        assert_eq!((only.severity, &only.subject), (Severity::Invalid, &Subject::Against { variant: 1, cell: None }));
    }

    #[test]
    fn a_baseline_that_is_hit_concerns_those_that_are_not() {
        let mut study = fixture::study();
        study.factors[0].levels.push("fast".to_owned());
        study.variants.push(fixture::variant("fast", "true"));
        let mut record = fixture::record_of(study, 6, 0.0, 0.01, 3);
        hit(&mut record, [8, 8]);
        let expected = [(Severity::Warning, "on against off"), (Severity::Invalid, "fast against off")];
        assert_eq!(found(rule, &record), expected.map(|(severity, subject)| (severity, subject.to_owned())));
    }

    #[test]
    fn launches_that_failed_are_another_rules() {
        let mut record = fixture::record(3, 0.0);
        hit(&mut record, [0, 5]);
        record.trials.iter_mut().filter(|trial| trial.variant == 1).for_each(fixture::fail);
        assert_eq!(gravest(rule, &record), None);
    }

    /// The share of studies with a veto in which a launch of either side is hit with the same probability, looked at after every block: exact,
    /// by all the ways in which the counts of both sides can grow.
    fn vetoed(hit: f64) -> f64 {
        let alpha = of_a_look(&Boundaries::standard());
        let mut counts = vec![vec![0.0; LAST_LOOK + 1]; LAST_LOOK + 1];
        counts[0][0] = 1.0;
        let mut vetoed = 0.0;
        for blocks in 1..=LAST_LOOK {
            let mut next = vec![vec![0.0; LAST_LOOK + 1]; LAST_LOOK + 1];
            for (first, second) in (0..blocks).flat_map(|first| (0..blocks).map(move |second| (first, second))) {
                for (one, other) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let way = [one, other].map(|more| if more == 1 { hit } else { 1.0 - hit });
                    next[first + one][second + other] += counts[first][second] * way[0] * way[1];
                }
            }
            for (first, row) in next.iter_mut().enumerate().take(blocks + 1) {
                for (second, share) in row.iter_mut().enumerate().take(blocks + 1) {
                    if chance([first, second], [blocks; 2]) <= alpha {
                        vetoed += std::mem::take(share);
                    }
                }
            }
            counts = next;
        }
        vetoed
    }

    #[test]
    fn equal_sides_are_distinguished_in_less_than_one_of_a_thousand_studies() {
        for hit in [0.01, 0.1, 0.3, 0.5, 0.7, 0.9] {
            assert!(vetoed(hit) <= 0.001, "{hit}: {}", vetoed(hit));
        }
        assert!(vetoed(0.5) > 0.0);
    }

    /// Ways of the splits as rare as the one seen, by those of all.
    #[test]
    fn chances_are_those_of_the_hypergeometric_distribution() {
        for (hit, launches, expected) in [
            ([5, 0], [5, 5], 2.0 / 252.0),
            ([4, 0], [5, 5], 10.0 / 210.0),
            ([5, 1], [5, 5], 10.0 / 210.0),
            ([3, 3], [5, 5], 1.0),
            // Fisher's tea: 3 of 4 cups.
            ([3, 1], [4, 4], 34.0 / 70.0),
            ([2, 0], [2, 0], 1.0),
        ] {
            assert!((chance(hit, launches) - expected).abs() < 1e-9, "{hit:?} of {launches:?}");
        }
    }
}
