//! `lanelock speed` and `lanelock selftest`: with the feature `engine`; without it, refused.

#[cfg(feature = "engine")]
mod self_test;
#[cfg(feature = "engine")]
mod speed;

#[cfg(feature = "engine")]
pub(crate) use self::{
    self_test::{SelfTestArgs, self_test},
    speed::{SpeedArgs, speed},
};

#[cfg(not(feature = "engine"))]
pub(crate) use without::{SelfTestArgs, SpeedArgs, self_test, speed};

#[cfg(not(feature = "engine"))]
mod without {
    use std::ffi::OsString;

    use crate::failure::Failure;

    /// Tests the engine with known answers: not in this build
    ///
    /// It takes the feature `engine`, which has every kernel compiled: cargo install lanelock-cli --features engine
    #[derive(Debug, clap::Args)]
    pub(crate) struct SelfTestArgs {
        /// Prints JSON
        #[arg(long)]
        pub(crate) json: bool,
    }

    /// Measures the engine: not in this build
    ///
    /// It takes the feature `engine`, which has every kernel compiled: cargo install lanelock-cli --features engine
    #[derive(Debug, clap::Args)]
    pub(crate) struct SpeedArgs {
        /// What the command takes in a build that has it
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    }

    impl SpeedArgs {
        pub(crate) fn json(&self) -> bool {
            self.arguments.iter().any(|argument| argument == "--json")
        }
    }

    pub(crate) fn self_test(_: &SelfTestArgs) -> Result<(), Failure> {
        Err(missing("selftest"))
    }

    pub(crate) fn speed(_: &SpeedArgs) -> Result<(), Failure> {
        Err(missing("speed"))
    }

    fn missing(command: &str) -> Failure {
        Failure::usage(
            format!("this build has no lanelock {command}, which takes the feature engine"),
            "build one that has it: cargo install lanelock-cli --features engine",
        )
    }
}
