//! `bakeoff report` and `explain`.

use std::process::ExitCode;

use analysis::{Boundaries, RULES, Rule};
use miette::IntoDiagnostic as _;
use store::Store;

use crate::cli::{self, Cli};
use crate::commands::run::goes_on;
use crate::commands::soak;
use crate::output;

pub fn run(store: &Store, cli: &Cli, typed: &cli::Report) -> miette::Result<ExitCode> {
    let record = store.load(&typed.run)?;
    if let Some(soaked) = analysis::soaked(&record) {
        return soak::again(&soaked, &typed.format);
    }
    let file = record.study.dir.join(&record.study.file);
    let goes_on = goes_on(store, cli, &record, &file)?;
    let made = analysis::analyse(&analysis::assess(&record, &Boundaries::for_study(&record)), goes_on);
    let format = &typed.format;
    if let Some(path) = &format.html {
        output::write(path, report::html(&made))?;
        output::print(&format!("wrote {}\n", path.display()))?;
    } else if let Some(path) = &format.xlsx {
        output::write(path, report::xlsx(&made).into_diagnostic()?)?;
        output::print(&format!("wrote {}\n", path.display()))?;
    } else if format.md {
        output::print(&report::markdown(&made))?;
    } else if format.csv {
        output::print(&report::csv(&made))?;
    } else if format.json {
        output::print(&report::json(&made))?;
    } else {
        output::print(&report::terminal(&made, output::style()))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn explain(typed: &cli::Explain) -> miette::Result<ExitCode> {
    let text = match typed.finding {
        None => {
            RULES.iter().map(|rule| format!("{:<24} {}\n", rule.id.name(), title(rule))).collect::<Vec<_>>().concat()
        }
        Some(rule) => rule.page.to_owned(),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The first sentence of what a finding means.
fn title(rule: &Rule) -> String {
    let (_, meaning) = rule.page.split_once("## What it means").unwrap_or_default();
    let paragraph = meaning.trim_start().split("\n\n").next().unwrap_or_default();
    let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    words.split_once(". ").map_or(words.trim_end_matches('.'), |(sentence, _)| sentence).to_owned()
}
