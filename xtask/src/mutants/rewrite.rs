//! All broken rules of a file at once, each behind a switch of its own.
//!
//! A function's body gets `if on(N) { return REPLACEMENT; }` in front. An expression becomes
//! `(if on(N) { BROKEN } else { WHOLE })`, where `BROKEN` is its text as cargo-mutants changes it, and switches inside
//! of it are in `WHOLE` alone, since one rule is broken at a time. A match arm that is deleted gets the guard `!on(N)`.
//! A constant reads no switch, so that functions which no constant calls lose their `const` first.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::list::{Genre, Mutant};

/// A file with switches.
#[derive(Debug, Default)]
pub(super) struct Rewritten {
    pub(super) text: String,
    /// What of the text belongs to which rules: the broken text of one, or the expression that holds several.
    parts: Vec<Part>,
    /// Rules that the switchboard cannot break, and what becomes of them.
    pub(super) left: BTreeMap<usize, Left>,
}

#[derive(Debug)]
struct Part {
    bytes: Range<usize>,
    numbers: Vec<usize>,
    /// Whether it is what one rule is replaced with, and not what holds the switches.
    broken: bool,
}

/// Why a rule has no switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Left {
    /// It does not compile when it is broken.
    Unviable,
    /// It compiles when it is broken alone, or that is not known.
    Alone,
}

/// The place of a switch.
#[derive(Clone, Debug)]
struct Place {
    bytes: Range<usize>,
    /// Neither a switch nor anything else that is no constant can be read there.
    constant: bool,
    /// A chain of `let` and `&&`, which cannot become anything else.
    chain: bool,
}

#[derive(Debug)]
struct Site<'a> {
    bytes: Range<usize>,
    /// Number, rule, and the bytes of the file that it replaces.
    rules: Vec<(usize, &'a Mutant, Range<usize>)>,
}

/// Writes switches for `mutants`, by number, all of them of this file, into its source.
pub(super) fn rewrite(source: &str, mutants: &[(usize, &Mutant)]) -> Result<Rewritten> {
    let mut places = Places::default();
    places.visit_file(&syn::parse_file(source)?);
    let mut rewritten = Rewritten::default();
    let mut sites: BTreeMap<(usize, std::cmp::Reverse<usize>, Genre), Site<'_>> = BTreeMap::new();
    for &(number, mutant) in mutants {
        let bytes = mutant.bytes(source).with_context(|| format!("no such place: {}", mutant.name))?;
        let Some(place) = places.found.get(&(mutant.genre, bytes.start)) else {
            rewritten.left.insert(number, Left::Alone);
            continue;
        };
        let broken = broken(source, &place.bytes, &bytes, &mutant.replacement);
        let expression = matches!(mutant.genre, Genre::BinaryOperator | Genre::UnaryOperator | Genre::StructField);
        if place.chain || expression && syn::parse_str::<syn::Expr>(&broken).is_err() {
            rewritten.left.insert(number, Left::Unviable);
        } else if place.constant {
            rewritten.left.insert(number, Left::Alone);
        } else {
            let key = (place.bytes.start, std::cmp::Reverse(place.bytes.end), mutant.genre);
            let site = sites.entry(key).or_insert_with(|| Site { bytes: place.bytes.clone(), rules: Vec::new() });
            site.rules.push((number, mutant, bytes));
        }
    }
    // In the order of the file, the outer before the inner.
    let sites: Vec<Site<'_>> = sites.into_values().collect();
    rewritten.write(source, 0..source.len(), &sites);
    Ok(rewritten)
}

/// The source in which no function is `const` but those whose names are in `called`: blanks take the place of the word,
/// so that everything stays where it was.
pub(super) fn without_const(source: &str, called: &BTreeSet<String>) -> Result<String> {
    let mut constness = Constness { called, found: Vec::new() };
    constness.visit_file(&syn::parse_file(source)?);
    let mut text = source.to_owned();
    for bytes in constness.found {
        text.replace_range(bytes.clone(), &" ".repeat(bytes.len()));
    }
    Ok(text)
}

/// Where functions say that they may run in constants.
struct Constness<'a> {
    called: &'a BTreeSet<String>,
    found: Vec<Range<usize>>,
}

impl<'ast> Visit<'ast> for Constness<'_> {
    fn visit_signature(&mut self, node: &'ast syn::Signature) {
        let word = node.constness.filter(|_| !self.called.contains(&node.ident.to_string()));
        self.found.extend(word.map(|word| word.span().byte_range()));
    }
}

/// The text of `place` with `bytes` of it replaced.
fn broken(source: &str, place: &Range<usize>, bytes: &Range<usize>, replacement: &str) -> String {
    if bytes.start < place.start || bytes.end > place.end {
        return String::new();
    }
    format!("{}{replacement}{}", &source[place.start..bytes.start], &source[bytes.end..place.end])
}

