/**
 * Given to `sh -c` in a sandbox, beside whose folder lies a file `hidden` that it does not show: tries to get past each wall, names
 * on stderr what it reached, and exits with 1 where that is anything. Starts no program.
 */
export const ESCAPES = `
reached=
got() { reached="$reached\${reached:+, }$1"; }
[ ! -e ../hidden ] || got 'files that are not shown'
set -- /proc/[0-9]*
[ $# -lt 8 ] || got 'other processes'
while read -r name _; do
  case $name in Inter-*|face|lo:*) ;; *) network=1 ;; esac
done </proc/net/dev
[ -z "$network" ] || got 'the network'
while read -r name value; do
  case $name in
    CapEff:) [ -z "\${value##*[!0]*}" ] && got 'capabilities' ;;
    NoNewPrivs:) [ "$value" = 1 ] || got 'more rights than its own' ;;
    Seccomp:) [ "$value" = 2 ] || got 'every system call' ;;
  esac
done </proc/self/status
( : >>/proc/$$/mem ) 2>/dev/null && got 'the memory of other processes'
[ -z "$reached" ] || { echo "from inside, these can be reached: $reached" >&2; exit 1; }
`;
