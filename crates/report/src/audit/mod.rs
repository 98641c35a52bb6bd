//! What `bakeoff audit` says: on a terminal, as Markdown, as HTML, as JSON.

mod html;
mod json;
mod markdown;
mod series;
mod terminal;
mod words;

#[cfg(test)]
mod testing;

pub use html::audit_html;
pub use json::{audit_json, audit_schema};
pub use markdown::audit_markdown;
pub use series::{audit_series, audit_series_html, audit_series_json, audit_series_markdown, audit_series_schema};
pub use terminal::audit;
