//! The report as Markdown: for a pull request, a wiki, a mail.

use std::fmt::Write as _;

use model::{Finding, Names, Report};

use crate::tables::{self, Detail, Table};
use crate::words;

/// The report as Markdown with tables.
pub fn markdown(report: &Report) -> String {
    let mut text = format!("# {}\n\n", escaped(&report.name));
    if let Some(question) = &report.question {
        let _ = writeln!(text, "*{}*\n", escaped(question));
    }
    verdicts(&mut text, report);
    let _ = writeln!(text, "{}\n", escaped(&words::run_line(report)));
    table(&mut text, &tables::outlook(report));
    if !report.limits.is_empty() {
        text.push_str("## Limits\n\n");
        for limit in &report.limits {
            let _ = writeln!(text, "- {}", escaped(limit));
        }
        text.push('\n');
    }
    table(&mut text, &tables::decision(report, Detail::Full));
    attribution(&mut text, report);
    table(&mut text, &tables::limits::found(report, Detail::Full));
    table(&mut text, &tables::measurements(report, Detail::Full));
    table(&mut text, &tables::steps::measured(report, Detail::Full));
    table(&mut text, &tables::server_times(report));
    table(&mut text, &tables::cores::at_most_answers(report));
    table(&mut text, &tables::variants(report));
    table(&mut text, &tables::warm_ups(report, Detail::Full));
    for responses in words::cumulative_responses(report) {
        let _ = writeln!(text, "{}.\n", escaped(&responses.sentence));
    }
    table(&mut text, &tables::lives(report));
    table(&mut text, &tables::changes(report));
    scalability(&mut text, report);
    why(&mut text, report);
    if !report.findings.is_empty() {
        text.push_str("## Findings\n\n");
        findings(&mut text, words::findings(report), &report.names());
        text.push('\n');
    }
    environment(&mut text, report);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn verdicts(text: &mut String, report: &Report) {
    for judgement in &report.judgements {
        let verdict = &judgement.verdict;
        let _ = writeln!(
            text,
            "**{} {}**: {}\n",
            verdict.sign(),
            verdict.word().to_uppercase(),
            escaped(&judgement.sentence)
        );
        for curve in words::curves(report).filter(|curve| curve.variant == judgement.variant) {
            let _ = writeln!(text, "{}.\n", escaped(&words::over_its_life(curve)));
        }
        let facts = words::verdict_facts(report, judgement);
        for fact in &facts {
            let _ = writeln!(text, "- {}", escaped(fact));
        }
        if !facts.is_empty() {
            text.push('\n');
        }
    }
    let _ = writeln!(text, "{}\n", escaped(&words::caveats(report)));
}

fn attribution(text: &mut String, report: &Report) {
    let Some(attribution) = &report.attribution else { return };
    table(text, &tables::attribution::contributions(attribution, report));
    for alias in &attribution.aliases {
        let _ = writeln!(text, "- {}", escaped(alias));
    }
    if !attribution.aliases.is_empty() {
        text.push('\n');
    }
}

fn scalability(text: &mut String, report: &Report) {
    for scaling in &report.scalability {
        table(text, &tables::scalability::laws(scaling, report));
        for sentence in words::crossings(report, scaling) {
            let _ = writeln!(text, "{}\n", escaped(&sentence));
        }
        table(text, &tables::scalability::efficiency(scaling, report));
    }
}

fn why(text: &mut String, report: &Report) {
    let Some(why) = &report.why else { return };
    text.push_str("## Why\n\n");
    if !why.launches.is_empty() {
        let _ = writeln!(text, "{}\n", words::WHY_NOTE);
    }
    for explanation in &why.explanations {
        let _ = writeln!(text, "**{}**\n", escaped(&explanation.subject));
        for (index, difference) in explanation.differences.iter().enumerate() {
            let _ = writeln!(text, "{}. {}", index + 1, escaped(&difference.sentence));
        }
        if !explanation.differences.is_empty() {
            text.push('\n');
        }
        if let Some(caution) = &explanation.caution {
            let _ = writeln!(text, "**!** {}\n", escaped(caution));
        }
    }
    for lacking in words::lacking(report, why) {
        let _ = writeln!(text, "**!** {}\n", escaped(&lacking));
    }
    subtable(text, &tables::watched(why, report));
    for topic in &why.topics {
        subtable(text, &tables::topic(topic, report));
    }
}

/// A list, a point for each line.
pub fn list(text: &mut String, lines: &[impl AsRef<str>]) {
    for line in lines {
        let _ = writeln!(text, "- {}", escaped(line.as_ref().trim_start()));
    }
    text.push('\n');
}

/// A list of findings, in this order.
pub fn findings<'f>(text: &mut String, findings: impl IntoIterator<Item = &'f Finding>, names: &Names) {
    for finding in findings {
        let _ = writeln!(
            text,
            "- **{} {}** `{}` {}",
            words::severity_sign(finding.severity),
            finding.severity.name(),
            finding.id.name(),
            escaped(&finding.subject.text(names))
        );
        if !finding.facts.is_empty() {
            let _ = writeln!(text, "  - {}", escaped(&words::facts(finding).join(words::BETWEEN)));
        }
        let _ = writeln!(text, "  - {}", escaped(&finding.meaning));
        let _ = writeln!(text, "  - → {} (`bakeoff explain {}`)", escaped(&finding.remedy), finding.id.name());
    }
}

fn environment(text: &mut String, report: &Report) {
    table(text, &tables::settings(report));
    table(text, &tables::differences(report));
    text.push_str("## How to reproduce\n\n");
    fenced(text, "sh", &report.reproduce.command);
    fenced(text, "toml", &report.reproduce.study);
    if let Some(command) = &report.reproduce.goes_on {
        let _ = writeln!(text, "{}\n", words::GOES_ON);
        fenced(text, "sh", command);
    }
}

pub fn table(text: &mut String, table: &Table) {
    headed_table(text, "##", table);
}

/// A table under a heading of its own within a part.
pub fn subtable(text: &mut String, table: &Table) {
    headed_table(text, "###", table);
}

fn headed_table(text: &mut String, heading: &str, table: &Table) {
    if table.is_empty() {
        return;
    }
    let _ = writeln!(text, "{heading} {}\n", escaped(&table.caption));
    if !table.note.is_empty() {
        let _ = writeln!(text, "{}\n", escaped(&table.note));
    }
    let heads: Vec<_> = table.columns.iter().map(|column| escaped(&column.head)).collect();
    let rules: Vec<_> = table.columns.iter().map(|column| if column.is_numeric() { "---:" } else { "---" }).collect();
    let _ = writeln!(text, "| {} |", heads.join(" | "));
    let _ = writeln!(text, "| {} |", rules.join(" | "));
    for group in &table.groups {
        if let Some(head) = &group.head {
            let _ = writeln!(text, "| **{}** |{}", escaped(head), " |".repeat(table.columns.len() - 1));
        }
        for row in &group.rows {
            let cells: Vec<_> = row.iter().map(|cell| escaped(&cell.text)).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
    }
    text.push('\n');
}

/// Text in which nothing is markup, on one line.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Text as it is, within a fence longer than any in it.
pub fn fenced(text: &mut String, language: &str, content: &str) {
    let longest = content.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(text, "{fence}{language}\n{}\n{fence}\n", content.trim_end());
}
