//! Making records: inheriting classes, instantiating class values, and finishing definitions.

use crate::context::{Attempt, Cause, Context};
use crate::diagnostic::{Diagnostic, Severity};
use crate::node::{Kind, Node};
use crate::record::{Check, Field, FieldKind, RecId, Record, RecordKind};
use crate::resolve::{MapResolver, RecordResolver, Resolver};
use crate::source::Span;
use crate::symbol::Symbol;
use crate::ty::Ty;

impl Context {
    /// Resolves the name, the fields and the checks of a record.
    pub(crate) fn resolve_record(&mut self, record: RecId, resolver: &mut dyn Resolver) {
        let name = self.records[record].name;
        let new_name = self.resolve(name, resolver);
        if new_name != name {
            if self.ty(new_name) == Ty::STRING {
                self.records[record].name = new_name;
            } else {
                let message = format!("name of the record is {}, which is no string", self.text(new_name));
                self.error_in(Some(record), message);
            }
        }
        for i in 0..self.records[record].fields.len() {
            let Field { value, ty, name, .. } = self.records[record].fields[i];
            let new = self.resolve(value, resolver);
            if new == value {
                continue;
            }
            match self.stored(new, ty) {
                Some(stored) => self.records[record].fields[i].value = stored,
                None => {
                    let message = format!(
                        "field '{}' of type '{}' is set to {} of type '{}'",
                        self.unquoted(name),
                        self.type_text(ty),
                        self.text(new),
                        self.type_text(self.ty(new))
                    );
                    self.error_in(Some(record), message);
                }
            }
        }
        for i in 0..self.records[record].asserts.len() {
            let check = self.resolve_check(self.records[record].asserts[i], resolver);
            self.records[record].asserts[i] = check;
        }
        for i in 0..self.records[record].dumps.len() {
            let check = self.resolve_check(self.records[record].dumps[i], resolver);
            self.records[record].dumps[i] = check;
        }
    }

    pub(crate) fn resolve_check(&mut self, check: Check, resolver: &mut dyn Resolver) -> Check {
        let condition = check.condition.map(|condition| self.resolve(condition, resolver));
        Check { condition, message: self.resolve(check.message, resolver), ..check }
    }

    /// Evaluates a check that is resolved. `false` if it fails.
    pub(crate) fn run_check(&mut self, check: Check) -> bool {
        let Some(condition) = check.condition else {
            match self.text_of(check.message) {
                Some(text) => {
                    let message = String::from_utf8_lossy(text).into_owned();
                    self.report(Diagnostic { severity: Severity::Note, ..Diagnostic::error(check.span, message) });
                }
                None => {
                    let message = format!("only strings can be dumped, not {}; use !repr", self.text(check.message));
                    self.error(check.span, message);
                }
            }
            return true;
        };
        match self.as_int(condition) {
            Some(0) => {
                let told = self.text_of(check.message).map(String::from_utf8_lossy);
                let message = format!("assertion failed: {}", told.unwrap_or("(the message is not a string)".into()));
                self.error(check.span, message);
                false
            }
            Some(_) => true,
            None => {
                let message = format!("condition of assert is {}, neither int, bit nor bits", self.text(condition));
                self.error(check.span, message);
                false
            }
        }
    }

    fn run_checks_of(&mut self, record: RecId) {
        if self.records[record].asserts.is_empty() && self.records[record].dumps.is_empty() {
            return;
        }
        let mut resolver = RecordResolver::new(record, None);
        let mut failed = false;
        for i in 0..self.records[record].asserts.len() {
            let check = self.resolve_check(self.records[record].asserts[i], &mut resolver);
            failed |= !self.run_check(check);
        }
        if failed {
            let message = format!("assertion failed in record '{}'", self.record_name(record));
            self.error_in(Some(record), message);
        }
        for i in 0..self.records[record].dumps.len() {
            let check = self.resolve_check(self.records[record].dumps[i], &mut resolver);
            self.run_check(check);
        }
    }

