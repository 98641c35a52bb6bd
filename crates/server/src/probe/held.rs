//! What a server's processes hold open: descriptors, and connections among them.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use model::Held;
use rustix::time::{ClockId, clock_gettime};

use crate::proc;

/// A reading is left out until this many times the CPU time of the last one has passed: the kernel walks through every descriptor, and
/// through every connection of the network.
const SPARING: u32 = 100;

/// Counts what the processes below a supervisor hold open.
#[derive(Debug)]
pub struct HeldSampler {
    root: u32,
    /// When the last reading ended, and the CPU time that it took.
    last: Option<(Instant, Duration)>,
}

impl HeldSampler {
    /// Of the processes below `root`.
    pub(crate) fn new(root: u32) -> Self {
        Self { root, last: None }
    }

    /// What they hold open now; `None` where that cannot be read, and where it would take more than a hundredth of our time.
    pub fn sample(&mut self) -> Option<Held> {
        if self.last.is_some_and(|(at, took)| at.elapsed() < took * SPARING) {
            return None;
        }
        let began = cpu_time();
        let held = self.read();
        self.last = Some((Instant::now(), cpu_time().saturating_sub(began)));
        held
    }

    fn read(&self) -> Option<Held> {
        let processes = proc::descendants(self.root);
        let connected = proc::connected(processes.first()?.pid);
        let (mut held, mut sockets) = (Held::default(), HashSet::new());
        for process in &processes {
            // One that ends meanwhile holds nothing.
            let Some((descriptors, own)) = proc::descriptors(process.pid) else { continue };
            held.descriptors += descriptors;
            sockets.extend(own);
        }
        // Workers that were forked share a socket, which is one.
        held.connections = sockets.intersection(&connected).count() as u32;
        (held.descriptors > 0).then_some(held)
    }
}

/// What this thread has used so far. Not the time of day: on a busy host a reading waits for its turn, which costs nobody anything.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::process::Command;

    use rustix::io::{FdFlags, fcntl_setfd};

    use super::*;

    /// What a child of this process holds that inherits all that is not closed for it.
    fn of_child() -> Held {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let held = HeldSampler::new(std::process::id()).sample().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        held
    }

    fn inherited(held: impl AsFd) {
        fcntl_setfd(held, FdFlags::empty()).unwrap();
    }

    #[test]
    fn what_is_opened_is_counted_and_a_listener_is_no_connection() {
        let before = of_child();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = |_| TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let streams: Vec<TcpStream> = (0..50).map(connect).collect();
        let files: Vec<File> = (0..50).map(|_| File::open("/dev/null").unwrap()).collect();
        streams.iter().for_each(inherited);
        files.iter().for_each(inherited);
        inherited(&listener);
        let after = of_child();
        assert_eq!((before.connections, after.connections), (0, 50));
        assert_eq!(after.descriptors, before.descriptors + 101);
    }

    #[test]
    fn a_reading_that_takes_long_is_seldom_made() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let mut sampler = HeldSampler::new(std::process::id());
        assert!(sampler.sample().is_some());
        sampler.last = Some((Instant::now(), Duration::from_secs(1)));
        assert_eq!(sampler.sample(), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
