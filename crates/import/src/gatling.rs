//! Gatling's `simulation.log`, where it is text: a line for each request, and for each user that begins or ends
//! (`LogFileDataWriter` of Gatling up to 3.11). The log of later versions is binary; it is recognised, and not read.

use model::imported::{Fidelity, ImportedRun};

use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::{Recorder, Request};
use crate::text::count;

pub const FORMAT: Format = Format { id: "gatling", tool: "Gatling", fidelity: Fidelity::Samples, recognises, read };

/// How the line about the run begins, and those that may stand before it.
const RUN: &str = "RUN\t";
const ASSERTION: &str = "ASSERTION\t";
/// Longest version that a binary log may begin with, bytes.
const LONGEST_VERSION: usize = 20;

fn recognises(head: &[u8], _: Options) -> bool {
    binary_version(head).is_some() || is_text(head)
}

fn is_text(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(ASSERTION.as_bytes()));
    let run = lines.next().unwrap_or_default();
    // Its class, its name, its beginning, a description, mostly the version of Gatling.
    let has_beginning = |run: &str| run.split('\t').any(|field| field.len() >= 12 && count(field).is_ok());
    std::str::from_utf8(run).is_ok_and(|run| run.starts_with(RUN) && has_beginning(run))
}

/// The version of Gatling that a binary log begins with: a zero, the length of the text in four bytes, and the text.
fn binary_version(head: &[u8]) -> Option<&str> {
    let (length, rest) = head.strip_prefix(&[0])?.split_first_chunk()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok().filter(|length| *length <= LONGEST_VERSION)?;
    let version = std::str::from_utf8(rest.get(..length)?).ok()?;
    let is_version = version.starts_with(|first: char| first.is_ascii_digit()) && version.contains('.');
    is_version.then_some(version)
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    if binary_version(reading.lines.head()?).is_some() {
        return Err(Broken::Lacks("text: its log is the binary one of Gatling 3.12 and later, which is not read"));
    }
    let mut log = Log { runs: 0, users: 0, label: String::new(), recorder: Recorder::new() };
    reading.hear(|line| log.hear(line))?;
    if log.runs > 1 {
        return Err(Broken::Several);
    }
    Ok(ImportedRun { has_counted_users: true, ..reading.run(&FORMAT, log.recorder.finish()) })
}

/// What a log has said so far.
#[derive(Debug)]
struct Log {
    /// Lines about the run.
    runs: u32,
    /// Users at work.
    users: u32,
    /// The label of the last request: its groups and its name.
    label: String,
    recorder: Recorder,
}

impl Log {
    /// Takes a line, or says what is wrong with it.
    fn hear(&mut self, line: &str) -> Result<(), &'static str> {
        let kind = line.split('\t').next().unwrap_or_default();
        match kind {
            "REQUEST" => self.request(line),
            "USER" => self.user(line),
            "RUN" => {
                self.runs += 1;
                Ok(())
            }
            "GROUP" | "ERROR" | "ASSERTION" => Ok(()),
            _ => Err("it begins with none of the words of a log"),
        }
    }

    /// `USER scenario START ms`; earlier versions have the user's number after the scenario.
    fn user(&mut self, line: &str) -> Result<(), &'static str> {
        let event = line.split('\t').skip(2).find(|field| matches!(*field, "START" | "END"));
        self.users = match event.ok_or("it is neither `START` nor `END` of a user")? {
            "START" => self.users.saturating_add(1),
            _ => self.users.saturating_sub(1),
        };
        Ok(())
    }

    /// `REQUEST groups name start end OK message`; earlier versions have the user's number, or more, before the groups.
    fn request(&mut self, line: &str) -> Result<(), &'static str> {
        let fields: Vec<&str> = line.split('\t').collect();
        let is_result =
            |four: &[&str]| matches!(four, [_, began, ended, "OK" | "KO"] if is_time(began) && is_time(ended));
        let at = fields.windows(4).rposition(is_result).ok_or("it has no times with `OK` or `KO` behind them")?;
        let [name, began, ended, result] = fields[at..at + 4] else { return Err("it ends before its result") };
        let groups = at.checked_sub(1).filter(|place| *place > 0).and_then(|place| fields.get(place)).copied();
        self.label.clear();
        for group in groups.unwrap_or_default().split(',').filter(|group| !group.trim().is_empty()) {
            self.label.extend([group, " / "]);
        }
        self.label.push_str(name);
        let (began, ended) = (count(began)?, count(ended)?);
        let took_ms = ended.checked_sub(began).ok_or("it ends before it begins")?;
        let (is_good, message) = (result == "OK", fields.get(at + 4).map_or("", |message| message.trim()));
        // Gatling logs no request that it did not send: one that failed at once was refused, and took a part of a millisecond.
        let least_us = if is_good { 0 } else { 1_000 };
        self.recorder.add(&Request {
            began_ms: began.try_into().map_err(|_| "its time lies beyond all calendars")?,
            took_us: took_ms.saturating_mul(1_000).max(least_us),
            label: self.label.as_bytes(),
            code: if message.is_empty() { result } else { message }.as_bytes(),
            is_good,
            bytes: None,
            users: self.users,
        })
    }
}

fn is_time(field: &str) -> bool {
    count(field).is_ok()
}

#[cfg(test)]
mod tests {
    use crate::{Options, read};

    const PAGES: &[u8] = include_bytes!("../fixtures/gatling-3.9.5/simulation.log");

    #[test]
    fn a_log_is_read_whole() {
        let run = read("simulation.log", PAGES, Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed), ("gatling", 100, 5));
        assert_eq!((run.labels["page"].good, run.labels["parts / missing"].failed), (100, 5));
        assert_eq!(run.all.codes["status.find.is(200), but actually found 404"], 5);
        assert_eq!((run.began_ms, run.all.never_sent, run.lines.bad), (Some(1_795_599_916_814), 0, 0));
        assert!(run.users.is_some_and(|users| (2..=5).contains(&users)), "{:?}", run.users);
        assert!(run.has_counted_users);
    }

    #[test]
    fn the_lines_of_earlier_versions_are_read() {
        let text = "ASSERTION\tAAECAAIAAAAAAAAA\nRUN\tcomputers.Basic\tbasic\t1420840843879\t \t3.0.0\n\
                    USER\tusers\t1\tSTART\t1420840843900\t1420840843900\n\
                    REQUEST\t1\t\tpage\t1420840843900\t1420840843950\tOK\t \n\
                    REQUEST\tusers\t1\tcart,pay\tpage\t1420840843960\t1420840843960\tKO\tj.u.c.TimeoutException\t \n\
                    USER\tusers\t1\tEND\t1420840843900\t1420840844000\n";
        let run = read("simulation.log", text.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.users, run.lines.bad), (1, 1, Some(1), 0));
        assert_eq!((run.labels["page"].good, run.labels["cart / pay / page"].failed), (1, 1));
        assert_eq!(run.all.never_sent, 0);
    }

    #[test]
    fn a_binary_log_is_refused_by_name() {
        let binary = include_bytes!("../fixtures/gatling-3.13.5/simulation.log");
        let refused = read("simulation.log", &binary[..], Options::default()).unwrap_err().to_string();
        assert!(refused.contains("is of Gatling, and lacks text: its log is the binary one"), "{refused}");
    }
}
