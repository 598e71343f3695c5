//! User templates.
