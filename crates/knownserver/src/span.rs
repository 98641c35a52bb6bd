//! Durations written as people write them: `"250us"`, `"5ms"`, `"1.5s"`, `"2m"`.

use serde::{Deserialize, Deserializer, de::Error as _};
use std::time::Duration;

/// Seconds in one of each unit; longer names first, so that `ms` is not read as `s`.
const UNITS: [(&str, f64); 7] =
    [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Reads a number followed by `ns`, `us`, `µs`, `ms`, `s`, `m` or `h`; fractions are allowed, signs are not.
pub fn parse(text: &str) -> Result<Duration, String> {
    let expected = || format!("expected a duration such as \"5ms\", \"200us\" or \"1.5s\", found {text:?}");
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(expected)?;
    let (number, unit) = text.split_at(unit_at);
    let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit.trim()).ok_or_else(expected)?;
    let number: f64 = number.parse().map_err(|_| expected())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| expected())
}

pub(crate) fn de<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

pub(crate) fn de_optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    de(deserializer).map(Some)
}

pub(crate) fn de_pair<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(Duration, Duration), D::Error> {
    let (low, high) = <(String, String)>::deserialize(deserializer)?;
    Ok((parse(&low).map_err(D::Error::custom)?, parse(&high).map_err(D::Error::custom)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read() {
        let read = |text| parse(text).unwrap();
        assert_eq!(read("7ns"), Duration::from_nanos(7));
        assert_eq!(read("200us"), Duration::from_micros(200));
        assert_eq!(read("200µs"), Duration::from_micros(200));
        assert_eq!(read("5ms"), Duration::from_millis(5));
        assert_eq!(read("1.5s"), Duration::from_millis(1500));
        assert_eq!(read("2 m"), Duration::from_secs(120));
        assert_eq!(read("1h"), Duration::from_secs(3600));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "5", "ms", "-5ms", "5 weeks", "5ms later", "1.2.3s"] {
            assert!(parse(text).is_err(), "{text:?} was accepted");
        }
    }
}
