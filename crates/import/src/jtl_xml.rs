//! JMeter's result file (`.jtl`) as XML: an element for each sample, `SampleResultConverter` of JMeter.
//!
//! A sample that consists of others (a redirect that was followed, the images of a page) has them inside it, and so has that of a
//! transaction controller. Of transactions, the samples in them count (`jtl_rows`), of others the outermost.

use std::borrow::Cow;

use model::imported::{Fidelity, ImportedRun};

use crate::csv;
use crate::jtl_rows::{Kept, Row, Rows};
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Request;
use crate::tags::{Tags, attributes, name, unescaped};

pub const FORMAT: Format = Format { id: "jtl-xml", tool: "JMeter", fidelity: Fidelity::Samples, recognises, read };

/// The element around all samples, and those that are samples.
const ALL: &str = "testResults";
const SAMPLES: [&str; 3] = [OF_HTTP, "sample", "statSample"];
const OF_HTTP: &str = "httpSample";
/// Most samples inside one another that are kept in mind.
const DEEPEST: usize = 64;

fn recognises(head: &[u8], _: Options) -> bool {
    let text = String::from_utf8_lossy(head);
    if !text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        return false;
    }
    let mut first = None;
    // What is wrong with tags behind the first is found when they are read.
    let _ = Tags::new().hear(&text, |tag| {
        first.get_or_insert(name(tag).0 == ALL);
        Ok(())
    });
    first == Some(true)
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut samples = Samples { rows: Rows::new(), open: Vec::new(), too_deep: 0, results: 0, is_over: false };
    let mut tags = Tags::new();
    reading.hear(|line| tags.hear(line, |tag| samples.hear(tag)))?;
    if samples.results > 1 {
        return Err(Broken::Several);
    }
    let is_cut = !samples.is_over || tags.is_within_one();
    while samples.close() {}
    let mut run = samples.rows.run(reading, &FORMAT);
    if is_cut {
        run.warnings.push(format!("</{ALL}> is not at its end: JMeter was stopped, or the file is cut off"));
    }
    Ok(run)
}

/// A sample that is open.
enum Open {
    /// It counts, or is a part of one: what is in it are parts.
    Request,
    /// It is of a transaction controller: what is in it counts.
    Transaction,
    /// No sample of HTTP: it counts if no requests are in it.
    Undecided(Kept),
}

/// The samples so far.
struct Samples {
    rows: Rows,
    /// The outermost first.
    open: Vec<Open>,
    /// Samples that are open inside more of them than are kept in mind.
    too_deep: u64,
    /// Elements around all of them that were begun, and whether the last was closed.
    results: u32,
    is_over: bool,
}

