import { quoted } from './start-script.ts';

export interface Invitation {
  /** The name of the worker there. */
  name: string;
  queues: readonly string[];
  /** Who made it, for its reader: `me@host`. */
  by: string;
  /** The oldest version of node, `20.19`. */
  node: string;
  /** The packed package, base64. */
  packed: string;
  /** The package's lock file, base64; empty where it has none. */
  lock: string;
  /** Temporal's configuration file, base64. */
  profile: string;
}

/** Base64 in lines, as mail has them. */
const lines = (base64: string): string => base64.replace(/.{1,76}/g, '$&\n').trimEnd();

/**
 * A shell script that makes the machine it runs on one of the fleet: installs the package below $FLEET_HOME, a service, and
 * ends with `fleet doctor`. Its flags are those of `fleet worker install`, or `--foreground`. Run again, it updates.
 * It comes on stdin too, so nothing in it may read that.
 */
export const joinScript = ({ name, queues, by, node, packed, lock, profile }: Invitation): string => `#!/bin/sh
# An invitation to a fleet, by ${by.replace(/[^\w@.-]/g, '')}: makes this machine its worker ${name}. It may hold keys: keep it to yourself.
join_fleet() {
set -eu
umask 077
fail() { printf 'fleet: %s\\n' "$1" >&2; exit 1; }
for program in node npm git; do command -v "$program" >/dev/null || fail "$program is not here: install it first"; done
node -e 'const [a,b]=process.versions.node.split("."),[c,d]=process.argv[1].split(".");process.exit(+a>+c||(+a==+c&&+b>=+d)?0:1)' ${quoted(node)} ||
  fail "node $(node --version) is too old: ${node} or later is needed"
home=\${FLEET_HOME:-$HOME/.fleet}
mkdir -p "$home" || fail "$home cannot be made"
home=$(cd "$home" && pwd)
decode() { node -e 'let s="";process.stdin.setEncoding("latin1").on("data",(d)=>s+=d).on("end",()=>require("fs").writeFileSync(process.argv[1],Buffer.from(s,"base64")))' "$1"; }
new="$home/packages/$(date +%Y%m%d%H%M%S)"
mkdir -p "$new"
decode "$new.tgz" <<'END'
${lines(packed)}
END
tar xzf "$new.tgz" -C "$new" --strip-components=1 && rm "$new.tgz"
decode "$new/package-lock.json" <<'END'
${lines(lock)}
END
decode "$home/temporal.toml" <<'END'
${lines(profile)}
END
echo 'installing the package' >&2
how=ci
[ -s "$new/package-lock.json" ] || { how=install; rm "$new/package-lock.json"; }
(cd "$new" && npm "$how" --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >&2) ||
  { rm -rf "$new"; fail 'npm could not install the package: see above'; }
mkdir -p "$new/bin"
chmod +x "$new/dist/cli/main.js"
ln -sf ../dist/cli/main.js "$new/bin/fleet"
# A worker that still runs needs the one before.
ls -d "$home"/packages/*/ | sort -r | tail -n +3 | while read -r old; do rm -rf "$old"; done
for variable in $(env | sed -n 's/^\\(TEMPORAL_[A-Z0-9_]*\\)=.*/\\1/p'); do unset "$variable"; done
export FLEET_HOME="$home" TEMPORAL_CONFIG_FILE="$home/temporal.toml"
fleet="$new/bin/fleet"
printf 'export FLEET_HOME=%s TEMPORAL_CONFIG_FILE=%s PATH=%s:"$PATH"\\n' "'$home'" "'$home/temporal.toml'" "'$new/bin'" >"$home/env"
"$fleet" config set worker.name=${quoted(name)} </dev/null >/dev/null
"$fleet" config set worker.queues=${quoted(queues.join(','))} </dev/null >/dev/null
if [ "\${1-}" = --foreground ]; then "$fleet" doctor </dev/null || true; exec "$fleet" worker </dev/null; fi
"$fleet" worker install "$@" </dev/null || fail "to start it by hand: . $home/env && fleet worker"
"$fleet" doctor </dev/null
}
join_fleet "$@"
`;
