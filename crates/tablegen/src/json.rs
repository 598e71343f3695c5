//! Records as JSON, the way `llvm-tblgen --dump-json` writes them: compact, with the keys of each object sorted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::context::Context;
use crate::node::{Kind, Node, Slice};
use crate::print::flush_large;
use crate::record::{FieldKind, RecId, RecordKind};
use crate::records::Records;

/// Writes all definitions, and the names of the instances of each class.
///
/// # Errors
/// When the writer fails.
pub fn dump_json(records: &Records, mut out: impl Write) -> io::Result<()> {
    let context = &records.context;
    let names: Vec<&str> = records.defs.iter().map(|&def| context.text_of(context.records[def].name).unwrap_or("")).collect();
    let mut instances: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for &class in &records.classes {
        instances.insert(context.text_of(context.records[class].name).unwrap_or(""), Vec::new());
    }
    for (i, &def) in records.defs.iter().enumerate() {
        context.each_super(def, &mut |class| {
            instances.entry(context.text_of(context.records[class].name).unwrap_or("")).or_default().push(i);
        });
    }
    let mut text = String::new();
    let write_instances = |text: &mut String| {
        text.push_str("\"!instanceof\":");
        object(text, instances.iter(), |text, (class, found)| {
            quote(text, class);
            text.push(':');
            array(text, found, |text, &def| quote(text, names[def]));
        });
    };
    // `!instanceof` and the version take their places among the definitions, whose names may be anything.
    let special = ["!instanceof", "!tablegen_json_version"];
    let mut pending = special.iter().peekable();
    text.push('{');
    let mut first = true;
    let mut comma = |text: &mut String| {
        if !std::mem::take(&mut first) {
            text.push(',');
        }
    };
    for (i, &def) in records.defs.iter().enumerate() {
        while let Some(key) = pending.next_if(|&&key| key < names[i]) {
            comma(&mut text);
            if *key == special[0] { write_instances(&mut text) } else { text.push_str("\"!tablegen_json_version\":1") }
        }
        comma(&mut text);
        quote(&mut text, names[i]);
        text.push(':');
        context.write_json_record(&mut text, def, names[i]);
        flush_large(&mut text, &mut out)?;
    }
    for key in pending {
        comma(&mut text);
        if *key == special[0] { write_instances(&mut text) } else { text.push_str("\"!tablegen_json_version\":1") }
    }
    text.push_str("}\n");
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn array<T>(out: &mut String, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    out.push('[');
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

fn object<T>(out: &mut String, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    out.push('{');
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push('}');
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    let mut plain = 0;
    for (i, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[plain..i]);
        plain = i + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            _ => {
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

/// One member of a record's object.
enum Member<'a> {
    Anonymous,
    Fields,
    Locations,
    Name(&'a str),
    Superclasses,
    Field(Node),
}

impl Context {
    fn write_json_record(&self, out: &mut String, def: RecId, name: &str) {
        let record = &self.records[def];
        let mut members: Vec<(&str, Member)> = vec![
            ("!anonymous", Member::Anonymous),
            ("!fields", Member::Fields),
            ("!locs", Member::Locations),
            ("!name", Member::Name(name)),
            ("!superclasses", Member::Superclasses),
        ];
        members.extend(record.fields.iter().map(|field| (self.text_of(field.name).unwrap_or(""), Member::Field(field.value))));
        members.sort_by(|a, b| a.0.cmp(b.0));
        object(out, members, |out, (key, member)| {
            quote(out, key);
            out.push(':');
            match member {
                Member::Anonymous => out.push_str(if record.kind == RecordKind::AnonymousDef { "true" } else { "false" }),
                Member::Fields => {
                    let open = record.fields.iter().filter(|field| field.kind == FieldKind::MayBeUnresolved);
                    array(out, open, |out, field| quote(out, self.text_of(field.name).unwrap_or("")));
                }
                Member::Locations => array(out, &record.spans, |out, &span| {
                    let at = self.sources.location(span);
                    // Without its directories: dumps do not depend on where a source tree lies.
                    let file = at.file.rsplit(['/', '\\']).next().unwrap_or(at.file);
                    quote(out, &format!("{file}:{}", at.line));
                }),
                Member::Name(name) => quote(out, name),
                Member::Superclasses => {
                    let mut supers = Vec::with_capacity(record.printed_supers);
                    self.each_super(def, &mut |class| supers.push(class));
                    array(out, supers, |out, class| quote(out, self.text_of(self.records[class].name).unwrap_or("")));
                }
                Member::Field(value) => self.write_json(out, value),
            }
        });
    }

    fn write_json_items(&self, out: &mut String, items: Slice) {
        array(out, self.nodes.items(items), |out, &item| self.write_json(out, item));
    }

    fn write_json(&self, out: &mut String, node: Node) {
        match self.kind(node) {
            Kind::Unset => out.push_str("null"),
            Kind::Bit(bit) => out.push(if bit { '1' } else { '0' }),
            Kind::Int(value) => {
                let _ = write!(out, "{value}");
            }
            Kind::Str(symbol) | Kind::Code(symbol) => quote(out, self.symbols.get(symbol)),
            Kind::Bits(items) | Kind::List(items) => self.write_json_items(out, items),
            kind => self.write_json_object(out, node, kind),
        }
    }

    /// A value that JSON has no form for: an object that says of what kind it is, and how it is written.
    fn write_json_object(&self, out: &mut String, node: Node, kind: Kind) {
        let printable = |out: &mut String| {
            out.push_str("\"printable\":");
            quote(out, &self.text(node));
        };
        out.push('{');
        match kind {
            Kind::Def(record) => {
                out.push_str("\"def\":");
                quote(out, self.text_of(self.records[record].name).unwrap_or(""));
                out.push_str(",\"kind\":\"def\",");
                printable(out);
            }
            Kind::Var(name) => {
                out.push_str("\"kind\":\"var\",");
                printable(out);
                out.push_str(",\"var\":");
                quote(out, &self.unquoted(name));
            }
            Kind::VarBit(of, bit) if matches!(self.kind(of), Kind::Var(_)) => {
                let _ = write!(out, "\"index\":{bit},\"kind\":\"varbit\",");
                printable(out);
                out.push_str(",\"var\":");
                quote(out, &self.unquoted(of));
            }
            Kind::Dag { operator, name, args, names } => {
                out.push_str("\"args\":");
                array(out, self.nodes.items(args).iter().zip(self.nodes.items(names)), |out, (&arg, &name)| {
                    out.push('[');
                    self.write_json(out, arg);
                    out.push(',');
                    self.write_json(out, name);
                    out.push(']');
                });
                out.push_str(",\"kind\":\"dag\",");
                if name != Node::UNSET {
                    out.push_str("\"name\":");
                    self.write_json(out, name);
                    out.push(',');
                }
                out.push_str("\"operator\":");
                self.write_json(out, operator);
                out.push(',');
                printable(out);
            }
            _ => {
                out.push_str("\"kind\":\"complex\",");
                printable(out);
            }
        }
        out.push('}');
    }
}
