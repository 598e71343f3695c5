//! An HTTP server with `axum`.

use std::io;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use tokio::net::TcpListener;
use tokio::sync::Notify;

async fn square(Path(number): Path<u64>) -> Json<u64> {
    Json(number * number)
}

async fn sum(Json(numbers): Json<Vec<u64>>) -> Json<u64> {
    Json(numbers.into_iter().sum())
}

async fn end(State(over): State<Arc<Notify>>) -> &'static str {
    over.notify_one();
    "bye\n"
}

pub fn run(address: &str) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build()?;
    runtime.block_on(async {
        let over = Arc::new(Notify::new());
        let routes = Router::new()
            .route("/", get(|| async { "hello\n" }))
            .route("/square/{number}", get(square))
            .route("/sum", post(sum))
            .route("/end", get(end))
            .with_state(over.clone());
        let listener = TcpListener::bind(address).await?;
        println!("listening on {}", listener.local_addr()?);
        axum::serve(listener, routes).with_graceful_shutdown(async move { over.notified().await }).await?;
        println!("over");
        Ok(())
    })
}
