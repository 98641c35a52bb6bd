//! Which rows of JMeter's results are requests, and which stand for several of them, or are parts of one.
//!
//! A transaction controller (`TransactionController`) writes a row of its own: behind those of its samplers, or, if it generates a
//! parent sample, before them or in their place. JMeter 5 writes the parts of a sample behind it into CSV, such as the redirects that
//! it followed: `page-0`, `page-1`. A thread does one thing at a time, so the rows of one thread say what belongs together.

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use model::imported::ImportedRun;

use crate::csv::number;
use crate::reading::{Format, Reading};
use crate::recorder::{LONGEST_NAME, Recorder, Request};
use crate::text::{MOST, count};

/// What a transaction controller's message begins with (`TransactionController.NUMBER_OF_SAMPLES_IN_TRANSACTION_PREFIX`).
const OF_TRANSACTION: &[u8] = b"Number of samples in transaction : ";
/// Most threads whose rows are kept in mind. JMeter seldom runs so many at once.
const MOST_THREADS: usize = 10_000;
/// Most transactions inside one another of which nothing is decided.
const MOST_OPEN: usize = 16;

/// A row.
#[derive(Debug, Clone, Copy)]
pub struct Row<'l> {
    pub request: Request<'l>,
    /// Who sent it; empty where the file does not say.
    pub thread: &'l [u8],
    /// What the server, or a transaction controller, said.
    pub message: &'l [u8],
    /// Time between its beginning and its end that `took_us` leaves out: pauses, for one.
    pub idle_ms: u64,
}

impl Row<'_> {
    pub fn is_transaction(&self) -> bool {
        self.message.starts_with(OF_TRANSACTION)
    }

    /// How many requests a transaction controller says that there were in it.
    fn held(&self) -> Option<u64> {
        let count_of = |held| std::str::from_utf8(held).ok().and_then(|held| count(held).ok());
        self.message.strip_prefix(OF_TRANSACTION).and_then(count_of)
    }
}

/// A row of which it is not decided yet whether it is a request.
#[derive(Debug)]
pub struct Kept {
    /// Its label and code are in `label` and `code`.
    request: Request<'static>,
    label: Vec<u8>,
    code: Vec<u8>,
    thread: Vec<u8>,
    idle_ms: u64,
    /// Of a transaction: the requests in it.
    held: Option<u64>,
    pub is_transaction: bool,
}

impl Kept {
    fn of(row: &Row) -> Self {
        let Request { label, code, began_ms, took_us, is_good, bytes, users } = row.request;
        Self {
            request: Request { label: b"", code: b"", began_ms, took_us, is_good, bytes, users },
            label: short(label).to_vec(),
            code: short(code).to_vec(),
            thread: short(row.thread).to_vec(),
            idle_ms: row.idle_ms,
            held: row.held(),
            is_transaction: row.is_transaction(),
        }
    }

    fn request(&self) -> Request<'_> {
        Request { label: &self.label, code: &self.code, ..self.request }
    }

    /// Whether what began at this moment began inside it.
    fn has_begun(&self, began_ms: i64) -> bool {
        let ended_ms = self.request.ended_ms().saturating_add_unsigned(self.idle_ms);
        self.request.began_ms == began_ms || (self.request.began_ms..ended_ms).contains(&began_ms)
    }
}

/// What a thread did last.
#[derive(Debug, Default)]
struct Thread {
    /// When its last request began, and when that ended.
    last_ms: Option<(i64, i64)>,
    /// The label of that request, and how many parts of it came so far.
    label: Vec<u8>,
    parts: u64,
    /// Transactions of which no request came so far, the outer ones first.
    open: Vec<Kept>,
}

impl Thread {
    /// How many parts the last request has with this one, if it is the next, or a part of the last part.
    fn parts_with(&self, request: &Request) -> Option<u64> {
        let (began_ms, ended_ms) = self.last_ms.filter(|_| request.label.last().is_some_and(u8::is_ascii_digit))?;
        let behind = request.label.strip_prefix(self.label.as_slice())?.strip_prefix(b"-")?;
        let mut numbers = behind.split(|byte| *byte == b'-').map(number);
        let first = numbers.next()??;
        let depth = numbers.try_fold(0, |depth, inner| inner.map(|_| depth + 1))?;
        let is_next = first == self.parts || (first + 1 == self.parts && depth > 0);
        (is_next && (began_ms..=ended_ms).contains(&request.began_ms)).then_some(first + 1)
    }

    /// A request that counts began.
    fn begins(&mut self, request: &Request) {
        self.last_ms = Some((request.began_ms, request.ended_ms()));
        self.label.clear();
        self.label.extend_from_slice(short(request.label));
        self.parts = 0;
    }

