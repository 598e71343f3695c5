//! What the errors of all crates share: `Debug` of an error is what a person reads of it, and one error refuses what a
//! [forked](Forked) child cannot do.
//!
//! A `main` that returns `Result<(), Box<dyn Error>>` shows an error by `Debug`, and so do `unwrap` and `expect`. A
//! derived `Debug` is the error's fields; what it means, and what to do, are in its `Display`. So every public error of
//! hostcall's crates has the `Debug` of [`readable!`]: its `Display`, and a line for each cause whose words are not in
//! the text already.

use std::error::Error;
use std::fmt;

mod fork;

pub use fork::{Forked, Local, Origin};

/// Implements `Debug` for error types: their `Display`, and their causes.
///
/// ```
/// #[derive(thiserror::Error)]
/// #[error("there is no kernel `{name}`")]
/// struct NoKernel {
///     name: String,
/// }
/// hostcall_error::readable!(NoKernel);
///
/// assert_eq!(format!("{:?}", NoKernel { name: "add".into() }), "there is no kernel `add`");
/// ```
#[macro_export]
macro_rules! readable {
    ($($error:ty),+ $(,)?) => { $(
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::explain(self, f)
            }
        }
    )+ };
}

/// Writes an error's text and those of its causes, each on a line of its own. A cause that the text before it already
/// tells in the same words is left out.
///
/// # Errors
/// When the formatter fails.
pub fn explain(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut told = error.to_string();
    f.write_str(&told)?;
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !told.contains(&text) {
            write!(f, "\nbecause: {text}")?;
            told = text;
        }
        cause = error.source();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[derive(thiserror::Error)]
    #[error("no digit")]
    struct Inner;

    #[derive(thiserror::Error)]
    enum Outer {
        #[error("line 3 is wrong")]
        Silent(#[source] Inner),
        #[error("line 3 is wrong: {0}")]
        Told(#[source] Inner),
        #[error("the file is wrong")]
        Deep(#[source] Box<Outer>),
        #[error(transparent)]
        Same(Inner),
    }

    crate::readable!(Inner, Outer);

    #[test]
    fn debug_is_the_text_and_each_cause_that_it_does_not_tell() {
        assert_eq!(format!("{:?}", Outer::Silent(Inner)), "line 3 is wrong\nbecause: no digit");
        assert_eq!(format!("{:?}", Outer::Told(Inner)), "line 3 is wrong: no digit");
        assert_eq!(format!("{:?}", Outer::Same(Inner)), "no digit");
        let deep = Outer::Deep(Box::new(Outer::Silent(Inner)));
        assert_eq!(format!("{deep:#?}"), "the file is wrong\nbecause: line 3 is wrong\nbecause: no digit");
        assert_eq!(format!("{:?}", Box::<dyn std::error::Error>::from(Outer::Silent(Inner))), "line 3 is wrong\nbecause: no digit");
    }
}
