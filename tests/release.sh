#!/usr/bin/env bash
# Makes what a release consists of, for x86-64 and for aarch64, and tries it as a newcomer would: static programs,
# archives, Debian packages, bills of materials, signed checksums, a container image. All of it comes to target/package.
#
#   bash tests/release.sh              all stages; the trials need root, and Debian or one of its relatives
#   bash tests/release.sh debian       only the named stages, on what the earlier ones have made
#
#   COMPLINE_PROFILE=quick             builds quickly, for a trial
#   COMPLINE_ARCHS=x86_64              for this architecture only
#   COMPLINE_SIGNING_KEY=FILE          signs with this SSH key; otherwise with one made for the trial
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stages="tools programs texts packages signature alone aarch64 debian image"
target="${CARGO_TARGET_DIR:-$PWD/target}"
made="$PWD/target/package"
logs="$made/logs"
source tests/stages.sh
stages_needed="tools programs texts packages"

profile="${COMPLINE_PROFILE:-dist}"
version=$(sed -n '0,/^version = /s/^version = "\(.*\)"/\1/p' Cargo.toml)
archs="${COMPLINE_ARCHS:-x86_64 aarch64}"
venv="$target/release-tools"
tools="$venv/bin"
# Nothing that is made depends on when, where and by whom.
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH CARGO_TERM_COLOR=never TZ=UTC LC_ALL=C ZIG_GLOBAL_CACHE_DIR="$target/zig"
umask 022

program() { echo "$target/$1-unknown-linux-musl/$profile/compline"; }

# Rust's targets, Zig as the compiler and linker of C for both of them, the makers of packages, and what tries them.
tools() {
  for arch in $archs; do rustup target add "$arch-unknown-linux-musl"; done
  if [ ! -e "$venv/installed" ] || [ tests/release/requirements.txt -nt "$venv/installed" ]; then
    python3 -m venv "$venv"
    "$tools/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
      -r tests/release/requirements.txt
    touch "$venv/installed"
  fi
  cargo install --quiet --locked --root "$venv" cargo-deb@3.8.0 cargo-cyclonedx@0.5.9
  local wanted=""
  command -v debootstrap >/dev/null || wanted="$wanted debootstrap"
  command -v buildah >/dev/null || wanted="$wanted buildah"
  command -v qemu-aarch64-static >/dev/null || wanted="$wanted qemu-user-static"
  command -v readelf >/dev/null || wanted="$wanted binutils"
  [ -z "$wanted" ] || get_packages $wanted
}

programs() {
  local home="${CARGO_HOME:-$HOME/.cargo}" found
  export RUSTFLAGS="--remap-path-prefix=$PWD=compline --remap-path-prefix=$home=cargo" PATH="$tools:$PATH"
  for arch in $archs; do
    cargo zigbuild --locked --profile "$profile" --target "$arch-unknown-linux-musl" --bin compline
    found=$(readelf --program-headers --dynamic "$(program $arch)")
    case $found in *INTERP* | *NEEDED*) echo "The program for $arch is not static."; return 1 ;; esac
    case $(readelf --sections "$(program $arch)") in *.symtab*) echo "The program for $arch is not stripped."; return 1 ;; esac
    for path in "$PWD" "$home"; do
      if grep -qaF "$path/" "$(program $arch)"; then echo "The program for $arch names $path."; return 1; fi
    done
  done
}

