//! What `/proc` reports about processes and their sockets.
//!
//! Trees are found by the parent each process names, not by `/proc/PID/task/*/children`: many kernels are built
//! without the latter, and it may miss children while others exit.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use model::Switches;
use rustix::io::Errno;
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_getaffinity};

/// One process, as `/proc/PID/stat` has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Process {
    pub pid: u32,
    pub parent: u32,
    /// CPU time of its threads, user and system, seconds.
    pub own_cpu_s: f64,
    /// CPU time of the children it has waited for, and theirs, seconds.
    pub reaped_cpu_s: f64,
    /// The part of both that the kernel used, seconds.
    pub system_s: f64,
    pub threads: u32,
    pub rss_bytes: u64,
}

impl Process {
    pub fn read(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        // The name in parentheses may hold spaces and parentheses: fields are counted from the last one.
        let (head, tail) = stat.rsplit_once(')')?;
        let pid = head.split_once(' ')?.0.parse().ok()?;
        let fields: Vec<&str> = tail.split_whitespace().collect();
        let number = |field: usize| fields.get(field).and_then(|text| text.parse::<u64>().ok());
        let seconds = |field| Some(number(field)? as f64 / clock_ticks_per_second() as f64);
        Some(Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            own_cpu_s: seconds(11)? + seconds(12)?,
            reaped_cpu_s: seconds(13)? + seconds(14)?,
            system_s: seconds(12)? + seconds(14)?,
            threads: number(17)?.try_into().ok()?,
            rss_bytes: number(21)? * page_size() as u64,
        })
    }
}

/// Adds what each thread of a process has done so far to `counts`, by thread.
pub(crate) fn switches(pid: u32, counts: &mut HashMap<u32, Switches>) {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let threads = threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    counts.extend(threads.filter_map(|thread: u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/task/{thread}/status")).ok()?;
        let number = |name| status.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        let (voluntary, involuntary) = (number("voluntary_ctxt_switches:")?, number("nonvoluntary_ctxt_switches:")?);
        Some((thread, Switches { voluntary, involuntary }))
    }));
}

/// Resident memory of a process with shared pages divided among those who share them, bytes. The kernel walks through all
/// of its pages for that, and keeps it from mapping others meanwhile.
pub(crate) fn pss_bytes(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let kibibytes = rollup.lines().find_map(|line| line.strip_prefix("Pss:")?.split_whitespace().next()?.parse().ok());
    kibibytes.map(|kibibytes: u64| kibibytes * 1024)
}

/// Logical processors that both process `pid` and this one may run on.
pub(crate) fn shared_cpus(pid: u32) -> Option<u32> {
    let ours = sched_getaffinity(None).ok()?;
    let theirs = sched_getaffinity(Some(Pid::from_raw(pid.cast_signed())?)).ok()?;
    Some((0..CpuSet::MAX_CPU).filter(|cpu| ours.is_set(*cpu) && theirs.is_set(*cpu)).count() as u32)
}

/// A thread's name, as far as the kernel keeps it, and its CPU time, user and system, seconds.
pub(crate) fn thread(pid: u32, thread: u32) -> Option<(String, f64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{thread}/stat")).ok()?;
    let name = &stat[stat.find('(')? + 1..stat.rfind(')')?];
    Some((name.to_owned(), Process::parse(&stat)?.own_cpu_s))
}

/// Has the kernel kill the program when the thread that starts it ends: when we die, even by KILL.
pub(crate) fn die_with_us(command: &mut Command) -> &mut Command {
    let us = getpid();
    let die_with_us = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // We may have died before the line above: then nobody would ever end this process.
        if getppid() == Some(us) { Ok(()) } else { Err(Errno::SRCH.into()) }
    };
    // SAFETY: the closure runs between fork and exec, and only makes two system calls: it neither allocates nor locks.
    unsafe { command.pre_exec(die_with_us) }
}

/// All processes that there are.
pub(crate) fn every() -> impl Iterator<Item = Process> {
    all().filter_map(Process::read)
}

