//! How long requests took, as the server itself saw them.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Longest time that is resolved, in µs (one hour); longer ones are recorded as this.
const LONGEST_US: u64 = 3_600_000_000;
/// Significant decimal digits.
const DIGITS: u8 = 3;

/// Times in µs to three significant digits (an HDR histogram). In JSON a list of `[µs, count]`, ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct Times(Histogram<u64>);

impl Default for Times {
    fn default() -> Self {
        let Ok(empty) = Histogram::new_with_bounds(1, LONGEST_US, DIGITS) else {
            unreachable!("the bounds are constants that the library accepts")
        };
        Self(empty)
    }
}

impl Times {
    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Time in µs below or at which the fraction `q` (0..=1) of them lie; 0 when there is none.
    pub fn quantile(&self, q: f64) -> u64 {
        self.0.value_at_quantile(q)
    }

    pub(crate) fn record(&mut self, took: Duration) {
        self.0.saturating_record((took.as_micros() as u64).max(1));
    }

    pub(crate) fn add(&mut self, other: &Self) {
        // Equal bounds on both sides: adding cannot fail.
        let _ = self.0.add(&other.0);
    }
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())))
    }
}

impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut times = Self::default();
        for (us, count) in Vec::<(u64, u64)>::deserialize(deserializer)? {
            times.0.record_n(us, count).map_err(D::Error::custom)?;
        }
        Ok(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_in_json() {
        let mut times = Times::default();
        for us in [0, 1, 7, 7, 5_004, 123_456, 9_000_000_000] {
            times.record(Duration::from_micros(us));
        }
        let json = serde_json::to_string(&times).unwrap();
        assert!(json.starts_with("[[1,2],[7,2],[500"), "{json}");
        assert_eq!(serde_json::from_str::<Times>(&json).unwrap(), times);
        assert_eq!((times.count(), times.quantile(0.5)), (7, 7));
    }
}
