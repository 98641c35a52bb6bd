//! A format, and a file of it that is being read.

use std::io;
use std::mem;

use model::imported::{BadLine, Fidelity, ImportedRun, Lines as LineCount, Stated};

use crate::csv::{self, Fields};
use crate::jtl_columns::JtlColumns;
use crate::lines::Lines;
use crate::recorder::{Recorded, Recorder, Request};

/// Lines that could not be read and are named.
const NAMED: usize = 5;

/// A format, and how it is read.
pub struct Format {
    /// What it is called, such as `jtl`.
    pub id: &'static str,
    /// The tool that writes it.
    pub tool: &'static str,
    /// How much a file of it keeps.
    pub fidelity: Fidelity,
    pub(crate) recognises: fn(&[u8], Options) -> bool,
    pub(crate) read: fn(&mut Reading) -> Result<ImportedRun, Broken>,
}

/// How files are read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// The format by its name; by what the file says where there is none.
    pub format: Option<&'static str>,
    /// The character between columns; guessed where there is none.
    pub delimiter: Option<u8>,
    /// The columns of a JTL whose first line names none; the usual ones where there are none, or where these do not fit.
    pub columns: Option<JtlColumns>,
    /// Takes a file whatever share of it cannot be read.
    pub is_lenient: bool,
}

/// Why a format's reader has no results.
pub enum Broken {
    Io(io::Error),
    /// It is not of the format.
    Unknown,
    /// It has not what results need.
    Lacks(&'static str),
    /// It has several results, one after another.
    Several,
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A file that is being read.
pub struct Reading<'r> {
    pub file: String,
    pub options: Options,
    pub lines: Lines<'r>,
    pub count: LineCount,
}

impl Reading<'_> {
    /// Lets every line with something in it be heard; those that cannot be read are counted.
    pub fn hear(&mut self, mut hear: impl FnMut(&str) -> Result<(), &'static str>) -> io::Result<()> {
        while let Some(line) = self.lines.next()? {
            if line.text.trim_ascii().is_empty() {
                continue;
            }
            let number = line.number;
            let heard = if line.is_cut {
                Err("it is longer than a mebibyte")
            } else {
                hear(&String::from_utf8_lossy(line.text))
            };
            self.count(number, 1, heard);
        }
        Ok(())
    }

    /// Lets every record of delimited text be heard but the first where it names the columns; those that cannot be read are counted.
    pub fn hear_fields(
        &mut self,
        delimiter: u8,
        has_names: bool,
        mut hear: impl FnMut(&Fields) -> Result<(), &'static str>,
    ) -> io::Result<()> {
        let mut fields = Fields::default();
        while let Some(record) = csv::next(&mut self.lines, delimiter, &mut fields)? {
            let is_names = has_names && fields.number == 1;
            let heard = match record {
                Ok(()) if is_names => Ok(()),
                Ok(()) => hear(&fields),
                Err(broken) => Err(broken),
            };
            self.count(fields.number, fields.lines, heard);
        }
        Ok(())
    }

    /// Records the request of every line of delimited text; the first line has none where it names the columns.
    pub fn record(
        &mut self,
        format: &Format,
        delimiter: u8,
        has_names: bool,
        request: impl Fn(&Fields) -> Result<Request<'_>, &'static str>,
    ) -> io::Result<ImportedRun> {
        let mut recorder = Recorder::new();
        self.hear_fields(delimiter, has_names, |fields| recorder.add(&request(fields)?))?;
        Ok(self.run(format, recorder.finish()))
    }

    /// Counts lines from this number on, which were read, or could not be.
    fn count(&mut self, number: u64, lines: u64, read: Result<(), &'static str>) {
        self.count.read += lines;
        let Err(reason) = read else { return };
        self.count.bad += lines;
        if self.count.first_bad.len() < NAMED {
            self.count.first_bad.push(BadLine { number, reason: reason.to_owned() });
        }
    }

    /// What was read, when all is.
    pub fn run(&mut self, format: &Format, recorded: Recorded) -> ImportedRun {
        let Recorded { all, labels, interval_s, intervals, began_ms, seconds } = recorded;
        ImportedRun {
            file: self.file.clone(),
            format: format.id.to_owned(),
            tool: format.tool.to_owned(),
            fidelity: format.fidelity,
            url: None,
            users: intervals.iter().map(|interval| interval.users).max().filter(|users| *users > 0),
            has_counted_users: false,
            began_ms,
            has_local_time: false,
            seconds,
            all,
            labels,
            interval_s,
            intervals,
            stated_quantiles: Vec::new(),
            stated: Stated::default(),
            warnings: Vec::new(),
            lines: mem::take(&mut self.count),
        }
    }
}
