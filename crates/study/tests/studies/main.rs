//! Study files: what they come to mean, and what a person sees where they are wrong.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod drafts;
mod good;
mod scenarios;
mod wrong;
