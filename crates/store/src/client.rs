//! Services, and what all requests to them share.

use std::{
    collections::HashMap,
    future::Future,
    io,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use base64ct::{Base64, Encoding as _};
use object_store::{
    BackoffConfig, ClientConfigKey, ClientOptions, HeaderMap, HeaderValue, ObjectStore,
    RetryConfig,
    aws::{AmazonS3Builder, AmazonS3ConfigKey},
    azure::{AzureConfigKey, MicrosoftAzureBuilder},
    gcp::{GoogleCloudStorageBuilder, GoogleConfigKey},
    http::HttpBuilder,
    multipart::MultipartStore,
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::{
    fault::explain,
    location::{Location, Service},
};

/// How services are asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// How often a request is tried again. Default 8.
    pub retries: usize,
    /// How long a request is tried again. Default one minute.
    pub patience: Duration,
    /// Bytes of a part of an object that is uploaded in parts: at least 5 MiB, which services ask for.
    /// Default 8 MiB.
    pub part_size: usize,
    /// Options of services by the names of their variables, like `AWS_ENDPOINT_URL`. They come before those of
    /// the environment.
    pub variables: Vec<(String, String)>,
    /// When this is set, what waits for a service ends with an error.
    pub cancel: Arc<AtomicBool>,
}

impl Settings {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            retries: 8,
            patience: Duration::from_mins(1),
            part_size: 8 << 20,
            variables: Vec::new(),
            cancel: Arc::default(),
        }
    }

    /// Sets [`Self::retries`].
    #[must_use]
    pub fn with_retries(self, retries: usize) -> Self {
        Self { retries, ..self }
    }

    /// Sets [`Self::patience`].
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Sets [`Self::part_size`].
    #[must_use]
    pub fn with_part_size(self, part_size: usize) -> Self {
        Self { part_size, ..self }
    }

    /// Sets [`Self::variables`].
    #[must_use]
    pub fn with_variables(self, variables: Vec<(String, String)>) -> Self {
        Self { variables, ..self }
    }

    /// Sets [`Self::cancel`].
    #[must_use]
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Self {
        Self { cancel, ..self }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

/// What all requests share.
pub(crate) struct Shared {
    runtime: Option<Runtime>,
    pub(crate) settings: Settings,
    backends: Mutex<HashMap<(Service, String), Backend>>,
    /// A permit for each KiB that is on its way.
    uploads: Arc<Semaphore>,
    complaints: Mutex<Vec<String>>,
}

/// A bucket, or an HTTP server.
#[derive(Clone)]
pub(crate) struct Backend {
    pub(crate) objects: Arc<dyn ObjectStore>,
    /// None of HTTP servers, which take an object in one request.
    pub(crate) multipart: Option<Arc<dyn MultipartStore>>,
}

/// The most bytes that are on their way to services.
const MOST_UPLOADING: usize = 64 << 20;

/// What a small upload counts at least: so there are at most 16 at once.
const LEAST_UPLOADING: usize = 4 << 20;

/// How often a wait looks whether it is cancelled.
const TICK: Duration = Duration::from_millis(100);

/// A request with its answer: a part of 8 MiB takes half of it at 2 Mbit/s.
const REQUEST_SECONDS: &str = "60s";

impl Shared {
    /// Starts the runtime.
    pub(crate) fn new(settings: Settings) -> io::Result<Self> {
        // Whoever has installed another one keeps it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("lanelock-store")
            .enable_all()
            .build()?;
        Ok(Self {
            runtime: Some(runtime),
            settings,
            backends: Mutex::default(),
            uploads: Arc::new(Semaphore::new(MOST_UPLOADING / 1024)),
            complaints: Mutex::default(),
        })
    }

    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<tokio::task::JoinHandle<T>> {
        let runtime = self.runtime.as_ref().ok_or_else(ended)?;
        Ok(runtime.spawn(task))
    }

    /// Waits for a service, unless it is cancelled.
    pub(crate) fn wait<T>(&self, task: impl Future<Output = T>) -> io::Result<T> {
        let runtime = self.runtime.as_ref().ok_or_else(ended)?;
        runtime.block_on(self.unless_cancelled(task))
    }

    pub(crate) async fn unless_cancelled<T>(&self, task: impl Future<Output = T>) -> io::Result<T> {
        let mut task = pin!(task);
        loop {
            if let Ok(done) = timeout(TICK, &mut task).await {
                return Ok(done);
            }
            self.check_cancelled()?;
        }
    }

    /// Waits for what cleans up, also when the run is cancelled, but not for long.
    pub(crate) fn wait_at_most<T>(
        &self,
        most: Duration,
        task: impl Future<Output = T>,
    ) -> Option<T> {
        let runtime = self.runtime.as_ref()?;
        runtime.block_on(async { timeout(most, task).await.ok() })
    }

    pub(crate) fn check_cancelled(&self) -> io::Result<()> {
        if self.settings.cancel.load(Ordering::Relaxed) {
            // Not `ErrorKind::Interrupted`, on which readers try again.
            return Err(io::Error::other("interrupted"));
        }
        Ok(())
    }

    /// Waits until so many bytes may be on their way.
    pub(crate) fn room_for(&self, bytes: usize) -> io::Result<OwnedSemaphorePermit> {
        let kib = bytes.clamp(LEAST_UPLOADING, MOST_UPLOADING).div_ceil(1024);
        let permits = u32::try_from(kib).unwrap_or(u32::MAX);
        let permit = self.uploads.clone().acquire_many_owned(permits);
        self.wait(permit)?.map_err(|_| ended())
    }

    pub(crate) fn complain(&self, text: String) {
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    pub(crate) fn take_complaints(&self) -> Vec<String> {
        std::mem::take(&mut *self.complaints.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The service of a location; connections are made when they are needed.
    pub(crate) fn backend(&self, location: &Location) -> io::Result<Backend> {
        let key = (location.service, format!("{} {:?}", location.bucket, location.user));
        let mut backends = self.backends.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = backends.get(&key) {
            return Ok(known.clone());
        }
        let made = self.connect(location).map_err(|error| explain(&error))?;
        backends.insert(key, made.clone());
        Ok(made)
    }

    fn connect(&self, location: &Location) -> object_store::Result<Backend> {
        let retry = RetryConfig {
            max_retries: self.settings.retries,
            retry_timeout: self.settings.patience,
            backoff: BackoffConfig {
                max_backoff: Duration::from_secs(8),
                ..BackoffConfig::default()
            },
        };
        let bucket = &location.bucket;
        let seconds = ClientConfigKey::Timeout;
        // Names that another service has are passed over, as in the environment.
        let variables = self.settings.variables.iter();
        let variables = variables.map(|(name, value)| (name.to_ascii_lowercase(), value));
        Ok(match location.service {
            Service::S3 => {
                let mut s3 = AmazonS3Builder::from_env()
                    .with_config(AmazonS3ConfigKey::Client(seconds), REQUEST_SECONDS);
                for (name, value) in variables {
                    if let Ok(key) = name.parse() {
                        s3 = s3.with_config(key, value);
                    }
                }
                both(s3.with_bucket_name(bucket).with_retry(retry).build()?)
            }
            Service::Google => {
                let mut google = GoogleCloudStorageBuilder::from_env()
                    .with_config(GoogleConfigKey::Client(seconds), REQUEST_SECONDS);
                for (name, value) in variables {
                    if let Ok(key) = name.parse() {
                        google = google.with_config(key, value);
                    }
                }
                both(google.with_bucket_name(bucket).with_retry(retry).build()?)
            }
            Service::Azure => {
                let mut azure = MicrosoftAzureBuilder::from_env()
                    .with_config(AzureConfigKey::Client(seconds), REQUEST_SECONDS);
                for (name, value) in variables {
                    if let Ok(key) = name.parse() {
                        azure = azure.with_config(key, value);
                    }
                }
                both(azure.with_container_name(bucket).with_retry(retry).build()?)
            }
            Service::Http => {
                let mut options = ClientOptions::new()
                    .with_allow_http(true)
                    .with_config(seconds, REQUEST_SECONDS);
                if let Some(user) = &location.user {
                    let basic = format!("Basic {}", Base64::encode_string(user.as_bytes()));
                    if let Ok(mut value) = HeaderValue::from_str(&basic) {
                        value.set_sensitive(true);
                        let headers =
                            HeaderMap::from_iter([(reqwest::header::AUTHORIZATION, value)]);
                        options = options.with_default_headers(headers);
                    }
                }
                let http = HttpBuilder::new()
                    .with_url(bucket)
                    .with_client_options(options)
                    .with_retry(retry)
                    .build()?;
                Backend { objects: Arc::new(http), multipart: None }
            }
        })
    }
}

fn both<T: ObjectStore + MultipartStore>(store: T) -> Backend {
    let store = Arc::new(store);
    Backend { objects: store.clone(), multipart: Some(store) }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The last one may be a task of the runtime, which cannot wait for itself.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn ended() -> io::Error {
    io::Error::other("the runtime has ended")
}
