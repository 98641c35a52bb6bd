//! Reports in every form in which people and programs read them.

mod audit;
mod fixture;
mod html;
mod soak;
mod text;
mod xlsx;
