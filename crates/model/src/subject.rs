//! What a finding is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CellIndex, VariantIndex};

/// What a finding is about. Variants and cells are indices into those of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Subject {
    /// The whole run.
    Run,
    /// The machine.
    Host,
    /// The load generator.
    Client,
    /// A load by itself.
    Load,
    /// The server under a load by itself.
    Server,
    /// The latencies of a load by itself.
    Latencies,
    /// All variants alike.
    AllVariants,
    /// One variant.
    Variant {
        /// Which.
        variant: VariantIndex,
    },
    /// A variant in one cell.
    Cell {
        /// The variant.
        variant: VariantIndex,
        /// The cell.
        cell: CellIndex,
    },
    /// A variant compared with the baseline.
    Against {
        /// The variant.
        variant: VariantIndex,
        /// In this cell only, if in one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cell: Option<CellIndex>,
    },
    /// The answers of a variant to one kind of request, compared with the baseline's.
    Request {
        /// The variant.
        variant: VariantIndex,
        /// The workload's name.
        workload: String,
        /// The step of its scenarios, if it has any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
    },
    /// A setting, an option variable or an assertion of a variant.
    Setting {
        /// The variant.
        variant: VariantIndex,
        /// The setting's name.
        name: String,
    },
    /// Settings of several variants.
    Settings {
        /// Each list of settings with the variants that share it.
        of: Vec<SharedSettings>,
    },
    /// What one factor sets in two variants.
    Factor {
        /// The two, the earlier one first.
        variants: [VariantIndex; 2],
        /// The factor's name.
        factor: String,
    },
}

/// Settings and the variants that share them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedSettings {
    /// The variants.
    pub variants: Vec<VariantIndex>,
    /// The settings' names.
    pub names: Vec<String>,
}

/// What the variants and cells of a study are called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// By variant.
    pub variants: Vec<String>,
    /// By cell.
    pub cells: Vec<String>,
}

impl Subject {
    /// The variant that it belongs to; `None` where it belongs to several, or to the whole run.
    pub fn variant(&self) -> Option<VariantIndex> {
        match self {
            Self::Variant { variant }
            | Self::Cell { variant, .. }
            | Self::Against { variant, .. }
            | Self::Request { variant, .. }
            | Self::Setting { variant, .. }
            | Self::Factor { variants: [_, variant], .. } => Some(*variant),
            Self::Run
            | Self::Host
            | Self::Client
            | Self::Load
            | Self::Server
            | Self::Latencies
            | Self::AllVariants
            | Self::Settings { .. } => None,
        }
    }

    /// In words, such as `on against off, pages@20`.
    pub fn text(&self, names: &Names) -> String {
        match self {
            Self::Run => "the run".to_owned(),
            Self::Host => "the host".to_owned(),
            Self::Client => "the client".to_owned(),
            Self::Load => "the load".to_owned(),
            Self::Server => "the server".to_owned(),
            Self::Latencies => "the latencies".to_owned(),
            Self::AllVariants => ALL_VARIANTS.to_owned(),
            Self::Variant { variant } => names.variant(*variant).to_owned(),
            Self::Cell { variant, cell } => format!("{}, {}", names.variant(*variant), names.cell(*cell)),
            Self::Against { variant, cell: None } => names.against(*variant),
            Self::Against { variant, cell: Some(cell) } => {
                format!("{}, {}", names.against(*variant), names.cell(*cell))
            }
            Self::Request { variant, workload, step } => {
                let step = step.as_ref().map_or_else(String::new, |step| format!(", step {step}"));
                format!("{}, {workload}{step}", names.against(*variant))
            }
            Self::Setting { variant, name } => format!("{}: {name}", names.variant(*variant)),
            Self::Settings { of } => {
                let shared = of.iter().map(|of| format!("{}: {}", names.together(&of.variants), of.names.join(", ")));
                shared.collect::<Vec<_>>().join("; ")
            }
            Self::Factor { variants, factor } => {
                format!("{}: {factor}", variants.map(|variant| names.variant(variant)).join(" and "))
            }
        }
    }
}

/// What all variants together are called.
const ALL_VARIANTS: &str = "all variants";

impl Names {
    fn variant(&self, variant: VariantIndex) -> &str {
        self.variants.get(variant).map_or("?", String::as_str)
    }

    fn cell(&self, cell: CellIndex) -> &str {
        self.cells.get(cell).map_or("?", String::as_str)
    }

    /// A variant and the baseline, which is the first.
    fn against(&self, variant: VariantIndex) -> String {
        format!("{} against {}", self.variant(variant), self.variant(0))
    }

    fn together(&self, variants: &[VariantIndex]) -> String {
        if variants.len() == self.variants.len() {
            return ALL_VARIANTS.to_owned();
        }
        variants.iter().map(|variant| self.variant(*variant)).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names { variants: ["off", "on", "fast"].map(str::to_owned).to_vec(), cells: vec!["pages@20".to_owned()] }
    }

    #[test]
    fn subjects_in_words() {
        let names = names();
        let said = |subject: Subject| subject.text(&names);
        let request = |step: Option<&str>| Subject::Request {
            variant: 1,
            workload: "pages".to_owned(),
            step: step.map(str::to_owned),
        };
        assert_eq!(said(Subject::Cell { variant: 1, cell: 0 }), "on, pages@20");
        assert_eq!(said(Subject::Against { variant: 2, cell: None }), "fast against off");
        assert_eq!(said(Subject::Against { variant: 2, cell: Some(0) }), "fast against off, pages@20");
        assert_eq!(said(request(None)), "on against off, pages");
        assert_eq!(said(request(Some("login"))), "on against off, pages, step login");
        assert_eq!(said(Subject::Setting { variant: 0, name: "jit".to_owned() }), "off: jit");
        assert_eq!(said(Subject::Factor { variants: [1, 2], factor: "jit".to_owned() }), "on and fast: jit");
        let shared = |variants: &[usize], names: &[&str]| SharedSettings {
            variants: variants.to_vec(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        let some = Subject::Settings { of: vec![shared(&[0, 2], &["a", "b"]), shared(&[1], &["a"])] };
        assert_eq!(said(some), "off, fast: a, b; on: a");
        assert_eq!(said(Subject::Settings { of: vec![shared(&[0, 1, 2], &["a"])] }), "all variants: a");
    }

    /// As published in `schema/report.schema.json`.
    #[test]
    fn a_subject_is_an_object_that_names_its_kind() {
        let json = |subject: Subject| serde_json::to_value(subject).unwrap();
        assert_eq!(json(Subject::AllVariants), serde_json::json!({ "kind": "all-variants" }));
        let cell = Subject::Against { variant: 1, cell: None };
        assert_eq!(json(cell), serde_json::json!({ "kind": "against", "variant": 1 }));
    }
}
