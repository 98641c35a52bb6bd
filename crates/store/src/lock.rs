//! One process carries out a run at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use crate::error::StoreError;

/// Held by the process that carries out a run; given up when dropped, and by the system when the process dies.
#[derive(Debug)]
#[must_use = "dropped at once, it locks nothing"]
pub struct RunLock {
    /// The lock belongs to the open file (flock); the file itself stays, as removing it would race with the next process.
    _file: File,
}

impl RunLock {
    /// Whether some process carries out the run whose files are in `folder`.
    pub(crate) fn is_held(folder: &Path) -> bool {
        let file = File::open(folder.join("lock"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Locks the run whose files are in `folder`, and leaves this process's id there for others to read.
    pub(crate) fn take(run: &str, folder: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(|cause| StoreError::Folder { folder: folder.to_owned(), cause })?;
        let path = folder.join("lock");
        let failed = |cause| StoreError::Lock { path: path.clone(), cause };
        // Not truncated: it may hold another process's id.
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Empty when the other process has not come to write it.
                let _ = file.read_to_string(&mut holder);
                return Err(StoreError::Running { run: run.to_owned(), pid: holder.trim().parse().ok() });
            }
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
        }
        let id = format!("{}\n", std::process::id());
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(id.as_bytes())).map_err(failed)?;
        Ok(Self { _file: file })
    }
}
