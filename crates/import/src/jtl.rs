//! JMeter's result file (`.jtl`) with a line for each request: `CSVSaveService` of JMeter.
//!
//! Which columns it has, and between which characters, is a setting of the one who made it (`jmeter.save.saveservice.*`). Where the
//! first line names them, they are those; else those of the settings, and those that versions of JMeter have by default, are tried.
//! Not every line is a request (`jtl_rows`).

use model::imported::{Fidelity, ImportedRun};

use crate::csv::{self, Fields, first_line, number};
use crate::jtl_columns::JtlColumns;
use crate::jtl_rows::{Row, Rows};
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Request;

pub const FORMAT: Format = Format { id: "jtl", tool: "JMeter", fidelity: Fidelity::Samples, recognises, read };

/// What separates columns, the likeliest first.
const DELIMITERS: [u8; 5] = [b',', b'|', b';', b'\t', b'^'];

/// Lines behind the first by which the columns of a file without names are told apart.
const MOST_LOOKED_AT: usize = 20;

/// The columns that are made use of, by JMeter's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Columns {
    began: usize,
    elapsed: usize,
    label: Option<usize>,
    code: Option<usize>,
    message: Option<usize>,
    thread: Option<usize>,
    success: Option<usize>,
    bytes: Option<usize>,
    users: Option<usize>,
    idle: Option<usize>,
}

/// Orders of columns without a line of names that no version of JMeter has by default, but files do, the longest first.
const OTHERS: [&str; 2] = [
    "timeStamp elapsed label responseCode responseMessage threadName dataType success bytes grpThreads allThreads Latency",
    "timeStamp elapsed label responseCode threadName success bytes grpThreads allThreads Latency",
];

impl Columns {
    /// By their names; `None` where those that every request needs are not there.
    fn named(names: &[&[u8]]) -> Option<Self> {
        let at = |name: &str| names.iter().position(|column| column.eq_ignore_ascii_case(name.as_bytes()));
        Some(Self {
            began: at("timeStamp")?,
            elapsed: at("elapsed")?,
            label: at("label"),
            code: at("responseCode"),
            message: at("responseMessage"),
            thread: at("threadName"),
            success: at("success"),
            bytes: at("bytes"),
            users: at("allThreads"),
            idle: at("IdleTime"),
        })
        .filter(|columns| columns.success.is_some() || columns.code.is_some())
    }

    /// Those of the settings that fit lines of values, else those that a version has by default, or other files have. Orders that leave
    /// no value over come first: what a version added stands between older columns.
    fn fitting(lines: &[Fields], set: Option<JtlColumns>) -> Option<Self> {
        let count = lines.first()?.iter().count();
        let others = || OTHERS.iter().map(|names| names.split(' ').collect::<Vec<_>>());
        let usual = || JtlColumns::default().orders(count).chain(others());
        let whole = usual().filter(|names| names.len() == count);
        let shorter = usual().filter(|names| names.len() < count);
        let of_settings: Vec<_> = set.into_iter().flat_map(|set| set.orders(count)).collect();
        [of_settings, whole.chain(shorter).collect()].iter().find_map(|orders| {
            let fit = |lines: &[Fields], least| orders.iter().find_map(|names| Self::of(names, lines, least));
            // Where no order fits most lines, the first has to do.
            fit(lines, 1).or_else(|| fit(&lines[..1], 0))
        })
    }

    /// Those of this order, if they fit the first line of values, and most lines where a group has so many threads at least.
    fn of(names: &[&str], lines: &[Fields], least: u64) -> Option<Self> {
        let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let value = |values: &Fields, name: &[u8]| {
            names.iter().position(|column| *column == name).map(|place| values.get(place).and_then(number))
        };
        // Of another order, a number may stand where these are.
        let is_text = |values: &Fields, name| value(values, name).flatten().is_none();
        // A thread's group is a part of all threads, and has that thread in it.
        let has_threads = |values: &Fields, least| match (value(values, b"grpThreads"), value(values, b"allThreads")) {
            (Some(Some(of_group)), Some(Some(all))) => (least..=all).contains(&of_group),
            _ => true,
        };
        let columns = Self::named(&names)?;
        let fits = |values: &Fields, least| {
            columns.row(values).is_ok()
                && is_text(values, b"URL")
                && is_text(values, b"failureMessage")
                && has_threads(values, least)
        };
        let is_first = lines.first().is_some_and(|first| fits(first, 0));
        let is_most = || 2 * lines.iter().filter(|values| fits(values, least)).count() > lines.len();
        (is_first && is_most()).then_some(columns)
    }