# Manual, completions, changelog and bills of materials.
texts() {
  local own
  own=$(program "$(uname -m)")
  rm -rf "$made/man" "$made/completions"
  mkdir -p "$made/completions"
  "$own" manual --dir "$made/man"
  gzip -9n "$made"/man/*.1
  "$own" completions bash >"$made/completions/compline.bash"
  "$own" completions zsh >"$made/completions/_compline"
  "$own" completions fish >"$made/completions/compline.fish"
  gzip -9n <CHANGELOG.md >"$made/changelog.gz"
  printf 'compline (%s-1) stable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' "$version" \
    "The Compline contributors <compline@example.invalid>" "$(date -R -d "@$SOURCE_DATE_EPOCH")" >"$made/changelog"
  for arch in $archs; do
    local bom="compline-$version-$arch.cdx"
    PATH="$tools:$PATH" cargo cyclonedx --quiet --format json --spec-version 1.5 --no-build-deps \
      --target "$arch-unknown-linux-musl" --override-filename "$bom"
    sed "s|path+file://$PWD|path+file:///compline|g" "$bom.json" >"$made/$bom.json"
    find . -name "$bom.json" -not -path "./target/*" -delete
    if grep -F "$PWD" "$made/$bom.json"; then echo "The bill of materials names $PWD."; return 1; fi
    grep -q '"pkg:cargo/rusqlite@' "$made/$bom.json"
  done
}

# Makes the archives and packages in a folder.
pack() {
  for arch in $archs; do
    local name="compline-$version-$arch-linux" folder
    folder="$(mktemp -d)/$name"
    mkdir "$folder"
    cp -r "$(program $arch)" "$made/man" "$made/completions" docs README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT \
      config/compline.example.toml config/compline-programs.conf config/signal-cli.service "$folder"
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go-w \
      -C "$(dirname "$folder")" -c "$name" | gzip -9n >"$1/$name.tar.gz"
    rm -r "$(dirname "$folder")"
    PATH="$tools:$PATH" cargo deb --quiet --locked --no-build --no-strip --profile "$profile" \
      --target "$arch-unknown-linux-musl" --output "$1/"
  done
}

# What is made twice is the same, byte by byte.
packages() {
  rm -rf "$made"/*.deb "$made"/*.tar.gz "$made/again"
  mkdir "$made/again"
  pack "$made"
  pack "$made/again"
  for file in "$made"/again/*; do cmp "$file" "$made/$(basename "$file")"; done
  [ "$(ls "$made/again" | wc -l)" = $(($(echo $archs | wc -w) * 2)) ]
  rm -r "$made/again"
  for page in README.md docs/install.md; do
    grep -qF "compline_$version-1_amd64.deb" "$page"
    grep -qF "compline-$version-x86_64-linux.tar.gz" "$page"
  done
}

# Signs the checksums, and checks them as docs/install.md says: a changed byte and another's signature are refused.
signature() {
  cd "$made"
  local key="${COMPLINE_SIGNING_KEY:-$PWD/trial-key}" other
  if [ -z "${COMPLINE_SIGNING_KEY:-}" ]; then
    echo "left out: a key of the project; these checksums are signed for the trial only"
    rm -f trial-key trial-key.pub
    ssh-keygen -q -t ed25519 -N "" -C trial -f trial-key
  fi
  sha256sum -- *.tar.gz *.deb *.cdx.json >SHA256SUMS
  ssh-keygen -q -Y sign -n file -f "$key" - <SHA256SUMS >SHA256SUMS.sig
  echo "compline namespaces=\"file\" $(ssh-keygen -y -f "$key")" >allowed_signers
  check() { ssh-keygen -Y verify -f allowed_signers -I compline -n file -s SHA256SUMS.sig; }
  check <SHA256SUMS
  sha256sum --check --ignore-missing SHA256SUMS
  ! tr 0 1 <SHA256SUMS | check || return 1
  other=$(mktemp -d)
  ssh-keygen -q -t ed25519 -N "" -f "$other/key"
  ssh-keygen -q -Y sign -n file -f "$other/key" - <SHA256SUMS >"$other/sig"
  ! ssh-keygen -Y verify -f allowed_signers -I compline -n file -s "$other/sig" <SHA256SUMS || return 1
  cp SHA256SUMS *.cdx.json "$other"
  (cd "$other" && sed -i '1s/{/[/' ./*-x86_64.cdx.json && ! sha256sum --check --ignore-missing SHA256SUMS) || return 1
  rm -r "$other"
}

# An installed program must show its version, play the demonstration, and answer. The arguments are its command.
tried() {
  local answer
  "$@" --version | grep -qx "compline $version"
  "$@" demo --fast >/dev/null
  "$@" init --non-interactive --timezone Europe/Vienna --owner Robin --provider offline
  answer=$("$@" chat "What is 12*7?")
  case $answer in *84*) ;; *) echo "It answered: $answer"; return 1 ;; esac
}

# The static program needs no other file, not even /etc, /proc or /dev.
alone() {
  local root
  root=$(mktemp -d)
  mkdir "$root/tmp"
  tar -xzf "$made/compline-$version-$(uname -m)-linux.tar.gz" -C "$root" --strip-components 1
  COMPLINE_HOME=/home tried chroot "$root" /compline
  rm -r "$root"
}

aarch64() {
  local folder
  case $archs in *aarch64*) ;; *) echo "left out: aarch64, which was not asked for"; return ;; esac
  folder=$(mktemp -d)
  tar -xzf "$made/compline-$version-aarch64-linux.tar.gz" -C "$folder" --strip-components 1
  COMPLINE_HOME="$folder/home" tried qemu-aarch64-static "$folder/compline"
  [ "$(dpkg-deb -f "$made/compline_$version-1_arm64.deb" Architecture)" = arm64 ]
  rm -r "$folder"
}

# A Debian with nothing but what the package depends on, and systemd, which does not run.
debian_root() {
  local kept="$target/debian-root.tar"
  if [ ! -e "$kept" ]; then
    local fresh
    fresh=$(mktemp -d)
    debootstrap --variant=minbase --include=ca-certificates,systemd stable "$fresh" http://deb.debian.org/debian
    rm -rf "$fresh"/var/cache/apt "$fresh"/var/lib/apt/lists
    tar -C "$fresh" -cf "$kept.new" .
    mv "$kept.new" "$kept"
    rm -r "$fresh"
  fi
  mkdir -p "$1"
  tar -C "$1" -xf "$kept"
}

# Installs, upgrades, removes and purges the package. The home outlives all of it.
debian() {
  local root home deb arch
  arch=$(dpkg --print-architecture)
  root=$(mktemp -d)
  home="$root/var/lib/compline"
  debian_root "$root"
  chmod 755 "$root"
  deb="compline_$version-1_$arch.deb"
  cp "$made/$deb" "$root/"
  inside() {
    unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" \
      env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"
  }
  inside dpkg -i "/$deb"
  [ "$(inside stat -c '%U %G %a' /var/lib/compline)" = "compline compline 700" ]
  for file in share/man/man1/compline-run.1.gz share/bash-completion/completions/compline share/doc/compline/copyright \
    share/doc/compline/changelog.Debian.gz share/doc/compline/examples/compline.example.toml; do
    [ -s "$root/usr/$file" ]
  done
  tried inside compline
  [ "$(inside find /var/lib/compline ! -user compline)" = "" ]
  inside systemctl is-enabled compline && return 1
  inside systemctl enable compline
  units
  # A later package on the same home. What is enabled stays so.
  PATH="$tools:$PATH" cargo deb --quiet --locked --no-build --no-strip --profile "$profile" --fast \
    --target "$(uname -m)-unknown-linux-musl" --deb-version "$version-2" --output "$root/later.deb"
  inside dpkg -i /later.deb
  inside systemctl is-enabled compline
  inside compline search 84 | grep -q 12
  inside dpkg -r compline
  [ ! -e "$root/usr/bin/compline" ]
  [ -s "$home/compline.db" ]
  inside dpkg -P compline | grep "Your data stays in /var/lib/compline"
  [ -s "$home/compline.db" ]
  [ -s "$home/compline.toml" ]
  [ -z "$(find "$root/etc" "$root/usr" "$root/var/lib/dpkg/info" -name '*compline*')" ]
  # Installed again it goes on; an empty home goes with the package.
  inside dpkg -i "/$deb"
  inside compline search 84 | grep -q 12
  rm -r "$home"/* "$home"/.[!.]* 2>/dev/null || true
  inside dpkg -P compline
  [ ! -e "$home" ]
  rm -r "$root"
}

# The units are valid, and as closed as ever; with the drop-in for programs of others as far as it says.
units() {
  local doc=/usr/share/doc/compline/examples
  printf '#!/bin/sh\n' >"$root/usr/local/bin/signal-cli"
  chmod 755 "$root/usr/local/bin/signal-cli"
  inside install -D -m 644 "$doc/signal-cli.service" /etc/systemd/system/signal-cli.service
  inside systemd-analyze verify --man=no compline.service signal-cli.service
  inside systemd-analyze security --offline=true --threshold=14 compline.service
  inside install -D -m 644 "$doc/compline-programs.conf" /etc/systemd/system/compline.service.d/programs.conf
  inside systemd-analyze verify --man=no compline.service
  inside systemd-analyze security --offline=true --threshold=14 compline.service
  rm -r "$root"/etc/systemd/system/signal-cli.service "$root"/etc/systemd/system/compline.service.d
}

# The image, its first stage replaced by the program that is there already.
image() {
  local root store given container
  root=$(mktemp -d)
  store=$(mktemp -d)
  install -D "$(program "$(uname -m)")" "$root/image/usr/bin/compline"
  install -d -m 700 "$root/home/compline"
  install -d -m 1777 "$root/image/tmp"
  echo "left out: the stage of config/Containerfile that compiles; the image is made from the program built here"
  b() { buildah --root "$store/root" --runroot "$store/run" --storage-driver vfs "$@"; }
  b build --isolation chroot --format docker --build-context "build=$root" -f config/Containerfile -t compline .
  # What its first stage would be given.
  printf 'FROM scratch\nCOPY . /\n' >"$store/sources"
  b build --format docker -f "$store/sources" -t sources .
  given=$(b mount "$(b from sources)")
  [ -s "$given/Cargo.lock" ]
  [ ! -e "$given/target" ]
  [ ! -e "$given/.git" ]
  [ "$(b inspect --type image --format '{{.Docker.Config.Healthcheck.Test}}' compline)" = "[CMD compline status --check]" ]
  container=$(b from compline)
  inside() { b run --isolation chroot "$container" -- "$@"; }
  tried inside compline
  ! inside compline status --check || return 1
  # Everything in it ends with it.
  unshare --pid --fork --kill-child buildah --root "$store/root" --runroot "$store/run" --storage-driver vfs \
    run --isolation chroot "$container" -- compline run &
  for _ in $(seq 50); do ! inside compline status --check || break; sleep 0.2; done
  inside compline status --check
  kill -KILL $!
  wait || true
  b rm --all
  rm -r "$root" "$store"
}

run_stages "$stages" "${@:-$stages}"
if [ -e "$made/SHA256SUMS" ]; then (cd "$made" && du -h --apparent-size -- *.tar.gz *.deb *.cdx.json | sed 's/^/  /'); fi
