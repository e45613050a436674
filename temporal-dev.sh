#!/usr/bin/env bash
# Starts Temporal's dev server, in the foreground and nothing else, with its data in $FLEET_HOME/temporal.db.
set -euo pipefail

usage() {
  cat <<'END'
Usage: temporal-dev.sh [--port N] [--ui-port N] [--ip ADDRESS] [--headless] [-- flags of 'temporal server start-dev']
       temporal-dev.sh --install-only

Starts Temporal's dev server with its data in $FLEET_HOME/temporal.db (FLEET_HOME is ~/.fleet unless set). The program is
taken from PATH, Go's bin folder or $FLEET_HOME/bin; if it is in none of them it is put into the last one. Data that one
version of the server has written is opened with no other: the first program of that version is taken, and without one
nothing is started.

  --port N         gRPC port, 7233 unless given
  --ui-port N      Web UI port, the gRPC port + 1000 unless given
  --ip ADDRESS     address of this machine to listen on, beside 127.0.0.1: anyone who reaches it can run agents
                   (needs node, except for 0.0.0.0 and ::, which are all addresses)
  --headless       no Web UI
  --install-only   find or get the program and print its path
  --help           this text

Example: ./temporal-dev.sh --port 7300 -- --metrics-port 9090
END
}

say() { printf '%s\n' "$*" >&2; }
fail() { # exit code, sentence
  say "temporal-dev.sh: $2"
  exit "$1"
}

port=7233 ui_port='' ip=127.0.0.1 headless='' install_only=''
value_of() { # flag, number of arguments left, value
  [ "$2" -ge 2 ] && [ -n "$3" ] || fail 2 "$1 needs a value"
}
port_of() { # flag, value
  case $2 in *[!0-9]* | ??????*) fail 2 "$1 must be a port, 1 to 65535, not '$2'" ;; esac
  [ "$2" -ge 1 ] && [ "$2" -le 65535 ] || fail 2 "$1 must be a port, 1 to 65535, not '$2'"
}
while [ $# -gt 0 ]; do
  case $1 in
    --port) value_of "$1" $# "${2-}"; port_of "$1" "$2"; port=$2; shift 2 ;;
    --ui-port) value_of "$1" $# "${2-}"; port_of "$1" "$2"; ui_port=$2; shift 2 ;;
    --ip) value_of "$1" $# "${2-}"; ip=$2; shift 2 ;;
    --headless) headless=1; shift ;;
    --install-only) install_only=1; shift ;;
    --help | -h) usage; exit 0 ;;
    --) shift; break ;;
    *) fail 2 "$1 is not a known flag: see --help, and put flags of the server itself behind --" ;;
  esac
done
[ -n "$ui_port" ] || ui_port=$((port + 1000))
[ "$ui_port" -le 65535 ] || fail 2 "--ui-port must be given: $port + 1000 is no port"

home=${FLEET_HOME:-}
[ -n "$home" ] || home=${HOME:?HOME or FLEET_HOME must be set}/.fleet
umask 077
mkdir -p "$home/bin" || fail 1 "$home/bin cannot be made"
home=$(cd "$home" && pwd)

db=$home/temporal.db
candidates() {
  local candidate
  for candidate in "$(type -P temporal || true)" "$(go env GOPATH 2>/dev/null || true)/bin/temporal" \
    "${HOME:-/nonexistent}/go/bin/temporal" "$home/bin/temporal"; do
    if [ -f "$candidate" ] && [ -x "$candidate" ]; then printf '%s\n' "$candidate"; fi
  done
}

version_of() { # program
  { "$1" --version 2>/dev/null || true; } | sed -E 's/.*\(Server ([^,)]+).*/\1/;q'
}
# The server has no migration for its file: who wrote it last must read it.
written_by=''
if [ -s "$db" ] && [ -s "$db.version" ]; then written_by=$(cat "$db.version"); fi

find_temporal() {
  local candidate first=''
  while IFS= read -r candidate; do
    first=${first:-$candidate}
    if [ -n "$candidate" ] && { [ -z "$written_by" ] || [ "$(version_of "$candidate")" = "$written_by" ]; }; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done <<<"$(candidates)"
  printf '%s\n' "$first"
  [ -n "$first" ]
}

draft=''
trap 'rm -rf "$draft"' EXIT

# The newest release, from the makers. Anything that goes wrong here leaves it to Go.
download_temporal() {
  local platform arch url
  case $(uname -s) in Linux) platform=linux ;; Darwin) platform=darwin ;; *) return 1 ;; esac
  case $(uname -m) in x86_64 | amd64) arch=amd64 ;; arm64 | aarch64) arch=arm64 ;; *) return 1 ;; esac
  url="https://temporal.download/cli/archive/latest?platform=$platform&arch=$arch"
  draft=$(mktemp -d "$home/bin/.download.XXXXXX")
  say "Downloading Temporal's program to $home/bin (about 50 MB, some seconds)."
  if fetch "$url" >"$draft/archive" && tar -xzf "$draft/archive" -C "$draft" temporal 2>/dev/null &&
    "$draft/temporal" --version >/dev/null 2>&1; then
    mv -f "$draft/temporal" "$home/bin/temporal"
    return 0
  fi
  return 1
}

