//! What the services of one runner have in common.

use std::sync::Arc;

use crate::service::closing::Closing;
#[cfg(feature = "tokio")]
use crate::serving::asynchronous::Runtime;
use crate::serving::pool::Pool;
use crate::tenant::Tenant;

/// Where handlers run, and whether they still do.
pub(super) struct Shared {
    pub(super) pool: Pool,
    /// Whose messages are that are nobody's in particular.
    pub(super) tenant: Arc<Tenant>,
    #[cfg(feature = "tokio")]
    pub(super) runtime: Runtime,
    pub(super) closing: Closing,
}
