//! The result of a run: classes and definitions, and what their fields hold.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use crate::context::Context;
use crate::order::compare_names;
use crate::record::{FieldKind, RecId, RecordKind};
use crate::source::{SourceMap, Span};
use crate::value::{Type, Value};

/// A class or definition of a [`Records`], by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId(pub(crate) RecId);

/// All classes and definitions of a file and what it includes.
pub struct Records {
    pub(crate) context: Context,
    /// In byte order of their names, as they are printed.
    pub(crate) classes: Vec<RecId>,
    pub(crate) defs: Vec<RecId>,
    /// Values of fields that were asked for, by record.
    values: Vec<OnceLock<Box<[OnceLock<Value>]>>>,
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("classes", &self.classes.len()).field("defs", &self.defs.len()).finish_non_exhaustive()
    }
}

impl Records {
    pub(crate) fn new(context: Context) -> Records {
        let sorted = |table: &rustc_hash::FxHashMap<crate::symbol::Symbol, RecId>| {
            let mut entries: Vec<_> = table.iter().map(|(&name, &id)| (name, id)).collect();
            entries.sort_unstable_by_key(|&(name, _)| context.symbols.get(name));
            entries.into_iter().map(|(_, id)| id).collect::<Vec<_>>()
        };
        let (classes, defs) = (sorted(&context.classes), sorted(&context.defs));
        let values = (0..context.records.len()).map(|_| OnceLock::new()).collect();
        Records { context, classes, defs, values }
    }

    /// The files that were read.
    #[must_use]
    pub fn sources(&self) -> &SourceMap {
        &self.context.sources
    }

    /// All classes, in byte order of their names.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = Record<'_>> {
        self.classes.iter().map(|&id| Record { records: self, id })
    }

    /// All definitions, in byte order of their names. Back ends mostly want those [of a class](Records::derived_from),
    /// whose order is another.
    pub fn defs(&self) -> impl ExactSizeIterator<Item = Record<'_>> {
        self.defs.iter().map(|&id| Record { records: self, id })
    }

    /// A class by its name.
    #[must_use]
    pub fn class(&self, name: &str) -> Option<Record<'_>> {
        let id = *self.context.classes.get(&self.context.symbols.find(name)?)?;
        Some(Record { records: self, id })
    }

    /// A definition by its name.
    #[must_use]
    pub fn def(&self, name: &str) -> Option<Record<'_>> {
        let id = *self.context.defs.get(&self.context.symbols.find(name)?)?;
        Some(Record { records: self, id })
    }

    /// What a [`Value::Record`] refers to.
    #[must_use]
    pub fn record(&self, id: RecordId) -> Record<'_> {
        Record { records: self, id: id.0 }
    }

    /// The definitions that have a class, in the order in which LLVM's back ends see them
    /// ([`compare_names`](crate::compare_names)); none if there is no such class.
    pub fn derived_from(&self, class: &str) -> impl Iterator<Item = Record<'_>> {
        let class = self.class(class).map(|class| class.id);
        let has_class = |def: &Record<'_>| class.is_some_and(|class| self.context.is_subclass(def.id, class));
        let mut found: Vec<_> = self.defs().filter(has_class).collect();
        found.sort_by(|a, b| compare_names(a.name(), b.name()));
        found.into_iter()
    }

    /// The variables of the top level (`defvar`, `defset`), by name.
    #[must_use]
    pub fn globals(&self) -> BTreeMap<&str, Value> {
        let text = |name| std::str::from_utf8(self.context.symbols.get(name)).unwrap_or_default();
        self.context.globals.iter().map(|(&name, &value)| (text(name), self.context.public_value(value))).collect()
    }

    /// A value as it is written in TableGen.
    #[must_use]
    pub fn display(&self, value: &Value) -> String {
        match value {
            Value::Unset => "?".to_owned(),
            Value::Bit(bit) => u8::from(*bit).to_string(),
            Value::Int(value) => value.to_string(),
            Value::String(text) => format!("\"{text}\""),
            Value::Code(text) => format!("[{{{text}}}]"),
            Value::Bytes(bytes) => format!("\"{}\"", String::from_utf8_lossy(bytes)),
            Value::Unresolved(text) => text.to_string(),
            Value::Record(id) => self.record(*id).name().to_owned(),
            Value::Bits(bits) => {
                let bits: Vec<String> = bits.iter().rev().map(|bit| self.display(bit)).collect();
                format!("{{ {} }}", bits.join(", "))
            }
            Value::List { items, .. } => {
                let items: Vec<String> = items.iter().map(|item| self.display(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Dag(dag) => {
                let named = |text: String, name: &Option<_>| match name {
                    Some(name) => format!("{text}:${name}"),
                    None => text,
                };
                let args: Vec<String> = dag.args.iter().map(|arg| named(self.display(&arg.value), &arg.name)).collect();
                let operator = named(self.display(&dag.operator), &dag.name);
                if args.is_empty() { format!("({operator})") } else { format!("({operator} {})", args.join(", ")) }
            }
        }
    }
}

/// A class or a definition.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    records: &'a Records,
    id: RecId,
}

impl fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({})", self.name())
    }
}

