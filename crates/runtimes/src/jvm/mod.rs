//! `HotSpot`: its options, their values, and what it prints of them.

mod arguments;
mod option;
mod printed;
mod value;

pub use arguments::Arguments;
pub use option::{
    CLASS_PATH, SizeOption, UNLOCK, before_program, given, is_of_program, is_only_read, is_option, options,
    takes_memory,
};
pub use printed::{Flag, Flags, Printed, pairs, parse_flags};
pub use value::{bytes, is_list, is_plain, same_flag, same_value};

/// The options by which a JVM takes and shows what is locked.
pub const UNLOCK_ALL: [&str; 2] = ["-XX:+UnlockExperimentalVMOptions", "-XX:+UnlockDiagnosticVMOptions"];

/// What has `java` print its flags and properties, and run nothing.
pub const PRINT_ALL: [&str; 3] = ["-XX:+PrintFlagsFinal", "-XshowSettings:properties", "-version"];
