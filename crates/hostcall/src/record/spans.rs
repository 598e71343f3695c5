//! Spans of `tracing` around what handlers do, where the feature `spans` asks for them.

/// Around the calls of some lanes of one service, which one handler answers. Without the feature it is nothing.
#[derive(Clone, Debug)]
pub(crate) struct Spanned {
    #[cfg(feature = "spans")]
    span: tracing::Span,
}

impl Spanned {
    /// A span for a service, by its name on the wire. Without a subscriber that wants it, it is a branch. Its fields
    /// are those of OpenTelemetry's conventions for remote procedure calls, so that what exports spans shows them as
    /// such.
    #[inline(always)]
    pub(crate) fn of(service: &str, lanes: impl FnOnce() -> u32) -> Self {
        #[cfg(feature = "spans")]
        {
            let (of, method) = service.split_once("__").unwrap_or(("", service));
            let span = tracing::info_span!(
                target: "hostcall::call",
                "call",
                otel.name = service,
                otel.kind = "server",
                rpc.system = "hostcall",
                rpc.service = of,
                rpc.method = method,
                lanes = lanes(),
            );
            Self { span }
        }
        #[cfg(not(feature = "spans"))]
        {
            let _ = (service, lanes);
            Self {}
        }
    }

    /// Whether anybody might want one, or hears of each message otherwise.
    #[inline(always)]
    pub(crate) fn is_wanted() -> bool {
        #[cfg(feature = "spans")]
        if tracing::enabled!(target: "hostcall::call", tracing::Level::INFO) {
            return true;
        }
        tracing::enabled!(tracing::Level::DEBUG)
    }

    /// Does something within the span.
    #[inline(always)]
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        #[cfg(feature = "spans")]
        let _entered = self.span.enter();
        work()
    }
}