    /// Sets a field that exists, or adds it.
    pub(crate) fn add_field(&mut self, record: RecId, span: Span, field: Field) -> Attempt<()> {
        let Some(at) = self.records[record].field_index(field.name) else {
            self.records[record].push_field(field);
            return Ok(());
        };
        let old_ty = self.records[record].fields[at].ty;
        match self.stored(field.value, old_ty) {
            Some(value) => {
                self.records[record].fields[at].value = value;
                Ok(())
            }
            None => {
                let earlier = self.records[record].fields[at].span;
                let message = format!(
                    "field '{}' of type '{}' was declared with type '{}' before",
                    self.unquoted(field.name),
                    self.type_text(field.ty),
                    self.type_text(old_ty)
                );
                Err(self.report(Diagnostic::error(span, message).with_label(earlier, "declared here")))
            }
        }
    }

    /// Makes a record inherit a class, given the values of the class's template arguments.
    pub(crate) fn inherit(&mut self, record: RecId, class: RecId, span: Span, args: &[(Node, Node)]) -> Attempt<()> {
        if record == class || self.is_subclass(class, record) {
            return Err(self.error(span, format!("class '{}' would inherit itself", self.record_name(record))));
        }
        for i in 0..self.records[class].fields.len() {
            let field = self.records[class].fields[i];
            if field.kind != FieldKind::TemplateArg {
                self.add_field(record, span, field)?;
            }
        }
        let mut resolver = MapResolver::new(Some(record));
        for &(name, value) in args {
            resolver.set(name, value);
        }
        let (asserts, dumps) = (self.records[class].asserts.clone(), self.records[class].dumps.clone());
        self.records[record].asserts.extend(asserts);
        self.records[record].dumps.extend(dumps);

        let name = if self.records[record].kind == RecordKind::Class {
            let name = self.qualified_implicit_name(record);
            self.var(name, Ty::STRING)
        } else {
            self.records[record].name
        };
        let implicit = self.qualified_implicit_name(class);
        resolver.set(implicit, name);
        self.resolve_record(record, &mut resolver);

        if self.is_subclass(record, class) {
            let message = format!("'{}' inherits class '{}' already", self.record_name(record), self.record_name(class));
            return Err(self.error(span, message));
        }
        self.add_super(record, class, span);
        self.records[record].faulty |= self.records[class].faulty;
        Ok(())
    }

    /// The record that a class value without open references is.
    pub(crate) fn instantiate(&mut self, value: Node) -> Node {
        if let Some(&known) = self.instances.get(&value) {
            return known;
        }
        let Kind::ClassValue(class, args) = self.kind(value) else { return value };
        if self.causes.len() >= self.options.limits.instantiations as usize {
            self.over_limit("instances of classes are nested too deeply: do they make one another?", self.options.limits.instantiations);
            return value;
        }
        if !self.enter() {
            return value;
        }
        let span = self.class_value_spans[&value];
        let name = self.anonymous_name();
        let mut new = Record::new(name, RecordKind::AnonymousDef, span);
        let source = &self.records[class];
        for &field in source.fields.iter().filter(|field| field.kind != FieldKind::TemplateArg) {
            new.push_field(field);
        }
        new.faulty = source.faulty;
        new.asserts.clone_from(&source.asserts);
        new.dumps.clone_from(&source.dumps);
        let record = self.add_record(new);
        self.causes.push(Cause { span, record: class });

        let mut resolver = MapResolver::new(Some(record));
        let names = self.records[class].template_args.clone();
        for &name in &names {
            let default = self.records[class].field(name).map_or(Node::UNSET, |field| field.value);
            resolver.set(name, default);
        }
        for i in (0..args.len()).step_by(2) {
            let (key, arg) = (self.nodes.item(args, i), self.nodes.item(args, i + 1));
            let name = if let Kind::Int(position) = self.kind(key) { names.get(position as usize).copied() } else { Some(key) };
            if let Some(name) = name {
                resolver.set(name, arg);
            }
        }
        self.resolve_record(record, &mut resolver);
        let class_span = self.records[class].span();
        self.add_super(record, class, class_span);
        self.resolve_record(record, &mut RecordResolver::new(record, None));
        let text = self.record_name(record);
        let symbol = self.intern(text);
        self.register(symbol, record, span);
        self.run_checks_of(record);
        let def = self.def_node(record);
        self.instances.insert(value, def);
        self.causes.pop();
        self.leave();
        def
    }

