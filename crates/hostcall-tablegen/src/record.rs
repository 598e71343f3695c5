//! Records while they are being made: classes, multiclass prototypes and definitions.

use std::ops::{Index, IndexMut};

use rustc_hash::FxHashMap;

use crate::node::Node;
use crate::source::Span;
use crate::ty::Ty;

/// A record, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RecId(pub(crate) u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordKind {
    Class,
    /// Holds a multiclass's template arguments.
    MultiClass,
    Def,
    AnonymousDef,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Normal,
    /// Declared with `field`: may stay unresolved.
    MayBeUnresolved,
    TemplateArg,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// A string; for template arguments, qualified by the record's name.
    pub(crate) name: Node,
    pub(crate) ty: Ty,
    pub(crate) kind: FieldKind,
    pub(crate) used: bool,
    pub(crate) value: Node,
    pub(crate) span: Span,
}

/// An `assert`; a `dump` is one without a condition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    pub(crate) span: Span,
    pub(crate) condition: Option<Node>,
    pub(crate) message: Node,
}

#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) name: Node,
    pub(crate) kind: RecordKind,
    /// Where it is defined, then the `defm`s that led to it, innermost first.
    pub(crate) spans: Vec<Span>,
    pub(crate) template_args: Vec<Node>,
    pub(crate) fields: Vec<Field>,
    pub(crate) asserts: Vec<Check>,
    pub(crate) dumps: Vec<Check>,
    /// Direct superclasses.
    pub(crate) supers: Vec<(RecId, Span)>,
    /// All superclasses, sorted, without repetition.
    pub(crate) ancestors: Vec<RecId>,
    /// Length of the list of all superclasses as it is printed, where one inherited twice is there twice.
    pub(crate) printed_supers: usize,
    /// The value that refers to it.
    pub(crate) def: Option<Node>,
    /// Something is wrong with it that was reported: say nothing more.
    pub(crate) faulty: bool,
    /// Positions of fields by name, once there are many.
    positions: FxHashMap<Node, usize>,
}

/// More fields than this are looked up in a table.
const FEW_FIELDS: usize = 256;

impl Record {
    pub(crate) fn new(name: Node, kind: RecordKind, span: Span) -> Record {
        Record {
            name,
            kind,
            spans: vec![span],
            template_args: Vec::new(),
            fields: Vec::new(),
            asserts: Vec::new(),
            dumps: Vec::new(),
            supers: Vec::new(),
            ancestors: Vec::new(),
            printed_supers: 0,
            def: None,
            faulty: false,
            positions: FxHashMap::default(),
        }
    }

    /// Adds a field whose name is new.
    pub(crate) fn push_field(&mut self, field: Field) {
        self.fields.push(field);
        if self.fields.len() > FEW_FIELDS {
            let known = self.positions.len();
            self.positions.extend(self.fields.iter().enumerate().skip(known).map(|(at, field)| (field.name, at)));
        }
    }

    pub(crate) fn field_index(&self, name: Node) -> Option<usize> {
        if self.positions.is_empty() { self.fields.iter().position(|field| field.name == name) } else { self.positions.get(&name).copied() }
    }

    pub(crate) fn field(&self, name: Node) -> Option<&Field> {
        self.field_index(name).map(|at| &self.fields[at])
    }

    pub(crate) fn span(&self) -> Span {
        self.spans[0]
    }
}

/// All records of a run.
#[derive(Debug, Default)]
pub(crate) struct RecordTable(Vec<Record>);

impl RecordTable {
    pub(crate) fn add(&mut self, record: Record) -> RecId {
        self.0.push(record);
        RecId(self.0.len() as u32 - 1)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Index<RecId> for RecordTable {
    type Output = Record;

    fn index(&self, id: RecId) -> &Record {
        &self.0[id.0 as usize]
    }
}

impl IndexMut<RecId> for RecordTable {
    fn index_mut(&mut self, id: RecId) -> &mut Record {
        &mut self.0[id.0 as usize]
    }
}
