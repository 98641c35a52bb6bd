//! A mergeable distribution of durations.

use std::borrow::Cow;
use std::iter::Sum;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::serialization::{Deserializer as HdrReader, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Durations in microseconds, 1 µs to 1 hour, to three significant digits (an HDR histogram).
///
/// Histograms add exactly: merging per-second histograms gives the histogram of the whole.
/// Percentiles are therefore always taken from merged histograms, never averaged.
#[derive(Debug, Clone)]
pub struct Histogram(Form);

type Counts = hdrhistogram::Histogram<u64>;

#[derive(Debug, Clone)]
enum Form {
    Counts(Box<Counts>),
    /// HdrHistogram's V2 encoding, compressed.
    Packed(Box<[u8]>),
}

/// Longest duration that is resolved, in microseconds (one hour); longer ones are recorded as this.
pub const LONGEST_US: u64 = 3_600_000_000;

/// Durations that have to lie beyond a quantile for it to be shown.
pub const LEAST_BEYOND: u32 = 100;

impl Histogram {
    /// How finely a duration is resolved, as a part of it; never more finely than 1 µs.
    pub const PRECISION: f64 = 1e-3;

    /// An empty histogram.
    pub fn new() -> Self {
        // It grows with what it holds: a load keeps several for every second, and room for an hour takes 180 KB.
        let Ok(counts) = Counts::new(3) else { unreachable!("the precision is a constant that the library accepts") };
        Self(Form::Counts(counts.into()))
    }

    /// Takes less memory from now on: some hundred bytes instead of tens of thousands. Looking into it takes longer
    /// then, and recording undoes it.
    pub fn pack(&mut self) {
        if let Form::Counts(counts) = &self.0 {
            self.0 = Form::Packed(encoded(counts).into());
        }
    }

    fn counts(&self) -> Cow<'_, Counts> {
        match &self.0 {
            Form::Counts(counts) => Cow::Borrowed(counts),
            Form::Packed(bytes) => {
                Cow::Owned(decoded(bytes).unwrap_or_else(|_| unreachable!("they were encoded here")))
            }
        }
    }

    #[inline]
    fn counts_mut(&mut self) -> &mut Counts {
        if let Form::Packed(_) = self.0 {
            self.0 = Form::Counts(self.counts().into_owned().into());
        }
        let Form::Counts(counts) = &mut self.0 else { unreachable!("it has been unpacked") };
        counts
    }

    /// Records one duration of `us` microseconds; 0 counts as 1 µs, more than an hour as an hour.
    pub fn record(&mut self, us: u64) {
        // It grows where it has to: recording cannot fail.
        let _ = self.counts_mut().record(us.clamp(1, LONGEST_US));
    }

    /// Adds every duration of `other`.
    pub fn merge(&mut self, other: &Self) {
        // It grows where it has to: adding cannot fail.
        let _ = self.counts_mut().add(&*other.counts());
    }

    /// Number of durations recorded.
    pub fn count(&self) -> u64 {
        self.counts().len()
    }

    /// Duration in µs below or at which the fraction `q` (0..=1) of the recorded ones lie; 0 when empty.
    pub fn quantile(&self, q: f64) -> u64 {
        self.counts().value_at_quantile(q)
    }

    /// Like [`Self::quantile`], but `None` unless at least [`LEAST_BEYOND`] durations lie beyond it:
    /// a quantile is shown only when n·(1−q) ≥ 100 (`docs/method.md`).
    pub fn supported_quantile(&self, q: f64) -> Option<u64> {
        // The tolerance keeps 1,000 · (1 − 0.9) = 99.99…98 from being refused.
        (self.count() as f64 * (1.0 - q) >= f64::from(LEAST_BEYOND) - 1e-6).then(|| self.quantile(q))
    }

    /// Every recorded duration in µs with the fraction of all that are not longer and their number, ascending, in steps
    /// that become finer towards the longest: as HdrHistogram's percentile distribution has them.
    pub fn distribution(&self) -> Vec<(u64, f64, u64)> {
        const STEPS_PER_HALVING: u32 = 5;
        let mut sum = 0;
        let counts = self.counts();
        let steps = counts.iter_quantiles(STEPS_PER_HALVING).map(|step| {
            sum += step.count_since_last_iteration();
            (step.value_iterated_to(), step.quantile_iterated_to(), sum)
        });
        steps.collect()
    }

    /// Every recorded duration in µs with its number, ascending.
    pub fn recorded(&self) -> Vec<(u64, u64)> {
        let counts = self.counts();
        counts.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
    }

    /// Mean in µs; 0 when empty.
    pub fn mean(&self) -> f64 {
        self.counts().mean()
    }

    /// Number of durations of at most `us` microseconds, as finely as durations are resolved.
    pub fn count_within(&self, us: u64) -> u64 {
        self.counts().count_between(0, us.min(LONGEST_US))
    }

    /// Largest duration in µs; 0 when empty.
    pub fn max(&self) -> u64 {
        self.counts().max()
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Sum<&'a Self> for Histogram {
    fn sum<I: Iterator<Item = &'a Self>>(histograms: I) -> Self {
        histograms.fold(Self::new(), |mut whole, histogram| {
            whole.merge(histogram);
            whole
        })
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.counts() == other.counts()
    }
}

fn encoded(counts: &Counts) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail, nor can counts below 2^63.
    let _ = V2DeflateSerializer::new().serialize(counts, &mut bytes);
    bytes
}

fn decoded(mut bytes: &[u8]) -> Result<Counts, String> {
    let read: Counts = HdrReader::new().deserialize(&mut bytes).map_err(|error| error.to_string())?;
    // Re-based on one that grows, so that merging stays infallible.
    let mut own = Histogram::new();
    own.counts_mut().add(read).map_err(|error| error.to_string())?;
    Ok(own.counts().into_owned())
}

/// Base64 of HdrHistogram's compressed V2 encoding, which other tools read.
impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&match &self.0 {
            Form::Counts(counts) => STANDARD.encode(encoded(counts)),
            Form::Packed(bytes) => STANDARD.encode(bytes),
        })
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(D::Error::custom)?;
        decoded(&bytes).map(|counts| Self(Form::Counts(counts.into()))).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merging_parts_gives_the_whole(a in proptest::collection::vec(0u64..5_000_000, 0..200),
                                         b in proptest::collection::vec(0u64..5_000_000, 0..200)) {
            let (mut left, mut right, mut whole) = (Histogram::new(), Histogram::new(), Histogram::new());
            for us in &a { left.record(*us); whole.record(*us); }
            for us in &b { right.record(*us); whole.record(*us); }
            left.merge(&right);
            prop_assert_eq!(left, whole);
        }

        #[test]
        fn survives_storage(values in proptest::collection::vec(0u64..9_000_000_000, 0..200)) {
            let mut histogram = Histogram::new();
            for us in values { histogram.record(us); }
            let text = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Histogram>(&text).unwrap(), &histogram);
            let mut packed = histogram.clone();
            packed.pack();
            prop_assert_eq!(&packed, &histogram);
            prop_assert_eq!(serde_json::to_string(&packed).unwrap(), text);
            packed.record(7);
            histogram.record(7);
            prop_assert_eq!(packed.quantile(0.5), histogram.quantile(0.5));
            prop_assert_eq!(packed, histogram);
        }
    }

    #[test]
    fn a_quantile_needs_a_hundred_beyond_it() {
        let mut histogram = Histogram::new();
        for us in 1..=1_000 {
            histogram.record(us);
        }
        assert_eq!(histogram.supported_quantile(0.9), Some(900));
        assert_eq!(histogram.supported_quantile(0.99), None);
    }
}