    /// Decides about the open transactions, when the next request is known to have begun at this moment, or none to come. The innermost
    /// is a request if it has none in it, and all around it are none.
    fn settle(&mut self, next_ms: Option<i64>, recorder: &mut Recorder, found: &mut Found) {
        let mut has_request = false;
        while let Some(kept) = self.open.pop() {
            has_request |= next_ms.is_some_and(|began_ms| kept.has_begun(began_ms));
            if has_request {
                found.transactions += 1;
                continue;
            }
            has_request = true;
            found.alone += 1;
            found.requests_alone = found.requests_alone.saturating_add(kept.held.unwrap_or(1)).min(MOST);
            recorder.add_checked(&kept.request());
            self.begins(&kept.request());
        }
    }
}

/// What was found beside requests.
#[derive(Debug, Default)]
struct Found {
    /// Transactions whose requests have rows, or that have none.
    transactions: u64,
    /// Parts of requests.
    parts: u64,
    /// Transactions that count as requests, since theirs have no rows; and how many these are.
    alone: u64,
    requests_alone: u64,
}

/// The rows so far.
#[derive(Debug)]
pub struct Rows {
    recorder: Recorder,
    threads: IndexMap<Box<[u8]>, Thread, RandomState>,
    found: Found,
}

impl Rows {
    pub fn new() -> Self {
        Self { recorder: Recorder::new(), threads: IndexMap::default(), found: Found::default() }
    }

    /// Adds a row, or says why it is none.
    pub fn add(&mut self, row: &Row) -> Result<(), &'static str> {
        if row.is_transaction() {
            let kept = self.keep(row)?;
            self.decide(kept);
            return Ok(());
        }
        let place = self.place(row.thread);
        let thread = &mut self.threads[place];
        // Without threads, what comes behind a request may be another's.
        if let Some(parts) = thread.parts_with(&row.request).filter(|_| !row.thread.is_empty()) {
            self.recorder.check(&row.request)?;
            thread.parts = parts;
            self.found.parts += 1;
            return Ok(());
        }
        self.recorder.add(&row.request)?;
        thread.settle(Some(row.request.began_ms), &mut self.recorder, &mut self.found);
        thread.begins(&row.request);
        Ok(())
    }

    /// Keeps a row that may have others in it, or says why it is none.
    pub fn keep(&self, row: &Row) -> Result<Kept, &'static str> {
        self.recorder.check(&row.request).map(|()| Kept::of(row))
    }

    /// Adds a row that was kept and has no others in it.
    pub fn decide(&mut self, kept: Kept) {
        let began_ms = kept.request.began_ms;
        let place = self.place(&kept.thread);
        let thread = &mut self.threads[place];
        if !kept.is_transaction {
            self.recorder.add_checked(&kept.request());
            thread.settle(Some(began_ms), &mut self.recorder, &mut self.found);
            thread.begins(&kept.request());
            return;
        }
        if thread.open.last().is_some_and(|outer| !outer.has_begun(began_ms)) {
            thread.settle(None, &mut self.recorder, &mut self.found);
        }
        let has_request = thread.last_ms.is_some_and(|(last_ms, _)| last_ms >= began_ms);
        if has_request || kept.held == Some(0) || thread.open.len() == MOST_OPEN {
            self.found.transactions += 1;
        } else {
            thread.open.push(kept);
        }
    }

    /// Sets a transaction apart whose requests are known to have rows.
    pub fn set_transaction_apart(&mut self) {
        self.found.transactions += 1;
    }

    /// Sets a part of a request apart.
    pub fn set_part_apart(&mut self) {
        self.found.parts += 1;
    }

    /// What there is when all is read.
    pub fn run(mut self, reading: &mut Reading, format: &Format) -> ImportedRun {
        self.settle_all();
        let Found { transactions, parts, alone, requests_alone } = self.found;
        let said = [
            (
                transactions,
                "are of transaction controllers, whose requests are there, too: set apart, not counted".to_owned(),
            ),
            (parts, "are parts of others, such as redirects that were followed: set apart, not counted".to_owned()),
            (
                alone,
                format!(
                    "are of transaction controllers, whose {requests_alone} requests are not there: each counts as one request"
                ),
            ),
        ];
        let said = said.into_iter().filter(|(samples, _)| *samples > 0);
        let warnings = said.map(|(samples, what)| format!("{samples} samples {what}")).collect();
        reading.count.set_apart = transactions + parts;
        ImportedRun { warnings, ..reading.run(format, self.recorder.finish()) }
    }

    /// The place of a thread. Where there are too many, all of them begin anew.
    fn place(&mut self, name: &[u8]) -> usize {
        let name = short(name);
        if let Some(place) = self.threads.get_index_of(name) {
            return place;
        }
        if self.threads.len() == MOST_THREADS {
            self.settle_all();
            self.threads.clear();
        }
        self.threads.insert_full(name.into(), Thread::default()).0
    }

    fn settle_all(&mut self) {
        for thread in self.threads.values_mut() {
            thread.settle(None, &mut self.recorder, &mut self.found);
        }
    }
}

