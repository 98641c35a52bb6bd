//! A pool is smaller than the users at once, so some of them only wait for their turn.

use model::{Arrivals, Finding, FindingId, Severity, SharedSettings, StudyRecord, Subject, VariantIndex, text};
use runtimes::Key;

use super::rule::{Check, Rule, cell_name, launches};
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("pool-too-small"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/pool-too-small.md"),
    checks: &[Check::Run(rule)],
};

/// A warning for each pool (an assertion marked `pool`) that is smaller than the users of a closed loop who ask at once, one for all
/// variants with that size. The size is the smallest that any launch had.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    let mut small: Vec<Small> = Vec::new();
    for variant in 0..record.study.variants.len() {
        for (pool, size) in sizes(record, variant) {
            match small.iter_mut().find(|known| known.pool == pool && known.size.total_cmp(&size).is_eq()) {
                Some(known) => known.variants.push(variant),
                None => small.push(Small { pool, size, variants: vec![variant] }),
            }
        }
    }
    small.iter().filter_map(|small| found(record, small)).collect()
}

/// A pool's size, and the variants that have it.
struct Small<'a> {
    pool: &'a str,
    size: f64,
    variants: Vec<VariantIndex>,
}

/// The pools of a variant, as its launches had them.
fn sizes(record: &StudyRecord, variant: VariantIndex) -> Vec<(&str, f64)> {
    let pools = record.study.variants[variant].assertions.iter().filter(|assertion| assertion.is_pool);
    let size = |pool: &str| {
        let read = launches(record, variant).flat_map(|trial| &trial.settings);
        let own = read.filter(|setting| setting.key == Key::Assertion(pool.to_owned()));
        own.filter_map(|setting| setting.live.as_deref()?.trim().parse().ok()).min_by(f64::total_cmp)
    };
    pools.filter_map(|assertion| Some((assertion.name.as_str(), size(&assertion.name)?))).collect()
}

fn found(record: &StudyRecord, small: &Small) -> Option<Finding> {
    let Small { pool, size, variants } = small;
    // Users who think ask one after the other, and an open loop's connections are no users.
    let users = |cell: &model::Cell| {
        let asks_at_once = matches!(cell.shape.arrivals, Arrivals::Closed { think: None, .. });
        asks_at_once.then_some(cell.shape.connections)
    };
    let mut beyond: Vec<(u32, usize)> =
        record.plan.cells.iter().enumerate().filter_map(|(index, cell)| Some((users(cell)?, index))).collect();
    beyond.retain(|(users, _)| f64::from(*users) > *size);
    beyond.sort_unstable();
    let (fewest, most) = (beyond.first()?.0, beyond.last()?.0);
    let of = vec![SharedSettings { variants: variants.clone(), names: vec![(*pool).to_owned()] }];
    let at = |users: u32| text::count(users.into());
    let meaning = format!(
        "The pool of {size} is smaller than {} concurrent requests: the figures at {} users and more are of waiting for the \
         pool, not of what the server could do.",
        at(fewest),
        at(fewest)
    );
    let remedy = format!(
        "Make it {} or larger, or leave out the numbers of users beyond it. Where the pool itself is what the study asks about, \
         this is the answer.",
        at(most)
    );
    let cells: Vec<String> = beyond.iter().map(|(_, cell)| cell_name(record, *cell)).collect();
    Some(
        RULE.found(Severity::Warning, Subject::Settings { of }, &meaning, &remedy)
            .with("size", size.to_string())
            .with("most users at once", at(most))
            .with("cells beyond it", cells.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::assertion::{Assertion, AssertionSource, Expected};
    use model::{Setting, SettingResult, SettingSource, Think};

    use super::*;
    use crate::audit::testing;
    use crate::boundaries::Boundaries;
    use crate::fixture;

    /// A study at 1 and 20 users whose launches have a pool of that size, by variant.
    fn record(sizes: [&str; 2], is_pool: bool) -> StudyRecord {
        let mut record = fixture::record(5, 0.0);
        for variant in &mut record.study.variants {
            variant.assertions = vec![Assertion {
                name: "connections".into(),
                read: AssertionSource::Command { command: "size".into(), regex: None },
                expect: Expected::parse(">= 1").unwrap(),
                answered: Vec::new(),
                after: false,
                is_pool,
            }];
        }
        for trial in &mut record.trials {
            trial.settings.push(Setting {
                key: Key::Assertion("connections".into()),
                name: "connections".into(),
                requested: ">= 1".into(),
                live: Some(sizes[trial.variant].into()),
                default: None,
                source: SettingSource::Command,
                result: SettingResult::InEffect,
                shared: false,
            });
        }
        record
    }

    #[test]
    fn one_that_is_smaller_than_the_users_is_reported() {
        let small = record(["10", "20"], true);
        let boundaries = Boundaries::standard();
        let [finding] = &rule(&small, &crate::assess(&small, &boundaries))[..] else {
            panic!("one of two is too small")
        };
        assert_eq!(testing::found(rule, &small), [(Severity::Warning, "off: connections".to_owned())]);
        assert!(finding.meaning.starts_with("The pool of 10 is smaller than 20 concurrent requests:"), "{finding:#?}");
        assert_eq!(testing::values(finding), ["10", "20", "pages@20"]);
        let both = record(["10", "10"], true);
        assert_eq!(testing::found(rule, &both), [(Severity::Warning, "all variants: connections".to_owned())]);
        let each = record(["10", "19.5"], true);
        assert_eq!(testing::found(rule, &each).len(), 2);
    }

    #[test]
    fn one_that_is_large_enough_is_not_nor_what_is_no_pool() {
        assert_eq!(testing::found(rule, &record(["20", "100"], true)), []);
        assert_eq!(testing::found(rule, &record(["2", "2"], false)), []);
        assert_eq!(testing::found(rule, &record(["many", "unread"], true)), []);
        // Twenty who think are not twenty at once; nor does a rate say how many.
        let mut thinking = record(["10", "10"], true);
        for cell in &mut thinking.plan.cells {
            let think = Some(Think::Fixed(Duration::from_secs(1)));
            cell.shape.arrivals = Arrivals::Closed { think, steps: Vec::new() };
        }
        assert_eq!(testing::found(rule, &thinking), []);
        let mut open = record(["10", "10"], true);
        open.plan.cells = fixture::open(5, 0.0).plan.cells;
        assert_eq!(testing::found(rule, &open), []);
    }
}
