//! What two imported runs asked for, by label.

use std::collections::{BTreeMap, BTreeSet};

use model::imported::ImportedRun;
use model::{Fact, text};

/// Share of a run's requests from which on a label counts: rarer ones may have a number in their names.
const LEAST_SHARE: f64 = 0.01;
/// Share of a run's requests whose labels the other lacks, from which on it asked for something else.
const MISSING: f64 = 0.1;
/// How far the shares of a label may lie apart.
const APART: f64 = 0.1;
/// Labels that are listed.
const LISTED: usize = 6;
/// What a sum of shares may be off by rounding.
const ROUNDING: f64 = 1e-9;

/// The shares of labels where two runs asked for other requests, those furthest apart first; none where they asked for the same, and where
/// a file has no labels. Tools have names of their own for the same request: where the runs are of two tools without a name in common,
/// nothing is known.
pub fn other_mix(runs: [&ImportedRun; 2]) -> Vec<Fact> {
    let [first, second] = runs.map(shares);
    let is_known = !first.is_empty() && !second.is_empty();
    let is_of_one_tool = tool(runs[0]) == tool(runs[1]);
    if !is_known || !is_of_one_tool && !first.keys().any(|label| second.contains_key(label)) {
        return Vec::new();
    }
    let share = |of: &BTreeMap<String, f64>, label: &str| of.get(label).copied().unwrap_or(0.0);
    let missing = |of: &BTreeMap<String, f64>, other: &BTreeMap<String, f64>| {
        let own = of.iter().filter(|(label, share)| **share >= LEAST_SHARE && !other.contains_key(*label));
        own.map(|(_, share)| share).sum::<f64>()
    };
    let counting = |of: &BTreeMap<String, f64>| -> Vec<String> {
        of.iter().filter(|(_, share)| **share >= LEAST_SHARE).map(|(label, _)| label.clone()).collect()
    };
    let labels: BTreeSet<String> = [counting(&first), counting(&second)].concat().into_iter().collect();
    let mut shares: Vec<(String, [f64; 2])> =
        labels.into_iter().map(|label| (label.clone(), [share(&first, &label), share(&second, &label)])).collect();
    let gap = |[first, second]: &[f64; 2]| (first - second).abs();
    let is_apart = shares.iter().any(|(_, shares)| gap(shares) > APART + ROUNDING);
    let is_missing = missing(&first, &second).max(missing(&second, &first)) >= MISSING - ROUNDING;
    if !is_apart && !is_missing {
        return Vec::new();
    }
    shares.retain(|(_, shares)| gap(shares) > ROUNDING);
    shares.sort_by(|(_, one), (_, other)| gap(other).total_cmp(&gap(one)));
    let fact = |(label, shares): (String, [f64; 2])| {
        Fact::new(format!("{label}: share of requests"), shares.map(text::percent))
    };
    shares.into_iter().take(LISTED).map(fact).collect()
}

/// The share of each label in a run's requests, 0..=1.
fn shares(run: &ImportedRun) -> BTreeMap<String, f64> {
    let all: u64 = run.labels.values().map(model::imported::Requests::ended).sum();
    let mut shares = BTreeMap::new();
    for (label, requests) in run.labels.iter().filter(|_| all > 0) {
        *shares.entry(without_host(label)).or_default() += requests.ended() as f64 / all as f64;
    }
    shares
}

/// A label without the address of a server in it: two servers have two. `GET http://a:1/page` is `GET /page`.
fn without_host(label: &str) -> String {
    let Some((before, after)) = label.split_once("://") else { return label.to_owned() };
    let method = before.rfind(' ').map_or("", |space| &before[..=space]);
    format!("{method}{}", after.find('/').map_or("/", |begin| &after[begin..]))
}

/// A tool's name without its version.
fn tool(run: &ImportedRun) -> &str {
    run.tool.split(' ').next().unwrap_or_default()
}
