//! Records as text, the way `llvm-tblgen --print-records` writes them.

use std::io::{self, Write};

use crate::context::Context;
use crate::node::{Kind, Node};
use crate::record::{Field, FieldKind, RecId};
use crate::records::Records;
use crate::ty::Ty;

/// Writes all classes and definitions, each in the order of their names.
///
/// # Errors
/// When the writer fails.
pub fn print_records(records: &Records, mut out: impl Write) -> io::Result<()> {
    let context = &records.context;
    let mut text = String::from("------------- Classes -----------------\n");
    for &class in &records.classes {
        text.push_str("class ");
        context.write_record(&mut text, class);
        flush_large(&mut text, &mut out)?;
    }
    text.push_str("------------- Defs -----------------\n");
    for &def in &records.defs {
        text.push_str("def ");
        context.write_record(&mut text, def);
        flush_large(&mut text, &mut out)?;
    }
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Hands text on once there is enough of it.
pub(crate) fn flush_large(text: &mut String, out: &mut impl Write) -> io::Result<()> {
    if text.len() >= 1 << 16 {
        out.write_all(text.as_bytes())?;
        text.clear();
    }
    Ok(())
}

impl Context {
    /// A record as it is printed.
    pub(crate) fn record_text(&self, record: RecId) -> String {
        let mut text = String::new();
        self.write_record(&mut text, record);
        text
    }

    pub(crate) fn write_record(&self, out: &mut String, id: RecId) {
        let record = &self.records[id];
        out.push_str(&self.record_name(id));
        if !record.template_args.is_empty() {
            out.push('<');
            for (i, &name) in record.template_args.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                if let Some(field) = record.field(name) {
                    self.write_field(out, field);
                }
            }
            out.push('>');
        }
        out.push_str(" {");
        if !record.supers.is_empty() {
            out.push_str("\t//");
            self.each_super(id, &mut |class| {
                out.push(' ');
                out.push_str(&self.record_name(class));
            });
        }
        out.push('\n');
        for kind in [FieldKind::MayBeUnresolved, FieldKind::Normal] {
            for field in record.fields.iter().filter(|field| field.kind == kind) {
                out.push_str("  ");
                self.write_field(out, field);
                out.push_str(";\n");
            }
        }
        out.push_str("}\n");
    }

    fn write_field(&self, out: &mut String, field: &Field) {
        if field.kind == FieldKind::MayBeUnresolved {
            out.push_str("field ");
        }
        if field.ty == Ty::STRING && matches!(self.kind(field.value), Kind::Code(_)) {
            out.push_str("code");
        } else {
            out.push_str(&self.type_text(field.ty));
        }
        out.push(' ');
        self.write_name(out, field.name);
        out.push_str(" = ");
        self.write(out, field.value);
    }

    fn write_name(&self, out: &mut String, name: Node) {
        match self.text_of(name) {
            Some(text) => out.push_str(text),
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
