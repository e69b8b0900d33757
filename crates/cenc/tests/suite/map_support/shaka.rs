//! Shaka Packager as a reference for `senc`.

use super::mp4::senc_maps;
use lanelock_cenc::map::Subsample;
use std::path::Path;
use std::process::Command;

const KEY: &str = "00112233445566778899aabbccddeeff";

/// The maps that the packager writes for the video of `clip` under `cbcs`, or what it said when it
/// refused.
pub(crate) fn cbcs_maps(
    packager: &Path,
    clip: &Path,
    scratch: &Path,
) -> Result<Vec<Vec<Subsample>>, String> {
    let output = scratch.join("shaka.mp4");
    let run = Command::new(packager)
        .arg(format!("in={},stream=video,output={}", clip.display(), output.display()))
        .args(["--enable_raw_key_encryption", "--keys"])
        .arg(format!("label=:key_id={KEY}:key={KEY}"))
        .args(["--iv", KEY, "--protection_scheme", "cbcs", "--clear_lead", "0"])
        // The default, 32 MiB for each output, is most of its time for a clip.
        .args(["--io_cache_size", "1048576"])
        .arg(format!("--temp_dir={}", scratch.display()))
        .output()
        .expect("the packager runs");
    if run.status.success() {
        Ok(senc_maps(&output))
    } else {
        Err(String::from_utf8_lossy(&run.stderr).into_owned())
    }
}
