import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A model's server in a process of its own: answers one event at once, or with `?stream` 32 MB of them. */

const STREAM_BYTES = 32 * 1024 * 1024;
const EVENT = `event: content_block_delta\ndata: ${JSON.stringify({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'some forty characters of an answer, or so' },
})}\n\n`;
const BLOCK = EVENT.repeat(400);

const server = createServer((asked, response) => {
  asked.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let left = asked.url?.includes('stream') ? Math.ceil(STREAM_BYTES / BLOCK.length) : 0;
    const more = (): void => {
      while (left > 0) {
        left -= 1;
        if (!response.write(BLOCK)) return void response.once('drain', more);
      }
      response.end(EVENT);
    };
    more();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
