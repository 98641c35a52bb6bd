//! Reports in every form in which people and programs read them.

mod fixture;
mod html;
mod text;
mod xlsx;
