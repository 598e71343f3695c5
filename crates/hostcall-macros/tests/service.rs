//! What `#[service]` produces, run on both sides: the device's stubs and the host's services against stand-ins.
#![allow(missing_docs, unreachable_pub, reason = "a test: its public items are what users write")]

mod mock;

use hostcall_abi::Callee;
use hostcall_macros::Plain;

use mock::CallError;
use mock::host::__private::{Failure, HandlerError, Invocation};

/// An error that crosses the wire.
#[derive(Clone, Copy, Debug, PartialEq, Plain)]
#[hostcall(krate = hostcall_abi)]
#[repr(C)]
pub struct Refused {
    code: u32,
}

macro_rules! definition {
    ($(#[$attribute:meta])*) => {
        use super::Refused;

        $(#[$attribute])*
        /// The services of the test.
        pub trait Host {
            /// Adds 42.
            fn add42(x: f32) -> f32;
            fn log(message: &str);
            fn fill(block: u32, out: &mut [u8]) -> Result<u32, Refused>;
            fn tick();
            fn barrier() -> ();
            fn mixed(a: u8, words: &[u64], b: (u16, bool), name: &str, c: Option<u64>) -> [u8; 5];
            fn note(value: u64, flag: bool);
            fn r#type(implementation: u32) -> u32;
        }
    };
}

mod device {
    definition!(#[hostcall_macros::service(krate = crate::mock::device)]);
}

mod shouting {
    use hostcall_macros::service;
    #[service(krate = crate::mock::device, on_error = "panic")]
    pub trait Shouting {
        fn add42(x: f32) -> f32;
        fn post(x: u32);
    }
}

mod hosting {
    definition!(#[hostcall_macros::service(krate = crate::mock::host)]);
}

use device::Host;
use mock::device::__private::{ANSWER, CALLS, Recorded};

fn recorded() -> Recorded {
    CALLS.with_borrow_mut(|calls| calls.pop().expect("a call was made"))
}

fn answer(value: Result<Vec<u32>, CallError>) {
    ANSWER.with_borrow_mut(|answer| *answer = value);
}

#[test]
fn a_fixed_call_sends_its_units_and_reads_its_result() {
    answer(Ok(vec![43.5f32.to_bits()]));
    assert_eq!(Host::add42(1.5), Ok(43.5));
    let call = recorded();
    assert_eq!((call.kind, call.units, call.reply_words), ("call_fixed", vec![1.5f32.to_bits()], 1));
}

#[test]
fn a_function_without_result_is_posted_and_one_with_unit_is_called() {
    answer(Ok(vec![]));
    assert_eq!(Host::tick(), Ok(()));
    assert_eq!(recorded().kind, "post_fixed");
    assert_eq!(Host::barrier(), Ok(()));
    assert_eq!(recorded().kind, "call_fixed");
    assert_eq!(Host::note(1 << 40, true), Ok(()));
    assert_eq!(recorded().units, [0, 256, 1]);
}

#[test]
fn variable_arguments_leave_two_units_for_the_head_and_one_for_each_length() {
    answer(Ok(vec![0x0403_0201, 5]));
    let result = Host::mixed(7, &[1, 2], (9, true), "name", Some(3));
    assert_eq!(result, Ok([1, 2, 3, 4, 5]));
    let call = recorded();
    assert_eq!(call.kind, "call_var");
    assert_eq!(call.units, [0, 0, 7, 16, 9, 1, 4, 1, 3, 0]);
    assert_eq!(call.ins, [[1u64, 2].iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>(), b"name".to_vec()]);
    assert_eq!(call.outs, 0);
}

#[test]
fn bytes_that_come_back_land_in_the_callers_slice() {
    answer(Ok(vec![1, 13]));
    let mut out = [0u8; 3];
    assert_eq!(Host::fill(1, &mut out), Ok(Err(Refused { code: 13 })));
    assert_eq!(out, [0x5a; 3]);
    assert_eq!(recorded().units, [0, 0, 1, 3]);
}

#[test]
fn a_started_call_has_the_units_of_the_blocking_one() {
    answer(Ok(vec![]));
    assert!(Host::start_add42(2.0).is_ok());
    let call = recorded();
    assert_eq!((call.kind, call.units, call.reply_words), ("start_fixed", vec![2.0f32.to_bits()], 1));
}

#[test]
fn calls_and_posts_can_go_over_a_held_port() {
    answer(Ok(vec![5.0f32.to_bits()]));
    let mut port = mock::device::__private::Port::default();
    assert_eq!(Host::add42_on(&mut port, 2.0), Ok(5.0));
    assert_eq!(recorded().units, [2.0f32.to_bits()]);
    assert_eq!(Host::tick_on(&mut port), Ok(()));
    assert_eq!((recorded().kind, port.0), ("post_fixed", 2));
}

#[test]
fn every_function_can_be_called_of_a_service_that_came_as_a_value() {
    answer(Ok(vec![5.0f32.to_bits()]));
    let signature = hosting::host::definition::add42().signature;
    assert_eq!(Host::add42_by(Callee::new(7, signature), 2.0), Ok(5.0));
    let call = recorded();
    assert_eq!(Host::add42(2.0), Ok(5.0));
    assert_eq!(call, Recorded { given: Some(7), ..recorded() }, "but for the number it is the same call");
    // Nobody's: the definition is another one.
    assert_eq!(Host::log_by(Callee::new(7, signature), "text"), Ok(()));
    let call = recorded();
    assert_eq!((call.kind, call.given), ("post_var", Some(0)));
}

#[test]
fn every_function_can_be_called_together_with_the_units_it_has_alone() {
    answer(Ok(vec![43.5f32.to_bits()]));
    assert_eq!(Host::add42_together(1.5), Ok(43.5));
    let call = recorded();
    assert_eq!((call.kind, call.units, call.reply_words), ("call_fixed_together", vec![1.5f32.to_bits()], 1));
    assert_eq!(Host::note_together(1 << 40, true), Ok(()));
    let call = recorded();
    assert_eq!((call.kind, call.units), ("post_fixed_together", vec![0, 256, 1]));
    assert_eq!(Host::log_together("text"), Ok(()));
    let call = recorded();
    assert_eq!((call.kind, call.units, call.ins), ("post_var_together", vec![0, 0, 4], vec![b"text".to_vec()]));

    answer(Ok(vec![1, 13]));
    let mut out = [0u8; 3];
    assert_eq!(Host::fill_together(1, &mut out), Ok(Err(Refused { code: 13 })));
    let call = recorded();
    assert_eq!((call.kind, call.units, out), ("call_var_together", vec![0, 0, 1, 3], [0x5a; 3]));
    answer(Ok(vec![9]));
    assert_eq!(Host::type_together(8), Ok(9));
}

#[test]
fn calls_together_can_go_over_a_held_port() {
    answer(Ok(vec![5.0f32.to_bits()]));
    let mut port = mock::device::__private::Port::default();
    assert_eq!(Host::add42_together_on(&mut port, 2.0), Ok(5.0));
    assert_eq!(recorded().kind, "call_fixed_together");
    assert_eq!(Host::tick_together_on(&mut port), Ok(()));
    assert_eq!((recorded().kind, port.0), ("post_fixed_together", 2));
}

#[test]
fn a_failed_call_is_an_error_of_the_stub() {
    answer(Err(CallError::UnknownService));
    assert_eq!(Host::log("x"), Err(CallError::UnknownService));
    assert_eq!(Host::add42(1.0), Err(CallError::UnknownService));
}

#[test]
#[should_panic(expected = "Shouting::add42: the server is gone")]
fn with_on_error_panic_a_failed_call_panics_with_name_and_reason() {
    answer(Err(CallError::ServerGone));
    shouting::Shouting::add42(1.0);
}

#[test]
fn with_on_error_panic_stubs_return_the_bare_result() {
    answer(Ok(vec![7.0f32.to_bits()]));
    let result: f32 = shouting::Shouting::add42(1.0);
    assert_eq!(result, 7.0);
    shouting::Shouting::post(4);
    assert_eq!(recorded().units, [4]);
}

#[test]
fn each_function_has_its_own_service_word_under_its_wire_name() {
    unsafe extern "C" {
        static __HOSTCALL__Host__add42: u32;
        static __HOSTCALL__Host__type: u32;
    }
    answer(Ok(vec![0]));
    let _ = Host::add42(0.0);
    assert_eq!(recorded().word, &raw const __HOSTCALL__Host__add42 as usize);
    let _ = Host::r#type(0);
    assert_eq!(recorded().word, &raw const __HOSTCALL__Host__type as usize);
}

fn invoke(service: &mock::host::__private::Service, units: &[u32], vars: &[&[u8]]) -> Result<(Vec<u32>, Vec<Vec<u8>>), Failure> {
    let mut call = Invocation { units, vars, reply: None };
    (service.handler)(&mut call)?;
    assert!(call.units.is_empty() && call.vars.is_empty(), "each argument is decoded exactly once");
    Ok(call.reply.expect("a handler that succeeds has replied"))
}

#[test]
fn a_closure_for_a_whole_message_becomes_a_service() {
    let service = hosting::host::add42_batch(|calls| {
        let (x,) = calls.arguments.take().expect("one lane's");
        calls.result = Some(x + 42.0);
    });
    assert_eq!(invoke(&service, &[1.0f32.to_bits()], &[]), Ok((vec![43.0f32.to_bits()], vec![])));
    let tick = hosting::host::tick_batch(|calls| calls.result = calls.arguments.take());
    assert_eq!(invoke(&tick, &[], &[]), Ok((vec![], vec![])));
    assert_eq!(tick.definition.name, hosting::host::definition::tick().name);
}

#[test]
fn bytes_come_back_through_a_writer() {
    let service = hosting::host::fill_out(|block, out| {
        out.write(&[block as u8; 2]);
        Ok(out.len() as u32)
    });
    assert_eq!(invoke(&service, &[7, 3], &[]), Ok((vec![0, 3], vec![vec![7, 7]])));
}

#[test]
fn a_closure_becomes_a_service() {
    let service = hosting::host::add42(|x| x + 42.0);
    assert_eq!(service.definition.name, "Host__add42");
    assert_eq!((service.definition.takes_var, service.definition.units, service.definition.reply_dwords), (false, 1, Some(1)));
    let mixed = hosting::host::mixed(|_, _, _, _, _| [0; 5]);
    assert_eq!((mixed.definition.takes_var, mixed.definition.units), (true, 10));
    assert_eq!(invoke(&service, &[1.0f32.to_bits()], &[]), Ok((vec![43.0f32.to_bits()], vec![])));
    assert_eq!(hosting::host::tick(|| ()).definition.reply_dwords, None);
    assert_eq!(hosting::host::barrier(|| ()).definition.reply_dwords, Some(0));
}

#[test]
fn a_handlers_error_is_not_a_reply() {
    let service = hosting::host::add42(|x| if x > 0.0 { Ok(x) } else { Err(HandlerError("negative".into())) });
    assert_eq!(invoke(&service, &[(-1.0f32).to_bits()], &[]), Err(Failure::Handler("negative".into())));
    assert!(invoke(&service, &[1.0f32.to_bits()], &[]).is_ok());
}

#[test]
fn arguments_arrive_in_order_and_slices_go_back() {
    let service = hosting::host::mixed(|a, words, b, name, c| {
        assert_eq!((a, words, b, name, c), (7, &[1, 2][..], (9, true), "name", Some(3)));
        [1, 2, 3, 4, 5]
    });
    let words: Vec<u8> = [1u64, 2].iter().flat_map(|word| word.to_le_bytes()).collect();
    let reply = invoke(&service, &[7, 16, 9, 1, 4, 1, 3, 0], &[&words, b"name"]);
    assert_eq!(reply, Ok((vec![0x0403_0201, 5], vec![])));

    let service = hosting::host::fill(|block, out| {
        out.fill(block as u8);
        Ok::<_, Refused>(out.len() as u32)
    });
    assert_eq!(invoke(&service, &[6, 3], &[]), Ok((vec![0, 3], vec![vec![6; 3]])));
}

#[test]
fn bad_arguments_do_not_reach_the_handler() {
    fn log(_: &str) {
        panic!("must not be called");
    }
    fn note(_: u64, _: bool) {
        panic!("must not be called");
    }
    let service = hosting::host::log(log);
    assert_eq!(invoke(&service, &[1], &[b"\xff"]), Err(Failure::Decode(hostcall_abi::codec::DecodeError::Utf8)));
    let service = hosting::host::note(note);
    assert_eq!(invoke(&service, &[0, 0, 2], &[]), Err(Failure::Decode(hostcall_abi::codec::DecodeError::Value(2))));
}

#[test]
fn an_implementation_registers_all_its_functions() {
    struct Implementation(u32);
    impl hosting::Host for Implementation {
        fn add42(&self, x: f32) -> f32 {
            x + 42.0
        }
        fn log(&self, message: &str) {
            assert_eq!(message, "hello");
        }
        fn fill(&self, _block: u32, _out: &mut [u8]) -> Result<u32, Refused> {
            Err(Refused { code: self.0 })
        }
        fn tick(&self) {}
        fn barrier(&self) {}
        fn mixed(&self, _a: u8, _words: &[u64], _b: (u16, bool), _name: &str, _c: Option<u64>) -> [u8; 5] {
            [0; 5]
        }
        fn note(&self, _value: u64, _flag: bool) {}
        fn r#type(&self, implementation: u32) -> u32 {
            implementation
        }
    }
    let services = hosting::host::all(Implementation(99));
    let names: Vec<_> = services.iter().map(|service| &*service.definition.name).collect();
    assert_eq!(names, ["Host__add42", "Host__log", "Host__fill", "Host__tick", "Host__barrier", "Host__mixed", "Host__note", "Host__type"]);
    assert_eq!(invoke(&services[2], &[0, 4], &[]), Ok((vec![1, 99], vec![vec![0; 4]])));
    assert_eq!(invoke(&services[1], &[5], &[b"hello"]), Ok((vec![], vec![])));
}

#[test]
fn an_async_closure_gets_owned_arguments() {
    let service = hosting::host::mixed_async(|_, words: Vec<u64>, _, name: String, _| async move {
        assert_eq!((words, name), (vec![1], String::from("n")));
        Ok::<[u8; 5], HandlerError>([9; 5])
    });
    let reply = invoke(&service, &[7, 8, 9, 1, 1, 0, 0, 0], &[&1u64.to_le_bytes(), b"n"]);
    assert_eq!(reply, Ok((vec![0x0909_0909, 9], vec![])));
}

#[test]
fn a_deferred_closure_gets_owned_arguments_and_a_token_for_its_result() {
    let service = hosting::host::mixed_deferred(|a, words: Vec<u64>, _, name: String, _, done| {
        assert_eq!((words, name), (vec![1], String::from("n")));
        done.reply([a; 5]);
    });
    let units = [7, 8, 9, 1, 1, 0, 0, 0];
    assert_eq!(invoke(&service, &units, &[&1u64.to_le_bytes(), b"n"]), Ok((vec![0x0707_0707, 7], vec![])));
    // What cannot be decoded fails before the closure is run.
    assert!(matches!(invoke(&service, &units, &[&1u64.to_le_bytes(), b"\xff"]), Err(Failure::Decode(_))));
    let posted = hosting::host::note_deferred(|value: u64, flag: bool, done| {
        assert_eq!((value, flag), (5, true));
        done.reply(());
    });
    assert_eq!(invoke(&posted, &[5, 0, 1], &[]), Ok((vec![], vec![])));
}

#[test]
fn both_sides_say_a_definition_in_words() {
    unsafe extern "C" {
        static __HOSTCALL_SIGNATURE__Host__mixed: hostcall_abi::descriptor::SignatureWord<64>;
    }
    let written = "fn(u8, &[u64], (u16, bool), &str, Option<u64>) -> [u8; 5]";
    // SAFETY: a static of `device::Host`, of this type, never written.
    let device = unsafe { &__HOSTCALL_SIGNATURE__Host__mixed };
    assert_eq!(hostcall_abi::failure::text(&device.text), written);
    let service = hosting::host::mixed(|_, _: &[u64], _, _: &str, _| [0; 5]);
    assert_eq!((&*service.definition.text, service.definition.signature), (written, device.hash));
    let fill = hosting::host::fill(|_, _: &mut [u8]| Ok::<u32, Refused>(1));
    assert_eq!(fill.definition.text, "fn(u32, &mut [u8]) -> Result<u32, Refused>");
    assert_eq!(hosting::host::tick(|| ()).definition.text, "fn()");
}

#[test]
fn both_sides_compute_the_same_signature_and_different_definitions_differ() {
    unsafe extern "C" {
        static __HOSTCALL_SIGNATURE__Host__add42: u64;
        static __HOSTCALL_SIGNATURE__Host__fill: u64;
        static __HOSTCALL_SIGNATURE__Host__tick: u64;
        static __HOSTCALL_SIGNATURE__Host__barrier: u64;
    }
    // SAFETY: the statics of `device::Host`, of these types, never written.
    let device = unsafe {
        [
            __HOSTCALL_SIGNATURE__Host__add42,
            __HOSTCALL_SIGNATURE__Host__fill,
            __HOSTCALL_SIGNATURE__Host__tick,
            __HOSTCALL_SIGNATURE__Host__barrier,
        ]
    };
    let host = [
        hosting::host::add42(|x| x).definition.signature,
        hosting::host::fill(|_, _| Ok(0)).definition.signature,
        hosting::host::tick(|| ()).definition.signature,
        hosting::host::barrier(|| ()).definition.signature,
    ];
    assert_eq!(device, host);
    assert_ne!(host[2], host[3], "a posted function and one that is waited for are different services");
}
