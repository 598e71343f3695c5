//! Documentation, in Markdown and in reStructuredText. Both say the same; only the markup differs.

use super::text::Text;
use super::{Backend, GenError, made_from};
use crate::ir::{Api, CType, Enum, Function, Param, Type};

pub(super) fn markdown(api: &Api) -> Result<String, GenError> {
    Ok(document(api, &Markdown, Backend::DocMd))
}

pub(super) fn rst(api: &Api) -> Result<String, GenError> {
    Ok(document(api, &Rst, Backend::DocRst))
}

/// How a kind of markup writes the parts of a document.
trait Markup {
    fn note(&self, text: &mut Text, note: &str);
    fn heading(&self, text: &mut Text, level: usize, title: &str);
    /// A heading of an object, which links can find.
    fn object(&self, text: &mut Text, kind: &str, name: &str);
    fn code(&self, code: &str) -> String;
    fn link(&self, kind: &str, name: &str) -> String;
    fn listing(&self, text: &mut Text, code: &str);
    fn table(&self, text: &mut Text, head: &[&str], rows: &[Vec<String>]);
    /// Text of a definition, where only backticks are markup.
    fn prose(&self, prose: &str) -> String;

    fn item(&self, text: &mut Text, depth: usize, item: &str) {
        text.line(format_args!("{}* {item}", "  ".repeat(depth)));
    }
}

struct Markdown;

impl Markup for Markdown {
    fn note(&self, text: &mut Text, note: &str) {
        text.line(format_args!("<!-- {note} -->"));
    }
    fn heading(&self, text: &mut Text, level: usize, title: &str) {
        text.line(format_args!("\n{} {title}\n", "#".repeat(level)));
    }
    fn object(&self, text: &mut Text, _kind: &str, name: &str) {
        // Renderers make the anchor of the heading: the name in lower case.
        text.line(format_args!("\n### `{name}`\n"));
    }
    fn code(&self, code: &str) -> String {
        format!("`{code}`")
    }
    fn link(&self, _kind: &str, name: &str) -> String {
        format!("[`{name}`](#{})", name.to_lowercase())
    }
    fn listing(&self, text: &mut Text, code: &str) {
        text.line(format_args!("```c\n{code}\n```\n"));
    }
    fn table(&self, text: &mut Text, head: &[&str], rows: &[Vec<String>]) {
        let row = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<_> = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
            format!("| {} |", cells.join(" | "))
        };
        text.line(row(&mut head.iter().copied()));
        text.line(format_args!("|{}", "---|".repeat(head.len())));
        for cells in rows {
            text.line(row(&mut cells.iter().map(String::as_str)));
        }
        text.blank();
    }
    fn prose(&self, prose: &str) -> String {
        let mut in_code = false;
        let escape = |c: char| {
            in_code ^= c == '`';
            let special = matches!(c, '*' | '_' | '[' | ']' | '<' | '>' | '#') && !in_code;
            special.then_some('\\').into_iter().chain([c])
        };
        prose.chars().flat_map(escape).collect()
    }
}

struct Rst;

impl Markup for Rst {
    fn note(&self, text: &mut Text, note: &str) {
        text.line(format_args!(".. {note}"));
    }
    fn heading(&self, text: &mut Text, level: usize, title: &str) {
        let sign = if level == 1 { "=" } else { "-" };
        text.line(format_args!("\n{title}\n{}\n", sign.repeat(title.chars().count())));
    }
    fn object(&self, text: &mut Text, kind: &str, name: &str) {
        let directive = format!(".. _{kind}-{name}:\n\n{name}\n{}\n", "~".repeat(name.chars().count()));
        text.line(format_args!("\n{directive}"));
    }
    fn code(&self, code: &str) -> String {
        format!("``{code}``")
    }
    fn link(&self, kind: &str, name: &str) -> String {
        format!(":ref:`{name} <{kind}-{name}>`")
    }
    fn listing(&self, text: &mut Text, code: &str) {
        text.line(".. code-block:: c\n");
        for line in code.lines() {
            text.line(format_args!("   {line}"));
        }
        text.blank();
    }
    fn table(&self, text: &mut Text, head: &[&str], rows: &[Vec<String>]) {
        text.line(".. list-table::\n   :header-rows: 1\n");
        let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
        for cells in std::iter::once(&head).chain(rows) {
            for (index, cell) in cells.iter().enumerate() {
                text.line(format_args!("   {} - {}", if index == 0 { "*" } else { " " }, cell.replace('\n', " ")));
            }
        }
        text.blank();
    }
    fn prose(&self, prose: &str) -> String {
        let mut in_code = false;
        let mut out = String::new();
        for c in prose.chars() {
            match c {
                '`' => {
                    in_code = !in_code;
                    out.push_str("``");
                }
                '*' | '_' | '|' | '\\' if !in_code => out.extend(['\\', c]),
                _ => out.push(c),
            }
        }
        out
    }
}

