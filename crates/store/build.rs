//! `sqlx::migrate!` reads a folder, which cargo watches only if it is named.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
