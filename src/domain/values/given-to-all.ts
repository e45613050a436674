/** What every process that we start may see of the worker's environment. */
export const GIVEN_TO_ALL: readonly string[] = [
  ...['PATH', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'USER', 'LOGNAME', 'SHELL', 'JAVA_HOME'],
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

/** No task has to ask for it, and asking for it is no fault. */
export const isGivenToAll = (name: string): boolean => GIVEN_TO_ALL.includes(name);