impl Samples {
    /// Takes a tag; what is wrong with it, if it is a sample's.
    fn hear(&mut self, tag: &str) -> Result<(), &'static str> {
        let (name, written) = name(tag);
        let closed = name.strip_prefix('/');
        if closed.unwrap_or(name) == ALL {
            self.is_over = closed.is_some();
            self.results += u32::from(!self.is_over);
            return if self.open.is_empty() { Ok(()) } else { Err("a sample before it is not closed") };
        }
        if !SAMPLES.contains(&closed.unwrap_or(name)) {
            return Ok(());
        }
        if closed.is_some() {
            return if self.close() { Ok(()) } else { Err("it closes a sample that was not begun") };
        }
        let is_closed = written.ends_with('/');
        if self.open.len() == DEEPEST {
            self.rows.set_part_apart();
            self.too_deep += u64::from(!is_closed);
            return Ok(());
        }
        let begun = self.begin(name, written);
        // What is in one that cannot be read cannot be told, and is taken for its parts.
        let (open, said) = begun.map_or_else(|broken| (Open::Request, Err(broken)), |open| (open, Ok(())));
        self.open.push(open);
        if is_closed {
            self.close();
        }
        said
    }

    /// Begins a sample, and counts it, if it is sure to be a request.
    fn begin(&mut self, name: &str, written: &str) -> Result<Open, &'static str> {
        if matches!(self.open.last(), Some(Open::Request)) {
            self.rows.set_part_apart();
            return Ok(Open::Request);
        }
        let sample = Sample::of(written)?;
        let row = sample.row()?;
        let is_in_transaction = matches!(self.open.last(), Some(Open::Undecided(outer)) if outer.is_transaction);
        if name == OF_HTTP || row.is_transaction() || is_in_transaction {
            for outer in &mut self.open {
                if matches!(outer, Open::Undecided(_)) {
                    *outer = Open::Transaction;
                    self.rows.set_transaction_apart();
                }
            }
        }
        if name == OF_HTTP {
            self.rows.add(&row)?;
            return Ok(Open::Request);
        }
        self.rows.keep(&row).map(Open::Undecided)
    }

    /// Closes the innermost sample, if there is one.
    fn close(&mut self) -> bool {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return true;
        }
        let Some(closed) = self.open.pop() else { return false };
        if let Open::Undecided(kept) = closed {
            match self.open.last() {
                Some(Open::Undecided(_)) => self.rows.set_part_apart(),
                _ => self.rows.decide(kept),
            }
        }
        true
    }
}

/// The attributes of a sample that are made use of, as they are written.
#[derive(Debug, Default)]
struct Sample<'l> {
    began: Option<&'l str>,
    took: Option<&'l str>,
    is_good: Option<&'l str>,
    label: Cow<'l, str>,
    code: Cow<'l, str>,
    bytes: Option<&'l str>,
    users: Option<&'l str>,
    count: Option<&'l str>,
    message: Cow<'l, str>,
    thread: Cow<'l, str>,
    idle: Option<&'l str>,
}

impl<'l> Sample<'l> {
    fn of(written: &'l str) -> Result<Self, &'static str> {
        let mut sample = Self::default();
        for attribute in attributes(written) {
            match attribute? {
                ("ts", value) => sample.began = Some(value),
                ("t", value) => sample.took = Some(value),
                ("s", value) => sample.is_good = Some(value),
                ("lb", value) => sample.label = unescaped(value),
                ("rc", value) => sample.code = unescaped(value),
                ("by", value) => sample.bytes = Some(value),
                ("na", value) => sample.users = Some(value),
                ("sc", value) => sample.count = Some(value),
                ("rm", value) => sample.message = unescaped(value),
                ("tn", value) => sample.thread = unescaped(value),
                ("it", value) => sample.idle = Some(value),
                _ => {}
            }
        }
        Ok(sample)
    }

    /// What it says, or what is wrong with it.
    fn row(&self) -> Result<Row<'_>, &'static str> {
        let number = |text: &str| csv::number(text.as_bytes());
        let optional = |text: Option<&str>, what| text.map(|text| number(text).ok_or(what)).transpose();
        if optional(self.count, "its `sc` is no number")?.is_some_and(|count| count != 1) {
            return Err("it stands for several requests (`sc`), and not each of them is known");
        }
        let code = self.code.as_bytes();
        let is_good = match self.is_good {
            Some("true") => true,
            Some("false") => false,
            Some(_) => return Err("its `s` is neither `true` nor `false`"),
            None if code.is_empty() => return Err("it has neither `s` nor `rc`, which say whether it succeeded"),
            None => code.starts_with(b"2") || code.starts_with(b"3"),
        };
        let request = Request {
            began_ms: self
                .began
                .and_then(number)
                .and_then(|ms| ms.try_into().ok())
                .ok_or("its `ts` is no number of milliseconds")?,
            took_us: self.took.and_then(number).ok_or("its `t` is no number of milliseconds")?.saturating_mul(1_000),
            label: self.label.as_bytes(),
            code,
            is_good,
            bytes: optional(self.bytes, "its `by` is no number")?,
            users: optional(self.users, "its `na` is no number")?
                .map_or(0, |users| users.try_into().unwrap_or(u32::MAX)),
        };
        Ok(Row {
            request,
            thread: self.thread.as_bytes(),
            message: self.message.as_bytes(),
            idle_ms: self.idle.and_then(number).unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImportError, read};

    fn run_of(text: &str) -> ImportedRun {
        read("a.jtl", text.as_bytes(), Options::default()).unwrap()
    }

    /// Samples in what is around them.
    fn all(samples: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?>\n<!-- of <httpSample/> -->\n<testResults version=\"1.2\">\n{samples}\n</testResults>\n"
        )
    }

    #[test]
    fn a_file_is_read_whole() {
        let run = run_of(include_str!("../fixtures/jmeter-5.6.3/pages.xml"));
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed, run.users), ("jtl-xml", 40, 20, Some(2)));
        let labels: Vec<_> = run.labels.iter().map(|(label, requests)| (label.as_str(), requests.ended())).collect();
        assert_eq!(labels.len(), 3);
        assert!(labels.contains(&("a \"page\" <of> this, & more", 20)), "{labels:?}");
        assert_eq!((run.all.codes["200"], run.all.codes["404"], run.lines.bad), (40, 20, 0));
        assert_eq!(run.lines.set_apart, 40);
        assert_eq!(
            run.warnings,
            ["40 samples are parts of others, such as redirects that were followed: set apart, not counted"]
        );
    }