    /// Evaluates a class value if nothing in it is open.
    pub(crate) fn fold_class_value(&mut self, value: Node) -> Node {
        if let Some(&known) = self.instances.get(&value) {
            return known;
        }
        let Kind::ClassValue(_, args) = self.kind(value) else { return value };
        for i in (1..args.len()).step_by(2) {
            let arg = self.nodes.item(args, i);
            if self.has_unresolved(arg) {
                return value;
            }
        }
        self.instantiate(value)
    }

    /// Resolves a definition for good and registers it. Its value, for `defset`.
    pub(crate) fn finish_def(&mut self, record: RecId) -> Attempt<Node> {
        let mut new_name = None;
        let text = self.record_name(record);
        if let Some(earlier) = self.symbols.find(&text).and_then(|symbol| self.defs.get(&symbol).copied()) {
            if self.records[record].kind != RecordKind::AnonymousDef {
                let earlier = self.records[earlier].span();
                let here = self.records[record].span();
                let diagnostic = Diagnostic::error(here, format!("there is a record '{text}' already"));
                return Err(self.report(diagnostic.with_label(earlier, "defined here before")));
            }
            new_name = Some(self.anonymous_name());
        }
        self.resolve_record(record, &mut RecordResolver::new(record, new_name));
        self.check_resolved(record);
        let (Kind::Str(symbol) | Kind::Code(symbol)) = self.kind(self.records[record].name) else {
            let message = format!("name of the record could not be resolved: {}", self.text(self.records[record].name));
            return Err(self.error_in(Some(record), message));
        };
        if std::str::from_utf8(self.symbols.get(symbol)).is_err() {
            let message = format!("the name of a record is UTF-8, and '{}' is not", self.symbols.get(symbol).escape_ascii());
            return Err(self.error_in(Some(record), message));
        }
        if !self.records[record].faulty {
            self.run_checks_of(record);
        }
        let span = self.records[record].span();
        self.register(symbol, record, span);
        Ok(self.def_node(record))
    }

    /// Makes a record known by its final name. If another has the name that was decided last (`anonymous_N`, or made of
    /// one), that one keeps it and this one is only known to those who refer to it, as in LLVM; unlike there, this is
    /// said.
    fn register(&mut self, name: Symbol, record: RecId, span: Span) {
        match self.defs.get(&name) {
            None => {
                self.defs.insert(name, record);
            }
            Some(&earlier) => {
                let earlier = self.records[earlier].span();
                let message = format!("the name '{}' is taken: this record is left out", self.symbols.shown(name));
                self.report(Diagnostic::warning(span, message).with_label(earlier, "by this one"));
            }
        }
    }

    /// Reports fields that could not be resolved.
    fn check_resolved(&mut self, record: RecId) {
        if self.records[record].faulty {
            return;
        }
        for i in 0..self.records[record].fields.len() {
            let field = self.records[record].fields[i];
            if field.kind == FieldKind::MayBeUnresolved || self.is_resolved(record, field.value) {
                continue;
            }
            let message = format!(
                "field '{}' of '{}' could not be resolved: {}",
                self.unquoted(field.name),
                self.record_name(record),
                self.text(field.value)
            );
            self.error_in(Some(record), message);
        }
    }

    /// Bits may refer to bits of the record's own fields, as instruction encodings do.
    fn is_resolved(&self, record: RecId, value: Node) -> bool {
        let Kind::Bits(bits) = self.kind(value) else { return self.is_concrete(value) };
        self.nodes.items(bits).iter().all(|&bit| match self.kind(bit) {
            Kind::Var(_) => true,
            Kind::VarBit(of, _) => {
                matches!(self.kind(of), Kind::Var(name) if self.records[record].field(name).is_some()) || self.is_concrete(bit)
            }
            _ => self.is_concrete(bit),
        })
    }
}
