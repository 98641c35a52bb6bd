//! What tests need of the machine that they run on, and how they wait. A test that is left out says what it lacks, and `scripts/tests.sh`
//! counts them all in its last line.

use std::fmt::{self, Display, Formatter};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Something that a test needs and a machine may lack.
#[derive(Debug, Clone, Copy)]
pub enum Need<'a> {
    /// `io_uring`, which a kernel may refuse.
    IoUring,
    /// The right to make a network namespace.
    Network,
    /// The right to mount a file system.
    Mounts,
    /// The right to make control groups that limit processors and memory.
    ControlGroups,
    /// A second processor.
    Processors,
    /// The right to give up capabilities.
    Capabilities,
    /// Results of load tests that others published, which are not ours to hand on: see [`published`].
    Published,
    /// What any of these packages of the system installs.
    Package(&'a [String]),
}

impl Need<'_> {
    /// Whether this machine has it, or could have: found out without the code that the tests are about.
    pub fn is_here(self) -> bool {
        match self {
            Self::IoUring => has_io_uring(),
            Self::Network => succeeds("unshare", &["--net", "true"]),
            Self::Mounts => succeeds("unshare", &["--mount", "mount", "-t", "tmpfs", "tmpfs", "/tmp"]),
            Self::ControlGroups => {
                let unified = fs::read_to_string("/sys/fs/cgroup/cgroup.controllers").unwrap_or_default();
                if unified.is_empty() {
                    ["cpu", "memory"].iter().all(|kind| takes_groups(&format!("/sys/fs/cgroup/{kind}")))
                } else {
                    ["cpu", "memory"].iter().all(|kind| unified.contains(kind)) && takes_groups("/sys/fs/cgroup")
                }
            }
            Self::Processors => thread::available_parallelism().is_ok_and(|number| number.get() > 1),
            Self::Capabilities => succeeds("setpriv", &["--bounding-set=-all", "true"]),
            Self::Published => published("").is_dir(),
            Self::Package(names) => names.iter().any(|name| is_packaged(name)),
        }
    }
}

impl Display for Need<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::IoUring => "io_uring",
            Self::Network => "a network namespace",
            Self::Mounts => "mounts",
            Self::ControlGroups => "control groups",
            Self::Processors => "a second processor",
            Self::Capabilities => "the right to give up capabilities",
            Self::Published => "published results",
            Self::Package(names) => return out.write_str(&names.join(" or ")),
        })
    }
}

/// Whether the machine has what the test needs. If not, the test is left out, and [`left_out`] says so.
#[track_caller]
pub fn has(need: Need) -> bool {
    let is_here = need.is_here();
    if !is_here {
        left_out(need, "it is not there");
    }
    is_here
}

/// Says that the test on this thread is left out, and why the need is not met.
///
/// With `CI` set this fails where the machine has what the test lacks, or there is a package of it:
/// `scripts/setup.sh test` has installed that.
///
/// # Panics
///
/// In that case, and where `BAKEOFF_LEFT_OUT` names a file that cannot be written.
#[track_caller]
pub fn left_out(need: Need, why: impl Display) {
    assert!(
        std::env::var_os("CI").is_none() || !need.is_here(),
        "CI leaves out nothing that its machine has, or has a package of, and there is {need}: {why}"
    );
    println!("left out for lack of {need}: {why}");
    if let Some(list) = std::env::var_os("BAKEOFF_LEFT_OUT") {
        let line = format!("{need}\t{} {}\n", program(), thread::current().name().unwrap_or("a thread"));
        let list = OpenOptions::new().append(true).create(true).open(list);
        list.and_then(|mut list| list.write_all(line.as_bytes())).expect("the list of tests left out can be written");
    }
}

/// A file of published results, which lie beside this repository where they are at all.
pub fn published(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(file)
}

/// How long a test waits for what must come, at most.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits for what must come.
///
/// # Panics
///
/// Where it has not come after two minutes.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "never happened: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The test program's name; two may have tests of the same name.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn has_io_uring() -> bool {
    // `struct io_uring_params` is 120 bytes, all of which may be zero.
    let mut params = [0_u64; 15];
    // SAFETY: the kernel reads and writes the parameters only, and the descriptor that it makes is closed here, once.
    unsafe {
        let ring = libc::syscall(libc::SYS_io_uring_setup, 1, params.as_mut_ptr());
        ring >= 0 && libc::close(ring as libc::c_int) == 0
    }
}

fn takes_groups(parent: &str) -> bool {
    let group = Path::new(parent).join(format!("needs-{}-{:?}", std::process::id(), thread::current().id()));
    fs::create_dir(&group).is_ok() && fs::remove_dir(&group).is_ok()
}

/// Whether the system's package manager has a package, installed or not.
fn is_packaged(package: &str) -> bool {
    let asked = Command::new("apt-cache").env("LC_ALL", "C").args(["policy", package]).output();
    asked.is_ok_and(|asked| {
        let answer = String::from_utf8_lossy(&asked.stdout).into_owned();
        let candidate = answer.lines().find_map(|line| line.trim().strip_prefix("Candidate: "));
        candidate.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
    })
}

fn succeeds(program: &str, args: &[&str]) -> bool {
    let status = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
