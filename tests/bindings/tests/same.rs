//! What is read from a file is what the macros make of it, for every service of the repository and for odd types.
#![allow(missing_docs, reason = "a test")]

use std::collections::BTreeMap;
use std::mem::{align_of, offset_of, size_of};

use hostcall::Definition;
use hostcall_abi::stream::{Message, Policy};
use hostcall_idl::files::{Source, parse, parse_with_streams};
use hostcall_idl::model::Interface;

#[allow(
    dead_code,
    unused_parens,
    non_snake_case,
    unreachable_pub,
    clippy::type_complexity,
    reason = "only the definitions are used, and they are odd on purpose"
)]
mod odd;

#[allow(dead_code, unreachable_pub, reason = "only the definitions are used")]
mod built_in {
    hostcall_abi::builtin_services!(hostcall::service(side = "host"));
    hostcall_abi::std_services!(hostcall::service(side = "host"));
}

fn read(name: &str, text: &str) -> Interface {
    parse(&[Source { name, text }]).unwrap_or_else(|errors| panic!("{errors}"))
}

/// What is read, as the host's type.
fn definitions(interface: &Interface) -> BTreeMap<String, Definition> {
    let functions = interface.services.iter().flat_map(|service| &service.functions);
    functions
        .map(|function| {
            let definition = Definition {
                name: function.wire_name.clone().into(),
                signature: function.signature,
                text: function.text.clone().into(),
                takes_var: function.takes_var(),
                units: function.units(),
                reply_dwords: function.reply_units(),
            };
            (function.wire_name.clone(), definition)
        })
        .collect()
}

/// Compares all definitions of a file with those of modules that the macros made.
macro_rules! same {
    ($file:literal: $($krate:ident::$module:ident { $($function:ident)* })*) => {{
        let read = definitions(&read($file, include_str!($file)));
        let made: Vec<Definition> = vec![$( $($krate::$module::definition::$function()),* ),*];
        let made: BTreeMap<String, Definition> = made.into_iter().map(|definition| (definition.name.to_string(), definition)).collect();
        assert_eq!(read.keys().collect::<Vec<_>>(), made.keys().collect::<Vec<_>>(), "{}: a function is not in the test, or was not read", $file);
        for (name, made) in made {
            assert_eq!(read[&name], made, "{}", $file);
        }
    }};
}

#[test]
fn the_services_of_kernels() {
    same!("../../../examples/add42/services/src/lib.rs": add42_services::host { add42 log });
    same!("../../../bench/services/src/lib.rs": bench_services::bench { exchange note take give });
    same!("../../../crates/hostcall-demo/src/lib.rs": hostcall_demo::progress { read counted written } hostcall_demo::texts { begin read_at });
    same!("../../behaviours/services/src/lib.rs":
        behaviours_services::typed {
            nothing add42 sum scale swap mixed lookup large measure fill echo note log nap picky fragile
        }
        behaviours_services::nobody { home }
        behaviours_services::strict { strict_add }
        behaviours_services::tally { tick }
        behaviours_services::together { none one two sixteen thirty note say turn take picky }
        behaviours_services::second { triple }
        behaviours_services::late { come }
        behaviours_services::gate { held_back may_go here }
        behaviours_services::stress { count sum turn post post_sum }
        behaviours_services::soak { mark wide bulk text post fail }
    );
}

/// What both sides must know of a stream: signature, bytes, policy, and name, type, place and size of each field.
type Messages = (u64, usize, Policy, Vec<(String, String, usize, usize)>);

fn made<M: Message>() -> (String, Messages) {
    let fields = M::FIELDS.iter().map(|field| (field.name.into(), field.ty.into(), field.offset, field.bytes));
    (M::NAME.into(), (M::SIGNATURE, size_of::<M>(), M::POLICY, fields.collect()))
}

#[test]
fn the_streams_of_kernels() {
    let compare = |name: &str, text: &str, made: &[(String, Messages)], others: &[&str]| {
        let interface = parse_with_streams(&[Source { name, text }]).unwrap_or_else(|errors| panic!("{errors}"));
        let read = interface.streams.iter().map(|stream| {
            let fields = stream.structure.fields.iter().zip(&stream.fields);
            let fields = fields.map(|(field, [name, ty])| (name.clone(), ty.clone(), field.offset, field.ty.bytes().unwrap()));
            (stream.structure.name.clone(), (stream.signature, stream.structure.bytes, stream.policy, fields.collect()))
        });
        let of_bytes = interface.byte_streams.iter().map(|stream| {
            let field = ("value".to_owned(), if stream.is_text { "str" } else { "[u8]" }.to_owned(), 0, 0);
            (stream.name.clone(), (stream.signature, 0, stream.policy, vec![field]))
        });
        assert_eq!(read.chain(of_bytes).collect::<BTreeMap<_, Messages>>(), made.iter().cloned().collect(), "{name}");
        assert_eq!(interface.other_streams.iter().map(|(name, _)| name).collect::<Vec<_>>(), others, "{name}");
    };
    let text = include_str!("../../../bench/services/src/lib.rs");
    compare(
        "bench-services",
        text,
        &[made::<bench_services::Message4>(), made::<bench_services::Message8>(), made::<bench_services::Message16>()],
        &[],
    );
    use behaviours_services::{Big, Frame, Mixed, Note, Numbered, Patient, Sampled, Tiny};
    let text = include_str!("../../behaviours/services/src/lib.rs");
    let all = [made::<Tiny>(), made::<Patient>(), made::<Sampled>(), made::<Numbered>(), made::<Mixed>(), made::<Big>()];
    let all = [all.as_slice(), &[made::<Frame>(), made::<Note>()]].concat();
    compare("behaviours-services", text, &all, &["Flown"]);
}

