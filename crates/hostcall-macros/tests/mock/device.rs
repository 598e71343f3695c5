//! The device face: calls are recorded, and answered with what the test put in place.

pub use hostcall_abi::Plain;

pub mod __private {
    pub use hostcall_abi as abi;
    use hostcall_abi::CallError;
    use hostcall_abi::codec::Fixed;
    use std::cell::RefCell;
    use std::marker::PhantomData;

    macro_rules! if_device {
        ($($tokens:tt)*) => { $($tokens)* };
    }
    macro_rules! if_host {
        ($($tokens:tt)*) => {};
    }
    pub(crate) use {if_device, if_host};

    /// A kernel's error, which the device's library reports and this one panics with.
    pub struct Failed<E>(E);

    pub fn failed<E: std::fmt::Debug>(error: E) -> Failed<E> {
        Failed(error)
    }

    pub fn call_failed(error: CallError, site: &'static abi::failure::FailureSite) -> ! {
        panic!("{}: {error}", site.what)
    }

    pub trait Fails {
        fn end(self, site: &'static abi::failure::FailureSite) -> !;
    }

    impl<E: std::fmt::Debug> Fails for Failed<E> {
        fn end(self, site: &'static abi::failure::FailureSite) -> ! {
            panic!("{}: {:?}", site.what, self.0)
        }
    }

    pub struct ServiceWord(pub u32);
    impl ServiceWord {
        pub const fn new() -> Self {
            Self(0)
        }
    }

    /// A held port: how many calls went over it.
    #[derive(Default)]
    pub struct Port(pub u32);

    pub fn call_fixed_on<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
        port: &mut Port,
        word: &ServiceWord,
        units: &[u32; UNITS],
    ) -> Result<R, CallError> {
        port.0 += 1;
        call_fixed::<R, UNITS, REPLY_WORDS>(word, units)
    }

    pub fn post_fixed_on<const UNITS: usize>(port: &mut Port, word: &ServiceWord, units: &[u32; UNITS]) -> Result<(), CallError> {
        port.0 += 1;
        post_fixed(word, units)
    }

    pub trait Pending<R> {}
    pub struct Started<R>(pub PhantomData<R>);
    impl<R> Pending<R> for Started<R> {}