/// As much of a name as is kept.
fn short(name: &[u8]) -> &[u8] {
    &name[..name.len().min(LONGEST_NAME)]
}

#[cfg(test)]
mod tests {
    use model::imported::Requests;
    use proptest::prelude::*;

    use super::*;
    use crate::{Options, read};

    const NAMES: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,IdleTime\n";

    fn row(began_ms: u64, took_ms: u64, label: &str, thread: &str) -> String {
        format!("{began_ms},{took_ms},{label},200,OK,{thread},true,0\n")
    }

    /// What the transaction controllers of each kind leave of a run: a summariser counts neither them nor what is in parent samples.
    #[test]
    fn real_transactions_are_set_apart() {
        let csv = run_of_file(include_bytes!("../fixtures/jmeter-5.6.3/transactions.jtl"));
        let xml = run_of_file(include_bytes!("../fixtures/jmeter-5.6.3/transactions.xml"));
        let requests = ["alone", "page", "moved", "missing", "cart", "paid", "orders", "form", "sent"];
        for (run, each) in [(&csv, 24), (&xml, 6)] {
            let (mut found, mut expected) = (counted(run), requests.map(|label| (label, each)));
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!((found.as_slice(), run.lines.bad), (expected.as_slice(), 0), "{}", run.format);
            // Five transactions, and the parts of two requests.
            assert_eq!(run.lines.set_apart, (5 + 4) * each);
            assert_eq!(
                run.warnings,
                [
                    format!(
                        "{} samples are of transaction controllers, whose requests are there, too: set apart, not counted",
                        5 * each
                    ),
                    format!(
                        "{} samples are parts of others, such as redirects that were followed: set apart, not counted",
                        4 * each
                    ),
                ]
            );
        }
        let log = run_of_file(include_bytes!("../fixtures/jmeter-5.6.3/transactions.log"));
        let in_parents: u64 = ["cart", "paid", "form", "sent"].iter().map(|label| csv.labels[*label].ended()).sum();
        assert_eq!((log.all.ended(), log.all.failed), (csv.all.ended() - in_parents, csv.all.failed));
    }

    #[test]
    fn real_parent_samples_count_where_nothing_else_is_there() {
        let run = run_of_file(include_bytes!("../fixtures/jmeter-5.6.3/parents.jtl"));
        assert_eq!((run.all.ended(), run.lines.set_apart, run.lines.bad), (42, 12, 0));
        assert_eq!((run.labels["bought"].good, run.labels["login"].good, run.labels.get("visit")), (6, 6, None));
        let alone =
            "12 samples are of transaction controllers, whose 24 requests are not there: each counts as one request";
        assert_eq!(run.warnings[1..], [alone]);
    }

    fn run_of_file(file: &[u8]) -> ImportedRun {
        read("a file", file, Options::default()).unwrap()
    }

    /// The row of a transaction that has so many requests.
    fn transaction(began_ms: u64, took_ms: u64, idle_ms: u64, label: &str, held: &str) -> String {
        let message = format!("\"Number of samples in transaction : {held}, number of failing samples : 0\"");
        format!("{began_ms},{took_ms},{label},200,{message},users 1-1,true,{idle_ms}\n")
    }

    fn run_of(rows: &[String]) -> ImportedRun {
        read("a.jtl", format!("{NAMES}{}", rows.concat()).as_bytes(), Options::default()).unwrap()
    }

    /// The labels of the requests that count.
    fn counted(run: &ImportedRun) -> Vec<(&str, u64)> {
        run.labels.iter().map(|(label, requests)| (label.as_str(), requests.ended())).collect()
    }

    #[test]
    fn a_transaction_behind_its_requests_is_none() {
        let run = run_of(&[
            row(1_000, 10, "page", "users 1-1"),
            row(1_005, 50, "other", "users 1-2"),
            // A second's pause, which its time leaves out.
            row(2_010, 10, "cart", "users 1-1"),
            transaction(999, 20, 1_000, "visit", "2"),
            row(2_020, 10, "page", "users 1-1"),
        ]);
        assert_eq!(counted(&run), [("page", 2), ("other", 1), ("cart", 1)]);
        assert_eq!((run.lines.set_apart, run.began_ms), (1, Some(1_000)));
        assert_eq!(
            run.warnings,
            ["1 samples are of transaction controllers, whose requests are there, too: set apart, not counted"]
        );
    }

