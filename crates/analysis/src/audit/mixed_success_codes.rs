//! Answers of different kinds count as the same success.

use model::imported::{Fidelity, Requests};
use model::{Finding, FindingId, Severity, Subject, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("mixed-success-codes"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/mixed-success-codes.md"),
    checks: &[Check::Imported { needs: Evidence::Kept(Fidelity::Samples), look: rule }],
};

/// Share of the answers of a label that a second status of success has, at least.
const LEAST: f64 = 0.01;

/// A warning where one label has a second status from 200 to 299 for 1 % of its requests or more. What failed in spite of such a status,
/// since an assertion rejected it, is no success.
fn rule(imported: &Imported) -> Option<Finding> {
    let labels = imported.run.by_label().into_iter().map(|(label, requests)| (label, successes(requests)));
    let mixed: Vec<_> = labels.filter(|(_, codes)| codes.len() > 1).collect();
    let found = RULE.found(
        Severity::Warning,
        Subject::Load,
        "Under one label the server gives answers of different kinds, and all count as successes: some may be time-outs or refusals.",
        "Find out what each status stands for, and count them apart.",
    );
    let listed = |codes: &[(&String, &u64)]| {
        let each = codes.iter().map(|(code, count)| format!("{} × {code}", text::count(**count)));
        each.collect::<Vec<_>>().join(", ")
    };
    let all = mixed.iter().fold(found, |found, (label, codes)| found.with(*label, listed(codes)));
    (!mixed.is_empty()).then_some(all)
}

/// The statuses of success that have a share of a label's requests, and how many of each ended well.
fn successes(requests: &Requests) -> Vec<(&String, &u64)> {
    let is_success = |code: &str| code.len() == 3 && code.starts_with('2');
    let has_share = |count: u64| count as f64 >= LEAST * requests.ended() as f64;
    requests.good_codes.iter().filter(|(code, count)| is_success(code) && has_share(**count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::imported;

    #[test]
    fn one_in_a_hundred_is_enough() {
        let with = |accepted: u64| {
            let mut run = imported(600, 10);
            let pay = Requests {
                good: 1_000,
                good_codes: [("201".into(), 1_000 - accepted), ("202".into(), accepted)].into(),
                ..Requests::default()
            };
            run.labels.insert("pay".to_owned(), pay);
            rule(&Imported { run: &run, levels: &[], hosts: &[] }).map(|found| found.facts[0].value.to_string())
        };
        assert_eq!(with(9), None);
        assert_eq!(with(10).as_deref(), Some("990 × 201, 10 × 202"));
    }

    #[test]
    fn what_an_assertion_rejected_is_no_success() {
        let mut run = imported(600, 10);
        let codes = [("200".to_owned(), 5_000), ("202".to_owned(), 1_000)];
        run.all = Requests {
            good: 5_000,
            failed: 1_000,
            good_codes: codes[..1].iter().cloned().collect(),
            codes: codes.into(),
            ..Requests::default()
        };
        assert_eq!(rule(&Imported { run: &run, levels: &[], hosts: &[] }), None);
    }
}
