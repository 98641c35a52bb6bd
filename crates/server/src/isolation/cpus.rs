//! Processors.

use std::io;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::error::IsolationError;

/// Keeps the calling thread, and all threads and processes that it starts from now on, to these processors, by number;
/// to any if there are none.
pub(crate) fn pin(cpus: &[usize]) -> io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for cpu in cpus {
        if *cpu >= CpuSet::MAX_CPU {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        set.set(*cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// How many processors process `pid` may run on; `None` when it is gone.
pub(crate) fn count(pid: u32) -> Option<usize> {
    let pid = Pid::from_raw(pid.cast_signed())?;
    Some(sched_getaffinity(Some(pid)).ok()?.count() as usize)
}

/// Keeps the calling thread to some processors until it is dropped, and the threads that it starts meanwhile for good.
#[derive(Debug)]
pub struct Pinned {
    before: Option<CpuSet>,
}

impl Pinned {
    /// To these, by number; to any if there are none. Fails where one of them is not to be had: the kernel takes a set of
    /// which it has a part.
    pub fn to(cpus: &[usize]) -> Result<Self, IsolationError> {
        let failed = |source| IsolationError::Cpus { cpus: cpus.to_vec(), source };
        if cpus.is_empty() {
            return Ok(Self { before: None });
        }
        let before = sched_getaffinity(None).map_err(|error| failed(error.into()))?;
        let pinned = Self { before: Some(before) };
        let mut absent = Vec::new();
        for cpu in cpus {
            if !is_to_be_had(*cpu).map_err(failed)? {
                absent.push(cpu.to_string());
            }
        }
        match &absent[..] {
            [] => pin(cpus).map(|()| pinned).map_err(failed),
            [one] => Err(failed(io::Error::other(format!("there is no processor {one} here")))),
            several => Err(failed(io::Error::other(format!("there are no processors {} here", several.join(", "))))),
        }
    }
}

/// Whether the calling thread, which it moves, may run on this processor.
fn is_to_be_had(cpu: usize) -> io::Result<bool> {
    match pin(&[cpu]) {
        Ok(()) => Ok(sched_getaffinity(None)?.is_set(cpu)),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(false),
        Err(error) => Err(error),
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = sched_setaffinity(None, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_thread_is_pinned_for_as_long_as_requested() {
        thread::spawn(|| {
            let before = sched_getaffinity(None).unwrap();
            let first = (0..CpuSet::MAX_CPU).find(|cpu| before.is_set(*cpu)).unwrap();
            let pinned = Pinned::to(&[first]).unwrap();
            let inherited = thread::spawn(|| sched_getaffinity(None).unwrap()).join().unwrap();
            assert_eq!((inherited.count(), inherited.is_set(first)), (1, true));
            drop(pinned);
            assert_eq!(sched_getaffinity(None).unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_processor_that_is_not_there_is_refused() {
        let error = Pinned::to(&[0, 1_000]).unwrap_err().to_string();
        assert!(error.contains("[0, 1000]") && error.contains("there is no processor 1000 here"), "{error}");
        let error = Pinned::to(&[1_000, 1 << 20]).unwrap_err().to_string();
        assert!(error.contains("there are no processors 1000, 1048576 here"), "{error}");
    }
}
