//! The summary that k6 prints at the end of a test: that of version 1, and that of those before it (`--summary-mode=legacy`).

use model::imported::{Fidelity, ImportedRun, Requests, Stated};

use crate::k6_points::{dropped, failed_checks};
use crate::outcome::mixed_times;
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Recorded;
use crate::text::{count, duration_ms, is_page, number};

pub const FORMAT: Format = Format { id: "k6", tool: "k6", fidelity: Fidelity::Summary, recognises, read };

fn recognises(head: &[u8], _: Options) -> bool {
    let text = String::from_utf8_lossy(head);
    let has = |name: &str| text.lines().filter_map(row).any(|(one, value)| one == name && count(value).is_ok());
    has("http_reqs") && has("iterations") && !is_page(&text)
}

/// A line such as `    http_reqs......: 18     975.258452/s`: its name without a mark before it, and what stands behind.
fn row(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(": ")?;
    let name = name.strip_suffix('.')?.trim_end_matches('.');
    Some((name.trim_start_matches([' ', '✓', '✗']), value.trim()))
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut said = Said::default();
    reading.hear(|line| said.hear(line))?;
    if said.results > 1 {
        return Err(Broken::Several);
    }
    let Some((requests, seconds)) = said.requests else {
        return Err(Broken::Lacks("`http_reqs`: it did not end, or some is cut off"));
    };
    let failed = said.failed.unwrap_or(0).min(requests);
    let all = Requests { good: requests - failed, failed, ..Requests::default() };
    let untold = said.failed.is_none().then(|| "it does not say which requests failed".to_owned());
    let (failed_of, checks) = said.checks;
    let warnings = [untold, mixed_times(failed), failed_checks(failed_of, checks), dropped(said.dropped)];
    let run = reading.run(&FORMAT, Recorded::summary(all, seconds));
    Ok(ImportedRun {
        // Who is at work, k6 looks up once a second: it may see nobody.
        users: said.users.filter(|users| *users > 0).or(said.most_users),
        has_counted_users: true,
        stated_quantiles: said.quantiles,
        stated: said.stated,
        warnings: warnings.into_iter().flatten().collect(),
        ..run
    })
}

/// What a summary says.
#[derive(Debug, Default)]
struct Said {
    /// Requests, and in how many seconds.
    requests: Option<(u64, f64)>,
    /// Summaries that have come so far.
    results: u32,
    failed: Option<u64>,
    /// Checks that failed, and all.
    checks: (u64, u64),
    dropped: f64,
    /// Users at work at most, and those that were there.
    users: Option<u32>,
    most_users: Option<u32>,
    quantiles: Vec<(f64, f64)>,
    stated: Stated,
}

impl Said {
    /// Takes a line; what is wrong with it, if a number that must be there is none.
    fn hear(&mut self, line: &str) -> Result<(), &'static str> {
        let Some((name, value)) = row(line) else { return Ok(()) };
        match name {
            "http_reqs" => {
                let requests = count(value)?;
                let rate = value.split_whitespace().nth(1).and_then(|rate| rate.strip_suffix("/s"));
                let rate = number(rate.ok_or("no rate stands where one must")?)?;
                self.stated.rate = Some(rate);
                self.requests = Some((requests, if rate > 0.0 { requests as f64 / rate } else { 0.0 }));
                self.results += 1;
            }
            "http_req_failed" => self.failed = Some(of_all(value)?.0),
            "http_req_duration" => self.quantiles(value)?,
            // Before version 1, those that passed.
            "checks" => {
                let (passed, checks) = of_all(value)?;
                self.checks = (checks.saturating_sub(passed), checks);
            }
            "checks_failed" => self.checks = of_all(value)?,
            "dropped_iterations" => self.dropped = number(value)?,
            "vus" => self.users = Some(most(value)?),
            "vus_max" => self.most_users = Some(most(value)?),
            _ => {}
        }
        Ok(())
    }

    /// `avg=1.78ms min=0s med=196.44µs max=10.8ms p(90)=4.79ms p(95)=10.58ms`
    fn quantiles(&mut self, value: &str) -> Result<(), &'static str> {
        for (name, time) in value.split_whitespace().filter_map(|pair| pair.split_once('=')) {
            let percent = name.strip_prefix("p(").and_then(|name| name.strip_suffix(')'));
            if name == "avg" {
                self.stated.mean_ms = Some(duration_ms(time)?);
            }
            let fraction = match (name, percent) {
                ("med", _) => 0.5,
                ("max", _) => 1.0,
                (_, Some(percent)) => number(percent)? / 100.0,
                _ => continue,
            };
            self.quantiles.push((fraction, duration_ms(time)?));
        }
        Ok(())
    }
}

