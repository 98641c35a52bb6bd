//! A rule, and what rules have in common.

use model::imported::{EffectiveOption, HostOfRun, ImportedRun, Overwrite, RunOfSeries, Scatter, SpeedLevel};
use model::{
    BASELINE, CellIndex, CellRecord, Finding, FindingId, LoadRecord, Outcome, Severity, Soaked, StudyRecord, Subject,
    TrialRecord, VariantIndex, text,
};

use super::evidence::Evidence;
use super::pair::Pair;
use crate::assess::Assessment;
use crate::step::Stop;

/// How much more seldom than a verdict a veto that compares sides may be wrong: it takes a good result away, whatever the numbers say.
pub(super) const RARER: usize = 10;

/// A rule: what it is called, what it may say, and what it looks at.
#[derive(Debug, Clone)]
pub struct Rule {
    /// What its findings are called.
    pub id: FindingId,
    /// How grave they are at most.
    pub gravest: Severity,
    /// The page on it, Markdown: what it means, an example, how it is decided, what to do.
    pub page: &'static str,
    pub(super) checks: &'static [Check],
}

/// What a rule needs to look at, and its judgement on that: mostly nothing.
#[derive(Debug, Clone)]
pub(super) enum Check {
    /// What is the same in every launch. Its vetoes stop a run at once: no further block would lift them.
    Lasting(OfRun),
    /// A run, as far as it has gone.
    Run(OfRun),
    /// The same, by what lasts and how the run has ended.
    Whole(OfWhole),
    /// One load by itself.
    Load(fn(&LoadRecord) -> Option<Finding>),
    /// A load test that another tool made, with the evidence that it takes.
    Imported { needs: Evidence, look: fn(&Imported) -> Option<Finding> },
    /// None such: what no file of another tool keeps, a clause.
    NoImport(&'static str),
    /// Two of them, each with the evidence that it takes.
    Pair { needs: Evidence, look: fn(&Pair) -> Option<Finding> },
    /// Imported runs of one kind together.
    Series(OfSeries),
    /// One variant over its soak.
    Soak(fn(&Soaked) -> Vec<Finding>),
    /// A file of settings beside results.
    Settings(fn(&InEffect) -> Option<Finding>),
}

impl Check {
    /// What it finds in a run as far as it has gone; `None` where it looks at something else.
    pub fn of_run(&self, assessment: &Assessment, context: &Context) -> Option<Vec<Finding>> {
        match self {
            Self::Run(look) => Some(look(assessment.record, assessment)),
            Self::Whole(look) => Some(look(assessment.record, context)),
            Self::Lasting(_)
            | Self::Load(_)
            | Self::Imported { .. }
            | Self::NoImport(_)
            | Self::Pair { .. }
            | Self::Series(_)
            | Self::Soak(_)
            | Self::Settings(_) => None,
        }
    }
}

/// What a rule looks at that judges an imported run.
pub(super) struct Imported<'a> {
    pub run: &'a ImportedRun,
    /// The levels of its speed.
    pub levels: &'a [SpeedLevel],
    /// What its machines did meanwhile.
    pub hosts: &'a [HostOfRun],
}

/// What a rule looks at that judges a series of imported runs.
pub(super) struct SeriesOfRuns<'a> {
    /// In order of time.
    pub runs: &'a [RunOfSeries],
    /// How far they lie apart.
    pub scatter: &'a [Scatter],
}

/// What a rule looks at that judges a file of settings.
pub(super) struct InEffect<'a> {
    /// In effect at the end of its blocks.
    pub options: &'a [EffectiveOption],
    /// What lines lost that assigned a variable again.
    pub overwritten: &'a [Overwrite],
}

/// What a rule finds in a series, or what it lacks to look.
pub(super) type OfSeries = fn(&SeriesOfRuns) -> Result<Option<Finding>, String>;

pub(super) type OfRun = fn(&StudyRecord, &Assessment) -> Vec<Finding>;

pub(super) type OfWhole = fn(&StudyRecord, &Context) -> Vec<Finding>;

/// What a rule looks at that judges a run as a whole.
pub(super) struct Context<'a> {
    pub assessment: &'a Assessment<'a>,
    /// The findings that no further block would lift.
    pub lasting: &'a [Finding],
    /// Why the run has ended for good; `None` while it may go on.
    pub end: Option<&'a Stop>,
}

impl Rule {
    pub(super) fn found(&self, severity: Severity, subject: Subject, meaning: &str, remedy: &str) -> Finding {
        debug_assert!(severity <= self.gravest, "{}", self.id.name());
        let (meaning, remedy) = (meaning.to_owned(), remedy.to_owned());
        Finding { id: self.id.clone(), severity, subject, facts: Vec::new(), meaning, remedy }
    }
}

/// Whether a finding takes away the verdict on `variant`: its own and the baseline's do, and those about no single variant.
pub fn vetoes(finding: &Finding, variant: VariantIndex) -> bool {
    let concerns = finding.subject.variant().is_none_or(|about| about == variant || about == BASELINE);
    finding.severity == Severity::Invalid && concerns
}

/// Whether these findings take away the verdict on every variant.
pub fn veto_all(record: &StudyRecord, found: &[Finding]) -> bool {
    (BASELINE + 1..record.study.variants.len()).all(|variant| found.iter().any(|finding| vetoes(finding, variant)))
}

/// The rules that take verdicts away by these findings, in their order.
pub fn vetoing<'a>(found: impl IntoIterator<Item = &'a Finding>) -> Vec<FindingId> {
    let mut rules: Vec<FindingId> = found.into_iter().map(|finding| finding.id.clone()).collect();
    rules.dedup();
    rules
}

/// With the last that the services of a trial wrote, unless it is shown already.
pub(super) fn with_last_words(finding: Finding, trial: &TrialRecord, reported: &str) -> Finding {
    trial.service_logs.iter().fold(finding, |finding, (name, log)| match text::last_words(log, |_| true) {
        Some(last) if !reported.contains(&last) => finding.with(format!("service {name}'s last words"), last),
        _ => finding,
    })
}

/// A variant's name.
pub(super) fn name(record: &StudyRecord, variant: VariantIndex) -> &str {
    record.study.variants.get(variant).map_or("?", |variant| variant.name.as_str())
}

/// A cell's name.
pub(super) fn cell_name(record: &StudyRecord, cell: usize) -> String {
    record.plan.cells.get(cell).map_or_else(|| "?".to_owned(), |cell| cell.name(&record.study.workloads))
}

/// The recorded trials of a variant, pilots included.
pub(super) fn launches(record: &StudyRecord, variant: VariantIndex) -> impl Iterator<Item = &TrialRecord> {
    record.trials.iter().filter(move |trial| trial.variant == variant)
}

/// What was measured of a cell in the launches of a variant that ended well.
pub(super) fn measured(record: &StudyRecord, variant: VariantIndex, cell: CellIndex) -> Vec<&CellRecord> {
    launches(record, variant)
        .filter(|trial| trial.outcome == Outcome::Completed)
        .flat_map(|trial| trial.cells.iter().filter(|measured| measured.cell == cell))
        .collect()
}
