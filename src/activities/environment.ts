/** What every process that we start may see of the worker's environment. */
const ALLOWED = [
  ...['PATH', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'USER', 'LOGNAME', 'SHELL'],
  ...[
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'http_proxy',
    'https_proxy',
    'no_proxy',
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
    'NODE_EXTRA_CA_CERTS',
  ],
];

/** The allow-listed environment, the variables named on top of it, and what is set for this process. */
export function environment(
  from: NodeJS.ProcessEnv,
  names: readonly string[],
  set: Record<string, string>,
): Record<string, string> {
  const picked = [...ALLOWED, ...names].flatMap((name) =>
    from[name] === undefined ? [] : [[name, from[name]] as const],
  );
  return { ...Object.fromEntries(picked), ...set };
}
