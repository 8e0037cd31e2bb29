#!/usr/bin/env bash
# Runs a copy of ./dev on a machine without Node.js: fake tools in a scratch folder, and nothing else in PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/bin" "$scratch/sysroot/lib/rustlib/wasm32-unknown-unknown"
cp dev rust-toolchain.toml Cargo.lock "$scratch"
for tool in bash cat dirname env sed awk rm; do
  ln -s "$(command -v "$tool")" "$scratch/bin/$tool"
done

fake() { # NAME, and its script on standard input
  { echo '#!/usr/bin/env bash' && cat; } >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}
fake cargo </dev/null
fake id <<'FAKE'
echo "${FAKE_ID:-0}"
FAKE
# Wants a password.
fake sudo <<'FAKE'
exit 1
FAKE
fake rustc <<'FAKE'
case $* in
  *sysroot*) echo "$FAKE_SYSROOT" ;;
  *) echo "rustc ${FAKE_RUSTC:-$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)} (fake)" ;;
esac
FAKE
# Fails, so that ./dev ends here.
fake apt-get <<'FAKE'
echo "apt-get $*" >>apt.log
[[ $1 == update ]]
FAKE

dev() { # ARGUMENTS: its words are in $said, what it installs in $installed, its environment is $with
  rm -f "$scratch/apt.log"
  said=$(cd "$scratch" && env -i PATH="$scratch/bin" HOME="$scratch" FAKE_SYSROOT="$scratch/sysroot" \
    ${with[@]+"${with[@]}"} ./dev "$@" 2>&1 </dev/null) || true
  installed=$(cat "$scratch/apt.log" 2>/dev/null || true)
}
expect() { # WHAT TEXT PART: the text holds this part
  [[ $2 == *"$3"* ]] || {
    printf '%s: expected "%s" in:\n%s\n' "$1" "$3" "$2" >&2
    exit 1
  }
}
expect_none() { # WHAT
  [[ -z $installed ]] || {
    printf '%s: installed without being told to:\n%s\n' "$1" "$installed" >&2
    exit 1
  }
}
packages='install -q -y --no-install-recommends nodejs npm'

with=()
dev build
expect 'no terminal' "$installed" "$packages"
with=(FAKE_ID=1000)
dev build
expect_none 'no terminal and a user'
expect 'no terminal and a user' "$said" "Run 'sudo apt-get install nodejs npm'"
with=()
dev --yes build
expect '--yes before the command' "$installed" "$packages"
dev build --yes
expect '--yes after the command' "$installed" "$packages"
with=(CI=true)
dev build
expect 'CI=true' "$installed" "$packages"
with=(CI=true FAKE_ID=1000)
dev build
expect_none 'sudo that needs a password'
expect 'sudo that needs a password' "$said" "Run 'sudo apt-get install nodejs npm'"
with=(CI=true FAKE_RUSTC=1.99.0)
dev build
expect 'another Rust' "$said" 'warning: this is rustc 1.99.0 (fake); the project is tested with'

# util-linux has a `script` that runs a command in a terminal.
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  ln -s "$(command -v script)" "$scratch/bin/script"
  in_terminal() { # ANSWER
    rm -f "$scratch/apt.log"
    said=$(cd "$scratch" && printf '%s\n' "$1" | env -i PATH="$scratch/bin" HOME="$scratch" \
      FAKE_SYSROOT="$scratch/sysroot" SHELL="$scratch/bin/bash" script -qec './dev build' /dev/null) || true
    installed=$(cat "$scratch/apt.log" 2>/dev/null || true)
    expect 'a terminal' "$said" "Run 'apt-get install nodejs npm'? [y/N]"
  }
  in_terminal n
  expect_none 'the answer no'
  in_terminal ''
  expect_none 'no answer'
  in_terminal y
  expect 'the answer yes' "$installed" "$packages"
fi
echo '    asks in a terminal, installs with --yes, CI=true and without a terminal, else says what to run'