/// The name of a process as the kernel has it, at most 15 bytes; empty when it is gone.
pub(crate) fn name(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// All processes below `root`, without it, parents before their children.
pub(crate) fn descendants(root: u32) -> Vec<Process> {
    let mut children: HashMap<u32, Vec<Process>> = HashMap::new();
    for process in every() {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found: Vec<Process> = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while next < found.len() {
        found.extend(children.remove(&found[next].pid).unwrap_or_default());
        next += 1;
    }
    found
}

/// What a process shows as its command line; empty when it is gone.
pub(crate) fn command_line(pid: u32) -> Vec<String> {
    let mut words = nul_separated(pid, "cmdline");
    // What is left of the command line's place behind a title.
    let end = words.iter().rposition(|word| !word.is_empty()).map_or(0, |last| last + 1);
    words.truncate(end);
    words
}

/// The command line that a process was started with; `None` when it is gone, or has written a title over it, as Puma does: one text
/// of several words.
pub(crate) fn arguments(pid: u32) -> Option<Vec<String>> {
    let words = command_line(pid);
    let is_title = matches!(&words[..], [title] if title.contains(' '));
    (!words.is_empty() && !is_title).then_some(words)
}

/// The environment a process was started with, sorted by name; `None` when it is gone, or has written a title over it, as
/// Puma does.
pub(crate) fn environment(pid: u32) -> Option<Vec<(String, String)>> {
    let entries = nul_separated(pid, "environ");
    let variable = |entry: &String| entry.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut variables: Vec<_> = entries.iter().map(variable).collect::<Option<_>>()?;
    variables.sort();
    (!variables.is_empty()).then_some(variables)
}

/// The program that a process runs; `None` when it is gone.
pub(crate) fn program(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The folder that a process is in, by a path that leads there while it runs.
pub(crate) fn folder(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/cwd"))
}

/// Where the kernel has put the stack and the arguments of the program that a process runs, which it does anew for each: the fields
/// `startstack` and `arg_start` of `proc_pid_stat(5)`. `None` when it is gone.
pub(crate) fn place(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(format!("{} {}", fields.get(25)?, fields.get(45)?))
}

/// The files that a process has mapped into its memory, libraries among them; a file for each part of it.
pub(crate) fn mapped(pid: u32) -> impl Iterator<Item = PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let files: Vec<PathBuf> = maps.lines().filter_map(|line| Some(line.get(line.find('/')?..)?.into())).collect();
    files.into_iter()
}

fn nul_separated(pid: u32, file: &str) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let Some(bytes) = bytes.strip_suffix(&[0]) else { return Vec::new() };
    bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// A process that answers where the launched one should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForeignListener {
    pub pid: Option<u32>,
    pub command: String,
}

/// Whoever listens where `address` leads and is not below `root`.
pub(crate) fn foreign_listener_at(address: SocketAddr, root: u32) -> Option<ForeignListener> {
    let mut sockets = listeners(address);
    if sockets.is_empty() {
        let command = "unknown: no process here listens there; is it in another network namespace?".to_owned();
        return Some(ForeignListener { pid: None, command });
    }
    for process in descendants(root) {
        let own = sockets_of(process.pid);
        sockets.retain(|socket| !own.contains(socket));
    }
    if sockets.is_empty() {
        return None;
    }
    let pid = all().find(|pid| !sockets_of(*pid).is_disjoint(&sockets));
    let command = pid.map_or_else(|| "a process we may not look at".to_owned(), |pid| command_line(pid).join(" "));
    Some(ForeignListener { pid, command })
}

/// The processes below `root` that listen where `address` leads, parents before their children.
pub(crate) fn answering(root: u32, address: SocketAddr) -> Vec<Process> {
    let sockets = listeners(address);
    let mut processes = descendants(root);
    processes.retain(|process| !sockets_of(process.pid).is_disjoint(&sockets));
    processes
}

/// Inodes of the listening sockets that a connection to `address` can reach.
fn listeners(address: SocketAddr) -> HashSet<u64> {
    ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"]
        .into_iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| table.lines().filter_map(parse_listener).collect::<Vec<_>>())
        .filter(|(local, _)| local.port() == address.port() && reaches(address.ip(), local.ip()))
        .map(|(_, inode)| inode)
        .collect()
}

fn reaches(target: IpAddr, bound: IpAddr) -> bool {
    let (target, bound) = (target.to_canonical(), bound.to_canonical());
    target == bound || bound.is_unspecified() && (bound.is_ipv6() || target.is_ipv4())
}

/// Reads a line of `/proc/net/tcp{,6}`; `None` unless its socket listens.
fn parse_listener(line: &str) -> Option<(SocketAddr, u64)> {
    const LISTEN: &str = "0A";
    let fields: Vec<&str> = line.split_whitespace().collect();
    if fields.get(3) != Some(&LISTEN) {
        return None;
    }
    let (ip, port) = fields.get(1)?.split_once(':')?;
    // The kernel prints addresses as 32-bit words of the host's byte order.
    let word = |at: usize| Some(u32::from_str_radix(ip.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    let ip: IpAddr = if ip.len() == 8 {
        Ipv4Addr::from(word(0)?).into()
    } else {
        let mut bytes = [0; 16];
        for (index, chunk) in bytes.chunks_exact_mut(4).enumerate() {
            chunk.copy_from_slice(&word(index * 8)?);
        }
        Ipv6Addr::from(bytes).into()
    };
    Some((SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?), fields.get(9)?.parse().ok()?))
}

/// Inodes of the TCP sockets that are connected, or were until the other side closed them, in the network of process `pid`.
pub(crate) fn connected(pid: u32) -> HashSet<u64> {
    const LISTEN: &str = "0A";
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // Those that wait out their time after the end have none.
        (fields.get(3) != Some(&LISTEN)).then(|| fields.get(9)?.parse().ok()).flatten().filter(|inode| *inode > 0)
    };
    ["tcp", "tcp6"]
        .into_iter()
        .filter_map(|table| fs::read_to_string(format!("/proc/{pid}/net/{table}")).ok())
        .flat_map(|table| table.lines().skip(1).filter_map(inode).collect::<Vec<_>>())
        .collect()
}

