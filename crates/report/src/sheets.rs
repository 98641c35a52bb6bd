//! The rows of a report as sheets of a spreadsheet: as one would fill them in by hand.

use crate::rows::{COLUMNS, Field, Row};

/// One table of a spreadsheet.
pub struct Sheet<'a> {
    /// Its name.
    pub title: &'static str,
    /// What its columns are called, with the unit where all their numbers have the same one.
    pub heads: Vec<String>,
    /// As many entries each as there are heads.
    pub lines: Vec<Vec<Entry<'a>>>,
}

/// What stands in one place.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// It.
    pub field: Field<'a>,
    /// The unit of a number.
    pub unit: &'static str,
}

/// How rows become lines.
#[derive(Clone, Copy)]
enum Layout {
    /// A line a row.
    List,
    /// A line for all rows that are of the same, each metric in columns of its own.
    Grid,
}

/// Which rows are in a sheet.
type Of = fn(&Row) -> bool;

/// Every row is in exactly one of these.
const SHEETS: [(&str, Of, Layout); 15] = [
    ("Comparisons", |row| row.of == "comparison", Layout::List),
    ("Factors", |row| matches!(row.of, "factor" | "interaction"), Layout::List),
    ("Cells", |row| row.of == "cell", Layout::Grid),
    ("Use of cores", |row| row.of == "core-use", Layout::Grid),
    ("Variants", |row| row.of == "variant", Layout::Grid),
    ("Scalability", |row| row.of == "curve" && row.cell.is_empty(), Layout::Grid),
    ("Curves", |row| row.of == "curve" && !row.cell.is_empty(), Layout::Grid),
    ("Crossings", |row| row.of == "crossing", Layout::List),
    ("Break-even", |row| row.of == "break-even", Layout::List),
    ("Lives", |row| row.of == "lifetime", Layout::Grid),
    ("Phases", |row| row.of == "phase", Layout::List),
    ("Ages", |row| row.of == "age", Layout::List),
    ("Blocks", |row| row.of == "block", Layout::Grid),
    ("Launches", |row| row.of == "launch", Layout::Grid),
    ("Processors", |row| row.of == "second", Layout::Grid),
];

/// The sheets that there are rows for.
pub fn sheets<'a>(rows: &'a [Row<'a>]) -> Vec<Sheet<'a>> {
    let sheet = |(title, of, layout): (&'static str, Of, Layout)| {
        let own: Vec<&Row> = rows.iter().filter(|row| of(row)).collect();
        let (heads, lines) = match layout {
            Layout::List => list(&own),
            Layout::Grid => grid(&own),
        };
        (!own.is_empty()).then_some(Sheet { title, heads, lines })
    };
    SHEETS.into_iter().filter_map(sheet).collect()
}

type Laid<'a> = (Vec<String>, Vec<Vec<Entry<'a>>>);

/// The columns in which there is something that the title does not say; a unit that all share goes to the head.
fn list<'a>(rows: &[&'a Row<'a>]) -> Laid<'a> {
    let all: Vec<_> = rows.iter().map(|row| row.fields()).collect();
    let unit = rows.first().map_or("", |row| row.unit);
    let is_common = rows.iter().all(|row| row.unit == unit);
    let is_shown = |column: &usize| {
        let is_said = match COLUMNS[*column] {
            "unit" => is_common,
            "of" => rows.iter().all(|row| row.of == rows[0].of),
            _ => false,
        };
        !is_said && all.iter().any(|fields| fields[*column] != Field::Empty)
    };
    let shown: Vec<usize> = (0..COLUMNS.len()).filter(is_shown).collect();
    let head = |column: &usize| match COLUMNS[*column] {
        name @ ("value" | "low" | "high") if is_common => with_unit(name, unit),
        name => name.to_owned(),
    };
    let entry = |column: usize, field: &Field<'a>, unit| {
        let unit = match COLUMNS[column] {
            "value" | "low" | "high" => unit,
            "confidence" => "fraction",
            _ => "",
        };
        Entry { field: field.clone(), unit }
    };
    let line = |(row, fields): (&&Row, &[Field<'a>; COLUMNS.len()])| {
        shown.iter().map(|column| entry(*column, &fields[*column], row.unit)).collect()
    };
    (shown.iter().map(head).collect(), rows.iter().zip(&all).map(line).collect())
}