fn document(api: &Api, markup: &dyn Markup, backend: Backend) -> String {
    let mut text = Text::default();
    let version = api.llvm.map(|version| format!(" of LLVM {version}")).unwrap_or_default();
    let title = api.source.split('.').next().unwrap_or("API").to_owned() + &version;
    markup.note(&mut text, &made_from(api, backend));
    markup.heading(&mut text, 1, &title);
    markup.heading(&mut text, 2, "Functions");
    let result = format!("{}_result_t", api.prefix.to_lowercase());
    let rest = format!(
        "Every function returns {}: null for success, otherwise what is known of the failure. Each also exists with {} after its name and a \
         last parameter that says where in the caller's source it is called.",
        link(api, markup, &result),
        markup.code("WithCodeLoc")
    );
    text.line(rest);
    for object in &api.functions {
        function(&mut text, api, markup, object, &result);
    }
    if !api.handles.is_empty() {
        markup.heading(&mut text, 2, "Handles");
    }
    for object in &api.handles {
        named(&mut text, markup, "handle", &object.name, &object.desc);
    }
    if !api.enums.is_empty() {
        markup.heading(&mut text, 2, "Enumerations");
    }
    for object in &api.enums {
        enumeration(&mut text, api, markup, object);
    }
    if !api.structs.is_empty() {
        markup.heading(&mut text, 2, "Structures");
    }
    for object in &api.structs {
        named(&mut text, markup, "struct", &object.name, &object.desc);
        let rows =
            object.members.iter().map(|member| vec![markup.code(&member.name), ty(api, markup, &member.ty), markup.prose(&member.desc)]);
        markup.table(&mut text, &["Member", "Type", "Meaning"], &rows.collect::<Vec<_>>());
    }
    if !api.typedefs.is_empty() || !api.callbacks.is_empty() {
        markup.heading(&mut text, 2, "Other types");
    }
    for object in &api.typedefs {
        named(&mut text, markup, "type", &object.name, &object.desc);
        markup.listing(&mut text, &format!("typedef {} {};", object.ty.form, object.name));
    }
    for object in &api.callbacks {
        named(&mut text, markup, "callback", &object.name, &object.desc);
        let params: Vec<_> = object.params.iter().map(|param| format!("{} {}", param.ty.form, param.name)).collect();
        let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
        markup.listing(&mut text, &format!("typedef {} (*{})({params});", object.ret.form, object.name));
        parameters(&mut text, api, markup, &object.params);
    }
    if !api.macros.is_empty() {
        markup.heading(&mut text, 2, "Macros");
        let value = |value: &str| if value.is_empty() { "nothing".to_owned() } else { markup.code(value) };
        let rows = api.macros.iter().map(|object| {
            let shown = match (&object.condition, &object.alt_value) {
                (Some(condition), Some(other)) => format!("{} if {}, else {}", value(&object.value), markup.code(condition), value(other)),
                (Some(condition), None) => format!("{} if {}", value(&object.value), markup.code(condition)),
                (None, _) => value(&object.value),
            };
            vec![markup.code(&object.name), shown, markup.prose(&object.desc)]
        });
        markup.table(&mut text, &["Macro", "Value", "Meaning"], &rows.collect::<Vec<_>>());
    }
    tidy(&text.finish())
}

/// No more than one empty line in a row, and none at the end.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut was_empty = true;
    for line in text.lines() {
        if !line.is_empty() || !was_empty {
            out.push_str(line);
            out.push('\n');
        }
        was_empty = line.is_empty();
    }
    out.trim_end().to_owned() + "\n"
}