    #[test]
    fn a_transaction_before_its_requests_is_none() {
        let run = run_of(&[
            row(1_000, 10, "page", "users 1-1"),
            transaction(1_010, 20, 2_000, "visit", "2"),
            // It is in another.
            transaction(2_010, 20, 1_000, "pay", "2"),
            row(2_015, 10, "cart", "users 1-1"),
            row(3_025, 10, "paid", "users 1-1"),
        ]);
        assert_eq!((counted(&run), run.lines.set_apart), (vec![("page", 1), ("cart", 1), ("paid", 1)], 2));
    }

    #[test]
    fn a_transaction_whose_requests_are_not_there_counts() {
        let rows = [
            row(1_000, 10, "page", "users 1-1"),
            transaction(1_010, 20, 0, "visit", "3"),
            row(1_015, 10, "page", "users 1-2"),
            transaction(1_030, 20, 0, "visit", "3"),
            row(1_050, 10, "page", "users 1-1"),
            // One whose row is the last, around another, and one with nothing in it.
            transaction(1_060, 20, 0, "pay", "2"),
            transaction(1_060, 25, 0, "all", "2"),
            transaction(1_090, 0, 0, "none", "0"),
        ];
        let run = run_of(&rows);
        assert_eq!((run.all.ended(), run.lines.set_apart), (6, 2));
        assert_eq!(run.labels["visit"].ended(), 2);
        let said =
            "3 samples are of transaction controllers, whose 8 requests are not there: each counts as one request";
        assert!(run.warnings.contains(&said.to_owned()), "{:?}", run.warnings);
        let alone = run_of(&rows[5..6]);
        assert_eq!((counted(&alone), alone.warnings.len()), (vec![("pay", 1)], 1));
    }

    #[test]
    fn numbered_parts_of_a_request_are_none() {
        let run = run_of(&[
            row(1_000, 30, "page", "users 1-1"),
            row(1_000, 10, "page-0", "users 1-1"),
            row(1_001, 10, "page-0", "users 1-2"),
            row(1_010, 20, "page-1", "users 1-1"),
            row(1_012, 5, "page-1-0", "users 1-1"),
            row(1_031, 10, "page-2", "users 1-1"),
            row(1_050, 10, "page", "users 1-1"),
            row(1_050, 10, "page-1", "users 1-1"),
            row(1_070, 10, "page-", "users 1-1"),
        ]);
        assert_eq!(
            counted(&run),
            [("page", 2), ("page-0", 1), ("page-2", 1), ("page-1", 1), ("page-", 1)],
            "another thread's, one that began later, and one out of turn are requests"
        );
        assert_eq!(run.lines.set_apart, 3);
        assert_eq!(
            run.warnings,
            ["3 samples are parts of others, such as redirects that were followed: set apart, not counted"]
        );
    }

    #[test]
    fn where_threads_have_no_names_numbers_say_nothing() {
        let run = run_of(&[row(1_000, 30, "page", ""), row(1_000, 10, "page-0", "")]);
        assert_eq!((run.all.ended(), run.lines.set_apart), (2, 0));
    }

    #[test]
    fn many_threads_lose_nothing() {
        let rows: Vec<String> = (0..2 * MOST_THREADS as u64)
            .flat_map(|index| {
                let thread = format!("users 1-{index}");
                let of_transaction = transaction(1_000 + index, 5, 0, "visit", "1").replace("users 1-1", &thread);
                [of_transaction, row(1_000 + index, 5, "page", &thread)]
            })
            .collect();
        let run = run_of(&rows);
        assert_eq!((run.all.ended() + run.lines.set_apart, run.lines.bad), (rows.len() as u64, 0));
        assert_eq!(run.all.ended(), 2 * MOST_THREADS as u64);
    }

    proptest! {
        /// Whatever the order, each row counts or is set apart, and no transaction counts beside a request of its own.
        #[test]
        fn no_row_is_lost(
            rows in proptest::collection::vec((0..60_u64, 0..20_u64, 0..4_u8, 0..2_u8, 0..3_u64), 1..40),
        ) {
            let texts: Vec<String> = rows
                .iter()
                .map(|(began_ms, took_ms, kind, thread, held)| match kind {
                    0 => transaction(*began_ms, *took_ms, 0, "all", &held.to_string()),
                    1 => row(*began_ms, *took_ms, "page-0", &format!("users 1-{thread}")),
                    _ => row(*began_ms, *took_ms, "page", &format!("users 1-{thread}")),
                })
                .collect();
            let Ok(run) = read("a.jtl", format!("{NAMES}{}", texts.concat()).as_bytes(), Options::default()) else {
                prop_assert!(rows.iter().all(|(.., kind, _, held)| (*kind, *held) == (0, 0)), "only empty transactions are nothing");
                return Ok(());
            };
            prop_assert_eq!(run.all.ended() + run.lines.set_apart, rows.len() as u64);
            let pages = rows.iter().filter(|(.., kind, _, _)| *kind > 1).count() as u64;
            prop_assert_eq!(run.labels.get("page").map_or(0, Requests::ended), pages);
        }
    }
}
