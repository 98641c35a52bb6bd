//! Results of other load tools: bytes → [`ImportedRun`], one file for each format; and logs of a machine beside them: bytes →
//! [`HostLog`].
//!
//! A format is recognised by what a file says, never by its name. What is read takes the same memory whatever its size. A line that
//! cannot be read is counted and named, never passed over in silence; when there are too many of them, the file is refused.

mod ab;
mod ab_gnuplot;
mod ab_percentiles;
mod clock;
mod csv;
mod document;
mod gatling;
mod h2load;
mod h2load_log;
mod hey;
mod hey_csv;
mod hey_form;
mod hgrm;
mod host_columns;
mod host_log;
mod host_samples;
mod jmeter_log;
mod jtl;
mod jtl_columns;
mod jtl_rows;
mod jtl_xml;
mod k6;
mod k6_csv;
mod k6_json;
mod k6_points;
mod lines;
mod locust;
mod locust_history;
mod locust_rows;
mod oha;
mod oha_csv;
mod oha_json;
mod outcome;
mod reading;
mod recorder;
mod series;
mod settings;
mod shell;
mod sysstat;
mod tags;
mod text;
mod vegeta;
mod vegeta_csv;
mod vegeta_json;
mod vegeta_report_json;
mod vmstat;
mod wrk;
mod zstd;

use std::io::{self, BufRead as _, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use model::imported::{HostLog, ImportedRun, Lines as LineCount};
use thiserror::Error;

use lines::Lines;
use reading::{Broken, Reading};

pub use jtl_columns::{JtlColumns, jtl_columns};
pub use reading::{Format, Options};
pub use settings::settings;

/// All formats, in the order in which they are tried.
pub const FORMATS: &[Format] = &[
    ab::FORMAT,
    ab_gnuplot::FORMAT,
    wrk::FORMAT,
    h2load::FORMAT,
    h2load_log::FORMAT,
    oha::FORMAT,
    oha_json::FORMAT,
    oha_csv::FORMAT,
    hey::FORMAT,
    hey_csv::FORMAT,
    vegeta::FORMAT,
    vegeta_report_json::FORMAT,
    vegeta_json::FORMAT,
    vegeta_csv::FORMAT,
    k6::FORMAT,
    k6_json::FORMAT,
    k6_csv::FORMAT,
    jtl::FORMAT,
    ab_percentiles::FORMAT,
    jtl_xml::FORMAT,
    jmeter_log::FORMAT,
    locust::FORMAT,
    locust_history::FORMAT,
    gatling::FORMAT,
    hgrm::FORMAT,
];

/// Share of lines that cannot be read beyond which a file is refused.
const MOST_BAD: f64 = 0.01;

/// Why a file has no results.
#[derive(Debug, Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("{file}: {error}{}", if error.kind() == io::ErrorKind::UnexpectedEof { "; it is cut off: copy it again, or unpack what is there" } else { "" })]
    Io {
        /// The file.
        file: String,
        /// Why not.
        error: io::Error,
    },
    /// It is no result of a tool that is known.
    #[error("{file} is {}; it begins with `{begins}`", format.map_or_else(|| "in no format that is known".to_owned(), |id| format!("not in the format {id} that was asked for")))]
    Unknown {
        /// The file.
        file: String,
        /// The format that was asked for.
        format: Option<&'static str>,
        /// Its first line.
        begins: String,
    },
    /// It is one, and has not what results need.
    #[error("{file} is of {tool}, and lacks {lacks}")]
    Lacks {
        /// The file.
        file: String,
        /// The tool.
        tool: &'static str,
        /// What is not there.
        lacks: &'static str,
    },
    /// It has the output of several runs.
    #[error("{file} has more than one result of {tool}: give each a file of its own")]
    Several {
        /// The file.
        file: String,
        /// The tool.
        tool: &'static str,
    },
    /// Nothing is in it.
    #[error("{file} is empty")]
    Blank {
        /// The file.
        file: String,
    },
    /// No request is in it.
    #[error("{file} has no request in it")]
    Empty {
        /// The file.
        file: String,
    },
    /// It is a log of a machine, and says nothing of any time.
    #[error("{file} is of {tool}, and has no sample of all processors whose beginning and end are known")]
    NoSample {
        /// The file.
        file: String,
        /// The tool.
        tool: String,
    },
    /// Too much of it cannot be read.
    #[error(
        "{file}: {bad} of {read} lines cannot be read, the first in line {number}: {reason}; `--lenient` leaves them out"
    )]
    BadLines {
        /// The file.
        file: String,
        /// Lines that cannot be read.
        bad: u64,
        /// Lines.
        read: u64,
        /// The first that cannot.
        number: u64,
        /// Why not.
        reason: String,
    },
}