fetch() { # url
  if command -v curl >/dev/null; then
    curl -fsSL --connect-timeout 5 --max-time 600 "$1" 2>/dev/null
  elif command -v wget >/dev/null; then
    wget -q --connect-timeout=5 --read-timeout=60 --tries=1 -O - "$1"
  else
    return 1
  fi
}

# v1.5.1 is the newest that Go can install: later ones have a replace directive in their go.mod.
build_temporal() {
  command -v go >/dev/null || return 1
  say "The download is not possible from here: building Temporal's program with Go instead, which takes about 5 minutes."
  GOBIN="$home/bin" go install github.com/temporalio/cli/cmd/temporal@v1.5.1 >&2
}

temporal=$(find_temporal) || {
  download_temporal || build_temporal ||
    fail 1 "Temporal's program is not on PATH, in Go's bin folder or in $home/bin, and could neither be downloaded nor built with Go: see https://temporal.io/setup/install-temporal-cli"
  temporal=$home/bin/temporal
  say "Temporal's program is at $temporal."
}
version=$(version_of "$temporal")
if [ -n "$written_by" ] && [ "$version" != "$written_by" ]; then
  fail 1 "$db was written by server $written_by, and the server of $temporal is $version, which may not read it: put a temporal program with server $written_by into $home/bin, or finish all tasks with that one and then move $db* away"
fi
if [ -n "$install_only" ]; then
  printf '%s\n' "$temporal"
  exit 0
fi

in_use() { # port, flag, host
  if (exec 3<>"/dev/tcp/$3/$1") 2>/dev/null; then
    fail 2 "port $1 is in use: choose another one with $2, or use the server that listens there"
  fi
}
# Between themselves the server's services always call 127.0.0.1: bound to one other address it says SERVING, and starts
# no workflow. It stays on 127.0.0.1 then, and a forwarder, which ends with it, listens on the address.
forward='' listen=$ip
case $ip in
  127.0.0.1 | 0.0.0.0 | ::) ;;
  localhost) ip=127.0.0.1 listen=127.0.0.1 ;;
  *) forward=1 listen=127.0.0.1 ;;
esac
in_use "$port" --port 127.0.0.1
if [ -n "$forward" ]; then
  command -v node >/dev/null || fail 2 "--ip $ip needs node on PATH; --ip 0.0.0.0, which is all addresses, does not"
  code=$(node -e '
    const [host, port] = process.argv.slice(1);
    const server = require("node:net").createServer();
    server.on("error", (error) => console.log(error.code)).listen({ host, port }, () => server.close());
  ' "$ip" "$port")
  case $code in
    '') ;;
    EADDRINUSE) fail 2 "port $port is in use: choose another one with --port, or use the server that listens there" ;;
    *) fail 2 "--ip $ip cannot be listened on ($code): it must be an address of this machine" ;;
  esac
fi
if [ -z "$headless" ]; then
  case $ip in 0.0.0.0 | ::) in_use "$ui_port" --ui-port 127.0.0.1 ;; *) in_use "$ui_port" --ui-port "$ip" ;; esac
fi

# Its stdin is held open by the server alone: it ends with that. Without it nobody else would be served, and the server ends.
forward_to_loopback() {
  node -e '
    const net = require("node:net");
    const [host, port] = process.argv.slice(1);
    const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (from) => {
      const to = net.connect({ host: "127.0.0.1", port, allowHalfOpen: true, noDelay: true });
      from.on("error", () => to.destroy()).on("close", () => to.destroy()).pipe(to);
      to.on("error", () => from.destroy()).on("close", () => from.destroy()).pipe(from);
    });
    server.listen({ host, port });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
    process.stdin.resume().on("end", () => process.exit(0));
  ' "$ip" "$port" || kill -TERM "$$"
}
[ -z "$forward" ] || exec 9> >(forward_to_loopback)

if [ "$version" != "$(cat "$db.version" 2>/dev/null)" ]; then
  printf '%s\n' "$version" >"$db.version" || fail 1 "$db.version cannot be written"
fi
# Each commit is on the disk before it is acknowledged: else a power cut would take back what clients were told.
set -- --ip "$listen" --port "$port" --log-level error \
  --db-filename "$db" --sqlite-pragma journal_mode=wal --sqlite-pragma synchronous=2 "$@"
if [ -n "$headless" ]; then set -- --headless "$@"; else set -- --ui-ip "$ip" --ui-port "$ui_port" "$@"; fi
# Priority, fairness and the list of workers are off in older servers; one partition keeps strict order. The last three make
# newer servers hand back cut polls and push cancellations; older ones do not know them, and do not mind.
for setting in matching.useNewMatcher=true matching.enableFairness=true \
  frontend.WorkerHeartbeatsEnabled=true frontend.ListWorkersEnabled=true \
  matching.numTaskqueueReadPartitions=1 matching.numTaskqueueWritePartitions=1 \
  frontend.enableCancelWorkerPollsOnShutdown=true \
  frontend.WorkerCommandsEnabled=true system.enableCancelActivityWorkerCommand=true; do
  set -- --dynamic-config-value "$setting" "$@"
done
exec "$temporal" server start-dev "$@"
