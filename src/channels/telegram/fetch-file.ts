import { ChannelError } from '../port.ts';

const TIMEOUT_MS = 60_000;

/** The bytes behind a URL that has the token in it: no message may show it. @throws ChannelError */
export async function fetchFile(url: string, most: number): Promise<Buffer> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { signal, redirect: 'error' }).catch(() => undefined);
  if (!response?.body) throw new ChannelError({ kind: 'away' }, 'the file does not come');
  if (!response.ok)
    throw new ChannelError(
      { kind: response.status >= 500 ? 'away' : 'refused' },
      `the file's server answers ${response.status}`,
    );
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body) {
      bytes += chunk.byteLength;
      if (bytes > most) break;
      chunks.push(chunk);
    }
  } catch {
    throw new ChannelError({ kind: 'away' }, 'the file broke off');
  }
  if (bytes > most) throw new ChannelError({ kind: 'refused' }, `the file has more than ${most} bytes`);
  return Buffer.concat(chunks);
}
