//! Which columns a JTL has whose first line does not name them: JMeter's settings `jmeter.save.saveservice.*`
//! (`SampleSaveConfiguration`), in a `jmeter.properties` or `user.properties`.

/// A setting for columns.
struct Setting {
    /// Its name behind [`PREFIX`].
    name: &'static str,
    columns: &'static [&'static str],
    /// Whether JMeter 2.12, 3.0, 3.1 and 5 have the columns where nothing is set.
    defaults: [bool; VERSIONS],
}

const VERSIONS: usize = 4;
const PREFIX: &str = "jmeter.save.saveservice.";
/// The settings in the order in which `CSVSaveService` writes their columns.
const SETTINGS: [Setting; 20] = [
    setting("timestamp_format", &["timeStamp"], [true; VERSIONS]),
    setting("time", &["elapsed"], [true; VERSIONS]),
    setting("label", &["label"], [true; VERSIONS]),
    setting("response_code", &["responseCode"], [true; VERSIONS]),
    setting("response_message", &["responseMessage"], [true; VERSIONS]),
    setting("thread_name", &["threadName"], [true; VERSIONS]),
    setting("data_type", &["dataType"], [true; VERSIONS]),
    setting("successful", &["success"], [true; VERSIONS]),
    setting("assertion_results_failure_message", &["failureMessage"], [false, true, true, true]),
    setting("bytes", &["bytes"], [true; VERSIONS]),
    setting("sent_bytes", &["sentBytes"], [false, false, true, true]),
    setting("thread_counts", &["grpThreads", "allThreads"], [false, true, true, true]),
    setting("url", &["URL"], [false, false, false, true]),
    setting("filename", &["Filename"], [false; VERSIONS]),
    setting("latency", &["Latency"], [true; VERSIONS]),
    setting("encoding", &["Encoding"], [false; VERSIONS]),
    setting("sample_count", &["SampleCount", "ErrorCount"], [false; VERSIONS]),
    setting("hostname", &["Hostname"], [false; VERSIONS]),
    setting("idle_time", &["IdleTime"], [false, true, true, true]),
    setting("connect_time", &["Connect"], [false, false, true, true]),
];

const fn setting(name: &'static str, columns: &'static [&'static str], defaults: [bool; VERSIONS]) -> Setting {
    Setting { name, columns, defaults }
}

/// Which columns JMeter's settings give its result files, and between which characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JtlColumns {
    /// Of each setting, whether its columns are there, if it says so.
    set: [Option<bool>; SETTINGS.len()],
    delimiter: Option<u8>,
    /// Columns behind all others, of `sample_variables`.
    variables: usize,
}

impl JtlColumns {
    /// These settings, and those of `stronger` in the place of what both set.
    #[must_use]
    pub fn overridden_by(mut self, stronger: Self) -> Self {
        for (set, stronger) in self.set.iter_mut().zip(stronger.set) {
            *set = stronger.or(*set);
        }
        let variables = if stronger.variables > 0 { stronger.variables } else { self.variables };
        Self { delimiter: stronger.delimiter.or(self.delimiter), variables, ..self }
    }

    /// The character between columns.
    pub(crate) fn delimiter(self) -> u8 {
        self.delimiter.unwrap_or(b',')
    }

    /// The names of the columns of a file with so many of them, as each version of JMeter would have them; those first that leave none
    /// over. More may come of variables that other settings name.
    pub(crate) fn orders(self, columns: usize) -> impl Iterator<Item = Vec<&'static str>> {
        let of_version = move |version: usize| {
            let is_there = move |(setting, set): &(&Setting, Option<bool>)| set.unwrap_or(setting.defaults[version]);
            let there = SETTINGS.iter().zip(self.set).filter(is_there);
            there.flat_map(|(setting, _)| setting.columns.iter().copied()).collect::<Vec<_>>()
        };
        let all = move || (0..VERSIONS).rev().map(of_version);
        let whole = all().filter(move |names| names.len() + self.variables == columns);
        whole.chain(all().filter(move |names| names.len() + self.variables < columns))
    }
}

