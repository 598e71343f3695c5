//! Records as text, the way `llvm-tblgen --print-records` writes them.

use std::io::{self, Write};

use crate::context::Context;
use crate::node::{Kind, Node};
use crate::record::{Field, FieldKind, RecId};
use crate::records::Records;
use crate::text::Put as _;
use crate::ty::Ty;

/// Writes all classes and definitions, each in the order of their names.
///
/// # Errors
/// When the writer fails.
pub fn print_records(records: &Records, mut out: impl Write) -> io::Result<()> {
    let context = &records.context;
    let mut text = b"------------- Classes -----------------\n".to_vec();
    for &class in &records.classes {
        text.put("class ");
        context.write_record(&mut text, class);
        flush_large(&mut text, &mut out)?;
    }
    text.put("------------- Defs -----------------\n");
    for &def in &records.defs {
        text.put("def ");
        context.write_record(&mut text, def);
        flush_large(&mut text, &mut out)?;
    }
    out.write_all(&text)?;
    out.flush()
}

/// Hands text on once there is enough of it.
pub(crate) fn flush_large(text: &mut Vec<u8>, out: &mut impl Write) -> io::Result<()> {
    if text.len() >= 1 << 16 {
        out.write_all(text)?;
        text.clear();
    }
    Ok(())
}

impl Context {
    /// A record as it is printed.
    pub(crate) fn record_text(&self, record: RecId) -> Vec<u8> {
        let mut text = Vec::new();
        self.write_record(&mut text, record);
        text
    }

    pub(crate) fn write_record(&self, out: &mut Vec<u8>, id: RecId) {
        let record = &self.records[id];
        out.extend_from_slice(&self.unquoted_bytes(self.records[id].name));
        if !record.template_args.is_empty() {
            out.push(b'<');
            for (i, &name) in record.template_args.iter().enumerate() {
                if i > 0 {
                    out.put(", ");
                }
                if let Some(field) = record.field(name) {
                    self.write_field(out, field);
                }
            }
            out.push(b'>');
        }
        out.put(" {");
        if !record.supers.is_empty() {
            out.put("\t//");
            self.each_super(id, &mut |class| {
                out.push(b' ');
                out.extend_from_slice(&self.unquoted_bytes(self.records[class].name));
            });
        }
        out.push(b'\n');
        for kind in [FieldKind::MayBeUnresolved, FieldKind::Normal] {
            for field in record.fields.iter().filter(|field| field.kind == kind) {
                out.put("  ");
                self.write_field(out, field);
                out.put(";\n");
            }
        }
        out.put("}\n");
    }

    fn write_field(&self, out: &mut Vec<u8>, field: &Field) {
        if field.kind == FieldKind::MayBeUnresolved {
            out.put("field ");
        }
        if field.ty == Ty::STRING && matches!(self.kind(field.value), Kind::Code(_)) {
            out.put("code");
        } else {
            out.put(&self.type_text(field.ty));
        }
        out.push(b' ');
        self.write_name(out, field.name);
        out.put(" = ");
        self.write(out, field.value);
    }

    fn write_name(&self, out: &mut Vec<u8>, name: Node) {
        match self.text_of(name) {
            Some(text) => out.extend_from_slice(text),
            None => self.write(out, name),
        }
    }

    /// Visits all superclasses: those of each direct superclass, then itself.
    pub(crate) fn each_super(&self, record: RecId, visit: &mut impl FnMut(RecId)) {
        // Each frame: a record, and which of its direct superclasses is next.
        let mut frames = vec![(record, 0)];
        while let Some(frame) = frames.last_mut() {
            let (id, next) = *frame;
            if let Some(&(class, _)) = self.records[id].supers.get(next) {
                frame.1 += 1;
                frames.push((class, 0));
            } else {
                frames.pop();
                if !frames.is_empty() {
                    visit(id);
                }
            }
        }
    }
}
