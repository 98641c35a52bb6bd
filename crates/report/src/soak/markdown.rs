//! A report of soaks as Markdown.

use std::fmt::Write as _;

use model::SoakReport;

use super::words;
use crate::markdown::{self, escaped, fenced, list};
use crate::tables::Detail;

/// The report as Markdown with a table.
pub fn soak_markdown(report: &SoakReport) -> String {
    let mut text = format!("# {}\n\n", escaped(&report.name));
    if let Some(question) = &report.question {
        let _ = writeln!(text, "*{}*\n", escaped(question));
    }
    for soak in &report.soaks {
        let (word, _, sentence) = words::outcome(report, soak);
        let _ = writeln!(text, "**{}**: {}\n", word.to_uppercase(), escaped(&sentence));
        list(&mut text, &words::facts(report, soak));
        let last_words = words::last_words(soak);
        if !last_words.is_empty() {
            fenced(&mut text, "text", &last_words.join("\n"));
        }
    }
    let _ = writeln!(text, "{}\n", escaped(&words::run_line(report)));
    markdown::table(&mut text, &words::courses(report, Detail::Full));
    if !report.findings.is_empty() {
        text.push_str("## Findings\n\n");
        markdown::findings(&mut text, &report.findings, &report.names());
        text.push('\n');
    }
    text.push_str("## Reproduce\n\n");
    fenced(&mut text, "sh", &report.reproduce.command);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
