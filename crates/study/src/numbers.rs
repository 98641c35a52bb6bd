//! One number or several, as a study file writes them, each with its place.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use crate::value::At;

/// One number, or a list of them.
#[derive(Debug, Clone)]
pub struct Numbers<T>(pub Vec<At<T>>);

/// A number as a list may hold it.
pub trait Number: Sized {
    /// What is expected in place of something else.
    const EXPECTED: &'static str;
    /// The schema of one.
    fn schema() -> Schema;
    /// A whole number.
    fn whole(number: i64) -> Self;
    /// One with a fraction, where there may be one.
    fn with_fraction(number: f64) -> Option<Self>;
}

impl Number for i64 {
    const EXPECTED: &'static str = "a whole number such as 20, or a list such as [1, 20]";

    fn schema() -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": 10_000 })
    }

    fn whole(number: i64) -> Self {
        number
    }

    fn with_fraction(_: f64) -> Option<Self> {
        None
    }
}

impl Number for f64 {
    const EXPECTED: &'static str = "a number such as 300, or a list such as [100, 300]";

    fn schema() -> Schema {
        json_schema!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000 })
    }

    fn whole(number: i64) -> Self {
        number as Self
    }

    fn with_fraction(number: f64) -> Option<Self> {
        Some(number)
    }
}

impl<'de, T: Number + Deserialize<'de>> Deserialize<'de> for Numbers<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let At { value, place } = At::<OneOrMany<T>>::deserialize(deserializer)?;
        Ok(match value {
            OneOrMany::One(number) => Self(vec![At { value: number, place }]),
            OneOrMany::Many(numbers) => Self(numbers),
        })
    }
}

impl<T: Number> JsonSchema for Numbers<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Numbers".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = T::schema();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1, "uniqueItems": true }] })
    }
}

enum OneOrMany<T> {
    One(T),
    Many(Vec<At<T>>),
}

impl<'de, T: Number + Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumbersVisitor<T>(PhantomData<T>);

        impl<'de, T: Number + Deserialize<'de>> Visitor<'de> for NumbersVisitor<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(OneOrMany::One(T::whole(number)))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                let wrong = || E::invalid_type(Unexpected::Float(number), &self);
                T::with_fraction(number).map(OneOrMany::One).ok_or_else(wrong)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = list.next_element()? {
                    numbers.push(number);
                }
                Ok(OneOrMany::Many(numbers))
            }
        }

        deserializer.deserialize_any(NumbersVisitor(PhantomData))
    }
}