fn named(text: &mut Text, markup: &dyn Markup, kind: &str, name: &str, desc: &str) {
    markup.object(text, kind, name);
    text.line(format_args!("{}.\n", markup.prose(desc.trim_end_matches('.'))));
}

fn function(text: &mut Text, api: &Api, markup: &dyn Markup, object: &Function, result: &str) {
    named(text, markup, "function", &object.name, &object.desc);
    let params: Vec<_> = object.params.iter().map(|param| format!("{} {}", param.ty.form, param.name)).collect();
    let params = match params.join(", ") {
        none if none.is_empty() => "void".to_owned(),
        short if short.len() + object.name.len() < 90 => short,
        _ => format!("\n    {}", params.join(",\n    ")),
    };
    markup.listing(text, &format!("{result} {}({params});", object.name));
    for detail in &object.details {
        markup.item(text, 0, &markup.prose(detail));
    }
    if !object.details.is_empty() {
        text.blank();
    }
    parameters(text, api, markup, &object.params);
    if !object.analogues.is_empty() {
        let names: Vec<_> = object.analogues.iter().map(|name| markup.prose(name)).collect();
        text.line(format_args!("As in other APIs: {}.\n", names.join(", ")));
    }
    text.line("Returns\n");
    for ret in &object.returns {
        markup.item(text, 0, &markup.code(&ret.value));
        if !ret.conditions.is_empty() {
            text.blank();
        }
        for condition in &ret.conditions {
            markup.item(text, 1, &markup.prose(&condition.text));
        }
        if !ret.conditions.is_empty() {
            text.blank();
        }
    }
    text.blank();
}

fn parameters(text: &mut Text, api: &Api, markup: &dyn Markup, params: &[Param]) {
    if params.is_empty() {
        return;
    }
    let rows = params.iter().map(|param| {
        let way = match (param.is_in, param.is_out) {
            (true, true) => "in, out",
            (_, true) => "out",
            _ => "in",
        };
        let optional = if param.is_optional { ", may be null" } else { "" };
        let range = param.range.as_ref().map(|range| format!("; elements {} up to {}", markup.code(&range.begin), markup.code(&range.end)));
        let tag = param
            .type_tag
            .as_ref()
            .map(|tag| format!("; {} bytes of the type that {} says", markup.code(&tag.size), markup.code(&tag.tag)));
        let meaning = format!("{}{}{}", markup.prose(&param.desc), range.unwrap_or_default(), tag.unwrap_or_default());
        vec![markup.code(&param.name), ty(api, markup, &param.ty), format!("{way}{optional}"), meaning]
    });
    markup.table(text, &["Parameter", "Type", "", "Meaning"], &rows.collect::<Vec<_>>());
}

fn enumeration(text: &mut Text, api: &Api, markup: &dyn Markup, object: &Enum) {
    named(text, markup, "enum", &object.name, &object.desc);
    if object.is_bit_field {
        text.line("Its values are bits.\n");
    }
    let head: &[&str] = if object.is_typed { &["Name", "Value", "Type", "Meaning"] } else { &["Name", "Value", "Meaning"] };
    let rows = object.etors.iter().map(|etor| {
        let mut row = vec![markup.code(&etor.c_name), etor.value.to_string()];
        if object.is_typed {
            row.push(etor.tagged_type.as_ref().map_or_else(String::new, |tagged| ty(api, markup, tagged)));
        }
        row.push(markup.prose(&etor.desc));
        row
    });
    markup.table(text, head, &rows.collect::<Vec<_>>());
}

/// A type, linked if it is one of the API's own.
fn ty(api: &Api, markup: &dyn Markup, ty: &Type) -> String {
    match &ty.form {
        CType::Named { name, .. } => link(api, markup, name),
        form => markup.code(&form.to_string()),
    }
}

fn link(api: &Api, markup: &dyn Markup, name: &str) -> String {
    use crate::ir::Named;
    let kind = match api.named(name) {
        Some(Named::Handle(_)) => "handle",
        Some(Named::Enum(_)) => "enum",
        Some(Named::Typedef(_)) => "type",
        Some(Named::Callback(_)) => "callback",
        Some(Named::Struct(_)) => "struct",
        None => return markup.code(name),
    };
    markup.link(kind, name)
}
