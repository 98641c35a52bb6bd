//! The points of soaks as CSV.

use std::fmt::Write as _;

use model::SoakReport;

use super::words;
use crate::csv::{quoted, written};

/// A row for each point: the run, the variant, what was watched, seconds since the load began, and the value in its unit (bytes, µs,
/// a count, answers per second).
pub fn soak_csv(report: &SoakReport) -> String {
    let mut text = "run,variant,gauge,seconds,value\n".to_owned();
    for soak in &report.soaks {
        let variant = quoted(words::variant(report, soak));
        for course in &soak.courses {
            for [at, value] in &course.points {
                let gauge = course.gauge.name();
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{},{variant},{gauge},{},{}", report.run, written(*at), written(*value));
            }
        }
    }
    text
}
