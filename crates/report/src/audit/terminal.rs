//! An audit for a terminal.

use model::imported::{Answer, AnsweredClaim, Audit, AuditedPair, AuditedRun, AuditedSettings, Silence, Support};
use model::{Finding, Names};

use super::words;
use crate::terminal::{Page, Style, clean};
use crate::words::Tone;

/// What was found: first the answer to what was asked, then a line for each file where there are several, then each with its reasons.
pub fn audit(audit: &Audit, style: Style) -> String {
    let mut page = Page::new(style);
    if let Some(claim) = &audit.claim {
        answered(&mut page, claim);
    }
    if audit.runs.len() > 1 {
        let width = audit.runs.iter().map(|audited| clean(&audited.run.file).chars().count()).max().unwrap_or(0);
        for audited in &audit.runs {
            let (file, support) = (clean(&audited.run.file), painted(&page, audited.support));
            page.line(&format!("{file:<width$}  {support}  {}", words::counted(&audited.run)));
        }
    }
    if let Some(pair) = &audit.pair {
        compared(&mut page, pair);
    }
    for audited in &audit.runs {
        one(&mut page, audited);
    }
    for settings in &audit.settings {
        settings_file(&mut page, settings, None);
    }
    let questions = words::questions(audit);
    if !questions.is_empty() {
        page.heading("Ask whoever ran it");
        for question in questions {
            page.wrapped("  • ", 4, question);
        }
    }
    for unused in &audit.unused {
        page.wrapped("not used: ", 10, unused);
    }
    for refused in &audit.refused {
        page.wrapped("not read: ", 10, refused);
    }
    page.text
}

fn answered(page: &mut Page, claim: &AnsweredClaim) {
    let tone = match claim.answer {
        Answer::NotSupported | Answer::Contradicted => Tone::Bad,
        Answer::CannotTell | Answer::DirectionOnly => Tone::Plain,
    };
    let word = page.painted(&claim.answer.text().to_uppercase(), tone, true);
    page.wrapped(&format!("{word}  "), 4, &format!("“{}”", claim.claim));
    page.wrapped("    ", 4, &claim.reason);
    page.line("");
}

fn compared(page: &mut Page, pair: &AuditedPair) {
    page.heading(&format!("{}: {}", clean(&words::title(pair)), pair.support.text()));
    indented(page, &words::compared(pair), 2);
    judged(page, &pair.findings, &pair.silent);
}

fn one(page: &mut Page, audited: &AuditedRun) {
    page.heading(&format!("{}: {}", clean(&audited.run.file), audited.support.text()));
    indented(page, &words::about(audited), 0);
    judged(page, &audited.findings, &audited.silent);
    for settings in &audited.settings {
        settings_file(page, settings, Some(audited));
    }
}

fn settings_file(page: &mut Page, settings: &AuditedSettings, run: Option<&AuditedRun>) {
    page.heading(&clean(&words::settings_title(settings, run)));
    indented(page, &words::in_effect(settings), 2);
    judged(page, &settings.findings, &[]);
}

/// Lines, each with what does not fit so much further in. What stands at the beginning of a line belongs to the line before.
fn indented(page: &mut Page, lines: &[String], further: usize) {
    for line in lines {
        let indent = line.chars().take_while(|character| *character == ' ').count();
        page.wrapped(&" ".repeat(indent), indent + further, line);
    }
}

fn judged(page: &mut Page, findings: &[Finding], silent: &[Silence]) {
    page.findings(&findings.iter().collect::<Vec<_>>(), &Names::default());
    for line in words::silences(silent) {
        page.wrapped("", 2, &line);
    }
}

fn painted(page: &Page, support: Support) -> String {
    let tone = if words::is_bad(support) { Tone::Bad } else { Tone::Plain };
    page.painted(&format!("{:<14}", support.text()), tone, false)
}
