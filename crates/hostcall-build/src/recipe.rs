//! What the steps after cargo are, as the text of their sources: part of the keys of what is kept, so that no version
//! of this crate finds what another made.

use crate::parts;
use crate::stdlib::shorten;

/// All steps from bitcode to an image.
pub(crate) fn images() -> &'static [u8] {
    concat!(
        include_str!("amdgpu.rs"),
        include_str!("atomics.rs"),
        include_str!("bitcode.rs"),
        include_str!("constructors.rs"),
        include_str!("copies.rs"),
        include_str!("flags.rs"),
        include_str!("gpu.rs"),
        include_str!("lanes.rs"),
        include_str!("module.rs"),
        include_str!("nvptx.rs"),
        include_str!("panics.rs"),
        include_str!("statics.rs"),
        include_str!("shared_stacks/cycles.rs"),
        include_str!("shared_stacks/further.rs"),
        include_str!("shared_stacks/layout.rs"),
        include_str!("shared_stacks/mod.rs"),
        include_str!("shared_stacks/stack.ll"),
        include_str!("shared_stacks/nvptx.ll"),
        include_str!("shared_stacks/amdgpu.ll"),
        include_str!("shared_stacks/generic.rs"),
        include_str!("stdlib/math.rs"),
        include_str!("symbols.rs"),
        include_str!("words.rs")
    )
    .as_bytes()
}

/// The steps that make the runtime, and those of the linker of programs with std, besides.
pub(crate) fn links() -> String {
    let own = [
        include_str!("stdlib/linker.rs"),
        include_str!("stdlib/runtime.rs"),
        include_str!("stdlib/variadic.rs"),
        include_str!("stdlib/c/computed.rs"),
        include_str!("stdlib/c/files.rs"),
        include_str!("stdlib/c/library.rs"),
        include_str!("stdlib/c/sources/support.c"),
    ];
    let probe = [include_str!("instrument.rs"), include_str!("probe.rs"), include_str!("../probe/probe.cpp")];
    own.concat() + &probe.concat() + shorten::recipe() + parts::recipe()
}

/// The steps besides that make a part of a program.
pub(crate) fn parts() -> String {
    [parts::recipe(), shorten::recipe()].concat()
}
