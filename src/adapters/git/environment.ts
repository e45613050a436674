/** Nobody's configuration, no prompt, no network, and messages in plain English. */
export function localEnvironment(): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_SSH_COMMAND: 'false',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'false',
  };
}

/** The user's, without what would point git at another repository (we may run inside of a hook). */
export function networkEnvironment(): Record<string, string> {
  const kept = /^GIT_(SSH|CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_NOSYSTEM|SSL|PROXY|HTTP|CURL)/;
  const own = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && (!name.startsWith('GIT_') || kept.test(name)),
  );
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    LC_ALL: 'C',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
  };
}
