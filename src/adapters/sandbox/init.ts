/**
 * The agent's parent; pid 1 in a namespace. Descriptor 4 is the agent's stderr: on 2 are only notes of the isolation's own
 * programs, such as why it cannot start. Speaks on descriptor 3: says \`ready\`, waits for \`go\` (so that the identity is
 * on disk before the agent exists; the end of the stream means do not start), at the end says \`exit <status>\` and waits to be
 * killed: what it leaves behind is counted from outside, where the agent has no hand in the answer.
 * Where memory runs out, the kernel is to take the agent rather than its keeper.
 * Where its network has a way out, a program of ours makes that first, and hands it out by descriptor 6, which no agent has.
 * The agent runs in the foreground: a background one would ignore SIGINT and lose its stdin. Signals to the agent are the
 * keeper's affair; the traps only keep this shell alive, and as handlers they are not inherited.
 * Without a namespace a watcher kills the process group when the keeper is gone.
 */
export const INIT = `
mode=$1 watcher=
if [ -n "$2" ]; then
  NODE_OPTIONS= "$3" "$4" $2 3>&- 4>&- || exit 1
  exec 6>&-
  unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
fi
[ -z "$5" ] || exec 5<"$5"
shift 5
exec 2>/dev/null
trap : INT TERM HUP QUIT USR1 USR2 ALRM
echo ready >&3
read -r go <&3 && [ "$go" = go ] || exit 0
if [ "$mode" = process-group ]; then
  ( trap '' INT TERM HUP; while read -r _ <&3; do :; done; kill -KILL -$$ ) </dev/null >/dev/null 4>&- &
  watcher=$!
fi
( echo 1000 >/proc/self/oom_score_adj; exec "$@" 2>&4 3>&- 4>&- )
status=$?
exec 4>&-
[ -z "$watcher" ] || { kill -KILL $watcher; wait $watcher; }
echo "exit $status" >&3
read -r _ <&3
`;
