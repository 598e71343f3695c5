//! What a recording of message streams says, as one HTML file.
//!
//! [`Digest::read`] goes through a recording once and keeps sums of a bounded size: however long the recording is, it
//! takes some tens of megabytes. [`Digest::to_html`] draws them. The page is one file without any reference to another:
//! styles, a little script and all plots are in it, so it works offline, and a policy in its head
//! (`Content-Security-Policy`) forbids it everything else. It adapts to narrow and wide screens, and to light and dark.
//!
//! A recording is not believed: every word of it passes the template's escaping, long names are cut, and what is beyond
//! a bound is counted and said. Recordings that are empty, cut off or damaged become pages of what is there, with the
//! reason.
//!
//! * `digest`: what is kept of messages: rates, pages of memory, intervals, fields.
//! * `draw`: plots: numbers become SVG paths, and words become labels of the template.
//! * `page`: which plots and tables there are.

mod digest;
mod draw;
mod page;

pub use digest::Digest;
