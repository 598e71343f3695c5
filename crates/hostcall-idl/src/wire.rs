//! What a type of the wire may not contain.

use syn::visit::{self, Visit};
use syn::{Path, Type};

use crate::Errors;

/// Without the invisible and visible parentheses around it.
pub fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        other => other,
    }
}

/// Whether it is `()`.
pub fn is_unit(ty: &Type) -> bool {
    matches!(bare(ty), Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// Whether it is `str`.
pub fn is_str(ty: &Type) -> bool {
    matches!(bare(ty), Type::Path(path) if path.qself.is_none() && path.path.is_ident("str"))
}

/// The leading `self` or `super` of a path.
pub(crate) fn relative(path: &Path) -> Option<&syn::Ident> {
    let first = &path.segments.first()?.ident;
    (path.leading_colon.is_none() && (first == "self" || first == "super")).then_some(first)
}

/// Notes everything in `ty` that cannot be part of a value on the wire. What remains is for the trait
/// bounds to judge.
pub(crate) fn check_wire_type(ty: &Type, what: &str, errors: &mut Errors) {
    WireType { what, errors }.visit_type(ty);
}

struct WireType<'a> {
    what: &'a str,
    errors: &'a mut Errors,
}

impl<'ast> Visit<'ast> for WireType<'_> {
    fn visit_type(&mut self, ty: &'ast Type) {
        let what = self.what;
        match ty {
            Type::Reference(_) => self.errors.add(
                ty,
                format!("{what} cannot hold a reference, which means nothing on the other side; `&str`, `&[T]` and `&mut [T]` may be arguments themselves"),
            ),
            Type::Ptr(_) => self.errors.add(
                ty,
                format!("{what} cannot hold a pointer, which means nothing on the other side; pass `&[T]`, `&mut [T]`, or a number that both sides understand"),
            ),
            Type::FnPtr(_) => self.errors.add(ty, format!("{what} cannot hold a function pointer, which means nothing on the other side")),
            Type::ImplTrait(_) | Type::TraitObject(_) => self.errors.add(ty, format!("{what} must be a concrete type")),
            Type::Infer(_) => self.errors.add(ty, format!("{what} must be written out")),
            Type::Never(_) => self.errors.add(ty, format!("{what} cannot be `!`: the other side always answers")),
            Type::Macro(_) | Type::Verbatim(_) => self.errors.add(ty, format!("{what} must be a type that can be read without expanding it")),
            Type::Slice(_) => self.errors.add(ty, format!("{what} must have a size: pass `&[T]` or `&mut [T]`")),
            Type::Path(_) if is_str(ty) => self.errors.add(ty, format!("{what} must have a size: pass `&str`")),
            _ => visit::visit_type(self, ty),
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if let Some(first) = relative(path) {
            self.errors.add(first, "import the type, or start its path with `crate::`: it is used inside a module as well");
        } else if path.segments.first().is_some_and(|first| first.ident == "Self") {
            self.errors.add(path, "`Self` has no meaning here: a service is not a method of anything");
        }
        visit::visit_path(self, path);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
        self.errors.add(lifetime, format!("{} cannot borrow", self.what));
    }

    // The length of an array may be any expression.
    fn visit_expr(&mut self, _: &'ast syn::Expr) {}
}