/// How many descriptors a process has open, and the inodes of the sockets among them; `None` where it may not be looked at.
pub(crate) fn descriptors(pid: u32) -> Option<(u32, HashSet<u64>)> {
    let entries: Vec<_> = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten().collect();
    let sockets = entries.iter().filter_map(|entry| socket(&fs::read_link(entry.path()).ok()?)).collect();
    Some((entries.len() as u32, sockets))
}

/// What the descriptors of a process lead to, as the kernel names it.
pub(crate) fn open_files(pid: u32) -> impl Iterator<Item = PathBuf> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors.filter_map(|entry| fs::read_link(entry.path()).ok())
}

/// Inodes of the sockets a process holds.
fn sockets_of(pid: u32) -> HashSet<u64> {
    open_files(pid).filter_map(|target| socket(&target)).collect()
}

/// The inode of the socket that a descriptor leads to, if it does.
fn socket(target: &Path) -> Option<u64> {
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let tail = "S 7 1 1 0 -1 4194560 9 9 9 9 150 50 20 5 20 0 33 0 999 1000 12 0";
        let process = Process::parse(&format!("42 (a) b) {tail}")).unwrap();
        let ticks = clock_ticks_per_second() as f64;
        assert_eq!((process.pid, process.parent, process.threads), (42, 7, 33));
        assert!((process.own_cpu_s - 200.0 / ticks).abs() < 1e-9);
        assert!((process.reaped_cpu_s - 25.0 / ticks).abs() < 1e-9);
        assert!((process.system_s - 55.0 / ticks).abs() < 1e-9);
        assert_eq!(process.rss_bytes, 12 * page_size() as u64);
    }

    #[test]
    fn listening_sockets_are_read_and_others_are_not() {
        let line = "0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 31 1 0";
        assert_eq!(parse_listener(line), Some(("127.0.0.1:8080".parse().unwrap(), 31)));
        assert_eq!(parse_listener(&line.replace(" 0A ", " 01 ")), None);
        let mapped = "0: 0000000000000000FFFF00000100007F:1F90 0:0 0A 0:0 0:0 0 0 0 32 1 0";
        let (local, _) = parse_listener(mapped).unwrap();
        assert!(reaches("127.0.0.1".parse().unwrap(), local.ip()));
        assert!(reaches("127.0.0.1".parse().unwrap(), "::".parse().unwrap()));
        assert!(!reaches("::1".parse().unwrap(), "0.0.0.0".parse().unwrap()));
        assert!(!reaches("127.0.0.1".parse().unwrap(), "127.0.0.2".parse().unwrap()));
    }

    #[test]
    fn a_thread_that_waits_gives_its_core_away() {
        let us = std::process::id();
        // Other threads of this program end whenever their tests do.
        let this = rustix::thread::gettid().as_raw_pid().cast_unsigned();
        let count = || {
            let mut counts = HashMap::new();
            switches(us, &mut counts);
            counts[&this].voluntary
        };
        let before = count();
        (0..5).for_each(|_| std::thread::sleep(std::time::Duration::from_millis(1)));
        assert!(count() >= before + 5);
        assert!(pss_bytes(us).is_some_and(|pss| pss > 0 && pss <= 2 * Process::read(us).unwrap().rss_bytes));
    }

    #[test]
    fn who_listens_is_known() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let us = std::process::id();
        assert_eq!(foreign_listener_at(address, Process::read(us).unwrap().parent), None);
        assert_eq!(foreign_listener_at(address, us).unwrap().pid, Some(us));
        let answering = |address| answering(Process::read(us).unwrap().parent, address);
        // What another test is about to start may hold it for a moment.
        assert!(answering(address).iter().any(|process| process.pid == us));
        assert!(answering("127.0.0.1:1".parse().unwrap()).is_empty());
        drop(socket);
        assert_eq!(foreign_listener_at(address, us).unwrap().pid, None);
    }
}