/// The columns that a file of properties gives JMeter's result files; `None` where it is no such file, or has no setting of them. Of
/// settings that are comments, as in the file that JMeter brings, the defaults hold.
pub fn jtl_columns(text: &str) -> Option<JtlColumns> {
    let mut columns = JtlColumns::default();
    let (mut is_of_jmeter, mut goes_on) = (false, false);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let was_before = std::mem::replace(&mut goes_on, line.ends_with('\\') && !line.ends_with("\\\\"));
        let line = line.trim_ascii();
        if was_before || line.is_empty() {
            continue;
        }
        if let Some(comment) = line.strip_prefix(['#', '!']) {
            goes_on = false;
            is_of_jmeter |= comment.starts_with(PREFIX) && property(comment).is_some_and(|(_, value)| is_flag(value));
            continue;
        }
        let (name, value) = property(line)?;
        if name == "sample_variables" {
            columns.variables = value.split(',').filter(|name| !name.trim().is_empty()).count();
        }
        let Some(name) = name.strip_prefix(PREFIX) else { continue };
        is_of_jmeter |= is_flag(value) || name == "default_delimiter";
        if name == "default_delimiter" {
            columns.delimiter = delimiter(value);
        }
        let is_there = match name {
            "timestamp_format" => !value.eq_ignore_ascii_case("none"),
            _ => value.eq_ignore_ascii_case("true"),
        };
        let set = SETTINGS.iter().zip(&mut columns.set).find(|(setting, _)| setting.name == name);
        if let Some((_, set)) = set {
            *set = Some(is_there);
        }
    }
    is_of_jmeter.then_some(columns)
}

/// The name and the value of a property; `None` if a line is none.
fn property(line: &str) -> Option<(&str, &str)> {
    let end = line.find(|character: char| matches!(character, '=' | ':') || character.is_ascii_whitespace())?;
    let (name, value) = line.split_at(end);
    let value = value.trim_ascii_start();
    let value = value.strip_prefix(['=', ':'])?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    (!name.is_empty() && is_name).then(|| (name, value.trim_ascii()))
}

fn is_flag(value: &str) -> bool {
    value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false")
}

/// A delimiter as it is written in properties; a tab is `\t`.
fn delimiter(value: &str) -> Option<u8> {
    let character = value.trim_start_matches('\\');
    match (value.len() > character.len(), character.as_bytes()) {
        (true, b"t") => Some(b'\t'),
        (_, [one]) if one.is_ascii_punctuation() && *one != b'"' => Some(*one),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, read};

    const PROPERTIES: &str = include_str!("../fixtures/jmeter-5.6.3/user.properties");
    const JTL: &[u8] = include_bytes!("../fixtures/jmeter-5.6.3/pages.jtl");

    #[test]
    fn a_file_without_names_has_the_columns_of_its_settings() {
        let options = Options { columns: jtl_columns(PROPERTIES), ..Options::default() };
        let run = read("pages.jtl", JTL, options).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.users, run.lines.bad), (100, 50, Some(2), 0));
        assert_eq!((run.all.codes["404"], run.labels.len()), (50, 0));
        assert!(read("pages.jtl", JTL, Options::default()).is_err(), "its columns are no usual ones");
    }

    #[test]
    fn settings_of_another_file_do_no_harm() {
        let columns =
            jtl_columns("jmeter.save.saveservice.successful=false\njmeter.save.saveservice.default_delimiter=\\t\n");
        let line = "1420840843879|233|Threads|200|tearDown 1-1|true|43189|1|7|225\n".repeat(3);
        let run = read("a.jtl", line.as_bytes(), Options { columns, ..Options::default() }).unwrap();
        assert_eq!((run.all.good, run.users), (3, Some(7)));
    }

    #[test]
    fn what_is_not_set_is_as_in_the_version_that_fits() {
        let columns = jtl_columns("jmeter.save.saveservice.data_type=false\nsample_variables=uuid, user\n").unwrap();
        let orders = |count| columns.orders(count).next().map(|names| names.join(" "));
        let old = "timeStamp elapsed label responseCode responseMessage threadName success bytes Latency";
        assert_eq!(orders(11).as_deref(), Some(old));
        assert!(orders(18).is_some_and(|names| names.ends_with("allThreads URL Latency IdleTime Connect")));
        assert_eq!(orders(8), None);
    }

    #[test]
    fn settings_are_known_by_what_they_say() {
        let brought =
            "# A comment\n#jmeter.save.saveservice.label=true\nnot_in_menu=a,\\\n  b c\nsummariser.name=summary\n";
        assert_eq!(jtl_columns(brought), Some(JtlColumns::default()));
        for other in [
            "",
            "a=b\n",
            "# jmeter.save.saveservice.label=true\n",
            "Set `jmeter.save.saveservice.label=true`\n",
            "jmeter -Jjmeter.save.saveservice.label=true\n",
        ] {
            assert_eq!(jtl_columns(other), None, "{other}");
        }
    }

    #[test]
    fn the_stronger_settings_hold() {
        let weak =
            jtl_columns("jmeter.save.saveservice.label=true\njmeter.save.saveservice.default_delimiter=|").unwrap();
        let strong = jtl_columns("jmeter.save.saveservice.label = FALSE\n").unwrap();
        let both = weak.overridden_by(strong);
        assert_eq!(both.delimiter(), b'|');
        assert!(both.orders(16).all(|names| !names.contains(&"label")));
    }
}
