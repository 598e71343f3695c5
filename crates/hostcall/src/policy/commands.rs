//! Commands of the host's shell: all of them, or none.

use hostcall_abi::Shown;

use super::denials::Denials;

/// Whether programs may have the host run commands.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    are_granted: bool,
    pub(crate) denials: Denials,
}

/// They are not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Denied;

impl Commands {
    /// Grants them.
    pub(crate) fn allow(&mut self) {
        self.are_granted = true;
    }

    /// Whether a command may be run.
    pub(crate) fn check(&self, command: &[u8]) -> Result<(), Denied> {
        if self.are_granted {
            return Ok(());
        }
        let shown = String::from_utf8_lossy(&command[..command.len().min(80)]);
        self.denials.note(format_args!("to run the command `{}`", Shown(&shown)), || "--commands".into());
        Err(Denied)
    }
}

#[test]
fn commands_are_run_if_they_are_granted_and_else_noted() {
    let mut commands = Commands::default();
    assert_eq!(commands.check(b"rm x"), Err(Denied));
    let denials = commands.denials.take();
    assert_eq!(denials[0].to_string(), "the program asked to run the command `rm x`, which is not granted: `--commands` grants it");
    commands.allow();
    assert_eq!(commands.check(b"rm x"), Ok(()));
    assert!(commands.denials.take().is_empty());
}
