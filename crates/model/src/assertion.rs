//! What a study wants to see with its own eyes in the running server.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A value that has to be found in a running server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assertion {
    /// What reports call it.
    pub name: String,
    /// Where the value is read.
    pub read: AssertionSource,
    /// What it has to be; of an assertion with [`Self::answered`] nothing yet.
    pub expect: Expected,
    /// Steps of scenarios: the value has to be how many of their requests were answered well in the launch, or as many more as were sent
    /// without a good answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered: Vec<String>,
    /// Whether it is read after the loads, instead of before: for pools that grow.
    pub after: bool,
    /// Whether the value is the size of a pool of which each request takes one part as long as it is worked on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pool: bool,
}

/// Where an assertion's value is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssertionSource {
    /// An attribute of a managed bean of the server's JVM.
    Jmx {
        /// The bean's name; may be a pattern that fits one bean.
        bean: String,
        /// The attribute; `Name.key` is a part of a composite one.
        attribute: String,
    },
    /// What a JSONPath finds first in an answer of the server.
    Http {
        /// Path and query of a GET. May hold `{env.NAME}`.
        path: String,
        /// The JSONPath (RFC 9535).
        json: String,
    },
    /// What a command of the author's writes to its standard output.
    Command {
        /// For `/bin/sh -c`, in the study's folder. May hold the placeholders of a launch.
        command: String,
        /// A regular expression: its first group, or all of its match. All of the output when absent.
        regex: Option<String>,
    },
    /// How many threads of the server have a name that this regular expression finds.
    Threads(String),
}

impl fmt::Display for AssertionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jmx { bean, attribute } => write!(f, "JMX {bean}, {attribute}"),
            Self::Http { path, json } => write!(f, "GET {path}, {json}"),
            Self::Command { command, regex: None } => write!(f, "command {command}"),
            Self::Command { command, regex: Some(regex) } => write!(f, "command {command}, /{regex}/"),
            Self::Threads(name) => write!(f, "threads named /{name}/"),
        }
    }
}

/// What a value has to be; [`SAME`] leaves that to the launches, which have to agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expected(String);

/// The same in every launch of every variant, whatever it is.
const SAME: &str = "same";

/// Between the two numbers that a value has to lie between, these included.
const TO: &str = " to ";

/// How a number is compared.
#[derive(Debug, Clone, Copy)]
enum Order {
    AtLeast,
    AtMost,
}

impl Expected {
    /// `text` or the same number; `>= 8` and `<= 8` for numbers. `None` where what follows these is no number, and where it
    /// begins as another comparison would: what is compared as a text by mistake never holds.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_sound = if let Some((_, bound)) = order(text) {
            number(bound).is_some()
        } else {
            let rest = text.trim_start_matches(['<', '>', '=', '!', '≤', '≥', '≠']);
            rest.len() == text.len() || number(rest).is_none()
        };
        is_sound.then(|| Self(text.to_owned()))
    }

    /// A count of `good`, or of up to `unknown` more.
    pub fn count(good: u64, unknown: u64) -> Self {
        Self(if unknown == 0 { good.to_string() } else { format!("{good}{TO}{}", good + unknown) })
    }

    /// What stands in the place of a count that is not known yet: a text that no value equals.
    pub fn answered(steps: &[String]) -> Self {
        Self(format!("as many as were answered well: {}", steps.join(", ")))
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether all launches of all variants have to show one value, which no launch alone can show.
    pub fn is_same(&self) -> bool {
        self.0 == SAME
    }

    /// Whether a count can be what is expected: a whole number from 0 on.
    pub fn fits_counts(&self) -> bool {
        self.is_same()
            || match (order(&self.0), number(&self.0)) {
                (Some((Order::AtLeast, _)), _) => true,
                (Some((Order::AtMost, bound)), _) => number(bound).is_some_and(|bound| bound >= 0.0),
                (None, number) => number.is_some_and(|number| number >= 0.0 && number.fract() == 0.0),
            }
    }

    /// Whether `live` can be held against it: a bound takes a number.
    pub fn fits(&self, live: &str) -> bool {
        order(&self.0).is_none() || number(live).is_some()
    }

    /// Whether `live` is what is expected of one launch.
    pub fn holds(&self, live: &str) -> bool {
        self.is_same()
            || match order(&self.0) {
                Some((order, bound)) => match (number(bound), number(live), order) {
                    (Some(bound), Some(live), Order::AtLeast) => live >= bound,
                    (Some(bound), Some(live), Order::AtMost) => live <= bound,
                    _ => false,
                },
                None if let (Some((low, high)), Some(live)) = (between(&self.0), number(live)) => {
                    (low..=high).contains(&live)
                }
                None => match (number(&self.0), number(live)) {
                    (Some(expected), Some(live)) => (expected - live).abs() < 1e-9,
                    _ => self.0 == live.trim(),
                },
            }
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

fn between(text: &str) -> Option<(f64, f64)> {
    let (low, high) = text.split_once(TO)?;
    Some((number(low)?, number(high)?))
}

fn order(text: &str) -> Option<(Order, &str)> {
    let text = text.trim();
    let at_least = text.strip_prefix(">=").map(|bound| (Order::AtLeast, bound));
    at_least.or_else(|| Some((Order::AtMost, text.strip_prefix("<=")?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_room_for_what_nobody_knows() {
        let exact = Expected::count(12, 0);
        assert!(exact.holds("12") && !exact.holds("13") && !exact.holds("11"));
        let some = Expected::count(12, 3);
        assert_eq!(some.text(), "12 to 15");
        assert!(!some.holds("11") && some.holds("12") && some.holds("15") && !some.holds("16") && !some.holds("many"));
        assert!(!Expected::answered(&["pay".to_owned()]).holds("12"));
    }

    #[test]
    fn texts_and_numbers_are_expected() {
        let holds = |expect: &str, live: &str| Expected::parse(expect).unwrap().holds(live);
        assert!(holds("30", "30.0") && holds("up", " up\n") && holds(">= 8", "8") && holds("<= 8", "7.5"));
        assert!(!holds("30", "31") && !holds("up", "down") && !holds(">= 8", "7") && !holds(">= 8", "many"));
        let fits = |expect: &str, live: &str| Expected::parse(expect).unwrap().fits(live);
        assert!(fits(">= 8", "7") && fits("8", "8 threads") && fits("same", "x") && !fits("<= 8", "8 threads"));
        assert!(holds("NaN", "NaN") && holds("inf", "inf"), "texts, since they are no numbers that compare");
        assert!(holds("<none>", "<none>"));
        assert!(holds("same", "1.2") && !holds("the same", "1.2"));
        for never in [">= many", ">=", "<= NaN", "> 8", "< 8", "= 8", "== 8", "=> 8", "!= 8", "≥ 8"] {
            assert_eq!(Expected::parse(never), None, "{never}");
        }
    }

    #[test]
    fn counts_are_whole_and_not_below_zero() {
        let fits = |expect: &str| Expected::parse(expect).unwrap().fits_counts();
        assert!(fits("0") && fits("8.0") && fits(">= 2.5") && fits("<= 0"));
        assert!(!fits("many") && !fits("-1") && !fits("2.5") && !fits("<= -1") && !fits(""));
    }
}
