//! Functions and callbacks, their parameters and results.

use tablegen::{FieldError, Record};

use super::{flag, prose, span, text};
use crate::ir::{Callback, Condition, Function, Param, Range, Return, ReturnOrigin, Type, TypeTag};

pub(super) fn callback(record: Record<'_>) -> Result<Callback, FieldError> {
    Ok(Callback {
        name: record.name().to_owned(),
        desc: prose(record, "desc")?,
        params: params(record)?,
        ret: Type::new(text(record, "return")?),
        span: span(record),
    })
}

pub(super) fn function(record: Record<'_>) -> Result<Function, FieldError> {
    Ok(Function {
        name: record.name().to_owned(),
        desc: prose(record, "desc")?,
        details: texts(record, "details")?,
        analogues: texts(record, "analogues")?,
        params: params(record)?,
        returns: returns(record)?,
        nodiscard: flag(record, "nodiscard")?,
        span: span(record),
    })
}

fn texts(record: Record<'_>, field: &str) -> Result<Vec<String>, FieldError> {
    Ok(record.strings(field)?.into_iter().map(str::to_owned).collect())
}

fn params(record: Record<'_>) -> Result<Vec<Param>, FieldError> {
    record.record_list("params")?.into_iter().map(param).collect()
}

const IN: i64 = 1;
const OUT: i64 = 2;
const OPTIONAL: i64 = 4;

fn param(record: Record<'_>) -> Result<Param, FieldError> {
    let flags = record.int("flags")?;
    let (range, tag) = (record.record("range")?, record.record("type_info")?);
    // Both halves have to be there: the classes have empty texts for parameters without.
    let pair = |of: Record<'_>, first: &str, second: &str| -> Result<Option<(String, String)>, FieldError> {
        let pair = (text(of, first)?, text(of, second)?);
        Ok((!pair.0.is_empty() && !pair.1.is_empty()).then_some(pair))
    };
    Ok(Param {
        name: text(record, "name")?,
        desc: prose(record, "desc")?,
        ty: Type::new(text(record, "type")?),
        is_in: flags & IN != 0,
        is_out: flags & OUT != 0,
        is_optional: flags & OPTIONAL != 0,
        range: pair(range, "begin", "end")?.map(|(begin, end)| Range { begin, end }),
        type_tag: pair(tag, "enum", "size")?.map(|(tag, size)| TypeTag { tag, size }),
        span: span(record),
    })
}

/// All results. Those that every function has come first, then the function's own, then those that follow from its
/// parameters.
fn returns(record: Record<'_>) -> Result<Vec<Return>, FieldError> {
    let all = record.record_list("all_returns")?;
    let (declared, with_defaults) = (record.list("returns")?.len(), record.list("returns_with_def")?.len());
    let defaults = with_defaults.saturating_sub(declared);
    let mut returns = Vec::new();
    for (i, result) in all.into_iter().enumerate() {
        returns.push(Return {
            value: text(result, "value")?,
            conditions: result.strings("conditions")?.into_iter().map(Condition::new).collect(),
            origin: match i {
                _ if i < defaults => ReturnOrigin::Default,
                _ if i < with_defaults => ReturnOrigin::Declared,
                _ => ReturnOrigin::Implied,
            },
            span: span(result),
        });
    }
    Ok(returns)
}
