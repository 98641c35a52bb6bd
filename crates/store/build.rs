//! `sqlx::migrate!` reads a folder, which cargo has to be told to watch.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
