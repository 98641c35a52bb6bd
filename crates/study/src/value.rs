//! Values as a study file writes them, each with its place.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::time::Duration;

use indexmap::IndexMap;
use miette::SourceSpan;
use model::Metric;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Unexpected, Visitor};
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

/// Processors by number, written `0`, `0-3`, `0,2`; ascending, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpus(pub Vec<usize>);

/// More than any machine has.
const MOST_CPUS: usize = 4_096;

impl Cpus {
    fn parse(text: &str) -> Option<Self> {
        let mut cpus = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            if first > last || last >= MOST_CPUS {
                return None;
            }
            cpus.extend(first..=last);
        }
        Some(Self(cpus.into_iter().collect()))
    }
}

impl<'de> Deserialize<'de> for Cpus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer, r#"processors by number such as "0", "0-3" or "0,2""#, Self::parse)
    }
}

impl JsonSchema for Cpus {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Cpus".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": r"^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$" })
    }
}

/// Digits, with a fraction or without: no sign, no exponent, no `inf`.
pub(crate) fn unsigned(text: &str) -> Option<f64> {
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

/// How long users think: `"2s"`, or `{ exponential = "2s" }`.
#[derive(Debug, Clone, Copy)]
pub enum Thinking {
    /// Always so long.
    Fixed(Length),
    /// At random, with this mean.
    Exponential(Length),
}

/// The form of random times.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Random {
    /// Their mean.
    exponential: Length,
}

impl<'de> Deserialize<'de> for Thinking {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ThinkingVisitor;

        impl<'de> Visitor<'de> for ThinkingVisitor {
            type Value = Thinking;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(r#"a length of time such as "2s", or { exponential = "2s" }"#)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Thinking, E> {
                Length::parse(text).map(Thinking::Fixed).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Thinking, A::Error> {
                let Random { exponential } = Random::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Thinking::Exponential(exponential))
            }
        }

        deserializer.deserialize_any(ThinkingVisitor)
    }
}

impl JsonSchema for Thinking {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Thinking".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [Length::json_schema(generator), Random::json_schema(generator)] })
    }
}

/// What an assertion has to show: the same of every variant, or by name.
#[derive(Debug, Clone)]
pub enum ExpectedValues {
    /// Of every variant.
    One(Text),
    /// By the names of levels or variants.
    Each(IndexMap<String, Text>),
}

impl<'de> Deserialize<'de> for ExpectedValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WantedVisitor;

        impl<'de> Visitor<'de> for WantedVisitor {
            type Value = ExpectedValues;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(r#"a value such as 30, "up" or ">= 8", or a table of these by level"#)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ExpectedValues, E> {
                Ok(ExpectedValues::One(Text(text.to_owned())))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<ExpectedValues, E> {
                Ok(ExpectedValues::One(Text(number.to_string())))
            }

            fn visit_bool<E: Error>(self, truth: bool) -> Result<ExpectedValues, E> {
                Ok(ExpectedValues::One(Text(truth.to_string())))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ExpectedValues, A::Error> {
                IndexMap::deserialize(MapAccessDeserializer::new(map)).map(ExpectedValues::Each)
            }
        }

        deserializer.deserialize_any(WantedVisitor)
    }
}

impl JsonSchema for ExpectedValues {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ExpectedValues".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text = Text::json_schema(generator);
        json_schema!({ "anyOf": [text, { "type": "object", "additionalProperties": text }] })
    }
}

/// A metric by its name, or with a cell of its own: `{ metric = "p99", cell = "pages@300/s" }`.
#[derive(Debug, Clone)]
pub(crate) struct SecondaryKeys {
    /// The metric.
    pub metric: Metric,
    /// Its own cell.
    pub cell: Option<At<String>>,
}

/// A metric of a cell of its own.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Placed {
    /// The metric.
    metric: Metric,
    /// The cell that it is taken of. Default: as the primary metric.
    cell: Option<At<String>>,
}

impl<'de> Deserialize<'de> for SecondaryKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeysVisitor;

        impl<'de> Visitor<'de> for KeysVisitor {
            type Value = SecondaryKeys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(r#"a metric such as "p50", or { metric = "p50", cell = "pages@20" }"#)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<SecondaryKeys, E> {
                Ok(SecondaryKeys { metric: Metric::deserialize(StrDeserializer::new(text))?, cell: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SecondaryKeys, A::Error> {
                let Placed { metric, cell } = Placed::deserialize(MapAccessDeserializer::new(map))?;
                Ok(SecondaryKeys { metric, cell })
            }
        }

        deserializer.deserialize_any(KeysVisitor)
    }
}

impl JsonSchema for SecondaryKeys {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SecondaryKeys".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let metric = generator.subschema_for::<Metric>();
        json_schema!({ "anyOf": [metric, Placed::json_schema(generator)] })
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
        let cpus = |text| Cpus::parse(text).map(|cpus| cpus.0);
        assert_eq!(cpus("2, 0-1,1"), Some(vec![0, 1, 2]));
        for wrong in ["", "-1", "3-1", "0,", "a", "99999"] {
            assert_eq!(cpus(wrong), None, "{wrong}");
        }
        let share = |text| Share::parse(text).map(|share| share.0);
        assert_eq!(share("2%"), Some(0.02));
        assert_eq!(share("0.5 %"), Some(0.005));
        for wrong in ["", "%", "2", "0%", "100%", "-2%", "NaN%"] {
            assert_eq!(share(wrong), None, "{wrong}");
        }
    }
}