    /// What a line says, or what is wrong with it.
    fn row<'l>(&self, values: &'l Fields) -> Result<Row<'l>, &'static str> {
        let text = |column: Option<usize>| column.and_then(|column| values.get(column));
        let began_ms = text(Some(self.began)).and_then(number).and_then(|ms| ms.try_into().ok());
        let began_ms = began_ms.ok_or("its time is no number of milliseconds")?;
        let took_ms = text(Some(self.elapsed)).and_then(number);
        let took_ms = took_ms.ok_or("what it took is no number of milliseconds")?;
        let code = text(self.code).unwrap_or_default();
        let is_good = match text(self.success) {
            Some(b"true") => true,
            Some(b"false") => false,
            Some(_) => return Err("it is neither `true` nor `false` whether it succeeded"),
            None if self.success.is_some() => return Err("it ends before it says whether it succeeded"),
            None => code.starts_with(b"2") || code.starts_with(b"3"),
        };
        let optional = |column: Option<usize>, what| match text(column) {
            None if column.is_some() => Err(what),
            None | Some(b"" | b"null") => Ok(None),
            Some(text) => number(text).map(Some).ok_or(what),
        };
        let request = Request {
            began_ms,
            took_us: took_ms.saturating_mul(1_000),
            label: text(self.label).unwrap_or_default(),
            code,
            is_good,
            bytes: optional(self.bytes, "its bytes are no number")?,
            users: optional(self.users, "its threads are no number")?
                .map_or(0, |users| users.try_into().unwrap_or(u32::MAX)),
        };
        Ok(Row {
            request,
            thread: text(self.thread).unwrap_or_default(),
            message: text(self.message).unwrap_or_default(),
            idle_ms: text(self.idle).and_then(number).unwrap_or(0),
        })
    }
}

/// The delimiter and the columns of a text, and whether its first line names them.
fn layout(head: &[u8], options: Options) -> Option<(u8, Columns, bool)> {
    let of_settings = options.columns.map(JtlColumns::delimiter);
    let guessed = || of_settings.into_iter().chain(DELIMITERS).collect();
    let tried: Vec<u8> = options.delimiter.map_or_else(guessed, |delimiter| vec![delimiter]);
    tried.into_iter().find_map(|delimiter| {
        let split = |line: &[u8]| {
            let mut fields = Fields::default();
            csv::split(line, delimiter, &mut fields);
            fields
        };
        let first = split(first_line(head));
        let names: Vec<&[u8]> = first.iter().collect();
        if let Some(columns) = Columns::named(&names) {
            return Some((delimiter, columns, true));
        }
        // A file with other delimiters is of other settings, unless somebody says which it has.
        let is_of_settings = options.delimiter.is_some() || of_settings == Some(delimiter);
        let set = options.columns.filter(|_| is_of_settings);
        let rest = head.split(|byte| *byte == b'\n').skip(1).take(MOST_LOOKED_AT);
        let rest = rest.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).filter(|line| !line.is_empty());
        let lines: Vec<Fields> = [first].into_iter().chain(rest.map(split)).collect();
        Some((delimiter, Columns::fitting(&lines, set)?, false))
    })
}

fn recognises(head: &[u8], options: Options) -> bool {
    layout(head, options).is_some()
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let options = reading.options;
    let head = reading.lines.head()?;
    let (delimiter, columns, has_names) = layout(head, options).ok_or(Broken::Unknown)?;
    let mut rows = Rows::new();
    reading.hear_fields(delimiter, has_names, |fields| rows.add(&columns.row(fields)?))?;
    Ok(rows.run(reading, &FORMAT))
}

#[cfg(test)]
mod tests {
    use crate::{ImportError, Options, read};

    const NAMED: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n\
        1420840843879,233,\"Get, page\",200,OK,users 1-1,text,true,,43189,120,1,2,http://localhost/,225,0,1\n\
        1420840844125,0,\"Get, page\",Non HTTP response code: java.net.URISyntaxException,\"refused\nby peer\",users 1-1,text,false,,0,0,1,2,null,0,0,0\n";

