import type { Socket } from 'node:net';

/** An order holds a prompt and an environment: far below this. Longer lines end the connection. */
const MAX_LINE = 16 * 1024 * 1024;

/** Calls `take` with each line that comes in; one that throws ends the connection. */
export function receiveLines(socket: Socket, take: (line: string) => void): void {
  let pieces: string[] = [];
  let length = 0;
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    const lines = text.split('\n');
    for (const [i, piece] of lines.entries()) {
      pieces.push(piece);
      length += piece.length;
      if (i === lines.length - 1) break;
      const line = pieces.join('');
      [pieces, length] = [[], 0];
      try {
        take(line);
      } catch {
        socket.destroy();
        return;
      }
    }
    if (length > MAX_LINE) socket.destroy();
  });
}
