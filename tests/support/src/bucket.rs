//! A server that stands for S3 (s3s, over a directory), on loopback, which can be killed and started again. It looks at
//! signatures as S3 does.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto::Builder as Connections;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path as Key;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt, RetryConfig};
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{S3Result, s3_error};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

const KEY: &str = "key";
const SECRET: &str = "secret";
const REGION: &str = "us-east-1";
const BUCKET: &str = "runs";

/// A server, and its bucket.
#[derive(Debug)]
pub struct Bucket {
    dir: TempDir,
    port: u16,
    server: Option<Runtime>,
}

/// Who is let in: who knows the secret, if there is the bucket. (The server over a directory would make it.)
struct Access {
    bucket: PathBuf,
}

#[async_trait::async_trait]
impl S3Access for Access {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        match context.credentials() {
            Some(_) if self.bucket.is_dir() => Ok(()),
            Some(_) => Err(s3_error!(NoSuchBucket)),
            None => Err(s3_error!(AccessDenied)),
        }
    }
}

fn service(dir: &Path) -> S3Service {
    let mut service = S3ServiceBuilder::new(FileSystem::new(dir).expect("a directory"));
    service.set_auth(SimpleAuth::from_single(KEY, SECRET));
    service.set_access(Access { bucket: dir.join(BUCKET) });
    service.build()
}

impl Bucket {
    /// Starts a server with a bucket.
    pub fn start() -> Self {
        let mut server = Self { dir: tempfile::tempdir().expect("a directory"), port: 0, server: None };
        server.again();
        server.make();
        server
    }

    /// Starts it again where it was, without a bucket.
    ///
    /// # Panics
    /// If it does not start.
    pub fn again(&mut self) {
        self.dir = tempfile::tempdir().expect("a directory");
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread");
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, self.port))).expect("the port is free");
        self.port = listener.local_addr().expect("an address").port();
        let service = service(self.dir.path());
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let connection = Connections::new(hyper_util::rt::TokioExecutor::new()).http1_only();
                let service = service.clone();
                // A client that goes away is no fault.
                tokio::spawn(async move { connection.serve_connection(TokioIo::new(stream), service).await.unwrap_or_default() });
            }
        });
        self.server = Some(runtime);
    }

    /// Makes the bucket.
    ///
    /// # Panics
    /// If it is there.
    pub fn make(&self) {
        std::fs::create_dir(self.dir.path().join(BUCKET)).expect("a bucket of the server is a directory");
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        // Its tasks, with the sockets, are gone when it is dropped.
        drop(self.server.take());
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The variables by which a client in another process finds the server, and is let in.
    pub fn environment(&self) -> [(&'static str, String); 5] {
        let known = [("AWS_ACCESS_KEY_ID", KEY), ("AWS_SECRET_ACCESS_KEY", SECRET), ("AWS_REGION", REGION), ("AWS_ALLOW_HTTP", "true")];
        let [key, secret, region, http] = known.map(|(name, value)| (name, value.to_owned()));
        [key, secret, region, http, ("AWS_ENDPOINT", self.address())]
    }

    /// The bucket as a client reaches it, who is told of errors at once, and tries nothing again.
    ///
    /// # Panics
    /// Never: what is set is right.
    pub fn store(&self) -> Arc<dyn ObjectStore> {
        let builder = AmazonS3Builder::new().with_endpoint(self.address()).with_allow_http(true).with_bucket_name(BUCKET);
        let builder = builder.with_region(REGION).with_access_key_id(KEY).with_secret_access_key(SECRET);
        let builder = builder.with_client_options(ClientOptions::new().with_allow_http(true).with_timeout(Duration::from_secs(20)));
        Arc::new(builder.with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() }).build().expect("a store"))
    }

    /// Copies all files below a path of the bucket into a directory, as a client reads them; their names.
    ///
    /// # Panics
    /// If one cannot be read.
    pub fn fetch(&self, below: &str, dir: &Path) -> Vec<String> {
        let (store, runtime) = (self.store(), tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime"));
        let mut names = Vec::new();
        let mut waiting = vec![Key::from(below)];
        while let Some(path) = waiting.pop() {
            let list = runtime.block_on(store.list_with_delimiter(Some(&path))).expect("a list");
            waiting.extend(list.common_prefixes);
            for object in list.objects {
                let bytes =
                    runtime.block_on(async { store.get(&object.location).await.expect("a file").bytes().await.expect("its bytes") });
                let to = dir.join(object.location.as_ref());
                std::fs::create_dir_all(to.parent().expect("a directory")).expect("made");
                std::fs::write(to, bytes).expect("written");
                names.push(object.location.to_string());
            }
        }
        names.sort();
        names
    }
}
