//! The host face: services are closures that the test invokes with arguments as a device would encode them.

pub use hostcall_abi::Plain;

pub mod __private {
    pub use ::std;
    pub use hostcall_abi as abi;
    use hostcall_abi::Plain;
    use hostcall_abi::codec::{DecodeError, Fixed, bytes_mut};
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    macro_rules! if_device {
        ($($tokens:tt)*) => {};
    }
    macro_rules! if_host {
        ($($tokens:tt)*) => { $($tokens)* };
    }
    macro_rules! if_tokio {
        ($($tokens:tt)*) => { $($tokens)* };
    }
    pub(crate) use {if_device, if_host, if_tokio};

    #[derive(Debug, PartialEq)]
    pub enum Failure {
        Handler(String),
        Decode(DecodeError),
    }
    impl From<DecodeError> for Failure {
        fn from(error: DecodeError) -> Self {
            Self::Decode(error)
        }
    }

    #[derive(Debug)]
    pub struct HandlerError(pub String);

    pub trait IntoReply<R> {
        fn into_reply(self) -> Result<R, Failure>;
    }
    impl<R> IntoReply<R> for R {
        fn into_reply(self) -> Result<R, Failure> {
            Ok(self)
        }
    }
    impl<R> IntoReply<R> for Result<R, HandlerError> {
        fn into_reply(self) -> Result<R, Failure> {
            self.map_err(|error| Failure::Handler(error.0))
        }
    }

    pub struct Definition {
        pub name: std::borrow::Cow<'static, str>,
        pub signature: u64,
        pub text: std::borrow::Cow<'static, str>,
        pub takes_var: bool,
        pub units: usize,
        pub reply_dwords: Option<usize>,
    }