/// `66.66% 12 out of 18`, or in older versions `66.66% ✓ 12 ✗ 6`: 12 and 18.
fn of_all(value: &str) -> Result<(u64, u64), &'static str> {
    if let Some((part, all)) = value.split_once(" out of ") {
        let part = part.rsplit(' ').next().unwrap_or_default();
        return Ok((count(part)?, count(all)?));
    }
    let marked =
        |mark: char| value.split_once(mark).ok_or("no counts stand where they must").and_then(|(_, of)| count(of));
    let part = marked('✓')?;
    Ok((part, part + marked('✗')?))
}

/// `1      min=1        max=5`: 5.
fn most(value: &str) -> Result<u32, &'static str> {
    let (_, most) = value.split_once("max=").ok_or("no most stands where one must")?;
    u32::try_from(count(most)?).map_err(|_| "nobody has so many users")
}

#[cfg(test)]
mod tests {
    use model::imported::Stated;

    use crate::{ImportError, Options, read};

    const SHOP: &[u8] = include_bytes!("../fixtures/k6-1.8.1/shop.txt");

    #[test]
    fn a_summary_is_read_whole() {
        let run = read("a.txt", SHOP, Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed, run.lines.bad), ("k6", 3, 6, 0));
        let fractions: Vec<f64> = run.stated_quantiles.iter().map(|(fraction, _)| *fraction).collect();
        assert_eq!((fractions.as_slice(), run.users), (&[0.5, 1.0, 0.9, 0.95][..], Some(1)));
        assert!(run.seconds > 1.0 && run.seconds < 3.0, "{}", run.seconds);
        assert_eq!(run.stated, Stated { rate: Some(4.912_545), mean_ms: Some(2.62) });
        assert_eq!(run.warnings[0], "its times are those of all requests: 6 that failed are among them");
        assert_eq!(
            run.warnings[1..],
            ["3 of 6 checks of the script failed: k6 does not count that as failed requests"]
        );
    }

    #[test]
    fn a_rate_that_was_not_kept_is_said() {
        for text in [
            &include_bytes!("../fixtures/k6-1.8.1/rate.txt")[..],
            include_bytes!("../fixtures/k6-1.8.1/rate-legacy.txt"),
        ] {
            let run = read("a.txt", text, Options::default()).unwrap();
            assert!(run.all.good > 100 && run.all.failed == 0 && (run.seconds - 2.0).abs() < 0.1, "{run:?}");
            assert!(run.warnings[0].starts_with("k6 left out 1") && run.warnings.len() == 1, "{:?}", run.warnings);
            assert_eq!((run.users, run.stated_quantiles.len(), run.lines.bad), (Some(1), 4, 0));
        }
    }

    #[test]
    fn summaries_before_version_1_have_marks() {
        let text = "     checks.........................: 66.66% ✓ 12       ✗ 6\n\
                    \x20  ✗ http_req_duration..............: avg=1.78ms min=0s med=196.44µs max=1m10.8s p(90)=4.79ms p(99.9)=10.58ms\n\
                    \x20      { expected_response:true }...: avg=5.05ms min=2.19ms med=2.29ms max=10.8ms p(90)=10.67ms p(95)=10.73ms\n\
                    \x20    http_req_failed................: 10.00% ✓ 20       ✗ 180\n\
                    \x20    http_reqs......................: 200    100.0/s\n\
                    \x20    iterations.....................: 200    100.0/s\n\
                    \x20    vus_max........................: 5      min=5      max=5\n";
        let run = read("a.txt", text.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.users, run.lines.bad), (180, 20, Some(5), 0));
        assert_eq!(run.warnings[1], "6 of 18 checks of the script failed: k6 does not count that as failed requests");
        assert_eq!((run.stated_quantiles[1], run.stated_quantiles.len()), ((1.0, 70_800.0), 4));
        assert!((run.seconds - 2.0).abs() < 1e-9 && (run.stated_quantiles[3].0 - 0.999).abs() < 1e-9);
        let later = text.replace("✓ 12       ✗ 6", "12 out of 18").replace("✓ 20       ✗ 180", "20 out of 200");
        let other = read("a.txt", later.as_bytes(), Options::default()).unwrap();
        assert_eq!((other.all, other.warnings), (run.all, run.warnings));
        let two = read("a.txt", text.repeat(2).as_bytes(), Options::default());
        assert!(matches!(two, Err(ImportError::Several { .. })));
    }
}
