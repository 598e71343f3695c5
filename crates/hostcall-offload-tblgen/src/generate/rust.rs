//! What all back ends that write Rust share: types, names, and rustfmt.

use std::io::Write;
use std::process::{Command, Stdio};

use super::{Backend, GenError};
use crate::ir::{Api, CType, Function, NamedKind, Primitive, snake_case};

/// The lints that generated code cannot keep, and why.
pub(super) const ALLOW_C_NAMES: &str =
    "#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals, reason = \"names are those of the C API\")]";

/// A type in Rust.
pub(super) fn rust_type(ty: &CType, place: &str) -> Result<String, GenError> {
    Ok(match ty {
        CType::Void => "c_void".into(),
        CType::Primitive { name } => primitive(*name).into(),
        CType::Named { of: NamedKind::Unknown, name, .. } => {
            return Err(GenError::Unsupported { place: place.to_owned(), reason: format!("unknown type `{name}`") });
        }
        CType::Named { name, .. } => name.clone(),
        CType::Pointer { is_const, to } => format!("*{} {}", if *is_const { "const" } else { "mut" }, rust_type(to, place)?),
        CType::Array { of, len: Some(len) } => format!("[{}; {len}]", rust_type(of, place)?),
        CType::Array { len: None, .. } => {
            return Err(GenError::Unsupported { place: place.to_owned(), reason: format!("`{ty}` has no length") });
        }
        CType::Opaque { text } => {
            let reason = CType::parse(text).err().map_or_else(|| format!("`{text}` is not a type"), |error| error.to_string());
            return Err(GenError::Unsupported { place: place.to_owned(), reason });
        }
    })
}

fn primitive(name: Primitive) -> &'static str {
    match name {
        Primitive::Bool => "bool",
        Primitive::Char => "c_char",
        Primitive::Int8 => "i8",
        Primitive::Uint8 => "u8",
        Primitive::Int16 => "i16",
        Primitive::Uint16 => "u16",
        Primitive::Int32 => "i32",
        Primitive::Uint32 => "u32",
        Primitive::Int64 => "i64",
        Primitive::Uint64 => "u64",
        Primitive::Intptr => "isize",
        Primitive::Uintptr | Primitive::Size => "usize",
        Primitive::Int => "c_int",
        Primitive::Unsigned => "c_uint",
        Primitive::Float => "f32",
        Primitive::Double => "f64",
    }
}

/// A function's parameters as Rust writes them: `queue: ol_queue_handle_t, …`.
pub(super) fn parameters(function: &Function) -> Result<String, GenError> {
    let params = function.params.iter().map(|param| {
        let ty = rust_type(&param.ty.form, &format!("{}.{}", function.name, param.name))?;
        Ok(format!("{}: {ty}", rust_name(&param.name)))
    });
    Ok(params.collect::<Result<Vec<_>, GenError>>()?.join(", "))
}

/// A function's parameters as arguments: `queue, …`.
pub(super) fn arguments(function: &Function) -> String {
    function.params.iter().map(|param| rust_name(&param.name)).collect::<Vec<_>>().join(", ")
}

/// Whether Rust keeps a word for itself.
pub(super) fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl in \
        let loop macro match mod move mut override priv pub ref return self Self static struct super trait true try type typeof unsafe unsized use \
        virtual where while yield";
    KEYWORDS.split_ascii_whitespace().any(|keyword| keyword == word)
}

/// A name of a parameter or function in Rust's spelling.
pub(super) fn rust_name(name: &str) -> String {
    let name = snake_case(name);
    match name.as_str() {
        // These cannot be raw.
        "self" | "super" | "crate" => format!("{name}_"),
        keyword if is_keyword(keyword) => format!("r#{name}"),
        _ => name,
    }
}

/// A function's name without the API's prefix: `olMemFill` is `mem_fill`.
pub(super) fn method_name(api: &Api, function: &Function) -> String {
    rust_name(function.name.strip_prefix(&api.prefix.to_lowercase()).unwrap_or(&function.name))
}

/// A handle's name without prefix and suffix: `ol_device_handle_t` is `device`.
pub(super) fn handle_stem<'a>(api: &Api, name: &'a str) -> &'a str {
    let prefix = format!("{}_", api.prefix.to_lowercase());
    let name = name.strip_prefix(prefix.as_str()).unwrap_or(name);
    name.strip_suffix("_handle_t").unwrap_or(name)
}

/// Text for a documentation comment: what Markdown or rustdoc would take for markup is not.
pub(super) fn doc(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_code = false;
    for c in text.chars() {
        match c {
            '`' => in_code = !in_code,
            '[' | ']' | '<' | '>' | '*' if !in_code => out.push('\\'),
            _ => {}
        }
        out.push(c);
    }
    out
}

/// Formats Rust, with the `use` of those C types that it mentions in place of [`FFI`].
pub(super) fn finish(backend: Backend, text: &str) -> Result<String, GenError> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let used: Vec<_> =
        ["c_char", "c_int", "c_uint", "c_void"].into_iter().filter(|name| text.split(|c| !is_word(c)).any(|word| word == *name)).collect();
    let import = match used.as_slice() {
        [] => String::new(),
        names => format!("use std::ffi::{{{}}};", names.join(", ")),
    };
    format(backend, &text.replacen(FFI, &import, 1))
}

/// Stands for the `use` of C types until it is known which are needed.
pub(super) const FFI: &str = "// <the C types that are used>";

/// A name of the API that generated code needs.
pub(super) fn errc(api: &Api, code: &str, needed_by: &'static str) -> Result<String, GenError> {
    let ty = format!("{}_errc_t", api.prefix.to_lowercase());
    let name = format!("{}_ERRC_{code}", api.prefix);
    match api.enumerator(&name) {
        Some((object, _)) if object.name == ty => Ok(format!("{ty}::{name}")),
        _ => Err(GenError::Missing { name, needed_by }),
    }
}

/// Formats Rust as the tree does, with the toolchain's `rustfmt`. Comments survive it, which a printer of syntax trees
/// would drop.
fn format(backend: Backend, text: &str) -> Result<String, GenError> {
    let fail = |reason: String| GenError::Rustfmt { reason: format!("--{}: {reason}", backend.action()) };
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout", "--config", "max_width=140,use_small_heuristics=Max"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| fail(error.to_string()))?;
    let mut stdin = child.stdin.take().ok_or_else(|| fail("it has no input".into()))?;
    // Written from another thread: rustfmt may fill its output before it has read all of its input.
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(move || stdin.write_all(text.as_bytes()));
        let output = child.wait_with_output();
        (writer.join(), output)
    });
    let output = written.1.map_err(|error| fail(error.to_string()))?;
    if !output.status.success() {
        return Err(fail(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    String::from_utf8(output.stdout).map_err(|error| fail(error.to_string()))
}
