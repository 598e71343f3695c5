//! Types of values, interned: equal types have equal numbers.

use rustc_hash::FxHashMap;

use crate::context::Context;
use crate::record::RecId;

/// A type, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ty(u32);

impl Ty {
    /// Of `?`, which has no type.
    pub(crate) const NONE: Ty = Ty(0);
    pub(crate) const BIT: Ty = Ty(1);
    pub(crate) const INT: Ty = Ty(2);
    pub(crate) const STRING: Ty = Ty(3);
    pub(crate) const DAG: Ty = Ty(4);
    /// Any record at all.
    pub(crate) const ANY_RECORD: Ty = Ty(5);
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TyKind {
    None,
    Bit,
    Int,
    String,
    Dag,
    Bits(u32),
    List(Ty),
    /// A record of all these classes, sorted by name.
    Record(Box<[RecId]>),
}

#[derive(Debug)]
pub(crate) struct Types {
    kinds: Vec<TyKind>,
    /// How many lists are within one another.
    depths: Vec<u32>,
    ids: FxHashMap<TyKind, Ty>,
}

impl Types {
    pub(crate) fn new() -> Types {
        let mut types = Types { kinds: Vec::new(), depths: Vec::new(), ids: FxHashMap::default() };
        // In the order of the constants of `Ty`.
        for kind in [TyKind::None, TyKind::Bit, TyKind::Int, TyKind::String, TyKind::Dag, TyKind::Record(Box::new([]))] {
            types.intern(kind);
        }
        types
    }

    fn intern(&mut self, kind: TyKind) -> Ty {
        if let Some(&ty) = self.ids.get(&kind) {
            return ty;
        }
        let ty = Ty(self.kinds.len() as u32);
        let depth = if let TyKind::List(element) = kind { self.depth(element) + 1 } else { 0 };
        self.depths.push(depth);
        self.kinds.push(kind.clone());
        self.ids.insert(kind, ty);
        ty
    }

    pub(crate) fn kind(&self, ty: Ty) -> &TyKind {
        &self.kinds[ty.0 as usize]
    }

    pub(crate) fn depth(&self, ty: Ty) -> u32 {
        self.depths[ty.0 as usize]
    }

    pub(crate) fn bits(&mut self, width: u32) -> Ty {
        self.intern(TyKind::Bits(width))
    }

    pub(crate) fn list(&mut self, element: Ty) -> Ty {
        self.intern(TyKind::List(element))
    }

    pub(crate) fn element(&self, ty: Ty) -> Option<Ty> {
        if let TyKind::List(element) = *self.kind(ty) { Some(element) } else { None }
    }

    pub(crate) fn width(&self, ty: Ty) -> Option<u32> {
        if let TyKind::Bits(width) = *self.kind(ty) { Some(width) } else { None }
    }

    pub(crate) fn classes(&self, ty: Ty) -> Option<&[RecId]> {
        if let TyKind::Record(classes) = self.kind(ty) { Some(classes) } else { None }
    }
}

impl Context {
    /// The type of records that have all these classes.
    pub(crate) fn record_type(&mut self, classes: &[RecId]) -> Ty {
        let mut classes: Box<[RecId]> = classes.into();
        if classes.len() > 1 {
            classes.sort_by_key(|&class| self.record_name(class));
        }
        self.types.intern(TyKind::Record(classes))
    }

    /// Whether a record of this type surely has the class.
    fn type_has_class(&self, classes: &[RecId], class: RecId) -> bool {
        classes.iter().any(|&own| own == class || self.is_subclass(own, class))
    }

    /// Whether a value of type `from` may be converted to `to`, perhaps depending on the value.
    pub(crate) fn convertible(&self, from: Ty, to: Ty) -> bool {
        if from == to {
            return true;
        }
        match (self.types.kind(from), self.types.kind(to)) {
            (TyKind::Bit, TyKind::Int) | (TyKind::Int, TyKind::Bit | TyKind::Bits(_)) | (TyKind::Bits(_), TyKind::Int) => true,
            (TyKind::Bit, TyKind::Bits(width)) | (TyKind::Bits(width), TyKind::Bit) => *width == 1,
            (TyKind::List(from), TyKind::List(to)) => self.convertible(*from, *to),
            (TyKind::Record(from), TyKind::Record(to)) => to.iter().all(|&class| self.type_has_class(from, class)),
            _ => false,
        }
    }

    /// Whether every value of type `ty` is one of type `of`, as it is.
    pub(crate) fn is_a(&self, ty: Ty, of: Ty) -> bool {
        if ty == of {
            return true;
        }
        match (self.types.kind(ty), self.types.kind(of)) {
            (TyKind::List(ty), TyKind::List(of)) => self.is_a(*ty, *of),
            (TyKind::Record(_), TyKind::Record(_)) => self.convertible(ty, of),
            _ => false,
        }
    }

    /// The type that values of both types can have, if there is one.
    pub(crate) fn common_type(&mut self, a: Ty, b: Ty) -> Option<Ty> {
        if a == b {
            return Some(a);
        }
        if let (TyKind::Record(first), TyKind::Record(second)) = (self.types.kind(a), self.types.kind(b)) {
            let mut common = Vec::new();
            let mut todo = first.to_vec();
            while let Some(class) = todo.pop() {
                if self.type_has_class(second, class) {
                    if !common.contains(&class) {
                        common.push(class);
                    }
                } else {
                    todo.extend(self.records[class].supers.iter().map(|&(class, _)| class));
                }
            }
            return Some(self.record_type(&common));
        }
        if self.convertible(a, b) {
            return Some(b);
        }
        if self.convertible(b, a) {
            return Some(a);
        }
        let (a, b) = (self.types.element(a)?, self.types.element(b)?);
        let element = self.common_type(a, b)?;
        Some(self.types.list(element))
    }

    /// The type of a field of values of this type, where known.
    pub(crate) fn field_type(&self, ty: Ty, field: crate::node::Node) -> Option<Ty> {
        let classes = self.types.classes(ty)?;
        classes.iter().find_map(|&class| self.records[class].field(field)).map(|field| field.ty)
    }

    /// As it is written.
    pub(crate) fn type_text(&self, ty: Ty) -> String {
        match self.types.kind(ty) {
            TyKind::None => "?".to_owned(),
            TyKind::Bit => "bit".to_owned(),
            TyKind::Int => "int".to_owned(),
            TyKind::String => "string".to_owned(),
            TyKind::Dag => "dag".to_owned(),
            TyKind::Bits(width) => format!("bits<{width}>"),
            TyKind::List(element) => format!("list<{}>", self.type_text(*element)),
            TyKind::Record(classes) => match **classes {
                [class] => self.record_name(class),
                _ => {
                    let names: Vec<String> = classes.iter().map(|&class| self.record_name(class)).collect();
                    format!("{{{}}}", names.join(", "))
                }
            },
        }
    }
}