    /// The fixed units and the bytes of one lane's call, and its reply.
    #[derive(Default)]
    pub struct Invocation<'a> {
        pub units: &'a [u32],
        pub vars: &'a [&'a [u8]],
        pub reply: Option<(Vec<u32>, Vec<Vec<u8>>)>,
    }

    impl<'a> Invocation<'a> {
        pub fn fixed<T: Fixed>(&mut self) -> Result<T, DecodeError> {
            let value = T::get(self.units)?;
            self.units = &self.units[T::DWORDS..];
            Ok(value)
        }

        fn var(&mut self) -> Result<&'a [u8], DecodeError> {
            let len = self.fixed::<u32>()?;
            let (first, rest) = self.vars.split_first().ok_or(DecodeError::Short)?;
            assert_eq!(first.len(), len as usize);
            self.vars = rest;
            Ok(first)
        }

        pub fn str(&mut self) -> Result<&'a str, DecodeError> {
            std::str::from_utf8(self.var()?).map_err(|_| DecodeError::Utf8)
        }

        pub fn slice<T: Plain>(&mut self) -> Result<Vec<T>, DecodeError> {
            let bytes = self.var()?;
            let mut copy = self.sized(bytes.len())?;
            bytes_mut(&mut copy).copy_from_slice(bytes);
            Ok(copy)
        }

        pub fn out<T: Plain>(&mut self) -> Result<Vec<T>, DecodeError> {
            let len = self.fixed::<u32>()?;
            self.sized(len as usize)
        }

        fn sized<T: Plain>(&self, len: usize) -> Result<Vec<T>, DecodeError> {
            if !len.is_multiple_of(size_of::<T>()) {
                return Err(DecodeError::Length { bytes: len as u32, element: size_of::<T>() as u32 });
            }
            let zero = T::get(&vec![0; T::DWORDS])?;
            Ok(vec![zero; len / size_of::<T>()])
        }

        pub fn reply<R: Fixed>(&mut self, value: &R, outs: &[&[u8]]) {
            let mut units = vec![0; R::DWORDS];
            value.put(&mut units);
            self.reply = Some((units, outs.iter().map(|bytes| bytes.to_vec()).collect()));
        }
    }

    /// A `&mut [T]` argument as a writer.
    pub struct Out<'a, T> {
        elements: Vec<T>,
        len: usize,
        call: std::marker::PhantomData<&'a ()>,
    }

    impl<T: Plain> Out<'_, T> {
        pub fn len(&self) -> usize {
            self.len
        }

        pub fn write(&mut self, elements: &[T]) {
            self.elements.extend_from_slice(elements);
        }

        pub fn finish(self) -> Vec<u8> {
            hostcall_abi::codec::bytes(&self.elements).to_vec()
        }
    }

    impl<'a> Invocation<'a> {
        pub fn writer<T: Plain>(&mut self) -> Result<Out<'a, T>, DecodeError> {
            let len = self.fixed::<u32>()? as usize / size_of::<T>();
            Ok(Out { elements: Vec::new(), len, call: std::marker::PhantomData })
        }

        pub fn reply_written<R: Fixed>(&mut self, value: &R, outs: &[Vec<u8>]) {
            let outs: Vec<&[u8]> = outs.iter().map(|out| &out[..]).collect();
            self.reply(value, &outs);
        }
    }

    /// The calls of a message: here, of one lane.
    pub struct Calls<'b, 'a, A, R> {
        pub arguments: Option<A>,
        pub result: Option<R>,
        call: std::marker::PhantomData<(&'b (), &'a ())>,
    }

    pub fn typed<A: Fixed, R: Fixed>(definition: Definition, f: impl Fn(A) -> Result<R, Failure> + Send + Sync + 'static) -> Service {
        Service::new(definition, move |call| {
            let value = f(call.fixed::<A>()?)?;
            call.reply(&value, &[]);
            Ok(())
        })
    }

    pub fn batch<A: Fixed, R: Fixed>(definition: Definition, f: impl Fn(&mut Calls<'_, '_, A, R>) + Send + Sync + 'static) -> Service {
        Service::new(definition, move |call| {
            let mut calls = Calls { arguments: Some(call.fixed::<A>()?), result: None, call: std::marker::PhantomData };
            f(&mut calls);
            call.reply(&calls.result.expect("the lane is answered"), &[]);
            Ok(())
        })
    }

    pub struct Completion(std::sync::mpsc::Sender<Result<(Vec<u32>, ()), Failure>>);

    impl Completion {
        pub fn fail(self, failure: Failure) {
            self.0.send(Err(failure)).expect("somebody waits");
        }
    }

    pub struct Deferred<R>(Completion, std::marker::PhantomData<fn(R)>);

    impl<R: Fixed> Deferred<R> {
        pub fn new(completion: Completion) -> Self {
            Self(completion, std::marker::PhantomData)
        }

        pub fn reply(self, value: R) {
            let mut units = vec![0; R::DWORDS];
            value.put(&mut units);
            self.0.0.send(Ok((units, ()))).expect("somebody waits");
        }
    }

    type Handler = dyn Fn(&mut Invocation<'_>) -> Result<(), Failure> + Send + Sync;

    pub struct Service {
        pub definition: Definition,
        pub handler: Box<Handler>,
    }

    impl Service {
        pub fn new(definition: Definition, f: impl Fn(&mut Invocation<'_>) -> Result<(), Failure> + Send + Sync + 'static) -> Self {
            Self { definition, handler: Box::new(f) }
        }

        /// The tests' handlers answer before they return.
        pub fn deferred(definition: Definition, f: impl Fn(&mut Invocation<'_>, Completion) + Send + Sync + 'static) -> Self {
            Self::new(definition, move |call| {
                let (done, answer) = std::sync::mpsc::channel();
                f(call, Completion(done));
                let (units, ()) = answer.recv().expect("an answer")?;
                call.reply = Some((units, Vec::new()));
                Ok(())
            })
        }

        pub fn new_async<R, Fut>(
            definition: Definition,
            f: impl Fn(&mut Invocation<'_>) -> Result<Fut, Failure> + Send + Sync + 'static,
        ) -> Self
        where
            R: Fixed + Send + 'static,
            Fut: Future<Output = Result<R, Failure>> + Send + 'static,
        {
            // The tests' futures are ready at once.
            Self::new(definition, move |call| {
                let Poll::Ready(value) = pin!(f(call)?).poll(&mut Context::from_waker(Waker::noop())) else { panic!("not ready") };
                call.reply(&value?, &[]);
                Ok(())
            })
        }
    }
}