impl PartialEq for Record<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && std::ptr::eq(self.records, other.records)
    }
}

impl Eq for Record<'_> {}

/// Why a field could not be read as asked.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// The record has no such field.
    #[error("record '{record}' has no field '{field}'")]
    Missing {
        /// The record.
        record: String,
        /// The field.
        field: String,
        /// Where the record is defined.
        span: Span,
    },
    /// The field holds something else.
    #[error("field '{field}' of '{record}' should be a {wanted} and is {found}")]
    WrongKind {
        /// The record.
        record: String,
        /// The field.
        field: String,
        /// What was asked for.
        wanted: &'static str,
        /// What is there, as it is written.
        found: String,
        /// Where the field was set.
        span: Span,
    },
}

hostcall_error::readable!(FieldError);

impl FieldError {
    /// Where to look.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            FieldError::Missing { span, .. } | FieldError::WrongKind { span, .. } => *span,
        }
    }
}

/// A field of a [`Record`].
#[derive(Clone, Copy, Debug)]
pub struct FieldRef<'a> {
    record: Record<'a>,
    index: usize,
}

impl<'a> FieldRef<'a> {
    fn inner(&self) -> &'a crate::record::Field {
        &self.record.inner().fields[self.index]
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.record.records.context.str_of(self.inner().name)
    }

    /// Its type.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.record.records.context.public_type(self.inner().ty)
    }

    /// Its value.
    #[must_use]
    pub fn value(&self) -> &'a Value {
        let records = self.record.records;
        let values =
            records.values[self.record.id.0 as usize].get_or_init(|| self.record.inner().fields.iter().map(|_| OnceLock::new()).collect());
        values[self.index].get_or_init(|| records.context.public_value(self.inner().value))
    }

    /// Where it was declared or last set in a body.
    #[must_use]
    pub fn span(&self) -> Span {
        self.inner().span
    }

    /// Whether it was declared with `field`, and so may hold what could not be evaluated.
    #[must_use]
    pub fn may_be_unresolved(&self) -> bool {
        self.inner().kind == FieldKind::MayBeUnresolved
    }
}

impl<'a> Record<'a> {
    fn inner(&self) -> &'a crate::record::Record {
        &self.records.context.records[self.id]
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> RecordId {
        RecordId(self.id)
    }

