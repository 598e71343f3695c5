//! Results: their codes exist, and conditions that are code can be evaluated without dividing by zero or reading
//! through null.

use super::{Findings, Lint, nearest};
use crate::condition::{Scope, plan};
use crate::ir::{Api, Function, ReturnOrigin};

pub(super) fn check(api: &Api, findings: &mut Findings) {
    let errors = format!("{}_errc_t", api.prefix.to_lowercase());
    let codes: Vec<&str> =
        api.enums.iter().filter(|object| object.name == errors).flat_map(|object| &object.etors).map(|etor| etor.c_name.as_str()).collect();
    let success = format!("{}_SUCCESS", api.prefix);
    for function in &api.functions {
        for result in &function.returns {
            if codes.contains(&result.value.as_str()) && !result.value.ends_with("_ERRC_SUCCESS") || result.value == success {
                continue;
            }
            let who = match result.origin {
                ReturnOrigin::Default => "every function".to_owned(),
                _ => format!("`{}`", function.name),
            };
            let fix = if result.value.ends_with("_SUCCESS") {
                format!("success is `{success}`")
            } else {
                let known = nearest(&result.value, codes.iter().copied());
                known.map_or_else(|| format!("use an enumerator of `{errors}`, or add one"), |known| format!("did you mean `{known}`?"))
            };
            let message = format!("`{}`, which {who} may return, is not an error code", result.value);
            findings.add(Lint::UnknownReturnCode, result.span.as_ref().or(function.span.as_ref()), message, fix);
        }
        conditions(api, function, findings);
    }
}

fn conditions(api: &Api, function: &Function, findings: &mut Findings) {
    for problem in plan(Scope { api, function }).problems {
        let span = problem.ret.span.as_ref().or(function.span.as_ref());
        let (lint, fix) = if problem.is_fatal {
            (Lint::InvalidCondition, "write an expression over the parameters, or prose without backticks around it")
        } else {
            (Lint::UnguardedCondition, "conditions are checked in their order, those that others rely on first")
        };
        findings.add(lint, span, format!("the condition {} of `{}`: {}", problem.condition.text, function.name, problem.message), fix);
    }
}
