//! What a study has judged beside its primary metric.

use std::borrow::Cow;
use std::fmt;

use model::Metric;
use model::study::Secondary;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::decide::Cells;
use crate::file::StudyFile;
use crate::problem::{Problem, Problems};
use crate::value::At;

/// A metric by its name, or with a cell of its own: `{ metric = "p99", cell = "pages@300/s" }`.
#[derive(Debug, Clone)]
pub(crate) struct SecondaryKeys {
    metric: Metric,
    cell: Option<At<String>>,
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

/// The secondary metrics of a study that `primary` decides, in their order.
pub(crate) fn secondary(file: &StudyFile, cells: &Cells, primary: Metric, problems: &mut Problems) -> Vec<Secondary> {
    let decides = Secondary { metric: primary, cell: cells.own(primary, file.decide.cell.as_ref()) };
    let mut all: Vec<Secondary> = Vec::new();
    for (index, written) in file.decide.secondary.iter().enumerate() {
        let metric = At { value: written.metric, place: written.place };
        // A metric of the whole launch has no cell, whatever decides.
        let common = file.decide.cell.as_ref().filter(|_| metric.is_per_cell());
        let cell = written.cell.as_ref().or(common);
        let one = Secondary { metric: metric.value, cell: cells.own(metric.value, cell) };
        let before = all.iter().position(|other| *other == one);
        if one == decides {
            let mut problem = Problem::new(format!("`{}` decides the study already", metric.value))
                .at(written.place, "the primary metric");
            if let Some(primary) = &file.decide.primary {
                problem = problem.at(primary.place, "decides");
            }
            problems
                .add(problem.help("remove it from `secondary`, or name a cell with it: `{ metric = …, cell = … }`"));
        } else if let Some(before) = before {
            problems.add(
                Problem::new(format!("`{}` is a secondary metric twice", metric.value))
                    .at(file.decide.secondary[before].place, "first here")
                    .at(written.place, "and again here")
                    .help(format!("remove number {} of `secondary`: what is judged once is judged", index + 1)),
            );
        } else {
            cells.can_judge(file, &metric, cell, problems);
        }
        all.push(one);
    }
    all
}
