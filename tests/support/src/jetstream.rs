//! What a JetStream stream of a [`Broker`] keeps.

use std::time::Duration;

use async_nats::jetstream;

use crate::Broker;

/// A message that the server keeps.
#[derive(Debug)]
pub struct Kept {
    /// Its subject.
    pub subject: String,
    /// Its number, by which the server knows it when it comes again.
    pub id: String,
    /// Its content.
    pub payload: Vec<u8>,
}

impl Broker {
    /// Everything in a JetStream stream, in order.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn kept(&self, stream: &str) -> Vec<Kept> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let client = async_nats::connect(self.address()).await.expect("a connection");
            let context = jetstream::new(client);
            let mut stream = loop {
                // A server that has begun anew takes a moment to know its streams.
                match context.get_stream(stream).await {
                    Ok(stream) => break stream,
                    Err(error) => println!("not yet: {error}"),
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            };
            let last = stream.info().await.expect("what it has").state.last_sequence;
            let mut all = Vec::new();
            for sequence in 1..=last {
                let message = stream.get_raw_message(sequence).await.expect("a message");
                let id = message.headers.get("Nats-Msg-Id").expect("a number").to_string();
                all.push(Kept { subject: message.subject.to_string(), id, payload: message.payload.to_vec() });
            }
            all
        })
    }
}
