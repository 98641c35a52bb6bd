//! A report of soaks for a terminal.

use model::{Finding, SoakReport};

use super::words;
use crate::tables::Detail;
use crate::terminal::{Page, Style};

/// The report as text, in the manner of [`crate::terminal()`].
pub fn soak(report: &SoakReport, style: Style) -> String {
    let mut page = Page::new(style);
    for soak in &report.soaks {
        let (word, tone, sentence) = words::outcome(report, soak);
        let word = word.to_uppercase();
        let head = page.painted(&word, tone, true);
        let indent = word.chars().count() + 2;
        page.wrapped(&format!("{head}  "), indent, &sentence);
        for fact in words::facts(report, soak) {
            page.wrapped(&" ".repeat(indent), indent, &fact);
        }
        for line in words::last_words(soak) {
            page.line(&format!("{}| {}", " ".repeat(indent), crate::terminal::clean(line)));
        }
    }
    page.text.push('\n');
    page.wrapped("", 0, &report.name);
    if let Some(question) = &report.question {
        page.wrapped("", 0, question);
    }
    page.wrapped("", 0, &words::run_line(report));
    page.table(&words::courses(report, Detail::Brief));
    page.findings(&report.findings.iter().collect::<Vec<&Finding>>(), &report.names());
    page.text
}
