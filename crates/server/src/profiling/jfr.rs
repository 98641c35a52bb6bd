//! Recordings of the JDK's Flight Recorder: begun and ended by the `jcmd` of the JVM's own JDK, read by its `java`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::profiling::{Profile, Recording};

use crate::attach;
use crate::runtime::base_env;
use crate::serving::LiveJvm;
use crate::tool;

/// The first release whose recordings can be configured event by event.
const FIRST_RELEASE: u32 = 17;
/// Of beginning or ending a recording: the JVM may be busy.
const ASK_WITHIN: Duration = Duration::from_secs(60);
/// Of reading it, compiling the reader included.
const READ_WITHIN: Duration = Duration::from_secs(180);
/// What the reader may take of memory.
const READER_HEAP: &str = "-Xmx768m";
const READER: &str = include_str!("ReadRecording.java");
const NAME: &str = "bakeoff";

/// What is recorded, and nothing else: every throwable, compilation and wait, and samples of work and of allocation.
const EVENTS: [&str; 15] = [
    "jdk.JavaExceptionThrow#enabled=true",
    "jdk.JavaExceptionThrow#stackTrace=true",
    "jdk.Compilation#enabled=true",
    "jdk.Compilation#threshold=0ms",
    "jdk.CompilationFailure#enabled=true",
    "jdk.Deoptimization#enabled=true",
    "jdk.ObjectAllocationSample#enabled=true",
    "jdk.ThreadStart#enabled=true",
    "jdk.JavaMonitorEnter#enabled=true",
    "jdk.JavaMonitorEnter#threshold=0ms",
    "jdk.ThreadPark#enabled=true",
    "jdk.ThreadPark#threshold=0ms",
    "jdk.ExecutionSample#enabled=true",
    "jdk.ExecutionSample#period=10ms",
    "jdk.GarbageCollection#enabled=true",
];

/// A recording of a running JVM that has begun. It ends with the JVM at the latest.
#[derive(Debug)]
pub struct FlightRecorder {
    jvm: LiveJvm,
    file: PathBuf,
    folder: PathBuf,
    /// Ends the asking and the reading, when raised.
    interrupted: Arc<AtomicBool>,
}

impl FlightRecorder {
    /// Begins; the reason in words where that cannot be.
    pub(crate) fn start(jvm: LiveJvm, folder: &Path, interrupted: Arc<AtomicBool>) -> Result<Self, String> {
        let jdk = jvm.jdk()?;
        if jdk.major().is_none_or(|major| major < FIRST_RELEASE) {
            return Err(format!(
                "JDK {} records nothing that can be asked for by name; {FIRST_RELEASE} does",
                jdk.version
            ));
        }
        let file = folder.join("profile.jfr");
        let recorder = Self { jvm, file, folder: folder.to_owned(), interrupted };
        // Kept whole whatever its size: what is dropped is not counted.
        let filename = format!("filename=\"{}\"", recorder.file.display());
        let mut question = vec!["JFR.start".to_owned(), format!("name={NAME}"), "settings=none".to_owned(), filename];
        question.extend(["maxsize=0".to_owned(), "disk=true".to_owned()]);
        question.extend(EVENTS.iter().map(|event| format!("+{event}")));
        question.push("+jdk.DataLoss#enabled=true".to_owned());
        recorder.ask(&question)?;
        Ok(recorder)
    }

    /// Ends it and adds it up. The file stays.
    pub(super) fn end(self) -> Recording {
        match self.ask(&["JFR.stop".to_owned(), format!("name={NAME}")]).and_then(|()| self.read()) {
            Ok(profile) => Recording::Jfr { file: self.file, profile: Box::new(profile) },
            Err(reason) => Recording::None { reason },
        }
    }

    fn ask(&self, question: &[String]) -> Result<(), String> {
        let question: Vec<&str> = question.iter().map(String::as_str).collect();
        let said = attach::ask(self.jvm.jdk()?, self.jvm.pid, &question, ASK_WITHIN, &self.interrupted)?;
        // It says what is wrong, and succeeds all the same.
        let went_well = said.contains("Started recording") || said.contains("Stopped recording");
        if went_well { Ok(()) } else { Err(format!("jcmd {}: {}", question[0], said.trim())) }
    }

    fn read(&self) -> Result<Profile, String> {
        let reader = self.folder.join("ReadRecording.java");
        fs::write(&reader, READER).map_err(|error| format!("cannot write {}: {error}", reader.display()))?;
        let mut command = Command::new(self.jvm.jdk()?.tool("java"));
        command.args([READER_HEAP, "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8"]).arg(&reader).arg(&self.file);
        command.env_clear().envs(base_env());
        let ran = tool::run_until(&mut command, READ_WITHIN, &self.interrupted).map_err(|error| error.to_string())?;
        if !ran.status.success() {
            return Err(format!("the recording cannot be read: {}", ran.output().trim()));
        }
        serde_json::from_str(&ran.stdout).map_err(|error| format!("the recording's sums cannot be read: {error}"))
    }
}
