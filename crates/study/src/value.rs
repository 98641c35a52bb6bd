//! Values as a study file writes them, each with its place.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::time::Duration;

use miette::SourceSpan;
use model::Metric;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// A value and where the file has it.
#[derive(Debug, Clone)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its place in the file, in bytes.
    pub place: SourceSpan,
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Equal values are equal wherever they stand: names are looked up by value.
impl<T: PartialEq> PartialEq for At<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for At<T> {}

impl<T: Hash> Hash for At<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = toml::Spanned::<T>::deserialize(deserializer)?;
        let place = spanned.span().into();
        Ok(Self { value: spanned.into_inner(), place })
    }
}

/// The place is no part of the format.
impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A text; an integer or a truth value stands for the text that shows it, so that `PORT = 3000` is what it seems.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(pub String);

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text in quotes, an integer or a truth value (names with dots need quotes, too)")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_owned()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }

            fn visit_bool<E: Error>(self, truth: bool) -> Result<Text, E> {
                Ok(Text(truth.to_string()))
            }
        }

        deserializer.deserialize_any(TextVisitor)
    }
}

impl JsonSchema for Text {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer", "boolean"] })
    }
}

const LENGTH: &str = r#"a length of time such as "500ms", "30s", "2m" or "1h""#;

/// A text that should have been a length of time.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not {LENGTH}")]
pub struct NotALength(String);

/// Reads a length of time as study files write it: for command lines.
pub fn duration(text: &str) -> Result<Duration, NotALength> {
    Length::parse(text).map(|length| length.0).ok_or_else(|| NotALength(text.to_owned()))
}

/// A length of time, written `500ms`, `30s`, `2m` or `1h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length(pub Duration);

impl Length {
    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
        let seconds_per_unit = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        let seconds = unsigned(number)? * seconds_per_unit;
        Duration::try_from_secs_f64(seconds).ok().map(Self)
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer, LENGTH, Self::parse)
    }
}

impl JsonSchema for Length {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Length".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(ms|s|m|h)$" })
    }
}

/// A share of a whole, written `2%`; held as the fraction 0.02.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share(pub f64);

impl Share {
    fn parse(text: &str) -> Option<Self> {
        let percent = unsigned(text.strip_suffix('%')?.trim_end())?;
        (percent > 0.0 && percent < 100.0).then_some(Self(percent / 100.0))
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer, r#"a percentage above 0 and below 100 such as "2%" or "0.5%""#, Self::parse)
    }
}

impl JsonSchema for Share {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? ?%$" })
    }
}

/// A metric to decide by. The tails are read as well, so that they can be refused with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deciding(pub Metric);

impl Deciding {
    /// Names of the metrics that can decide: a closed loop asks nothing while the server stalls, so that its tails cannot.
    pub const NAMES: [&'static str; 5] = ["throughput", "p50", "cpu-per-request", "start-up", "memory"];

    /// Whether a verdict can be given on it.
    pub fn can_decide(self) -> bool {
        Self::NAMES.contains(&self.0.name())
    }
}

impl<'de> Deserialize<'de> for Deciding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Metric::from_name(&name).map(Self).ok_or_else(|| D::Error::unknown_variant(&name, &Self::NAMES))
    }
}

impl JsonSchema for Deciding {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Deciding".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::NAMES })
    }
}

/// Digits, with a fraction or without: no sign, no exponent, no `inf`.
fn unsigned(text: &str) -> Option<f64> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    plain.then(|| text.parse().ok())?
}

/// Reads a text in a form of its own; `expected` names that form in the error.
fn parsed<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &'static str,
    parse: fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    struct FormVisitor<T> {
        expected: &'static str,
        parse: fn(&str) -> Option<T>,
    }

    impl<T> Visitor<'_> for FormVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.expected)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            (self.parse)(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
        }
    }

    deserializer.deserialize_any(FormVisitor { expected, parse })
}

/// One whole number, or a list of them.
#[derive(Debug, Clone)]
pub struct Counts(pub Vec<At<i64>>);

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let At { value, place } = At::<OneOrMany>::deserialize(deserializer)?;
        Ok(match value {
            OneOrMany::One(count) => Self(vec![At { value: count, place }]),
            OneOrMany::Many(counts) => Self(counts),
        })
    }
}

impl JsonSchema for Counts {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Counts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let count = json_schema!({ "type": "integer", "minimum": 1, "maximum": 10_000 });
        json_schema!({ "anyOf": [count, { "type": "array", "items": count, "minItems": 1, "uniqueItems": true }] })
    }
}

enum OneOrMany {
    One(i64),
    Many(Vec<At<i64>>),
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountsVisitor;

        impl<'de> Visitor<'de> for CountsVisitor {
            type Value = OneOrMany;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number such as 20, or a list such as [1, 20]")
            }

            fn visit_i64<E: Error>(self, count: i64) -> Result<OneOrMany, E> {
                Ok(OneOrMany::One(count))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OneOrMany, A::Error> {
                let mut counts = Vec::new();
                while let Some(count) = list.next_element()? {
                    counts.push(count);
                }
                Ok(OneOrMany::Many(counts))
            }
        }

        deserializer.deserialize_any(CountsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_a_unit() {
        let seconds = |text| Length::parse(text).map(|length| length.0.as_secs_f64());
        assert_eq!(seconds("500ms"), Some(0.5));
        assert_eq!(seconds("30s"), Some(30.0));
        assert_eq!(seconds("1.5m"), Some(90.0));
        assert_eq!(seconds("1h"), Some(3600.0));
        for wrong in ["", "30", "s", "-1s", "1 s", "1e9s", "1.2.3s", "30sec", "infs", "99999999999999999999h"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
        assert_eq!(duration("2m").unwrap(), Duration::from_secs(120));
        assert!(duration("2").unwrap_err().to_string().contains("\"2m\""));
    }

    #[test]
    fn shares_are_percentages() {
        let share = |text| Share::parse(text).map(|share| share.0);
        assert_eq!(share("2%"), Some(0.02));
        assert_eq!(share("0.5 %"), Some(0.005));
        for wrong in ["", "%", "2", "0%", "100%", "-2%", "NaN%"] {
            assert_eq!(share(wrong), None, "{wrong}");
        }
    }
}