    #[test]
    fn columns_are_found_by_their_names() {
        let run = read("a.jtl", NAMED.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.all.never_sent), (1, 1, 1));
        assert_eq!((run.began_ms, run.users, run.labels["Get, page"].ended()), (Some(1_420_840_843_879), Some(2), 2));
        assert_eq!((run.lines.read, run.lines.bad), (4, 0));
        assert!(!run.has_local_time);
    }

    #[test]
    fn without_names_the_columns_are_guessed() {
        let text = "1420840843879|233|Threads|200|tearDown 1-1|true|43189|1|1|225|1|0|null\n".repeat(3);
        let run = read("-", text.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.good, run.labels["Threads"].codes["200"], run.users), (3, 3, Some(1)));
        let tildes = Options { delimiter: Some(b'~'), ..Options::default() };
        assert_eq!(read("-", text.replace('|', "~").as_bytes(), tildes).unwrap().all.good, 3);
        let semicolons = text.replace('|', ";");
        assert_eq!(read("-", semicolons.as_bytes(), Options::default()).unwrap().all.good, 3);
        let options = Options { delimiter: Some(b','), ..Options::default() };
        assert!(matches!(
            read("-", text.as_bytes(), Options { format: Some("jtl"), ..options }),
            Err(ImportError::Unknown { .. })
        ));
    }

    #[test]
    fn each_version_has_its_columns_by_default() {
        let of = |values: &str| {
            let run = read("a.jtl", format!("{values}\n").repeat(3).as_bytes(), Options::default()).unwrap();
            (run.users, run.all.body_length.map(|length| length.max))
        };
        let before = "1420840843879,233,page,200,OK,users 1-1,text,true";
        // 2.12, 3.0, 3.1 to 4.0, and 5.
        assert_eq!(of(&format!("{before},43189,225")), (None, Some(43_189)));
        assert_eq!(of(&format!("{before},,43189,3,7,225,0")), (Some(7), Some(43_189)));
        assert_eq!(of(&format!("{before},,43189,120,3,7,225,0,1")), (Some(7), Some(43_189)));
        assert_eq!(of(&format!("{before},,43189,120,3,7,http://localhost/,225,0,1")), (Some(7), Some(43_189)));
        // Of 3.1 without the time to connect, where nothing was sent: these are the columns of 3.0 and another, but for the threads.
        assert_eq!(of(&format!("{before},,43189,0,3,7,225,0")), (None, None));
        // A line of which nothing can be read, and one with no thread in its group, say nothing of the others.
        let good = format!("{before},,43189,120,3,7,225,0,1\n");
        let text = format!("{before},,43189,120,0,7,225,0,1\nnothing\n{}", good.repeat(3));
        let lenient = Options { is_lenient: true, ..Options::default() };
        assert_eq!(read("a.jtl", text.as_bytes(), lenient).unwrap().users, Some(7));
        // Of 2.12 with the numbers of threads, and of 3.1 with a variable behind.
        assert_eq!(of(&format!("{before},43189,3,7,225")), (Some(7), Some(43_189)));
        assert_eq!(of(&format!("{before},,43189,120,3,7,225,0,1,x")), (Some(7), Some(43_189)));
    }

    #[test]
    fn lines_that_cannot_be_read_are_counted_and_too_many_refused() {
        let good = "1420840843879,233,page,200,OK,users,text,true,43189,225\n".repeat(300);
        let text = format!("{good}142084084,x,page,200,OK,users,text,true,43189,225\nnothing\n{good}");
        let run = read("a.jtl", text.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.good, run.lines.read, run.lines.bad), (600, 602, 2));
        assert_eq!((run.lines.first_bad[0].number, run.lines.first_bad[1].number), (301, 302));
        let more = format!("{text}{}", "nothing\n".repeat(10));
        let refused = read("a.jtl", more.as_bytes(), Options::default()).unwrap_err();
        assert!(
            refused.to_string().starts_with("a.jtl: 12 of 612 lines cannot be read, the first in line 301: "),
            "{refused}"
        );
        assert!(read("a.jtl", more.as_bytes(), Options { is_lenient: true, ..Options::default() }).is_ok());
    }

    #[test]
    fn what_is_no_result_is_in_no_format() {
        let refused = read("notes.md", &b"# Notes\n"[..], Options::default()).unwrap_err();
        assert_eq!(refused.to_string(), "notes.md is in no format that is known; it begins with `# Notes`");
        let asked = Options { format: Some("ab"), ..Options::default() };
        let refused = read("notes.md", &b"# Notes\n"[..], asked).unwrap_err();
        assert!(refused.to_string().starts_with("notes.md is of ApacheBench"), "{refused}");
    }
}