    /// A sample's attributes.
    fn of(label: &str, began_ms: u32, took_ms: u32, message: &str) -> String {
        format!(
            "t=\"{took_ms}\" ts=\"{began_ms}\" s=\"true\" lb=\"{label}\" rc=\"200\" rm=\"{message}\" tn=\"users 1-1\""
        )
    }

    const OF_TWO: &str = "Number of samples in transaction : 2, number of failing samples : 0";

    /// The labels of the requests that count, and the samples that are set apart.
    fn counted(samples: &str) -> (Vec<(String, u64)>, u64) {
        let run = run_of(&all(samples));
        assert_eq!(run.lines.bad, 0, "{:?}", run.lines);
        let labels = run.labels.iter().map(|(label, requests)| (label.clone(), requests.ended()));
        (labels.collect(), run.lines.set_apart)
    }

    fn each_once(labels: &[&str]) -> Vec<(String, u64)> {
        labels.iter().map(|label| ((*label).to_owned(), 1)).collect()
    }

    #[test]
    fn the_requests_in_a_transaction_count_in_its_place() {
        let (page, moved) = (of("page", 10, 5, "OK"), of("moved", 15, 5, "OK"));
        let inner = format!("<httpSample {page}/><httpSample {moved}><httpSample {moved}/></httpSample>");
        let transaction = of("visit", 10, 10, OF_TWO);
        for around in [transaction.as_str(), "t=\"10\" ts=\"10\" s=\"true\" lb=\"visit\""] {
            let both = counted(&format!("<sample {around}>\n{inner}</sample>"));
            assert_eq!(both, (each_once(&["page", "moved"]), 2), "{around}");
            let nested = counted(&format!("<sample {around}><sample {around}>{inner}</sample></sample>"));
            assert_eq!(nested, (each_once(&["page", "moved"]), 3), "{around}");
        }
        // What it holds may be no requests of HTTP.
        let queries = counted(&format!("<sample {transaction}><sample {page}/><sample {moved}></sample></sample>"));
        assert_eq!(queries, (each_once(&["page", "moved"]), 1));
    }

    #[test]
    fn a_transaction_without_samples_in_it_is_told_by_those_around_it() {
        let transaction = format!("<sample {}/>", of("visit", 10, 10, OF_TWO));
        let page = |began_ms| format!("<httpSample {}/>", of("page", began_ms, 5, "OK"));
        assert_eq!(counted(&format!("{}{transaction}", page(12))), (each_once(&["page"]), 1));
        assert_eq!(counted(&format!("{}{transaction}", page(2))), (each_once(&["page", "visit"]), 0));
    }

