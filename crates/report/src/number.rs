//! How quantities are written, the same in every kind of report. Counts and changes are written as in sentences:
//! [`model::text`].

use model::text::{factor, signed_percent, significant, trimmed, with_percent, with_unit};
use model::{Effect, Metric};

pub use model::text::{NONE, bytes, count, effect, margin, micros, seconds};

/// Good answers per second: `1,234/s`, `45.3/s`.
pub fn rate(per_second: f64) -> String {
    with_unit(per_second, "/s")
}

/// A number of something: `5`, `0.012`, `1,234`.
pub fn amount(number: f64) -> String {
    trimmed(with_unit(number, ""))
}

/// A time on an axis, which keeps to one unit: `0.600 s`, `1,200 s`.
pub fn tick_seconds(s: f64) -> String {
    with_unit(s, " s")
}

/// A metric's value in the unit that suits it.
pub fn value(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Throughput | Metric::Capacity | Metric::Goodput => rate(value),
        Metric::P50 | Metric::P90 | Metric::P99 | Metric::P99_9 | Metric::CpuPerRequest => micros(value),
        Metric::StartUp | Metric::WarmUpTime | Metric::RecoveryTime => seconds(value),
        Metric::WarmUpRequests => count(value.round() as u64),
        Metric::Memory => bytes(value),
    }
}

/// A share, 0..=1, as a percentage: `0 %`, `<0.01 %`, `2.5 %`.
pub fn share(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent == 0.0 {
        "0 %".into()
    } else if percent > 0.0 && percent < 0.01 {
        "<0.01 %".into()
    } else if percent >= 99.95 {
        // 99.97 % is not everything.
        if fraction < 1.0 { ">99.9 %".into() } else { "100 %".into() }
    } else {
        format!("{} %", trimmed(significant(percent, 2)))
    }
}

/// The size of a log ratio whatever its direction: `6.4 %`, `×64`.
pub fn size(log_ratio: f64) -> String {
    factor(log_ratio.abs()).unwrap_or_else(|| margin(Effect::fraction(log_ratio.abs())))
}

/// A log ratio as the percentage of an axis's tick, round as ticks are: `+5 %`, `0 %`.
pub fn tick_change(log_ratio: f64) -> String {
    let text = signed_percent(log_ratio);
    with_percent(text.strip_suffix(".0").unwrap_or(&text).into())
}

/// A written value without the zeros that a round number does not need: `2 ms` for `2.00 ms`.
pub fn round(written: &str) -> String {
    let end = written.find(|c: char| !c.is_ascii_digit() && !"−,.".contains(c)).unwrap_or(written.len());
    let (number, unit) = written.split_at(end);
    trimmed(number.into()) + unit
}

/// A percentile's name: `p50`, `p99.9`.
pub fn percentile(percent: f64) -> String {
    format!("p{percent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_choose_their_unit() {
        for (us, text) in [
            (0.0, "0 µs"),
            (850.0, "850 µs"),
            (999.7, "1.00 ms"),
            (12_345.0, "12.3 ms"),
            (999_700.0, "1.00 s"),
            (1_230_000.0, "1.23 s"),
            (125e6, "2 min 5 s"),
            (120e6, "2 min"),
            (f64::NAN, NONE),
        ] {
            assert_eq!(micros(us), text);
        }
    }

    #[test]
    fn rates_keep_their_whole_part() {
        assert_eq!(
            ["0.0452/s", "9.99/s", "10.0/s", "45.3/s", "1,235/s", "12,346/s"].map(String::from),
            [0.045_21, 9.99, 9.996, 45.31, 1_234.6, 12_345.6].map(rate)
        );
    }

    #[test]
    fn memory_is_binary() {
        assert_eq!([0.0, 512.0, 1024.0, 536_870_912.0].map(bytes), ["0 B", "512 B", "1.00 KiB", "512 MiB"]);
    }

    #[test]
    fn sizes_have_no_sign() {
        assert_eq!([0.936, 1.064, 64.0].map(|ratio| size(f64::ln(ratio))), ["6.84 %", "6.4 %", "×64"]);
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!(["2.00 ms", "2.50 s", "1,500/s", "0 µs", "–"].map(round), ["2 ms", "2.5 s", "1,500/s", "0 µs", "–"]);
        assert_eq!([1.05, 1.0, 0.995].map(|ratio| tick_change(f64::ln(ratio))), ["+5 %", "0 %", "−0.5 %"]);
    }

    #[test]
    fn shares_do_not_round_to_nothing_or_all() {
        assert_eq!(
            ["0 %", "<0.01 %", "2.5 %", "42 %", ">99.9 %", "100 %"].map(String::from),
            [0.0, 0.000_01, 0.025, 0.42, 0.999_9, 1.0].map(share)
        );
    }
}