#[test]
fn every_crate_of_services_is_compared() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listed =
        std::process::Command::new("git").args(["ls-files", "*services/Cargo.toml"]).current_dir(root).output().expect("git starts");
    let listed = String::from_utf8(listed.stdout).expect("names are text");
    let all = ["bench", "examples/add42", "tests/behaviours"].map(|place| format!("{place}/services/Cargo.toml"));
    assert_eq!(listed.lines().collect::<Vec<_>>(), all, "compare the new ones too");
}

#[test]
fn the_built_in_services() {
    same!("../../../crates/hostcall-abi/src/services.rs":
        built_in::console { print print_piece format }
        built_in::files {
            open close read read_at write write_at seek set_len sync stat stat_path remove_file remove_dir rename create_dir open_dir next_entry
        }
        built_in::clock { system_time }
        built_in::environment { arg_count arg var }
        built_in::process { asserted panicked failed exit abort }
        built_in::llvm_rpc { packet pair exchange close }
    );
    same!("../../../crates/hostcall-abi/src/std_services.rs":
        built_in::std_system { stdin write flush entropy variable error_text identity start input stream rest terminal }
        built_in::std_files {
            stat stat_path open list rewind duplicate make_dir make_fifo link symlink read_link rename set_mode set_mode_path set_owner set_owner_path
            set_times set_times_path set_len_path allocate sync_data access space space_path lock copy canonicalize
            watcher watch unwatch
        }
        built_in::std_net {
            socket bind listen connect accept receive send name shutdown option set_option membership resolve wait poll poll_any poll_now
        }
        built_in::std_watch { alarm ring set change wait }
    );
}

#[test]
fn services_of_odd_types() {
    same!("odd/mod.rs":
        odd::odd {
            nothing barrier numbers checked units tuples options results structs lengths slices say r#type operator Odd
        }
        odd::shouting { add post }
    );
}

/// Size, alignment, and where each field is.
macro_rules! layout {
    ($structure:ty: $($field:tt $name:literal),*) => {
        (size_of::<$structure>(), align_of::<$structure>(), vec![$(($name.to_owned(), offset_of!($structure, $field))),*])
    };
}

#[test]
fn layouts_are_the_compilers() {
    let read = read("odd/mod.rs", include_str!("odd/mod.rs"));
    let layout = |name: &str| {
        let structure = read.structures.iter().find(|structure| structure.name == name).expect("it is used");
        let fields = structure.fields.iter().map(|field| (field.name.clone(), field.offset)).collect::<Vec<_>>();
        (structure.bytes, structure.align, fields)
    };
    assert_eq!(layout("Wide"), layout!(odd::Wide: wide "wide", ids "ids", place "place", class "class", r#type "type", rest "rest"));
    assert_eq!(layout("Id"), layout!(odd::parts::Id: 0 "_0"));
    assert_eq!(layout("Packed"), layout!(odd::Packed: kind "kind", value "value"));
    assert_eq!(layout("Aligned"), layout!(odd::Aligned: lanes "lanes"));
    assert_eq!(layout("Loss"), layout!(odd::Loss: step "step", value "value"));
    assert_eq!(read.structures.len(), 5, "the others are above");
}

#[test]
fn a_definition_by_its_text_has_the_same_signature() {
    let read = read("odd/mod.rs", include_str!("odd/mod.rs"));
    let function = read.services[0].functions.iter().find(|function| function.name == "tuples").expect("it is there");
    let built = Definition::builder(&function.wire_name).argument("(u8,)").argument("(u8, (u16, [u32; 2]), bool, char, i8, i16, i32, i64)");
    let built = built.result("((u8,), [[u8; 2]; 3])").build().expect("it can be");
    assert_eq!((built.signature, built.units, built.reply_dwords), (function.signature, function.units(), function.reply_units()));
}
