//! Errors of one definition, collected, so that the user sees all of them at once.

use quote::ToTokens;
use syn::{Error, Result};

/// Errors at places in the source.
#[derive(Debug, Default)]
pub struct Errors(Option<Error>);

impl Errors {
    /// Notes an error at `tokens`.
    pub fn add(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.join(Error::new_spanned(tokens, message));
    }

    /// Notes `message` for what should be absent.
    pub fn forbid(&mut self, found: Option<impl ToTokens>, message: &str) {
        if let Some(found) = found {
            self.add(found, message);
        }
    }

    /// Notes an error, or several in one.
    pub fn join(&mut self, error: Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Whether there are none.
    ///
    /// # Errors
    /// All that were noted.
    pub fn check(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