/// What a load test's file says. `file` is its name, for people; it may be packed by gzip or zstd.
pub fn read<'r>(file: &str, source: impl Read + 'r, options: Options) -> Result<ImportedRun, ImportError> {
    let io = |error| ImportError::Io { file: file.to_owned(), error };
    let lines = Lines::new(unpacked(source).map_err(io)?);
    let mut reading = Reading { file: file.to_owned(), options, lines, count: LineCount::default() };
    let head = reading.lines.head().map_err(io)?;
    if head.is_empty() {
        return Err(ImportError::Blank { file: file.to_owned() });
    }
    let fits =
        |format: &&Format| options.format.map_or_else(|| (format.recognises)(head, options), |id| id == format.id);
    let unknown = ImportError::Unknown { file: file.to_owned(), format: options.format, begins: beginning(head) };
    let Some(format) = FORMATS.iter().find(fits) else { return Err(unknown) };
    let run = (format.read)(&mut reading).map_err(|broken| match broken {
        Broken::Io(error) => io(error),
        Broken::Unknown => unknown,
        Broken::Several => ImportError::Several { file: file.to_owned(), tool: format.tool },
        Broken::Lacks(lacks) => ImportError::Lacks { file: file.to_owned(), tool: format.tool, lacks },
    })?;
    refuse_bad_lines(file, &run.lines, options)?;
    if run.all.ended() == 0 { Err(ImportError::Empty { file: file.to_owned() }) } else { Ok(run) }
}

/// What mpstat, `sar -u` or vmstat say of a machine, by the same rules for lines; `None` where the file is of none of them.
pub fn read_host<'r>(file: &str, source: impl Read + 'r, options: Options) -> Result<Option<HostLog>, ImportError> {
    let io = |error| ImportError::Io { file: file.to_owned(), error };
    let lines = Lines::new(unpacked(source).map_err(io)?);
    let mut reading = Reading { file: file.to_owned(), options, lines, count: LineCount::default() };
    let Some(log) = host_log::read(&mut reading).map_err(io)? else { return Ok(None) };
    refuse_bad_lines(file, &log.lines, options)?;
    if log.samples.is_empty() {
        Err(ImportError::NoSample { file: file.to_owned(), tool: log.tool })
    } else {
        Ok(Some(log))
    }
}

/// An error where too many lines cannot be read.
fn refuse_bad_lines(file: &str, lines: &LineCount, options: Options) -> Result<(), ImportError> {
    let LineCount { read, bad, first_bad, .. } = lines;
    match first_bad.first() {
        Some(first) if !options.is_lenient && *bad as f64 > MOST_BAD * *read as f64 => Err(ImportError::BadLines {
            file: file.to_owned(),
            bad: *bad,
            read: *read,
            number: first.number,
            reason: first.reason.clone(),
        }),
        _ => Ok(()),
    }
}

/// What is packed by gzip or zstd, else the same.
fn unpacked<'r>(source: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    let mut source = BufReader::with_capacity(1 << 16, source);
    Ok(match source.fill_buf()? {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(source)),
        head if zstd::begins(head) => Box::new(zstd::Unpacked::new(source)),
        _ => Box::new(source),
    })
}

/// The first line of a text, at most 60 characters of it.
fn beginning(text: &[u8]) -> String {
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(first).chars().filter(|character| !character.is_control()).take(60).collect()
}
