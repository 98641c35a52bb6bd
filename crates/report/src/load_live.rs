//! What `bakeoff load` shows while it goes on.

use std::fmt::Write as _;

use model::Sample;

/// A sample on one line: `12 s  12345/s  p50 1.2 ms  3 failed  5 waiting`.
pub fn load_sample(sample: &Sample) -> String {
    let rate = sample.tally.good as f64 / sample.length_s;
    let mut text = format!("{:.0} s  {rate:.0}/s", sample.start_s + sample.length_s);
    if sample.latency().count() > 0 {
        // Writing to a String cannot fail.
        let _ = write!(text, "  p50 {:.1} ms", sample.latency().quantile(0.5) as f64 / 1e3);
    }
    if sample.tally.failed() > 0 {
        let _ = write!(text, "  {} failed", sample.tally.failed());
    }
    if let Some(open) = sample.open.as_ref().filter(|open| open.backlog > 0) {
        let _ = write!(text, "  {} waiting", open.backlog);
    }
    text
}

/// Times as a row of bars, from nothing to the longest.
pub fn sparkline(times_us: impl Iterator<Item = u64> + Clone) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let longest = times_us.clone().max().unwrap_or(0).max(1);
    times_us.map(|us| BARS[(us * (BARS.len() as u64 - 1) / longest) as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Histogram, Tally};

    #[test]
    fn bars_grow_with_the_time() {
        assert_eq!(sparkline([1, 500, 1_000].into_iter()), "▁▄█");
        assert_eq!(sparkline([0, 0].into_iter()), "▁▁");
    }

    #[test]
    fn a_sample_is_one_line() {
        let mut service = Histogram::new();
        service.record(1_500);
        let sample =
            Sample { length_s: 1.0, tally: Tally { good: 1, ..Tally::default() }, service, ..Sample::default() };
        assert_eq!(load_sample(&sample), "1 s  1/s  p50 1.5 ms");
    }
}
