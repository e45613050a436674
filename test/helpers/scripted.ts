/** A coder that does what its objective says, the shell script behind `DO: `, and commits what that leaves. It finds its `$prompt`. */
export const scripted = {
  command: [
    'sh',
    '-c',
    'prompt="$(cat)"; script="$(printf "%s" "$prompt" | sed -n "s/^.*DO: //p" | head -n 1)"; eval "$script"; git add -A; git commit -qm "$FLEET_TASK $FLEET_RUN"; true',
  ],
  protocol: 'none' as const,
};
export const doing = (script: string): string => `DO: ${script}`;
