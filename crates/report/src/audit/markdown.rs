//! An audit as Markdown: for an issue, a wiki, a mail.

use std::fmt::Write as _;

use model::imported::{Audit, AuditedRun, AuditedSettings, Silence};
use model::{Finding, Names};

use super::words;
use crate::markdown::{self, escaped, list};

/// The audit as Markdown, in the order of the terminal's.
pub fn audit_markdown(audit: &Audit) -> String {
    let mut text = "# Audit\n\n".to_owned();
    if let Some(claim) = &audit.claim {
        let _ = writeln!(
            text,
            "**{}**: “{}”. {}\n",
            claim.answer.text().to_uppercase(),
            escaped(&claim.claim),
            escaped(&claim.reason)
        );
    }
    if audit.runs.len() > 1 {
        text.push_str("| file | verdict | requests |\n| --- | --- | --- |\n");
        for audited in &audit.runs {
            let (file, counted) = (escaped(&audited.run.file), escaped(&words::counted(&audited.run)));
            let _ = writeln!(text, "| {file} | {} | {counted} |", audited.support.text());
        }
        text.push('\n');
    }
    if let Some(pair) = &audit.pair {
        let _ = writeln!(text, "## {}: {}\n", escaped(&words::title(pair)), pair.support.text());
        list(&mut text, &words::compared(pair));
        judged(&mut text, &pair.findings, &pair.silent);
    }
    for audited in &audit.runs {
        let _ = writeln!(text, "## {}: {}\n", escaped(&audited.run.file), audited.support.text());
        list(&mut text, &words::about(audited));
        judged(&mut text, &audited.findings, &audited.silent);
        for settings in &audited.settings {
            settings_file(&mut text, settings, Some(audited));
        }
    }
    for settings in &audit.settings {
        settings_file(&mut text, settings, None);
    }
    let questions = words::questions(audit);
    if !questions.is_empty() {
        text.push_str("## Ask whoever ran it\n\n");
        list(&mut text, &questions);
    }
    for (title, lines) in [("Not used", &audit.unused), ("Not read", &audit.refused)] {
        if !lines.is_empty() {
            let _ = writeln!(text, "## {title}\n");
            list(&mut text, lines);
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn settings_file(text: &mut String, settings: &AuditedSettings, run: Option<&AuditedRun>) {
    let _ = writeln!(text, "## {}\n", escaped(&words::settings_title(settings, run)));
    list(text, &words::in_effect(settings));
    judged(text, &settings.findings, &[]);
}

fn judged(text: &mut String, findings: &[Finding], silent: &[Silence]) {
    if !findings.is_empty() {
        markdown::findings(text, findings, &Names::default());
        text.push('\n');
    }
    for line in words::silences(silent) {
        let _ = writeln!(text, "{}\n", escaped(&line));
    }
}
