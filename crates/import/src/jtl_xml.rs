//! JMeter's result file (`.jtl`) as XML: an element for each sample, `SampleResultConverter` of JMeter.
//!
//! A sample that consists of others (a redirect that was followed, the images of a page) has them inside it. The outermost counts.

use std::borrow::Cow;

use model::imported::{Fidelity, ImportedRun};

use crate::csv;
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::{Recorder, Request};
use crate::tags::{Tags, attributes, name, unescaped};

pub const FORMAT: Format = Format { id: "jtl-xml", tool: "JMeter", fidelity: Fidelity::Samples, recognises, read };

/// The element around all samples, and those that are samples.
const ALL: &str = "testResults";
const SAMPLES: [&str; 3] = ["httpSample", "sample", "statSample"];

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
    let mut samples = Samples { recorder: Recorder::new(), depth: 0, inside: 0, results: 0, is_over: false };
    let mut tags = Tags::new();
    reading.hear(|line| tags.hear(line, |tag| samples.hear(tag)))?;
    let mut warnings = Vec::new();
    if samples.results > 1 {
        return Err(Broken::Several);
    }
    if samples.inside > 0 {
        warnings.push(format!("{} samples are parts of others, and not counted", samples.inside));
    }
    if !samples.is_over || tags.is_within_one() {
        warnings.push(format!("</{ALL}> is not at its end: JMeter was stopped, or the file is cut off"));
    }
    Ok(ImportedRun { warnings, ..reading.run(&FORMAT, samples.recorder.finish()) })
}

/// The samples so far.
struct Samples {
    recorder: Recorder,
    /// Samples that are open.
    depth: u64,
    /// Samples inside others.
    inside: u64,
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
            return if self.depth == 0 { Ok(()) } else { Err("a sample before it is not closed") };
        }
        if !SAMPLES.contains(&closed.unwrap_or(name)) {
            return Ok(());
        }
        if closed.is_some() {
            self.depth = self.depth.checked_sub(1).ok_or("it closes a sample that was not begun")?;
            return Ok(());
        }
        let is_inside = self.depth > 0;
        self.depth += u64::from(!written.ends_with('/'));
        if is_inside {
            self.inside += 1;
            return Ok(());
        }
        let sample = Sample::of(written)?;
        self.recorder.add(&sample.request()?)
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
                _ => {}
            }
        }
        Ok(sample)
    }

    /// Its request, or what is wrong with it.
    fn request(&self) -> Result<Request<'_>, &'static str> {
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
        Ok(Request {
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
        assert_eq!(run.warnings, ["40 samples are parts of others, and not counted"]);
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
