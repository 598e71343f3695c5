//! Back ends that are not part of this program: Jinja templates over the API as data.
//!
//! A template sees what `--gen-json` writes, by the names that the schema gives: `{% for f in functions %}{{ f.name
//! }}{% endfor %}`. Beside Jinja's own filters there are `snake_case`, `pascal_case`, `c_type` (the C text of a type's
//! `form`) and `wrap(width)`, which gives a list of lines. A name that is not there is an error, not an empty text, and
//! a template that does not end is stopped.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

use super::GenError;
use crate::ir::{Api, CType, pascal_case, snake_case};

/// How much work a template may do; a loop over all of a large API needs a hundredth of it.
const FUEL: u64 = 10_000_000;

/// Renders a template. `name` is for error messages.
///
/// # Errors
///
/// Text that is not a template, names that are not there, and templates that do not end.
pub fn render(api: &Api, name: &str, source: &str) -> Result<String, GenError> {
    let fail = |error: Error| GenError::Template { name: name.to_owned(), reason: reason(&error) };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let syntax = SyntaxConfig::builder().keep_trailing_newline(true).trim_blocks(true).lstrip_blocks(true).build().map_err(fail)?;
    environment.set_syntax(syntax);
    environment.set_fuel(Some(FUEL));
    environment.add_filter("snake_case", |name: String| snake_case(&name));
    environment.add_filter("pascal_case", |name: String| pascal_case(&name));
    environment.add_filter("wrap", |text: String, width: usize| super::text::wrap(&text, width));
    environment.add_filter("c_type", c_type);
    environment.add_template(name, source).map_err(fail)?;
    let template = environment.get_template(name).map_err(fail)?;
    template.render(Value::from(Serde(api))).map_err(fail)
}

fn c_type(form: Value) -> Result<String, Error> {
    let invalid =
        |error: serde_json::Error| Error::new(ErrorKind::InvalidOperation, format!("`c_type` wants the `form` of a type: {error}"));
    let form: CType = serde_json::to_value(&form).and_then(serde_json::from_value).map_err(invalid)?;
    Ok(form.to_string())
}

fn reason(error: &Error) -> String {
    let line = error.line().map_or(String::new(), |line| format!("line {line}: "));
    let detail = error.detail().map_or(String::new(), |detail| format!(": {detail}"));
    format!("{line}{}{detail}", error.kind())
}
