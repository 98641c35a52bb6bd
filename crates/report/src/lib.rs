//! Renderers of a finished [`model::Report`]: terminal, Markdown, HTML, CSV, XLSX, JSON. Beside it of plans, stored runs, loads and hosts.
//!
//! They only render: every number and every judgement is in the report already.
//!
//! ```text
//! Report -> words, numbers -> tables -> terminal | markdown | html
//!                             charts --------------------> html
//!                             rows ----------------------> csv
//!                                  sheets ---------------> xlsx
//! ```

mod audit;
mod charts;
mod csv;
mod doctor;
mod html;
mod json;
mod load;
mod load_live;
mod markdown;
mod markup;
mod number;
mod plan;
mod rows;
mod sheets;
mod soak;
mod stored;
mod tables;
mod terminal;
mod words;
mod xlsx;

pub use crate::audit::{
    audit, audit_html, audit_json, audit_markdown, audit_schema, audit_series, audit_series_html, audit_series_json,
    audit_series_markdown, audit_series_schema,
};
pub use crate::csv::csv;
pub use crate::doctor::{doctor, doctor_json};
pub use crate::html::html;
pub use crate::json::{json, schema};
pub use crate::load::{load, load_csv, load_hgrm, load_json};
pub use crate::load_live::{load_sample, sparkline};
pub use crate::markdown::markdown;
pub use crate::plan::{no_time_for_profiling, plan};
pub use crate::soak::{soak, soak_csv, soak_html, soak_json, soak_markdown, soak_schema};
pub use crate::stored::{runs, trials};
pub use crate::terminal::{Style, terminal};
pub use crate::xlsx::xlsx;