impl Rewritten {
    /// Writes a part of the source with the switches that are in it.
    fn write(&mut self, source: &str, bytes: Range<usize>, mut sites: &[Site<'_>]) {
        let mut at = bytes.start;
        while let Some((site, rest)) = sites.split_first() {
            let inner = rest.iter().take_while(|inner| inner.bytes.start < site.bytes.end).count();
            self.text.push_str(&source[at..site.bytes.start]);
            self.switch(source, site, &rest[..inner]);
            at = site.bytes.end;
            sites = &rest[inner..];
        }
        self.text.push_str(&source[at..bytes.end]);
    }

    fn switch(&mut self, source: &str, site: &Site<'_>, inner: &[Site<'_>]) {
        let start = self.text.len();
        let genre = site.rules[0].1.genre;
        match genre {
            Genre::FnValue => {
                for (number, mutant, _) in &site.rules {
                    self.part(*number, &format!("if {} {{ return {}; }} ", on(*number), mutant.replacement));
                }
                self.write(source, site.bytes.clone(), inner);
            }
            Genre::MatchArm => {
                for (number, ..) in &site.rules {
                    self.part(*number, &format!(" if !{}", on(*number)));
                }
            }
            _ => {
                self.text.push('(');
                for (number, mutant, bytes) in &site.rules {
                    let broken = broken(source, &site.bytes, bytes, &mutant.replacement);
                    self.text.push_str(&format!("if {} {{ ", on(*number)));
                    self.part(*number, &broken);
                    self.text.push_str(" } else ");
                }
                self.text.push_str("{ ");
                self.write(source, site.bytes.clone(), inner);
                self.text.push_str(" })");
            }
        }
        let numbers = site.rules.iter().map(|(number, ..)| *number).collect();
        self.parts.push(Part { bytes: start..self.text.len(), numbers, broken: false });
    }

    fn part(&mut self, number: usize, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.parts.push(Part { bytes: start..self.text.len(), numbers: vec![number], broken: true });
    }

    /// The rules to which a part of the text belongs that does not compile, and whether it is the broken text itself.
    pub(super) fn blame(&self, bytes: &Range<usize>) -> Option<(BTreeSet<usize>, bool)> {
        let around = self.parts.iter().filter(|part| part.bytes.start <= bytes.start && bytes.end <= part.bytes.end);
        let part = around.min_by_key(|part| part.bytes.len())?;
        Some((part.numbers.iter().copied().collect(), part.broken))
    }
}

fn on(number: usize) -> String {
    format!("::hostcall_mutant_switch::on({number})")
}

/// Where switches could be, by what is broken and where that begins.
#[derive(Default)]
struct Places {
    found: BTreeMap<(Genre, usize), Place>,
    /// In how many constants the visit is.
    constants: usize,
}

impl Places {
    fn add(&mut self, genre: Genre, start: usize, bytes: Range<usize>, chain: bool) {
        self.found.insert((genre, start), Place { bytes, constant: self.constants > 0, chain });
    }

    fn constant(&mut self, constant: bool, visit: impl FnOnce(&mut Self)) {
        self.constants += usize::from(constant);
        visit(self);
        self.constants -= usize::from(constant);
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        if let (Some(first), Some(last)) = (block.stmts.first(), block.stmts.last()) {
            let start = first.span().byte_range().start;
            let constant = signature.constness.is_some();
            self.constant(constant, |places| places.add(Genre::FnValue, start, start..last.span().byte_range().end, false));
        }
    }
}

/// Whether an expression is a `let`, or a chain with one.
fn has_let(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_)) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Places {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.function(&node.sig, &node.block);
        self.constant(node.sig.constness.is_some(), |places| visit::visit_item_fn(places, node));
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.function(&node.sig, &node.block);
        self.constant(node.sig.constness.is_some(), |places| visit::visit_impl_item_fn(places, node));
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(block) = &node.default {
            self.function(&node.sig, block);
        }
        visit::visit_trait_item_fn(self, node);
    }

    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        let chain = matches!(node.op, syn::BinOp::And(_)) && (has_let(&node.left) || has_let(&node.right));
        self.add(Genre::BinaryOperator, node.op.span().byte_range().start, node.span().byte_range(), chain);
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        self.add(Genre::UnaryOperator, node.op.span().byte_range().start, node.span().byte_range(), false);
        visit::visit_expr_unary(self, node);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        if let syn::Pat::Guard(guarded) = &node.pat {
            let bytes = guarded.guard.span().byte_range();
            self.add(Genre::MatchArmGuard, bytes.start, bytes, has_let(&guarded.guard));
        } else {
            let end = node.pat.span().byte_range().end;
            self.add(Genre::MatchArm, node.span().byte_range().start, end..end, false);
        }
        visit::visit_arm(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'ast syn::ExprStruct) {
        for field in &node.fields {
            self.add(Genre::StructField, field.span().byte_range().start, node.span().byte_range(), false);
        }
        visit::visit_expr_struct(self, node);
    }

    fn visit_item_const(&mut self, node: &'ast syn::ItemConst) {
        self.constant(true, |places| visit::visit_item_const(places, node));
    }

    fn visit_item_static(&mut self, node: &'ast syn::ItemStatic) {
        self.constant(true, |places| visit::visit_item_static(places, node));
    }

    fn visit_impl_item_const(&mut self, node: &'ast syn::ImplItemConst) {
        self.constant(true, |places| visit::visit_impl_item_const(places, node));
    }

    fn visit_trait_item_const(&mut self, node: &'ast syn::TraitItemConst) {
        self.constant(true, |places| visit::visit_trait_item_const(places, node));
    }

    fn visit_expr_const(&mut self, node: &'ast syn::ExprConst) {
        self.constant(true, |places| visit::visit_expr_const(places, node));
    }

    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        self.visit_expr(&node.expr);
        self.constant(true, |places| places.visit_expr(&node.len));
    }

    fn visit_type(&mut self, node: &'ast syn::Type) {
        self.constant(true, |places| visit::visit_type(places, node));
    }

    fn visit_pat(&mut self, node: &'ast syn::Pat) {
        let constant = !matches!(node, syn::Pat::Guard(_));
        self.constant(constant, |places| visit::visit_pat(places, node));
    }

    fn visit_item_enum(&mut self, node: &'ast syn::ItemEnum) {
        self.constant(true, |places| visit::visit_item_enum(places, node));
    }
}

#[cfg(test)]
mod tests;
