//! What tools print for people, read word by word.

/// Most that is counted anywhere: a number beyond it is a mistake, and sums of it have room.
const MOST: u64 = 1_000_000_000_000_000;

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

/// Units of time, in milliseconds; the longer ones first, which end as shorter ones do.
const UNITS: [(&str, f64); 6] = [("us", 1e-3), ("µs", 1e-3), ("ms", 1.0), ("s", 1e3), ("m", 6e4), ("h", 3.6e6)];

/// A duration such as `2.19ms`, milliseconds.
pub fn duration_ms(text: &str) -> Result<f64, &'static str> {
    let text = text.trim();
    let (amount, factor) = UNITS
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))
        .ok_or("no unit of time stands where one must")?;
    Ok(number(amount)? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let near = |text: &str, ms: f64| assert!((duration_ms(text).unwrap() - ms).abs() < 1e-9, "{text}");
        near("80.00us", 0.08);
        near(" 2.19ms", 2.19);
        near("1.05s", 1_050.0);
        near("2.10m", 126_000.0);
        for wrong in ["", "ms", "12", "-1ms", "NaNs", "infs"] {
            assert!(duration_ms(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_count_that_nobody_can_have_counted_is_none() {
        assert_eq!((count("500 (mean)"), count("1,000")), (Ok(500), Ok(1)));
        assert!(count("99999999999999999").is_err() && count("-1").is_err());
    }

    #[test]
    fn numbers_stand_before_their_words() {
        assert_eq!(count_before("requests: 200 total, 7 failed", "failed"), Some(7));
        assert_eq!(count_before("requests: 200 total", "failed"), None);
    }
}
