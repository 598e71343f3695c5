//! What kernels may touch: `OFFLOAD_GRANT`.
//!
//! Nothing is granted by default but printing and the clock. The variable is a list of words separated by `;`, each
//! `dir=HOST[::GUEST][:ro]`, `env=NAME`, `arg=TEXT`, `net=PLACE` or `commands`, in the forms that `cargo hostcall run`
//! takes.

use hostcall::{DirGrant, NetGrant, ServerBuilder};

/// Grants what a value of `OFFLOAD_GRANT` says.
pub(crate) fn grant(mut server: ServerBuilder, value: &str) -> Result<ServerBuilder, String> {
    for word in value.split(';').map(str::trim).filter(|word| !word.is_empty()) {
        let bad = |reason: &dyn std::fmt::Display| format!("OFFLOAD_GRANT, at `{word}`: {reason}");
        server = match word.split_once('=') {
            Some(("dir", grant)) => {
                let grant: DirGrant = grant.parse().map_err(|error| bad(&error))?;
                server.grant(&grant).map_err(|error| bad(&error))?
            }
            Some(("env", name)) => {
                let value = std::env::var(name).map_err(|error| bad(&error))?;
                server.env(name, value)
            }
            Some(("arg", text)) => server.arg(text),
            Some(("net", place)) => {
                let place: NetGrant = place.parse().map_err(|error| bad(&error))?;
                server.net_allow(place)
            }
            None if word == "commands" => server.commands(),
            _ => return Err(bad(&"write dir=HOST[::GUEST][:ro], env=NAME, arg=TEXT, net=PLACE or commands")),
        };
    }
    Ok(server)
}
