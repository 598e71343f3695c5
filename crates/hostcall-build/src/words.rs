//! Words of services that a program cannot call.
//!
//! A service has a word for its number and one for its signature, which the host finds by name and so must stay
//! visible. Nothing but the calls refers to the first: a service whose word only its definition names is never called,
//! and the host neither numbers nor checks what it does not find. A program that prints needs a dozen of the runtime's
//! fifty services. Streams are alike: a word for the number, which those that send read, and one for the definition.

use std::collections::HashSet;

/// Of services and of streams: what a number's word is called before its name, and what the definition's.
const WORDS: [(&str, &str); 2] = [("__HOSTCALL__", "__HOSTCALL_SIGNATURE__"), ("__HOSTCALL_STREAM__", "__HOSTCALL_SCHEMA__")];

/// The module (as text, of which all is reached) without the words of services that are not called and of streams that
/// are not sent.
pub(crate) fn without_unused(module: &str) -> String {
    let (mut defined, mut mentioned) = (HashSet::new(), HashSet::new());
    for line in module.lines() {
        let names = if is_list(line) { "" } else { line };
        let own = line.strip_prefix('@').map(name);
        defined.extend(own);
        // The line's own name is none that it mentions.
        mentioned.extend(names.match_indices("@__HOSTCALL_").filter(|(at, _)| *at > 0).map(|(at, _)| name(&names[at + 1..])));
    }
    let unused = |name: &str| {
        WORDS.iter().any(|(number, definition)| {
            let service = name.strip_prefix(number).or_else(|| name.strip_prefix(definition));
            service.is_some_and(|service| {
                let number = format!("{number}{service}");
                defined.contains(&*number) && !mentioned.contains(&*number) && !mentioned.contains(name)
            })
        })
    };
    let mut out = String::with_capacity(module.len());
    for line in module.split_inclusive('\n') {
        if is_list(line) {
            out.push_str(&shorter(line, unused).unwrap_or_else(|| line.to_owned()));
        } else if !line.strip_prefix('@').map(name).is_some_and(unused) {
            out.push_str(line);
        }
    }
    out
}

/// Whether the line is LLVM's list of what is to be kept.
fn is_list(line: &str) -> bool {
    line.starts_with("@llvm.used = ") || line.starts_with("@llvm.compiler.used = ")
}

/// The symbol that `text` begins with.
fn name(text: &str) -> &str {
    &text[..text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_$.".contains(byte)).count()]
}

/// `@llvm.used = appending global [2 x ptr] [ptr @a, ptr @b], section …` without those that are not used; nothing if
/// none is left.
fn shorter(line: &str, unused: impl Fn(&str) -> bool) -> Option<String> {
    let (before, rest) = line.split_once(" [")?;
    let (kind, rest) = rest.split_once("] [")?;
    let (_, kind) = kind.split_once(" x ")?;
    let (list, after) = rest.split_once(']')?;
    let used: Vec<&str> = list.split(", ").filter(|entry| !entry.rsplit_once('@').is_some_and(|(_, rest)| unused(name(rest)))).collect();
    Some(if used.is_empty() { String::new() } else { format!("{before} [{} x {kind}] [{}]{after}", used.len(), used.join(", ")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLED: &str =
        "@__HOSTCALL__Host__f = global [4 x i8] zeroinitializer, align 4\n@__HOSTCALL_SIGNATURE__Host__f = constant i64 5, align 8\n";
    const OTHERS: &str =
        "@__HOSTCALL__Host__f2 = global [4 x i8] zeroinitializer, align 4\n@__HOSTCALL_SIGNATURE__Host__f2 = constant i64 5, align 8\n";
    const REST: &str = "@__HOSTCALL_KERNEL__k = global [128 x i8] zeroinitializer\n@__hostcall_abi = global i32 1\n\
                        define void @k() {\n  %1 = load i32, ptr @__HOSTCALL__Host__f, align 4\n}\n";

    #[test]
    fn a_service_that_is_not_called_has_neither_word_and_one_that_is_has_both() {
        let list = "@llvm.used = appending global [5 x ptr] [ptr @__HOSTCALL_KERNEL__k, ptr @__HOSTCALL_SIGNATURE__Host__f, ptr @__HOSTCALL__Host__f, \
                    ptr @__HOSTCALL_SIGNATURE__Host__f2, ptr addrspacecast (ptr addrspace(1) @__HOSTCALL__Host__f2 to ptr)], section \"llvm.metadata\"\n";
        let kept = "@llvm.used = appending global [3 x ptr] [ptr @__HOSTCALL_KERNEL__k, ptr @__HOSTCALL_SIGNATURE__Host__f, ptr @__HOSTCALL__Host__f], \
                    section \"llvm.metadata\"\n";
        assert_eq!(without_unused(&format!("{list}{CALLED}{OTHERS}{REST}")), format!("{kept}{CALLED}{REST}"));
        // Its own list goes with the last of it.
        let only = "@llvm.compiler.used = appending global [1 x ptr] [ptr @__HOSTCALL__Host__f2], section \"llvm.metadata\"\n";
        assert_eq!(without_unused(&format!("{only}{CALLED}{OTHERS}{REST}")), format!("{CALLED}{REST}"));
    }

    #[test]
    fn a_stream_that_is_not_sent_has_neither_word_and_one_that_is_has_both() {
        let stream = |name: &str| {
            format!("@__HOSTCALL_STREAM__{name} = global [4 x i8] zeroinitializer\n@__HOSTCALL_SCHEMA__{name} = constant i64 5\n")
        };
        let (sent, other) = (stream("Loss"), stream("Access"));
        let reads = "define i32 @sends() {\n  %1 = load i32, ptr @__HOSTCALL_STREAM__Loss\n}\n";
        assert_eq!(without_unused(&format!("{sent}{other}{REST}{reads}")), format!("{sent}{REST}{reads}"));
    }

    #[test]
    fn a_word_in_a_table_is_used_and_so_is_a_signature_that_is_read() {
        let table = "@table = constant [1 x ptr] [ptr @__HOSTCALL__Host__f2]\n";
        let module = format!("{CALLED}{OTHERS}{table}{REST}");
        assert_eq!(without_unused(&module), module);
        let reads = "define i64 @reads() {\n  %1 = load i64, ptr @__HOSTCALL_SIGNATURE__Host__f2\n}\n";
        let signature = OTHERS.lines().nth(1).expect("the second");
        assert_eq!(without_unused(&format!("{CALLED}{OTHERS}{REST}{reads}")), format!("{CALLED}{signature}\n{REST}{reads}"));
        // Not a service's.
        let alone = "@__HOSTCALL_SIGNATURE__Host__gone = constant i64 5\n";
        assert_eq!(without_unused(alone), alone);
    }
}
