//! What `bakeoff audit --series` says: on a terminal, as Markdown, as HTML, as JSON.

mod html;
mod json;
mod markdown;
mod said;
mod terminal;

pub use html::audit_series_html;
pub use json::{audit_series_json, audit_series_schema};
pub use markdown::audit_series_markdown;
pub use terminal::audit_series;
