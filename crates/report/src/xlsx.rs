//! The report as a spreadsheet: what one would otherwise copy into one by hand.

use model::report::Judgement;
use model::{Finding, Report, text};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Format, Workbook, Worksheet, XlsxError};

use crate::rows::{self, Field};
use crate::sheets::{self, Sheet};
use crate::words;

/// Characters that a place of a spreadsheet holds are 32,767.
const LONGEST: usize = 32_000;
/// Pixels that a column takes at most; a longer text is whole in its place all the same.
const WIDEST: u32 = 420;

/// The report as an Office Open XML workbook (`.xlsx`): the verdicts in words, a sheet for each kind of what [`crate::csv`] lists,
/// and the findings. The first row of each, which stays in sight, has names and units; numbers are numbers, fractions are
/// shown as percentages.
///
/// The same report gives the same bytes. An error is of more rows than a spreadsheet has (1,048,576).
pub fn xlsx(report: &Report) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    let mut properties = DocProperties::new().set_title(&report.name).set_author(format!("bakeoff {}", report.version));
    if let Ok(started) = ExcelDateTime::parse_from_str(report.started.get(..19).unwrap_or_default()) {
        properties = properties.set_creation_datetime(&started);
    }
    workbook.set_properties(&properties);
    verdicts(workbook.add_worksheet(), report)?;
    for sheet in sheets::sheets(&rows::rows(report)) {
        lay_out(workbook.add_worksheet(), &sheet)?;
    }
    findings(workbook.add_worksheet(), report)?;
    about(workbook.add_worksheet(), report)?;
    workbook.save_to_buffer()
}

fn verdicts(page: &mut Worksheet, report: &Report) -> Result<(), XlsxError> {
    let line = |judgement: &Judgement| {
        let variant = words::variant_name(report, judgement.variant).to_owned();
        [variant, judgement.verdict.word().to_owned(), judgement.sentence.clone()]
    };
    in_words(page, "Verdicts", ["variant", "verdict", "in words"], report.judgements.iter().map(line))
}

fn findings(page: &mut Worksheet, report: &Report) -> Result<(), XlsxError> {
    let names = report.names();
    let line = |finding: &Finding| {
        [
            finding.severity.name().to_owned(),
            finding.id.name().to_owned(),
            finding.subject.text(&names),
            words::facts(finding).join(words::BETWEEN),
            finding.meaning.clone(),
            finding.remedy.clone(),
        ]
    };
    let heads = ["severity", "finding", "about", "facts", "what it means", "what to do"];
    in_words(page, "Findings", heads, words::findings(report).into_iter().map(line))
}

/// Which run this is, and what its numbers are.
fn about(page: &mut Worksheet, report: &Report) -> Result<(), XlsxError> {
    let host = &report.host;
    let reported = [
        ("study", report.name.clone()),
        ("question", report.question.clone().unwrap_or_default()),
        ("run", report.run.clone()),
        ("started", report.started.clone()),
        ("mode", words::mode(report.mode).to_owned()),
        ("bakeoff", report.version.clone()),
        ("system", format!("{}, kernel {}", host.os, host.kernel)),
        ("processor", format!("{}, {}", host.cpu_model, words::plural(host.cpus.into(), "logical CPU"))),
        ("repeat with", report.reproduce.command.clone()),
        ("go on with", report.reproduce.goes_on.clone().unwrap_or_default()),
        ("Comparisons", words::decision_note(report)),
        ("Cells", words::MEASUREMENTS_NOTE.to_owned()),
        ("Scalability", words::SCALABILITY_NOTE.to_owned()),
    ];
    let reported = reported.into_iter().filter(|(_, what)| !what.is_empty());
    in_words(page, "About", ["what", "it is"], reported.map(|(name, what)| [name.to_owned(), what]))
}

fn in_words<const N: usize>(
    page: &mut Worksheet,
    title: &str,
    heads: [&str; N],
    lines: impl Iterator<Item = [String; N]>,
) -> Result<(), XlsxError> {
    head(page, title, &heads)?;
    for (line, texts) in (1..).zip(lines) {
        for (place, words) in (0..).zip(texts) {
            page.write_string(line, place, text::shortened(&words, LONGEST))?;
        }
    }
    page.autofit();
    Ok(())
}

fn lay_out(page: &mut Worksheet, sheet: &Sheet) -> Result<(), XlsxError> {
    head(page, sheet.title, &sheet.heads)?;
    for (line, entries) in (1..).zip(&sheet.lines) {
        for (place, entry) in (0..).zip(entries) {
            match entry.field {
                Field::Empty => {}
                Field::Text(words) => {
                    page.write_string(line, place, text::shortened(words, LONGEST))?;
                }
                Field::Number(number) => {
                    let format = Format::new().set_num_format(number_format(entry.unit, number));
                    page.write_number_with_format(line, place, number, &format)?;
                }
            }
        }
    }
    page.autofilter(0, 0, sheet.lines.len() as u32, sheet.heads.len().saturating_sub(1) as u16)?;
    page.autofit();
    Ok(())
}

fn head<S: AsRef<str>>(page: &mut Worksheet, title: &str, heads: &[S]) -> Result<(), XlsxError> {
    page.set_name(title)?;
    let bold = Format::new().set_bold();
    for (place, head) in (0..).zip(heads) {
        page.write_string_with_format(0, place, head.as_ref(), &bold)?;
    }
    page.set_freeze_panes(1, 0)?;
    page.set_autofit_max_width(WIDEST);
    Ok(())
}

/// As many digits as mean something; of whole numbers all.
fn number_format(unit: &str, number: f64) -> &'static str {
    match number.abs() {
        _ if unit == "fraction" => "0.00%",
        _ if number.fract() == 0.0 => "#,##0",
        size if size >= 1_000.0 => "#,##0",
        size if size >= 100.0 => "0.0",
        size if size >= 1.0 => "0.00",
        size if size >= 0.01 => "0.0000",
        _ => "0.00E+00",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_the_digits_that_tell_something() {
        let formats = [0.0, 5.0, 12_345.6, 412.5, 3.25, 0.2, 0.000_12].map(|number| number_format("µs", number));
        assert_eq!(formats, ["#,##0", "#,##0", "#,##0", "0.0", "0.00", "0.0000", "0.00E+00"]);
        assert_eq!(number_format("fraction", 0.048), "0.00%");
    }
}
