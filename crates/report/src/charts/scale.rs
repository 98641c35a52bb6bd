//! From values to positions on an axis.

/// How an axis runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Linear,
    Log,
}

/// An axis's span of values. `low < high` always, both finite; on a logarithmic one both are above zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    kind: Kind,
    low: f64,
    high: f64,
}

impl Scale {
    /// A linear axis that holds `values`; those that are not finite are passed over, and none at all gives 0..1.
    pub fn linear(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = span(values.into_iter().filter(|value| value.is_finite())).unwrap_or((0.0, 1.0));
        if high > low {
            return Self { kind: Kind::Linear, low, high };
        }
        let room = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
        Self { kind: Kind::Linear, low: low - room, high: high + room }
    }

    /// A logarithmic axis that holds `values`; those that have no logarithm are passed over, and none at all gives 1..10.
    pub fn log(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) =
            span(values.into_iter().filter(|value| value.is_finite() && *value > 0.0)).unwrap_or((1.0, 10.0));
        if high > low {
            Self { kind: Kind::Log, low, high }
        } else {
            Self { kind: Kind::Log, low: low / 2.0, high: high * 2.0 }
        }
    }

    /// The same with `share` of its span added at both ends.
    pub fn padded(self, share: f64) -> Self {
        match self.kind {
            Kind::Linear => {
                let room = (self.high - self.low) * share;
                Self { low: self.low - room, high: self.high + room, ..self }
            }
            Kind::Log => {
                let room = (self.high / self.low).powf(share);
                Self { low: self.low / room, high: self.high * room, ..self }
            }
        }
    }

    /// Widened to the nearest ticks, so that the axis ends on round numbers.
    pub fn rounded(self, about: usize) -> Self {
        if self.kind == Kind::Log {
            return self;
        }
        let step = TickStep::cutting(self.high - self.low, about);
        let size = step.times(1.0);
        Self { low: step.times((self.low / size).floor()), high: step.times((self.high / size).ceil()), ..self }
    }

    /// Where `value` lies: 0 at the low end, 1 at the high end, beyond them outside.
    pub fn position(self, value: f64) -> f64 {
        match self.kind {
            Kind::Linear => (value - self.low) / (self.high - self.low),
            Kind::Log => (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    /// Lowest value.
    pub fn low(self) -> f64 {
        self.low
    }

    /// Highest value.
    pub fn high(self) -> f64 {
        self.high
    }

    /// Round values within the span in rising order, about as many as asked for and never more than twice that.
    pub fn ticks(self, about: usize) -> Vec<f64> {
        let about = about.max(2);
        match self.kind {
            Kind::Linear => self.linear_ticks(about),
            Kind::Log => {
                let candidates = [self.log_ticks(&[1.0, 2.0, 5.0], 1), self.log_ticks(&[1.0], 1)];
                let stride = candidates[1].len() / about + 1;
                let fitting = candidates.into_iter().find(|ticks| ticks.len() <= about + 1);
                let ticks = fitting.unwrap_or_else(|| self.log_ticks(&[1.0], stride));
                // Less than about one decade: round logarithms are too rare, round numbers are not.
                if ticks.len() < 3 && self.high / self.low < 10.0 { self.linear_ticks(about) } else { ticks }
            }
        }
    }

    fn linear_ticks(self, about: usize) -> Vec<f64> {
        let step = TickStep::cutting(self.high - self.low, about);
        let size = step.times(1.0);
        let slack = size * 1e-6;
        let first = ((self.low - slack) / size).ceil();
        let count = (((self.high + slack) / size - first).floor() + 1.0).max(0.0) as usize;
        if count == 0 {
            // Two parts may be so long that none ends within the span.
            return self.linear_ticks(2 * about);
        }
        // Adding 0.0 turns −0.0 into 0.0.
        (0..count.min(2 * about)).map(|index| step.times(first + index as f64) + 0.0).collect()
    }

    fn log_ticks(self, mantissas: &[f64], stride: usize) -> Vec<f64> {
        let slack = 1.0 + 1e-9;
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        decades
            .filter(|decade| (decade.unsigned_abs() as usize).is_multiple_of(stride))
            .flat_map(|exponent| {
                mantissas.iter().map(move |mantissa| TickStep { mantissa: *mantissa, exponent }.times(1.0))
            })
            .filter(|tick| tick * slack >= self.low && *tick <= self.high * slack)
            .collect()
    }
}

/// Lowest and highest.
fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |span, value| {
        let (low, high) = span.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

/// From one tick to the next: `mantissa` · 10^`exponent`.
#[derive(Debug, Clone, Copy)]
struct TickStep {
    mantissa: f64,
    exponent: i32,
}

impl TickStep {
    /// The step among 1, 2, 5 · 10^k that cuts `length` into about so many parts, at most.
    fn cutting(length: f64, about: usize) -> Self {
        let rough = length / about.max(1) as f64;
        let exponent = rough.log10().floor() as i32;
        let candidates = [(1.0, exponent), (2.0, exponent), (5.0, exponent), (1.0, exponent + 1)];
        let steps = candidates.map(|(mantissa, exponent)| Self { mantissa, exponent });
        steps.into_iter().find(|step| step.times(1.0) >= rough).unwrap_or(steps[3])
    }

    /// So many steps, as near to the decimal number as can be: six steps of 0.1 are 0.6.
    fn times(self, count: f64) -> f64 {
        let power = 10f64.powi(self.exponent.abs());
        if self.exponent < 0 { count * self.mantissa / power } else { count * self.mantissa * power }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check_ticks(scale: Scale, about: usize) {
        let ticks = scale.ticks(about);
        assert!(ticks.len() <= 2 * about + 1, "{ticks:?}");
        assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{ticks:?}");
        for tick in ticks {
            let position = scale.position(tick);
            assert!((-1e-5..=1.0 + 1e-5).contains(&position), "{tick} at {position} of {scale:?}");
        }
    }

    proptest! {
        #[test]
        fn linear_scales_hold_their_values(values in proptest::collection::vec(-1e12f64..1e12, 0..20), about in 2usize..12) {
            let scale = Scale::linear(values.iter().copied());
            prop_assert!(values.iter().all(|value| (-1e-9..=1.0 + 1e-9).contains(&scale.position(*value))));
            prop_assert!(!scale.ticks(about).is_empty());
            check_ticks(scale, about);
            check_ticks(scale.rounded(about), about);
        }

        #[test]
        fn log_scales_hold_their_values(exponents in proptest::collection::vec(-9f64..12.0, 0..20), about in 2usize..12) {
            let values: Vec<_> = exponents.iter().map(|exponent| 10f64.powf(*exponent)).collect();
            let scale = Scale::log(values.iter().copied());
            prop_assert!(values.iter().all(|value| (-1e-9..=1.0 + 1e-9).contains(&scale.position(*value))));
            check_ticks(scale, about);
            check_ticks(scale.padded(0.05), about);
        }
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(Scale::linear([0.0, 10.0]).ticks(5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(Scale::log([1.0, 100.0]).ticks(8), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(Scale::log([1.0, 1e6]).ticks(7), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!(Scale::log([100.0, 160.0]).ticks(4), [100.0, 120.0, 140.0, 160.0]);
        assert_eq!(Scale::linear([-248.0, -204.0]).ticks(2), [-240.0, -220.0]);
        assert_eq!(Scale::linear([0.0, 1.0]).ticks(10), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]);
    }

    #[test]
    fn nothing_and_one_value_and_nonsense_are_fine() {
        for values in [vec![], vec![0.0], vec![5.0], vec![f64::NAN, f64::INFINITY], vec![-3.0, -3.0]] {
            for scale in [Scale::linear(values.clone()), Scale::log(values.clone())] {
                assert!(scale.low().is_finite() && scale.high().is_finite() && scale.low() < scale.high());
                check_ticks(scale, 5);
            }
        }
    }
}
