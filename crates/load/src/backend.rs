//! How the bytes of one thread's connections move: the same events whichever way of the kernel's is taken.

mod driver;
mod epoll;
mod uring;

use model::Backend;

use crate::LoadError;

pub(crate) use driver::{Driver, Event, EventKind};
pub(crate) use epoll::Epoll;
pub(crate) use uring::Uring;

/// How a load moves its bytes here unless chosen otherwise: by `io_uring` where it works, else by epoll.
pub fn best_backend() -> Backend {
    match set_up(None, 1, false) {
        Ok(Ready::Uring(_)) => Backend::IoUring,
        Ok(Ready::Epoll(_)) | Err(_) => Backend::Epoll,
    }
}

/// A backend of one kind or the other.
pub(crate) enum Ready {
    Epoll(Epoll),
    Uring(Box<Uring>),
}

/// Sets up the backend of one thread with `slots` slots, for that thread alone: what is asked for, or the best that
/// works here. `kernel_time` says whether the kernel is asked when bytes came.
pub(crate) fn set_up(requested: Option<Backend>, slots: usize, kernel_time: bool) -> Result<Ready, LoadError> {
    if requested != Some(Backend::Epoll) {
        match Uring::new(slots, kernel_time) {
            Ok(uring) => return Ok(Ready::Uring(uring.into())),
            Err(why) if requested.is_some() => return Err(LoadError::NoIoUring(why)),
            Err(_) => {}
        }
    }
    Epoll::new(slots, kernel_time).map(Ready::Epoll)
}

#[cfg(test)]
mod tests {
    use std::{io, mem, thread};

    use super::*;

    /// Has the kernel refuse an `io_uring` to this thread, as containers do (seccomp(2)).
    fn forbid_io_uring() {
        let step = |code: u32, jump_if_not, k| libc::sock_filter { code: code as u16, jt: 0, jf: jump_if_not, k };
        let number = mem::offset_of!(libc::seccomp_data, nr) as u32;
        let mut steps = [
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, number),
            step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, libc::SYS_io_uring_setup as u32),
            step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
            step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
        // SAFETY: the program and its steps outlive the calls, which concern this thread only.
        let set = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
        };
        assert!(set, "{}", io::Error::last_os_error());
    }

    #[test]
    fn where_io_uring_is_forbidden_it_is_epoll_unless_asked_for() {
        let tried = thread::spawn(|| {
            forbid_io_uring();
            assert_eq!(best_backend(), Backend::Epoll);
            for requested in [None, Some(Backend::Epoll)] {
                assert!(matches!(set_up(requested, 1, true), Ok(Ready::Epoll(_))), "{requested:?}");
            }
            let Err(LoadError::NoIoUring(why)) = set_up(Some(Backend::IoUring), 1, true) else { panic!("not refused") };
            assert_eq!(why.raw_os_error(), Some(libc::EPERM));
        });
        tried.join().unwrap();
    }
}