    /// What one call was given.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Recorded {
        pub kind: &'static str,
        pub word: usize,
        pub given: Option<u32>,
        pub units: Vec<u32>,
        pub reply_words: usize,
        pub ins: Vec<Vec<u8>>,
        pub outs: usize,
    }

    thread_local! {
        pub static CALLS: RefCell<Vec<Recorded>> = const { RefCell::new(Vec::new()) };
        pub static ANSWER: RefCell<Result<Vec<u32>, CallError>> = const { RefCell::new(Ok(Vec::new())) };
        pub static ENTERED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }

    fn record(call: Recorded) -> Result<Vec<u32>, CallError> {
        CALLS.with_borrow_mut(|calls| calls.push(call));
        ANSWER.with_borrow(Clone::clone)
    }

    /// Which service is called.
    pub trait Called: Copy {
        fn place(self) -> usize;
        /// The number that came as a value.
        fn number(self) -> Option<u32> {
            None
        }
    }

    impl Called for &ServiceWord {
        fn place(self) -> usize {
            std::ptr::from_ref(self) as usize
        }
    }

    #[derive(Clone, Copy)]
    pub struct Given {
        word: &'static ServiceWord,
        number: u32,
    }

    impl Given {
        pub fn new(word: &'static ServiceWord, signature: u64, callee: abi::Callee) -> Self {
            Self { word, number: callee.number(signature) }
        }
    }

    impl Called for Given {
        fn place(self) -> usize {
            self.word.place()
        }

        fn number(self) -> Option<u32> {
            Some(self.number)
        }
    }

    pub fn call_fixed<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
        word: impl Called,
        units: &[u32; UNITS],
    ) -> Result<R, CallError> {
        let call = Recorded {
            kind: "call_fixed",
            word: word.place(),
            given: word.number(),
            units: units.to_vec(),
            reply_words: REPLY_WORDS,
            ..Default::default()
        };
        record(call).map(|answer| R::get(&answer).unwrap())
    }

    pub fn post_fixed<const UNITS: usize>(word: impl Called, units: &[u32; UNITS]) -> Result<(), CallError> {
        record(Recorded { kind: "post_fixed", word: word.place(), given: word.number(), units: units.to_vec(), ..Default::default() })
            .map(drop)
    }

    pub fn start_fixed<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
        word: &ServiceWord,
        units: &[u32; UNITS],
    ) -> Result<Started<R>, CallError> {
        let call = Recorded {
            kind: "start_fixed",
            word: word.place(),
            given: word.number(),
            units: units.to_vec(),
            reply_words: REPLY_WORDS,
            ..Default::default()
        };
        record(call).map(|_| Started(PhantomData))
    }

    pub fn call_var<R: Fixed, const UNITS: usize>(
        word: impl Called,
        fixed: &mut [u32; UNITS],
        ins: &[&[u8]],
        outs: &mut [&mut [u8]],
        returned: &mut [u32],
    ) -> Result<R, CallError> {
        assert_eq!(outs.len(), returned.len());
        for out in &mut *outs {
            out.fill(0x5a);
        }
        let call = Recorded {
            kind: "call_var",
            word: word.place(),
            given: word.number(),
            units: fixed.to_vec(),
            ins: ins.iter().map(|bytes| bytes.to_vec()).collect(),
            outs: outs.len(),
            ..Default::default()
        };
        record(call).map(|answer| R::get(&answer).unwrap())
    }

    pub fn post_var<const UNITS: usize>(word: impl Called, fixed: &mut [u32; UNITS], ins: &[&[u8]]) -> Result<(), CallError> {
        let ins = ins.iter().map(|bytes| bytes.to_vec()).collect();
        record(Recorded { kind: "post_var", word: word.place(), given: word.number(), units: fixed.to_vec(), ins, ..Default::default() })
            .map(drop)
    }

    /// A call is the same whoever makes it: only its kind says who did.
    fn together(kind: &'static str) {
        CALLS.with_borrow_mut(|calls| {
            if let Some(call) = calls.last_mut() {
                call.kind = kind;
            }
        });
    }

    pub fn call_fixed_together<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
        word: &ServiceWord,
        units: &[u32; UNITS],
    ) -> Result<R, CallError> {
        let result = call_fixed::<R, UNITS, REPLY_WORDS>(word, units);
        together("call_fixed_together");
        result
    }

    pub fn post_fixed_together<const UNITS: usize>(word: &ServiceWord, units: &[u32; UNITS]) -> Result<(), CallError> {
        let result = post_fixed(word, units);
        together("post_fixed_together");
        result
    }

    pub fn call_fixed_together_on<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
        port: &mut Port,
        word: &ServiceWord,
        units: &[u32; UNITS],
    ) -> Result<R, CallError> {
        port.0 += 1;
        call_fixed_together::<R, UNITS, REPLY_WORDS>(word, units)
    }

    pub fn post_fixed_together_on<const UNITS: usize>(port: &mut Port, word: &ServiceWord, units: &[u32; UNITS]) -> Result<(), CallError> {
        port.0 += 1;
        post_fixed_together(word, units)
    }

    pub fn call_var_together<R: Fixed, const UNITS: usize>(
        word: &ServiceWord,
        fixed: &mut [u32; UNITS],
        ins: &[&[u8]],
        outs: &mut [&mut [u8]],
        returned: &mut [u32],
    ) -> Result<R, CallError> {
        let result = call_var(word, fixed, ins, outs, returned);
        together("call_var_together");
        result
    }

    pub fn post_var_together<const UNITS: usize>(word: &ServiceWord, fixed: &mut [u32; UNITS], ins: &[&[u8]]) -> Result<(), CallError> {
        let result = post_var(word, fixed, ins);
        together("post_var_together");
        result
    }

    pub fn kernel_enter() {
        ENTERED.with_borrow_mut(|list| list.push("enter"));
    }

    pub fn kernel_leave() {
        ENTERED.with_borrow_mut(|list| list.push("leave"));
    }
}