    /// All records of the run.
    #[must_use]
    pub fn records(&self) -> &'a Records {
        self.records
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.records.context.str_of(self.inner().name)
    }

    /// Whether it was given no name, and is called `anonymous_N`.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.inner().kind == RecordKind::AnonymousDef
    }

    /// Whether it is a class.
    #[must_use]
    pub fn is_class(&self) -> bool {
        self.inner().kind == RecordKind::Class
    }

    /// Where it is defined.
    #[must_use]
    pub fn span(&self) -> Span {
        self.inner().span()
    }

    /// Where it is defined, then the `defm`s that made it, the innermost first.
    #[must_use]
    pub fn spans(&self) -> &'a [Span] {
        &self.inner().spans
    }

    /// All its classes: those of each direct superclass, then that itself.
    #[must_use]
    pub fn superclasses(&self) -> Vec<Record<'a>> {
        let mut classes = Vec::new();
        self.records.context.each_super(self.id, &mut |id| classes.push(Record { records: self.records, id }));
        classes
    }

    /// The classes that it names itself.
    pub fn direct_superclasses(&self) -> impl ExactSizeIterator<Item = Record<'a>> + use<'a> {
        let records = self.records;
        self.inner().supers.iter().map(move |&(id, _)| Record { records, id })
    }

    /// Whether it has a class.
    #[must_use]
    pub fn is_a(&self, class: &str) -> bool {
        self.records.class(class).is_some_and(|class| self.records.context.is_subclass(self.id, class.id))
    }

    /// Its fields, in the order of declaration; template arguments of a class are not among them.
    pub fn fields(&self) -> impl Iterator<Item = FieldRef<'a>> + use<'a> {
        let record = *self;
        let fields = &self.inner().fields;
        (0..fields.len()).filter(|&i| fields[i].kind != FieldKind::TemplateArg).map(move |index| FieldRef { record, index })
    }

    /// The names of a class's template arguments, without the class's name in front.
    pub fn template_args(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        let context = &self.records.context;
        self.inner().template_args.iter().map(|&name| context.str_of(name).rsplit(':').next().unwrap_or(""))
    }

    /// A field by its name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<FieldRef<'a>> {
        let context = &self.records.context;
        let symbol = context.symbols.find(name)?;
        let index = self.inner().fields.iter().position(|field| context.symbol_of(field.name) == Some(symbol))?;
        (self.inner().fields[index].kind != FieldKind::TemplateArg).then_some(FieldRef { record: *self, index })
    }

    /// The value of a field by its name.
    #[must_use]
    pub fn get(&self, field: &str) -> Option<&'a Value> {
        self.field(field).map(|field| field.value())
    }

    fn wrong(&self, field: &str, wanted: &'static str, value: &Value) -> FieldError {
        FieldError::WrongKind {
            record: self.name().to_owned(),
            field: field.to_owned(),
            wanted,
            found: self.records.display(value),
            span: self.field(field).map_or(self.span(), |field| field.span()),
        }
    }

    /// A field that must be there.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn require(&self, field: &str) -> Result<&'a Value, FieldError> {
        let missing = || FieldError::Missing { record: self.name().to_owned(), field: field.to_owned(), span: self.span() };
        self.get(field).ok_or_else(missing)
    }

    /// A field that holds a text or code.
    ///
    /// # Errors
    /// If there is none of that name, or it holds something else.
    pub fn string(&self, field: &str) -> Result<&'a str, FieldError> {
        let value = self.require(field)?;
        value.as_str().ok_or_else(|| self.wrong(field, "string", value))
    }

    /// A field that holds a text or code, or nothing (`?`).
    ///
    /// # Errors
    /// If there is none of that name, or it holds something else.
    pub fn optional_string(&self, field: &str) -> Result<Option<&'a str>, FieldError> {
        if *self.require(field)? == Value::Unset { Ok(None) } else { self.string(field).map(Some) }
    }

    /// A field that holds a number: an `int`, a `bit` or `bits`.
    ///
    /// # Errors
    /// If there is none of that name, or it holds something else.
    pub fn int(&self, field: &str) -> Result<i64, FieldError> {
        let value = self.require(field)?;
        value.as_int().ok_or_else(|| self.wrong(field, "number", value))
    }

    /// A field that holds a bit.
    ///
    /// # Errors
    /// If there is none of that name, or it holds something else.
    pub fn bit(&self, field: &str) -> Result<bool, FieldError> {
        match self.require(field)? {
            Value::Bit(bit) => Ok(*bit),
            value => Err(self.wrong(field, "bit", value)),
        }
    }

    /// A field that holds a list.
    ///
    /// # Errors
    /// If there is none of that name, or it holds something else.
    pub fn list(&self, field: &str) -> Result<&'a [Value], FieldError> {
        let value = self.require(field)?;
        value.as_list().ok_or_else(|| self.wrong(field, "list", value))
    }

    /// A field that holds a list of texts.
    ///
    /// # Errors
    /// If there is none of that name, or it holds something else.
    pub fn strings(&self, field: &str) -> Result<Vec<&'a str>, FieldError> {
        let value = self.require(field)?;
        let texts = value.as_list().and_then(|items| items.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        texts.ok_or_else(|| self.wrong(field, "list of strings", value))
    }

    /// A field that refers to a definition.
    ///
    /// # Errors
    /// If there is none of that name, or it holds something else.
    pub fn record(&self, field: &str) -> Result<Record<'a>, FieldError> {
        let value = self.require(field)?;
        let id = value.as_record().ok_or_else(|| self.wrong(field, "record", value))?;
        Ok(self.records.record(id))
    }

    /// A field that refers to a definition, or to nothing (`?`).
    ///
    /// # Errors
    /// If there is none of that name, or it holds something else.
    pub fn optional_record(&self, field: &str) -> Result<Option<Record<'a>>, FieldError> {
        if *self.require(field)? == Value::Unset { Ok(None) } else { self.record(field).map(Some) }
    }

    /// A field that holds a list of references to definitions.
    ///
    /// # Errors
    /// If there is none of that name, or it holds something else.
    pub fn record_list(&self, field: &str) -> Result<Vec<Record<'a>>, FieldError> {
        let value = self.require(field)?;
        let ids = value.as_list().and_then(|items| items.iter().map(Value::as_record).collect::<Option<Vec<_>>>());
        let ids = ids.ok_or_else(|| self.wrong(field, "list of records", value))?;
        Ok(ids.into_iter().map(|id| self.records.record(id)).collect())
    }
}
