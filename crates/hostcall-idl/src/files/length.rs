//! Lengths of arrays: numbers, constants of the files, and sums of these.

use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Lit};

use super::error::ErrorKind;
use super::resolve::{Outcome, Resolver, spelled};

/// Constants that name constants: more than this many in a row name each other.
const DEEPEST: usize = 64;

impl Resolver<'_> {
    /// The number that an expression stands for.
    pub(super) fn length(&mut self, scope: usize, expression: &Expr) -> Outcome<usize> {
        match self.value(scope, expression, 0).and_then(|value| usize::try_from(value).ok()) {
            Some(value) => Ok(value),
            None => Err(self.note(scope, expression.span(), ErrorKind::Length { text: spelled(expression) })),
        }
    }

    fn value(&self, scope: usize, expression: &Expr, depth: usize) -> Option<u64> {
        let depth = depth + 1;
        if depth > DEEPEST {
            return None;
        }
        match expression {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => number.base10_parse().ok(),
                _ => None,
            },
            Expr::Paren(inner) => self.value(scope, &inner.expr, depth),
            Expr::Group(inner) => self.value(scope, &inner.expr, depth),
            // Of numbers that are this small, a conversion that changes one cannot be a length.
            Expr::Cast(cast) => self.value(scope, &cast.expr, depth).filter(|&value| value <= i8::MAX as u64 || is_usize(&cast.ty)),
            Expr::Binary(binary) => {
                let (left, right) = (self.value(scope, &binary.left, depth)?, self.value(scope, &binary.right, depth)?);
                match binary.op {
                    BinOp::Add(_) => left.checked_add(right),
                    BinOp::Sub(_) => left.checked_sub(right),
                    BinOp::Mul(_) => left.checked_mul(right),
                    BinOp::Div(_) => left.checked_div(right),
                    BinOp::Rem(_) => left.checked_rem(right),
                    BinOp::Shl(_) => left.checked_mul(1u64.checked_shl(u32::try_from(right).ok()?)?),
                    BinOp::Shr(_) => left.checked_shr(u32::try_from(right).ok()?),
                    _ => None,
                }
            }
            Expr::Path(path) if path.qself.is_none() => {
                let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
                let here = &self.found.scopes[scope];
                let names = match names.as_slice() {
                    [name] if !here.consts.contains_key(name) => here.imports.get(name).unwrap_or(&names),
                    _ => &names,
                };
                let name = names.last()?;
                let module = names.len().checked_sub(2).map(|at| names[at].as_str());
                let candidates = if names.len() == 1 && here.consts.contains_key(name) {
                    vec![scope]
                } else {
                    self.found.find(module, |scope| scope.consts.contains_key(name))
                };
                let [of] = *candidates.as_slice() else { return None };
                self.value(of, &self.found.scopes[of].consts[name], depth)
            }
            _ => None,
        }
    }
}

fn is_usize(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.is_ident("usize") || path.path.is_ident("u64"))
}