/// A metric's columns in a grid.
struct Metric<'a> {
    name: &'a str,
    unit: &'static str,
    /// Whether it has columns for the ends of its interval.
    has_interval: bool,
}

/// What the rows are of, then each metric with its interval, then what stands beside.
fn grid<'a>(rows: &[&'a Row<'a>]) -> Laid<'a> {
    let keys: Vec<usize> = ["name", "block", "variant", "cell"]
        .into_iter()
        .filter_map(|name| COLUMNS.iter().position(|column| *column == name))
        .filter(|column| rows.iter().any(|row| row.fields()[*column] != Field::Empty))
        .collect();
    let beside: Vec<usize> = ["blocks", "reading", "excluded"]
        .into_iter()
        .filter_map(|name| COLUMNS.iter().position(|column| *column == name))
        .filter(|column| rows.iter().any(|row| row.fields()[*column] != Field::Empty))
        .collect();
    let mut groups: Vec<(Vec<Field<'a>>, Vec<&'a Row<'a>>)> = Vec::new();
    for row in rows {
        let own: Vec<Field> = keys.iter().map(|column| row.fields()[*column].clone()).collect();
        // The rows of a group mostly follow each other.
        match groups.iter_mut().rfind(|(known, _)| *known == own) {
            Some((_, of)) => of.push(row),
            None => groups.push((own, vec![row])),
        }
    }
    let metrics = metrics(&groups);
    let line = |(own, of): &(Vec<Field<'a>>, Vec<&'a Row<'a>>)| {
        let mut line: Vec<Entry> = own.iter().map(|field| Entry { field: field.clone(), unit: "" }).collect();
        for metric in &metrics {
            let row = of.iter().find(|row| row.metric == metric.name);
            let ends = if metric.has_interval { 3 } else { 1 };
            let numbers = row.map_or([None; 3], |row| [row.value, row.low, row.high]);
            let entry = |number: Option<f64>| Entry {
                field: number.filter(|number| number.is_finite()).map_or(Field::Empty, Field::Number),
                unit: metric.unit,
            };
            line.extend(numbers.into_iter().take(ends).map(entry));
        }
        let reported = |column: &usize| {
            let fields = of.iter().map(|row| row.fields()[*column].clone());
            fields.into_iter().find(|field| *field != Field::Empty).unwrap_or(Field::Empty)
        };
        line.extend(beside.iter().map(|column| Entry { field: reported(column), unit: "" }));
        line
    };
    let lines = groups.iter().map(line).collect();
    let named = |columns: &[usize]| columns.iter().map(|column| COLUMNS[*column].to_owned()).collect::<Vec<_>>();
    let mut heads = named(&keys);
    for Metric { name, unit, has_interval } in metrics {
        heads.push(with_unit(name, unit));
        if has_interval {
            heads.extend(["low", "high"].map(|end| with_unit(&format!("{name} {end}"), unit)));
        }
    }
    heads.extend(named(&beside));
    (heads, lines)
}

/// The metrics of all groups: one that some lack stands after that which it follows in the others.
fn metrics<'a>(groups: &[(Vec<Field<'a>>, Vec<&'a Row<'a>>)]) -> Vec<Metric<'a>> {
    let mut metrics: Vec<Metric> = Vec::new();
    for (_, rows) in groups {
        let mut after = 0;
        for row in rows {
            let has_interval = row.low.is_some() || row.high.is_some();
            let known = metrics.iter().position(|metric| row.metric == metric.name);
            let place = known.unwrap_or(after);
            if known.is_none() {
                metrics.insert(place, Metric { name: &row.metric, unit: row.unit, has_interval });
            }
            metrics[place].has_interval |= has_interval;
            after = place + 1;
        }
    }
    metrics
}

fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} ({unit})") }
}
