//! What runs are compared by is when each one's speed fell.

use model::imported::RunOfSeries;
use model::{Finding, FindingId, Severity, Subject, text};

use super::rule::{Check, Rule, SeriesOfRuns};
use crate::correlation::{self, Line};
use crate::settled::MOSTLY_FAILED;
use crate::{robust, series, student};

pub const RULE: Rule = Rule {
    id: FindingId::new("count-is-drop-time"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/count-is-drop-time.md"),
    checks: &[Check::Series(of_series)],
};

/// Fewest runs that are judged: three points are near a line too often.
const FEWEST: usize = 4;
/// Least correlation of requests in all and the time of the fall, of all runs and without any one of them.
const LEAST_R: f64 = 0.99;
/// How likely so high a correlation may be where the two have nothing to do with each other.
const CHANCE: f64 = 0.001;
/// Part by which the lengths of runs may differ that are compared by their totals.
const SAME_LENGTH: f64 = 0.05;
/// What the slope may be, as a part of the difference of the two speeds.
const LEAST_PART: f64 = 0.8;

/// Runs whose totals follow the time of their fall.
struct Followed {
    users: Option<u32>,
    runs: usize,
    /// Requests in all on the time of the fall, seconds.
    line: Line,
    /// The least correlation without one of the runs.
    least_r: f64,
    /// What the median run's speed lost in the fall, requests a second.
    lost: f64,
}

/// Invalid for the totals of runs of the same users and length that each fell once, where they go together with the time of the fall, as
/// much for a second as the speed fell by.
fn of_series(series: &SeriesOfRuns) -> Result<Option<Finding>, String> {
    let is_judged = |run: &&RunOfSeries| run.failed_share < MOSTLY_FAILED && run.fall.is_some_and(|fall| fall.is_only);
    let falling = series.runs.iter().filter(is_judged).count();
    let groups: Vec<Vec<&RunOfSeries>> =
        series::of_same_users(series.runs.iter().filter(is_judged)).into_iter().map(of_same_length).collect();
    let most = groups.iter().map(Vec::len).max().unwrap_or(0);
    if most < FEWEST {
        return Err(format!(
            "of {} {falling} fell once and stayed there, {most} of these with the same users for the same time; it takes {FEWEST}",
            text::plural(series.runs.len() as u64, "run")
        ));
    }
    let followed: Vec<Followed> = groups.iter().filter_map(|group| Followed::of(group)).collect();
    let found = RULE.found(
        Severity::Invalid,
        Subject::Load,
        "The requests in all of these runs say when each one's speed fell, and next to nothing else: comparing them compares how long \
         each machine stayed fast.",
        "Drop every conclusion that rests on totals or means of whole runs. Compare the same time of each run, before any of them fell.",
    );
    let found = followed.iter().fold(found, |found, one| one.reported(found, series.runs.len()));
    Ok((!followed.is_empty()).then_some(found))
}

/// Those that took about as long as the usual one.
fn of_same_length(runs: Vec<&RunOfSeries>) -> Vec<&RunOfSeries> {
    let usual = robust::median(&runs.iter().map(|run| run.seconds).collect::<Vec<_>>()).unwrap_or_default();
    runs.into_iter().filter(|run| (run.seconds - usual).abs() <= SAME_LENGTH * usual).collect()
}

impl Followed {
    fn of(runs: &[&RunOfSeries]) -> Option<Self> {
        let pairs: Vec<[f64; 2]> =
            runs.iter().filter_map(|run| Some([run.fall?.after_s, run.requests as f64])).collect();
        let lost: Vec<f64> = runs.iter().filter_map(|run| Some(run.settled?.rate - run.fall?.rate)).collect();
        let (line, lost) = (correlation::line(&pairs)?, robust::median(&lost)?);
        let without = |index: usize| {
            let others: Vec<[f64; 2]> = [&pairs[..index], &pairs[index + 1..]].concat();
            correlation::line(&others).map_or(0.0, |line| line.r)
        };
        let least_r = (0..pairs.len()).map(without).fold(line.r, f64::min);
        let is_rare = student::of_correlation(line.r, pairs.len()) <= CHANCE;
        // So much more is served in a second before the fall than after it.
        let fits = (LEAST_PART..=1.0 / LEAST_PART).contains(&(line.slope / lost));
        let users = runs.first()?.users;
        (pairs.len() >= FEWEST && least_r >= LEAST_R && is_rare && fits).then_some(Self {
            users,
            runs: pairs.len(),
            line,
            least_r,
            lost,
        })
    }

    fn reported(&self, found: Finding, all: usize) -> Finding {
        let users = self.users.map_or_else(String::new, |users| format!(", {}", text::plural(users.into(), "user")));
        let Line { r, slope, half } = self.line;
        let [slope, low, high] = [slope, slope - half, slope + half].map(|slope| text::significant(slope, 3));
        found
            .with("runs", format!("{} of {all}{users}", self.runs))
            .with("requests in all against the time of the fall", format!("r = {}", cut(r)))
            .with("without any one run", format!("r = {} or more", cut(self.least_r)))
            .with("for each second later", format!("{slope} requests more [{low}, {high}]"))
            .with("the speeds before and after differ by", format!("{}/s", text::significant(self.lost, 3)))
    }
}

/// A correlation below 1 to four digits, none of which is rounded up to 1.
fn cut(r: f64) -> String {
    format!("{:.4}", (r * 1e4).floor() / 1e4)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::audit::testing::{falling, values};
    use crate::boundaries::normal;

    fn of(runs: &[RunOfSeries]) -> Result<Option<Finding>, String> {
        of_series(&SeriesOfRuns { runs, scatter: &[] })
    }

    /// Runs that fall from 7.5/s to a fifth, all rates of each wrong by a part of this size.
    fn runs(n: usize, noise: f64, rng: &mut ChaCha8Rng) -> Vec<RunOfSeries> {
        let run = |_| {
            let mut run = falling(None, rng.random_range(600.0..9_000.0), 0.2);
            run.requests = (run.requests as f64 * (noise * normal(rng)).exp()) as u64;
            run
        };
        (0..n).map(run).collect()
    }

    #[test]
    fn totals_that_follow_the_fall_are_no_result() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for n in [4, 5, 8, 26] {
            let found = of(&runs(n, 0.0, &mut rng)).unwrap().unwrap();
            assert_eq!(found.severity, Severity::Invalid);
            assert_eq!(values(&found)[..2], [format!("{n} of {n}, 50 users"), "r = 0.9999".to_owned()]);
        }
        let found = of(&runs(26, 0.02, &mut rng)).unwrap().unwrap();
        let said = values(&found);
        assert!(said[1].starts_with("r = 0.99") && said[4] == "6.00/s", "{said:?}");
    }

    #[test]
    fn three_runs_and_those_that_do_not_compare_say_nothing() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let with = |change: fn(&mut RunOfSeries), runs: &[RunOfSeries]| {
            let mut runs = runs.to_vec();
            change(&mut runs[0]);
            of(&runs)
        };
        let four = runs(4, 0.0, &mut rng);
        assert_eq!(
            of(&four[..3]),
            Err("of 3 runs 3 fell once and stayed there, 3 of these with the same users for the same time; it takes 4"
                .to_owned())
        );
        assert!(with(|run| run.users = Some(100), &four).is_err());
        assert!(with(|run| run.users = Some(51), &four).unwrap().is_some(), "one more is no other load");
        assert!(with(|run| run.seconds = 7_200.0, &four).is_err());
        assert!(with(|run| run.failed_share = 0.999, &four).is_err());
        assert!(with(|run| run.fall = None, &four).is_err());
        assert!(with(|run| run.fall.as_mut().unwrap().is_only = false, &four).is_err());
    }

    #[test]
    fn what_one_run_alone_shows_or_another_slope_is_no_finding() {
        // Three that fall at once, and one that is far off in both.
        let mut lever: Vec<RunOfSeries> = [1_000.0, 1_010.0, 1_020.0, 9_000.0].map(|at| falling(None, at, 0.2)).into();
        for (run, more) in lever.iter_mut().zip([90, 0, 60, 0]) {
            run.requests += more;
        }
        assert_eq!(of(&lever), Ok(None));
        let mut slope: Vec<RunOfSeries> = [1_000.0, 2_000.0, 3_500.0, 6_000.0].map(|at| falling(None, at, 0.2)).into();
        assert!(of(&slope).unwrap().is_some());
        for run in &mut slope {
            run.requests *= 3;
        }
        assert_eq!(of(&slope), Ok(None));
    }

    /// Requests in all that have nothing to do with the fall, whatever their noise is like, with the fall's own scatter and levers in both:
    /// at most one series of a thousand is called so.
    #[test]
    fn totals_of_their_own_are_hardly_ever_called_so() {
        const SERIES: usize = 20_000;
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let wild = |rng: &mut ChaCha8Rng| {
            let value = normal(rng);
            if rng.random_bool(0.2) { 10.0 * value } else { value }
        };
        let skewed = |rng: &mut ChaCha8Rng| normal(rng).exp();
        let noises: [&dyn Fn(&mut ChaCha8Rng) -> f64; 3] = [&|rng: &mut ChaCha8Rng| normal(rng), &wild, &skewed];
        for noise in noises {
            for n in [4, 5, 6, 10, 26] {
                let mut called = 0;
                for _ in 0..SERIES {
                    let mut run = |_| {
                        let mut run = falling(None, 4_000.0 + 300.0 * noise(&mut rng), 0.2);
                        // As much scatter as would fit the slope.
                        run.requests = (60_000.0 + 6.0 * 300.0 * noise(&mut rng)).max(1.0) as u64;
                        run
                    };
                    let runs: Vec<RunOfSeries> = (0..n).map(&mut run).collect();
                    called += usize::from(of(&runs).unwrap().is_some());
                }
                assert!(called <= SERIES / 1_000, "{n}: {called}");
            }
        }
    }
}
