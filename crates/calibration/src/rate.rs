//! How often something happened, and how sure that is.

use std::fmt;
use std::iter::Sum;

/// Standard errors to each side of a two-sided interval of 95 %.
const Z: f64 = 1.959_964;

/// Events among studies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rate {
    /// Studies in which it happened.
    pub events: u64,
    /// All studies.
    pub of: u64,
}

impl Rate {
    /// Counts one more study.
    pub fn count(&mut self, happened: bool) {
        self.events += u64::from(happened);
        self.of += 1;
    }

    /// The share, 0..=1; 0 of none.
    pub fn share(&self) -> f64 {
        if self.of == 0 { 0.0 } else { self.events as f64 / self.of as f64 }
    }

    /// Wilson's interval (1927) of the probability, 95 %, two-sided.
    pub fn interval(&self) -> [f64; 2] {
        if self.of == 0 {
            return [0.0, 1.0];
        }
        let (p, n, z2) = (self.share(), self.of as f64, Z * Z);
        let centre = p + z2 / (2.0 * n);
        let half = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
        [-half, half].map(|half| ((centre + half) / (1.0 + z2 / n)).clamp(0.0, 1.0))
    }

    /// The interval's upper end.
    pub fn at_most(&self) -> f64 {
        self.interval()[1]
    }
}

impl Sum for Rate {
    fn sum<I: Iterator<Item = Self>>(rates: I) -> Self {
        rates.fold(Self::default(), |all, rate| Self { events: all.events + rate.events, of: all.of + rate.of })
    }
}

impl fmt::Display for Rate {
    /// `4.31 % [3.93, 4.72]`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = self.interval().map(|end| end * 100.0);
        write!(f, "{:.2} % [{low:.2}, {high:.2}]", self.share() * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_by_hand() {
        // Newcombe (1998), table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
        for (events, of, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
        {
            let [a, b] = Rate { events, of }.interval();
            assert!((a - low).abs() < 1e-4 && (b - high).abs() < 1e-4, "{events} of {of}: {a}, {b}");
        }
    }

    #[test]
    fn nothing_counted_is_nothing_known() {
        assert_eq!((Rate::default().share(), Rate::default().interval()), (0.0, [0.0, 1.0]));
    }
}
