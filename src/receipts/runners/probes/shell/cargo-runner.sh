#!/bin/sh
# What cargo starts a program with. A test binary with Rust's own harness writes a log of its tests, which no println! gets into.
home=${0%/probes/*} program=$1
watched='' path='' old_ifs=$IFS
case " $* " in
  *' --list '* | *' --logfile'* | *' --help '*) ;;
  *) case $program in
    */deps/*) LC_ALL=C grep -q 'Write logs to the specified file' "$program" 2>/dev/null && watched=1 ;;
  esac ;;
esac
if [ -n "$watched" ] && report=$(mktemp -d "$home/reports/cargo-XXXXXXXX"); then
  printf '%s\n%s\n' "${CARGO_PKG_NAME-}" "$program" >"$report/target"
  set -- "$@" --logfile "$report/log"
fi
# rustdoc tells it only to a program that it starts itself; without, all documentation tests run in one process.
case $program in */rustdoctest*/*) export RUSTDOC_DOCTEST_BIN_PATH="$program" ;; esac
# A test run that a test starts is no test of the project.
IFS=:
set -f
for folder in $PATH; do
  case $folder in "$home"/*) ;; *) path=$path${path:+:}$folder ;; esac
done
set +f
IFS=$old_ifs
PATH=$path
read -r preload <"$home/settings"
case ${NODE_OPTIONS-} in "$preload"*) NODE_OPTIONS=${NODE_OPTIONS#"$preload"} ;; esac
case ${PYTHONPATH-} in "$home/probes/python"*) PYTHONPATH=${PYTHONPATH#"$home/probes/python"} PYTHONPATH=${PYTHONPATH#:} ;; esac
[ -n "${NODE_OPTIONS-}" ] || unset NODE_OPTIONS
[ -n "${PYTHONPATH-}" ] || unset PYTHONPATH
for variable in $(env | sed -n 's/^\(CARGO_TARGET_[A-Z0-9_]*_RUNNER\)=.*/\1/p'); do unset "$variable"; done
exec "$@"