    #[test]
    fn what_other_samples_have_in_them_are_parts() {
        let (script, query) = (of("script", 10, 10, "OK"), of("query", 12, 5, "OK"));
        assert_eq!(counted(&format!("<sample {script}><sample {query}/></sample>")), (each_once(&["script"]), 1));
        let deep = format!("{}{}", format!("<sample {query}>").repeat(100), "</sample>".repeat(100));
        assert_eq!(counted(&deep), (each_once(&["query"]), 99));
    }

    #[test]
    fn attributes_and_elements_may_be_written_in_any_way() {
        let run = run_of(&all(
            "<sample rc='' na='3'\n  s='false' lb='it&apos;s &lt;so&gt;' by='7'\n  ts='1420840843879'\tt='12'/><httpSample t=\"5\" ts=\"1420840844000\" \
             lb=\"b\" rc=\"302\"><responseData class=\"java.lang.String\">&lt;sample t=\n\n</responseData></httpSample>",
        ));
        assert_eq!((run.all.good, run.all.failed, run.users), (1, 1, Some(3)));
        assert_eq!(run.labels["it's <so>"].failed, 1);
        assert_eq!((run.lines.bad, run.warnings.len()), (0, 0), "{:?} {:?}", run.lines, run.warnings);
    }

    #[test]
    fn what_cannot_be_read_is_counted() {
        let good = "<httpSample t=\"5\" ts=\"1420840844000\" s=\"true\"/>\n";
        let broken = [
            "t=\"5\" s=\"true\"",
            "ts=\"1420840844000\" s=\"true\"",
            "t=\"5\" ts=\"1420840844000\" s=\"yes\"",
            "t=\"5\" ts=\"1420840844000\"",
            "t=\"5\" ts=\"1420840844000\" s=\"true\" sc=\"20\"",
            "t=\"5\" ts=\"1420840844000\" s=\"true\" by=\"many\"",
            "t=5 ts=1420840844000",
        ];
        let lines = broken.map(|attributes| format!("<httpSample {attributes}/>\n"));
        let text = all(&format!("{good}{}</sample>\n<httpSample t=\"5\n{good}", lines.concat()));
        let options = Options { is_lenient: true, ..Options::default() };
        let run = read("a.jtl", text.as_bytes(), options).unwrap();
        assert_eq!((run.all.good, run.lines.bad, run.lines.read), (2, 9, 15), "{:?}", run.lines);
    }

    #[test]
    fn a_file_that_is_cut_off_says_so() {
        let whole = all("<sample t=\"5\" ts=\"1420840844000\" s=\"true\"/>");
        assert_eq!(run_of(&whole).warnings.len(), 0);
        let cut = run_of(whole.trim_end().trim_end_matches("estResults>"));
        assert_eq!((cut.all.good, cut.warnings.len()), (1, 1));
        let open = run_of(
            "<testResults><sample t=\"5\" ts=\"1420840844000\" s=\"true\">\n<sample t=\"5\" ts=\"1420840844000\" s=\"true\">",
        );
        assert_eq!((open.all.good, open.lines.set_apart, open.warnings.len()), (1, 1, 2), "{:?}", open.warnings);
        let doubled = read("a.jtl", format!("{whole}{whole}").as_bytes(), Options::default());
        assert!(matches!(doubled, Err(ImportError::Several { .. })));
    }

    #[test]
    fn other_xml_is_not_taken_for_it() {
        for other in ["<jmeterTestPlan version=\"1.2\">\n<testResults/>", "<html><testResults>", "a <testResults>"] {
            let refused = read("a.xml", other.as_bytes(), Options::default());
            assert!(matches!(refused, Err(ImportError::Unknown { .. })), "{other}");
        }
    }
}
