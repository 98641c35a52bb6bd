//! How numbers and names are written, the same in sentences, findings and tables.
//!
//! A change is a percentage up to +400 %; above that it is a factor, as nobody feels what +6,294 % is: `×64`. Decreases
//! are percentages always: they end at −100 %.

use std::time::Duration;

use crate::limit::Objective;
use crate::{Effect, Outlook, Reach};

/// Stands where there is no number.
pub const NONE: &str = "–";

/// A count with thousands separators: `185,310`.
pub fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// A count with its noun: `1 block`, `1,200 blocks`.
pub fn plural(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// `1 launch`, `3 launches`.
pub fn launches(n: usize) -> String {
    if n == 1 { "1 launch".into() } else { format!("{} launches", count(n as u64)) }
}

/// A percentage without a sign whose digits are all meant, such as an equivalence margin: `2 %`, `2.5 %`.
pub fn margin(fraction: f64) -> String {
    format!("{} %", trimmed(significant(fraction * 100.0, 3)))
}

/// What has to hold of a server's answers: `p95 within 200 ms, at most 1 % failed`.
pub fn objective(objective: &Objective) -> String {
    let percent = trimmed(significant(100.0 * objective.quantile, 3));
    let within = micros(objective.within_us as f64);
    format!("p{percent} within {within}, at most {} failed", margin(objective.errors))
}

/// A share of a whole: `12.3 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A log ratio as a signed percentage, or as a factor: `+4.8 %`, `−12.3 %`, `×64`.
pub fn change(log_ratio: f64) -> String {
    factor(log_ratio).unwrap_or_else(|| with_percent(signed_percent(log_ratio)))
}

/// An estimate with its interval: `+4.8 % [+3.1, +6.4]`, `+77.8 % [−95.1, ×64]`, `×12 [+310 %, ×47]`. The ends leave out
/// the sign of per cent where the estimate has it.
pub fn effect(effect: &Effect) -> String {
    let end = |log_ratio| match factor(effect.estimate) {
        None => factor(log_ratio).unwrap_or_else(|| signed_percent(log_ratio)),
        Some(_) => change(log_ratio),
    };
    format!("{} [{}, {}]", change(effect.estimate), end(effect.low), end(effect.high))
}

/// A log ratio as a factor, where it is one.
pub fn factor(log_ratio: f64) -> Option<String> {
    /// A change above this reads as a factor.
    const FACTOR_ABOVE: f64 = 4.0;
    let fraction = Effect::fraction(log_ratio);
    // As it would be rounded to whole per cent.
    let is_factor = fraction.is_finite() && (fraction * 100.0).round() > FACTOR_ABOVE * 100.0;
    is_factor.then(|| format!("×{}", significant(fraction + 1.0, 2)))
}

/// The digits of a log ratio's percentage with their sign: `+4.8`, `−12.3`, `0.0`, `+101`.
pub fn signed_percent(log_ratio: f64) -> String {
    let percent = Effect::fraction(log_ratio) * 100.0;
    let digits = percent_digits(log_ratio);
    let sign = match digits.as_str() {
        NONE | "0.0" => "",
        _ if percent < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{digits}")
}

/// The digits of a log ratio's percentage without their sign: one decimal below a hundred, none from there.
pub fn percent_digits(log_ratio: f64) -> String {
    let percent = (Effect::fraction(log_ratio) * 100.0).abs();
    if percent.is_finite() { grouped(&format!("{percent:.*}", usize::from(percent < 99.95))) } else { NONE.into() }
}

/// A number with the sign of per cent.
pub fn with_percent(number: String) -> String {
    if number == NONE { number } else { number + " %" }
}

/// What more time shows, on one line: `four of five runs see differences of 5.2 % and more in 30 min; 2.4 % in 2 h 10 min; 3 % in about 35 min (9
/// blocks, perhaps 6 to 24)`. A difference that no number of blocks shows is left out.
pub fn outlook(outlook: &Outlook) -> String {
    let row = |(index, row): (usize, &Reach)| {
        let [of, more] = if index == 0 { ["differences of ", " and more"] } else { [""; 2] };
        format!("{of}{} %{more} in {}", percent_digits(row.smallest), length(row.seconds))
    };
    let rows = outlook.reach.iter().enumerate().map(row);
    let detect = needed(outlook).map(|needed| format!("{} in about {needed}", margin(outlook.detect)));
    let parts: Vec<String> = rows.chain(detect).collect();
    format!("four of five runs see {}", parts.join("; "))
}

/// What it takes to tell the difference that the study cares about from none: `35 min (9 blocks, perhaps 6 to 24)`.
pub fn needed(outlook: &Outlook) -> Option<String> {
    let (blocks, seconds) = (outlook.blocks?, outlook.seconds?);
    let range = match outlook.range {
        [Some(few), Some(many)] if few == many => String::new(),
        [Some(few), Some(many)] => format!(", perhaps {few} to {many}"),
        _ => ", perhaps many more".to_owned(),
    };
    Some(format!("{} ({}{range})", length(seconds), plural(blocks.into(), "block")))
}

/// The length of a run as people say it, of seconds.
pub fn length(seconds: f64) -> String {
    minutes(Duration::from_secs_f64(seconds))
}

/// `value` to `digits` significant digits, but never fewer than its whole part has.
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = (digits - 1 - magnitude).clamp(0, 9);
    // Rounding may add a digit: 9.996 to three digits is 10.0, not 10.00.
    let rounded: f64 = format!("{value:.*}", decimals as usize).parse().unwrap_or(value);
    let grew = rounded != 0.0 && rounded.abs().log10().floor() as i32 > magnitude;
    grouped(&format!("{rounded:.*}", (decimals - i32::from(grew)).max(0) as usize))
}

/// A time given in µs, in the unit that suits it: `850 µs`, `12.3 ms`, `1.23 s`.
pub fn micros(us: f64) -> String {
    // Where three digits would round up to the next unit, the next unit is used.
    match us.abs() {
        small if small < 999.5 => with_unit(us, " µs"),
        medium if medium < 999_500.0 => with_unit(us / 1e3, " ms"),
        _ => seconds(us / 1e6),
    }
}

/// A time given in seconds, in the unit that suits it: `389 µs`, `450 ms`, `12.3 s`, `2 min 5 s`.
pub fn seconds(s: f64) -> String {
    if s != 0.0 && s.abs() < 0.9995 {
        return micros(s * 1e6);
    }
    if s.abs() < 119.5 || !s.is_finite() {
        return with_unit(s, " s");
    }
    let whole = s.round() as i64;
    match whole % 60 {
        0 => format!("{} min", whole / 60),
        rest => format!("{} min {rest} s", whole / 60),
    }
}

/// A time as people say it: `40 s`, `6 min`, `1 h 20 min`.
pub fn minutes(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..=89 => format!("{seconds} s"),
        90..=5_399 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A time as a schedule says it: nothing rounded but hundredths of a second: `90 s`, `2 min`, `1.5 s`.
pub fn exactly(time: Duration) -> String {
    match time.as_secs() {
        _ if time.subsec_millis() > 0 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 120.. if seconds % 60 == 0 => minutes(time),
        seconds => format!("{seconds} s"),
    }
}

/// An amount of memory: `512 MiB`.
pub fn bytes(n: f64) -> String {
    const UNITS: [&str; 5] = [" B", " KiB", " MiB", " GiB", " TiB"];
    let mut scaled = n;
    let mut unit = 0;
    while scaled.abs() >= 999.5 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    if unit == 0 && scaled.is_finite() {
        return format!("{scaled:.0} B");
    }
    with_unit(scaled, UNITS[unit])
}

/// A number to three digits with its unit.
pub fn with_unit(value: f64, unit: &str) -> String {
    if value.is_finite() { format!("{}{unit}", significant(value, 3)) } else { NONE.into() }
}

/// A plain decimal number without the zeros that it does not need.
pub fn trimmed(number: String) -> String {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.').into() } else { number }
}

/// `text`, or as much of its beginning as `most` characters allow and an ellipsis.
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Longest line of a log that is repeated, characters.
const LONGEST_LINE: usize = 200;

/// The last line of a log that says something, shortened: the last that `says_why`, or else the last of all.
pub fn last_words(log: &str, says_why: impl Fn(&str) -> bool) -> Option<String> {
    let mut lines = log.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    let last = lines.clone().next_back()?;
    Some(shortened(lines.rfind(|line| says_why(line)).unwrap_or(last), LONGEST_LINE))
}

/// Puts a comma between thousands of the whole part of a plain decimal number.
fn grouped(number: &str) -> String {
    let (whole, rest) = number.find('.').map_or((number, ""), |dot| number.split_at(dot));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("−", digits));
    let mut text = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_round_nothing_away() {
        assert_eq!(
            [1_500, 90_000, 120_000, 150_000].map(|ms| exactly(Duration::from_millis(ms))),
            ["1.5 s", "90 s", "2 min", "150 s"]
        );
    }

    #[test]
    fn the_last_words_of_a_log_say_something() {
        let log = "why\n  that is all  \n---\n\n";
        assert_eq!(last_words(log, |_| true).as_deref(), Some("that is all"));
        assert_eq!(last_words(log, |line| line == "why").as_deref(), Some("why"));
        assert_eq!(last_words(log, |_| false).as_deref(), Some("that is all"));
        assert_eq!(last_words("---\n", |_| true), None);
        assert_eq!(last_words(&"x".repeat(500), |_| true).unwrap().chars().count(), LONGEST_LINE);
    }

    #[test]
    fn counts_have_separators() {
        assert_eq!(["0", "999", "1,000", "185,310"].map(String::from), [0, 999, 1_000, 185_310].map(count));
    }

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 1_200].map(|n| plural(n, "user")), ["0 users", "1 user", "1,200 users"]);
        assert_eq!([1, 2].map(launches), ["1 launch", "2 launches"]);
    }

    #[test]
    fn changes_come_from_log_ratios() {
        for (ratio, text) in [
            (1.048, "+4.8 %"),
            (0.877, "−12.3 %"),
            (0.69, "−31.0 %"),
            (1.0, "0.0 %"),
            (0.9999, "0.0 %"),
            (3.5, "+250 %"),
            (5.0, "+400 %"),
            (5.004, "+400 %"),
            (5.01, "×5.0"),
            (63.94, "×64"),
            (1_234.5, "×1,235"),
            (0.001, "−99.9 %"),
            (f64::INFINITY, NONE),
        ] {
            assert_eq!(change(f64::ln(ratio)), text);
        }
        assert_eq!([1.048, 0.69, 2.014].map(|ratio| percent_digits(f64::ln(ratio))), ["4.8", "31.0", "101"]);
    }

    #[test]
    fn intervals_share_the_unit_of_their_estimate() {
        for (ratios, text) in [
            ([1.031, 1.048, 1.064], "+4.8 % [+3.1, +6.4]"),
            ([0.69, 0.9, 1.141], "−10.0 % [−31.0, +14.1]"),
            ([0.049, 1.778, 63.94], "+77.8 % [−95.1, ×64]"),
            ([4.1, 12.0, 47.0], "×12 [+310 %, ×47]"),
        ] {
            let [low, estimate, high] = ratios.map(f64::ln);
            let of = Effect { estimate, low, high, resolution: 0.0, blocks: 5, confidence: 0.95 };
            assert_eq!(effect(&of), text);
        }
    }

    #[test]
    fn times_read_as_people_say_them() {
        let said = |seconds| minutes(Duration::from_secs(seconds));
        assert_eq!([said(0), said(89), said(90), said(360)], ["0 s", "89 s", "2 min", "6 min"]);
        assert_eq!([said(5_399), said(5_400), said(9_000)], ["90 min", "1 h 30 min", "2 h 30 min"]);
    }

    #[test]
    fn short_times_are_reported_in_a_unit_that_suits_them() {
        for (s, text) in [
            (0.000_389, "389 µs"),
            (0.0123, "12.3 ms"),
            (0.45, "450 ms"),
            (0.999_49, "999 ms"),
            (0.9995, "1.00 s"),
            (0.0, "0 s"),
            (12.34, "12.3 s"),
            (125.0, "2 min 5 s"),
            (f64::NAN, NONE),
        ] {
            assert_eq!(seconds(s), text);
        }
        assert_eq!(micros(999_500.0), "1.00 s");
    }

    #[test]
    fn margins_have_the_digits_that_are_meant() {
        assert_eq!([0.02, 0.025, 0.1].map(margin), ["2 %", "2.5 %", "10 %"]);
    }

    #[test]
    fn what_is_too_long_ends_in_an_ellipsis() {
        assert_eq!(["hello", "hello you"].map(|text| shortened(text, 6)), ["hello", "hello…"]);
    }

    #[test]
    fn an_objective_reads_as_it_was_written() {
        let usual = Objective { quantile: 0.95, within_us: 200_000, errors: 0.01 };
        assert_eq!(objective(&usual), "p95 within 200 ms, at most 1 % failed");
        let other = Objective { quantile: 0.5, within_us: 1_500_000, errors: 0.005 };
        assert_eq!(objective(&other), "p50 within 1.50 s, at most 0.5 % failed");
    }
}
