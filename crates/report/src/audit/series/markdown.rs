//! Series as Markdown: for an issue, a wiki, a mail.

use std::fmt::Write as _;

use model::Names;
use model::imported::AuditedSeries;

use super::said;
use crate::audit::words;
use crate::markdown::{escaped, findings, list, subtable};

/// The series as Markdown, in the order of the terminal's.
pub fn audit_series_markdown(all: &[AuditedSeries], left_out: &[String]) -> String {
    let mut text = "# Series\n\n".to_owned();
    for series in all {
        one(&mut text, series);
    }
    if !left_out.is_empty() {
        let _ = writeln!(text, "## {}\n", said::LEFT_OUT);
        list(&mut text, left_out);
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn one(text: &mut String, series: &AuditedSeries) {
    let _ = writeln!(text, "## {}\n", escaped(&said::title(series)));
    for table in said::tables(series) {
        subtable(text, &table);
    }
    let _ = writeln!(text, "### {}\n", said::CONCLUSIONS);
    list(text, &said::conclusions(series));
    if !series.findings.is_empty() {
        text.push_str("### Findings\n\n");
        findings(text, &series.findings, &Names::default());
        text.push('\n');
    }
    let silences = words::silences(&series.silent);
    if !silences.is_empty() {
        list(text, &silences);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::series::said::testing::series;

    #[test]
    fn names_from_outside_are_escaped_and_every_run_has_a_row() {
        let named = AuditedSeries { name: Some("<b>|*7*".to_owned()), ..series() };
        let text = audit_series_markdown(&[named], &["<x>.md: no".to_owned()]);
        for part in [
            "## &lt;b&gt;\\|\\*7\\*: 3 runs\n",
            "### Runs, in order of time\n\n| run | began",
            "| b | 7.50/s | 53 min 20 s, not final |",
            "### What they say\n\n- By good requests in all, c is 30.3 % better than a.",
            "- burst-credit is silent: it takes 4\n",
            "## Left out\n\n- &lt;x&gt;.md: no\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
