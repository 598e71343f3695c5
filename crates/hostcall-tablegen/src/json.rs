//! Records as JSON, the way `llvm-tblgen --dump-json` writes them: compact, with the keys of each object sorted.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::context::Context;
use crate::node::{Kind, Node, Slice};
use crate::print::flush_large;
use crate::record::{FieldKind, RecId, RecordKind};
use crate::records::Records;
use crate::text::Put as _;

/// Writes all definitions, and the names of the instances of each class.
///
/// # Errors
/// When the writer fails.
pub fn dump_json(records: &Records, mut out: impl Write) -> io::Result<()> {
    let context = &records.context;
    let names: Vec<&str> = records.defs.iter().map(|&def| context.name_text(def)).collect();
    let mut instances: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for &class in &records.classes {
        instances.insert(context.name_text(class), Vec::new());
    }
    for (i, &def) in records.defs.iter().enumerate() {
        context.each_super(def, &mut |class| {
            instances.entry(context.name_text(class)).or_default().push(i);
        });
    }
    let mut text = Vec::new();
    let write_instances = |text: &mut Vec<u8>| {
        text.put("\"!instanceof\":");
        object(text, instances.iter(), |text, (class, found)| {
            quote(text, class);
            text.push(b':');
            array(text, found, |text, &def| quote(text, names[def]));
        });
    };
    // `!instanceof` and the version take their places among the definitions, whose names may be anything.
    let special = ["!instanceof", "!tablegen_json_version"];
    let mut pending = special.iter().peekable();
    text.push(b'{');
    let mut first = true;
    let mut comma = |text: &mut Vec<u8>| {
        if !std::mem::take(&mut first) {
            text.push(b',');
        }
    };
    for (i, &def) in records.defs.iter().enumerate() {
        while let Some(key) = pending.next_if(|&&key| key < names[i]) {
            comma(&mut text);
            if *key == special[0] { write_instances(&mut text) } else { text.put("\"!tablegen_json_version\":1") }
        }
        comma(&mut text);
        quote(&mut text, names[i]);
        text.push(b':');
        context.write_json_record(&mut text, def, names[i]);
        flush_large(&mut text, &mut out)?;
    }
    for key in pending {
        comma(&mut text);
        if *key == special[0] { write_instances(&mut text) } else { text.put("\"!tablegen_json_version\":1") }
    }
    text.put("}\n");
    out.write_all(&text)?;
    out.flush()
}

fn array<T>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Vec<u8>, T)) {
    out.push(b'[');
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

fn object<T>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Vec<u8>, T)) {
    out.push(b'{');
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b'}');
}

/// A string. What is no UTF-8 is replaced: JSON has no other bytes.
fn quote(out: &mut Vec<u8>, text: impl AsRef<[u8]>) {
    let text = String::from_utf8_lossy(text.as_ref());
    out.push(b'"');
    let mut plain = 0;
    for (i, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.put(&text[plain..i]);
        plain = i + 1;
        match byte {
            b'"' => out.put("\\\""),
            b'\\' => out.put("\\\\"),
            b'\t' => out.put("\\t"),
            b'\n' => out.put("\\n"),
            b'\r' => out.put("\\r"),
            _ => {
                out.put_number(format_args!("\\u{byte:04x}"));
            }
        }
    }
    out.put(&text[plain..]);
    out.push(b'"');
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
    fn write_json_record(&self, out: &mut Vec<u8>, def: RecId, name: &str) {
        let record = &self.records[def];
        let mut members: Vec<(&str, Member)> = vec![
            ("!anonymous", Member::Anonymous),
            ("!fields", Member::Fields),
            ("!locs", Member::Locations),
            ("!name", Member::Name(name)),
            ("!superclasses", Member::Superclasses),
        ];
        members.extend(record.fields.iter().map(|field| (self.str_of(field.name), Member::Field(field.value))));
        members.sort_by(|a, b| a.0.cmp(b.0));
        object(out, members, |out, (key, member)| {
            quote(out, key);
            out.push(b':');
            match member {
                Member::Anonymous => out.put(if record.kind == RecordKind::AnonymousDef { "true" } else { "false" }),
                Member::Fields => {
                    let open = record.fields.iter().filter(|field| field.kind == FieldKind::MayBeUnresolved);
                    array(out, open, |out, field| quote(out, self.str_of(field.name)));
                }
                Member::Locations => array(out, &record.spans, |out, &span| {
                    let at = self.sources.location(span);
                    // Without its directories: dumps do not depend on where a source tree lies.
                    let file = at.file.rsplit(['/', '\\']).next().unwrap_or(at.file);
                    quote(out, format!("{file}:{}", at.line));
                }),
                Member::Name(name) => quote(out, name),
                Member::Superclasses => {
                    let mut supers = Vec::with_capacity(record.printed_supers);
                    self.each_super(def, &mut |class| supers.push(class));
                    array(out, supers, |out, class| quote(out, self.name_text(class)));
                }
                Member::Field(value) => self.write_json(out, value),
            }
        });
    }

    fn write_json_items(&self, out: &mut Vec<u8>, items: Slice) {
        array(out, self.nodes.items(items), |out, &item| self.write_json(out, item));
    }

    fn write_json(&self, out: &mut Vec<u8>, node: Node) {
        match self.kind(node) {
            Kind::Unset => out.put("null"),
            Kind::Bit(bit) => out.push(if bit { b'1' } else { b'0' }),
            Kind::Int(value) => {
                out.put_number(value);
            }
            Kind::Str(symbol) | Kind::Code(symbol) => quote(out, self.symbols.get(symbol)),
            Kind::Bits(items) | Kind::List(items) => self.write_json_items(out, items),
            kind => self.write_json_object(out, node, kind),
        }
    }

    /// A value that JSON has no form for: an object that says of what kind it is, and how it is written.
    fn write_json_object(&self, out: &mut Vec<u8>, node: Node, kind: Kind) {
        let printable = |out: &mut Vec<u8>| {
            out.put("\"printable\":");
            quote(out, self.bytes(node));
        };
        out.push(b'{');
        match kind {
            Kind::Def(record) => {
                out.put("\"def\":");
                quote(out, self.name_text(record));
                out.put(",\"kind\":\"def\",");
                printable(out);
            }
            Kind::Var(name) => {
                out.put("\"kind\":\"var\",");
                printable(out);
                out.put(",\"var\":");
                quote(out, self.unquoted_bytes(name));
            }
            Kind::VarBit(of, bit) if matches!(self.kind(of), Kind::Var(_)) => {
                out.put_number(format_args!("\"index\":{bit},\"kind\":\"varbit\","));
                printable(out);
                out.put(",\"var\":");
                quote(out, self.unquoted_bytes(of));
            }
            Kind::Dag { operator, name, args, names } => {
                out.put("\"args\":");
                array(out, self.nodes.items(args).iter().zip(self.nodes.items(names)), |out, (&arg, &name)| {
                    out.push(b'[');
                    self.write_json(out, arg);
                    out.push(b',');
                    self.write_json(out, name);
                    out.push(b']');
                });
                out.put(",\"kind\":\"dag\",");
                if name != Node::UNSET {
                    out.put("\"name\":");
                    self.write_json(out, name);
                    out.push(b',');
                }
                out.put("\"operator\":");
                self.write_json(out, operator);
                out.push(b',');
                printable(out);
            }
            _ => {
                out.put("\"kind\":\"complex\",");
                printable(out);
            }
        }
        out.push(b'}');
    }
}
