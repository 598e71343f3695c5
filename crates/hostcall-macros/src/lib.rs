//! The attributes kernel, service and the Plain derive.
