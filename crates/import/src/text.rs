//! What tools print for people, read word by word.

use std::ops::Range;

/// Most that is counted anywhere: a number beyond it is a mistake, and sums of it have room.
pub const MOST: u64 = 1_000_000_000_000_000;

/// The count that a text begins with.
pub fn count(text: &str) -> Result<u64, &'static str> {
    word(text).parse().ok().filter(|count| *count <= MOST).ok_or("no count stands where one must")
}

/// The number that a text begins with, zero or more.
pub fn number(text: &str) -> Result<f64, &'static str> {
    let number: Option<f64> = word(text).parse().ok();
    number.filter(|number| number.is_finite() && *number >= 0.0).ok_or("no number stands where one must")
}

fn word(text: &str) -> &str {
    text.trim().split([' ', ',', ')']).next().unwrap_or_default()
}

/// The count that stands before a word: 7 before `failed` in `3 good, 7 failed`.
pub fn count_before(text: &str, word: &str) -> Option<u64> {
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    words.windows(2).find(|pair| pair[1] == word).and_then(|pair| count(pair[0]).ok())
}

/// Units of time, in milliseconds.
const UNITS: [(&str, f64); 8] =
    [("ns", 1e-6), ("us", 1e-3), ("µs", 1e-3), ("μs", 1e-3), ("ms", 1.0), ("s", 1e3), ("m", 6e4), ("h", 3.6e6)];

/// A duration such as `2.19ms` or `1m30.5s`, milliseconds.
pub fn duration_ms(text: &str) -> Result<f64, &'static str> {
    const NO_UNIT: &str = "no unit of time stands where one must";
    let (mut rest, mut sum_ms) = (text.trim(), 0.0);
    loop {
        let (amount, behind) = rest.split_at(rest.find(char::is_alphabetic).ok_or(NO_UNIT)?);
        let (unit, behind) =
            behind.split_at(behind.find(|letter: char| !letter.is_alphabetic()).unwrap_or(behind.len()));
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(NO_UNIT)?;
        sum_ms += number(amount)? * factor;
        if behind.is_empty() {
            return if sum_ms.is_finite() { Ok(sum_ms) } else { Err("a time is longer than time lasts") };
        }
        rest = behind;
    }
}

/// Whether a text is a page of Markdown that only shows what tools print: it has fences around it, or headings below the first.
pub fn is_page(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("```") || line.starts_with("## "))
}

/// The moment that a text begins with, such as `2015/01/10 16:55:39` or `2015-01-10 16:55:39,123`, milliseconds since 1970. It has no
/// time zone, and is taken for UTC.
pub fn moment_ms(text: &str) -> Option<i64> {
    let digits = |range: Range<usize>, least: i64, most: i64| {
        let digits = text.get(range).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        digits.parse().ok().filter(|number| (least..=most).contains(number))
    };
    let between = |at: usize, allowed: &[u8]| text.as_bytes().get(at).filter(|byte| allowed.contains(byte));
    between(4, b"/-").filter(|one| text.as_bytes().get(7) == Some(one))?;
    between(10, b" T").and(between(13, b":")).and(between(16, b":"))?;
    let (year, month, day) = (digits(0..4, 1970, 9999)?, digits(5..7, 1, 12)?, digits(8..10, 1, 31)?);
    let (hour, minute, second) = (digits(11..13, 0, 23)?, digits(14..16, 0, 59)?, digits(17..19, 0, 60)?);
    let ms = between(19, b",.").and_then(|_| digits(20..23, 0, 999)).unwrap_or(0);
    // The year begins in March here, so that the day by which it may be longer is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = 365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - DAYS_BEFORE_1970;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + ms)
}

/// Days from March 1st of the year 0 to 1970.
const DAYS_BEFORE_1970: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_since_1970() {
        assert_eq!(moment_ms("1970-01-01 00:00:00"), Some(0));
        assert_eq!(moment_ms("2015/01/10 16:55:39 INFO"), Some(1_420_908_939_000));
        assert_eq!(moment_ms("2024-02-29T23:59:59,123 INFO"), Some(1_709_251_199_123));
        assert_eq!(moment_ms("2100-03-01 00:00:00.5"), Some(4_107_542_400_000));
        for wrong in [
            "",
            "2015/01/10",
            "2015-01/10 16:55:39",
            "2015/13/10 16:55:39",
            "2015/01/10 16:5é:39",
            "+015/01/10 16:55:39",
        ] {
            assert_eq!(moment_ms(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn durations_have_units() {
        let near = |text: &str, ms: f64| assert!((duration_ms(text).unwrap() - ms).abs() < 1e-9, "{text}");
        near("80.00us", 0.08);
        near(" 2.19ms", 2.19);
        near("1.05s", 1_050.0);
        near("2.10m", 126_000.0);
        near("1h2m3.5s", 3_723_500.0);
        near("120ns", 0.000_12);
        for wrong in ["", "ms", "12", "-1ms", "NaNs", "infs", "1m30", "1x2s"] {
            assert!(duration_ms(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_count_that_nobody_can_have_counted_is_none() {
        assert_eq!((count("500 (mean)"), count("1,000")), (Ok(500), Ok(1)));
        assert!(count("99999999999999999").is_err() && count("-1").is_err());
    }

    #[test]
    fn what_stands_between_other_words_is_a_page() {
        assert!(is_page("# Load\n\n```sh\nhey\n```\n") && is_page("# Load\n## Results\nSummary:\n"));
        assert!(!is_page("# hey -n 100 http://127.0.0.1/\n\nSummary:\n"));
    }

    #[test]
    fn numbers_stand_before_their_words() {
        assert_eq!(count_before("requests: 200 total, 7 failed", "failed"), Some(7));
        assert_eq!(count_before("requests: 200 total", "failed"), None);
    }
}
