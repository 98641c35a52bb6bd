//! What `bakeoff audit` says: on a terminal, as Markdown, as HTML, as JSON.

mod html;
mod json;
mod markdown;
mod series;
mod terminal;
mod words;

pub use html::audit_html;
pub use json::audit_json;
pub use markdown::audit_markdown;
pub use series::{audit_series, audit_series_html, audit_series_json, audit_series_markdown};
pub use terminal::audit;
