import { createServer } from 'node:net';

/** `node listen.js <port>…`, in a tree's network, before its agent: makes its ways out and hands them to the process outside. */
const ports = process.argv.slice(2).map(Number);
for (const port of ports) {
  const server = createServer();
  server.once('error', (error) => {
    throw new Error(`port ${port} in the tree's own network: ${error.message}`);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await new Promise((resolve) => process.send!(port, server, resolve));
  server.close();
}
process.disconnect();
