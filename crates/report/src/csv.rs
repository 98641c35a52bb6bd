//! The long table of a report as CSV.

use std::borrow::Cow;

use model::Report;

use crate::rows::{self, COLUMNS, Field};

/// Every number of the report, a row each: RFC 4180, but lines end in LF. The first column is the run; what the others hold says
/// [`rows::Row`].
///
/// Comparisons and effects of factors are changes (0.05 is 5 % more); a cell's rows are over all used launches, a variant's are
/// medians over launches, a block's is the primary metric of one launch. Numbers have nine significant digits.
pub fn csv(report: &Report) -> String {
    let mut sheet = Sheet::default();
    sheet.row(std::iter::once("run".into()).chain(COLUMNS.map(String::from)));
    for row in rows::rows(report) {
        let written = row.fields().map(|field| match field {
            Field::Empty => String::new(),
            Field::Text(text) => text.into(),
            Field::Number(number) => written(number),
        });
        sheet.row(std::iter::once(report.run.clone()).chain(written));
    }
    sheet.text
}

#[derive(Default)]
struct Sheet {
    text: String,
}

impl Sheet {
    fn row(&mut self, fields: impl IntoIterator<Item = String>) {
        for (index, field) in fields.into_iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            self.text.push_str(&quoted(&field));
        }
        self.text.push('\n');
    }
}

/// A field of a CSV row (RFC 4180 §2).
pub fn quoted(field: &str) -> Cow<'_, str> {
    if field.contains(['"', ',', '\n', '\r']) || field != field.trim() {
        format!("\"{}\"", field.replace('"', "\"\"")).into()
    } else {
        field.into()
    }
}

/// A number to nine significant digits: far more than launches have in common, and without the traces of binary fractions.
/// Whole numbers keep all digits.
pub fn written(value: f64) -> String {
    let nine: Option<f64> = format!("{value:.8e}").parse().ok();
    if value.fract() == 0.0 { value.to_string() } else { nine.unwrap_or(value).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_traces_of_binary_fractions() {
        for (value, text) in [
            (1_624.000_000_000_000_2, "1624"),
            (0.1 + 0.2, "0.3"),
            (440.211_243_813_455_4, "440.211244"),
            (0.000_012_345_678_912_3, "0.0000123456789"),
            (6_442_450_944.0, "6442450944"),
            (0.0, "0"),
        ] {
            assert_eq!(written(value), text);
        }
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut sheet = Sheet::default();
        sheet.row(["plain", "a,b", "say \"x\"", "two\nlines", " edge", ""].map(String::from));
        assert_eq!(sheet.text, "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\" edge\",\n");
    }
}
