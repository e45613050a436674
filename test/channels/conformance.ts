import { expect, test } from '@jest/globals';
import type { Channel, Incoming, Received } from '../../src/channels/port.ts';

/** A channel, and the person at its other end. */
export interface OtherEnd extends AsyncDisposable {
  channel: Channel;
  /** The one chat that there is. */
  chat: string;
  say(text: string, replyTo?: string): void;
  press(message: string, label: string): void;
  /** What the person sees of a message, its buttons by their labels. */
  seen(message: string): { text: string; buttons: string[] } | undefined;
  /** Words that were shown to whoever pressed a button. */
  notices(): string[];
}

/** What every channel does: passing this is what "supports X" means. */
export function channelConformance(name: string, open: () => Promise<OtherEnd>): void {
  const signal = new AbortController().signal;
  const event = (received: Received[]): Incoming[] => received.flatMap((one) => one.event ?? []);
  const button = (label: string, token: string) => ({ label, token });

  test(`${name}: knows who it is, the same each time`, async () => {
    await using end = await open();
    expect(await end.channel.identify()).toBe(await end.channel.identify());
  });

  test(`${name}: posts messages with ids of their own, and changes the one that is named`, async () => {
    await using end = await open();
    const { channel, chat } = end;
    const [one, two] = [
      await channel.post({ chat, text: 'One' }),
      await channel.post({ chat, text: 'Two', replyTo: '1' }),
    ];
    expect(one).not.toBe(two);
    await channel.edit(one, { chat, text: 'One, changed', buttons: [button('Yes', 't1')] });
    expect(end.seen(one)).toEqual({ text: 'One, changed', buttons: ['Yes'] });
    await channel.edit(one, { chat, text: 'Over' });
    expect(end.seen(one)).toEqual({ text: 'Over', buttons: [] });
    expect(end.seen(two)).toEqual({ text: 'Two', buttons: [] });
  });

  test(`${name}: shows emoji, right-to-left text and its longest message as they are`, async () => {
    await using end = await open();
    const { channel, chat } = end;
    for (const text of ['👩‍👩‍👧 שלום عالم', 'x'.repeat(channel.longest)])
      expect(end.seen(await channel.post({ chat, text }))?.text).toBe(text);
  });

  test(`${name}: gives what was said again until a later cursor is asked for, in order`, async () => {
    await using end = await open();
    const { channel } = end;
    await channel.identify();
    end.say('first');
    end.say('second');
    const received = await channel.receive(0, signal);
    const texts = (all: Received[]) => event(all).map((one) => (one.kind === 'message' ? one.text : ''));
    expect(texts(received)).toEqual(['first', 'second']);
    expect(texts(await channel.receive(0, signal))).toEqual(['first', 'second']);
    expect(texts(await channel.receive(received[0]!.next, signal))).toEqual(['second']);
    const ids = event(received).map((one) => (one.kind === 'message' ? one.id : ''));
    expect(new Set(ids).size).toBe(2);
  });

  test(`${name}: tells a reply and a press by the message and the token that they are for`, async () => {
    await using end = await open();
    const { channel, chat } = end;
    const id = await channel.post({ chat, text: 'Which?', buttons: [button('A', 'tok-a'), button('B', 'tok-b')] });
    end.press(id, 'B');
    end.say('neither', id);
    const received = await channel.receive(0, signal);
    expect(event(received)).toMatchObject([
      { kind: 'press', chat, message: id, token: 'tok-b' },
      { kind: 'message', chat, replyTo: id, text: 'neither' },
    ]);
    const [press] = event(received);
    await channel.acknowledge(press?.kind === 'press' ? press.press : '', 'You chose B');
    expect(end.notices()).toEqual(['You chose B']);
  });

  test(`${name}: ends a wait by its signal`, async () => {
    await using end = await open();
    const stop = new AbortController();
    const waiting = end.channel.receive(0, stop.signal).catch(() => []);
    stop.abort();
    expect(await waiting).toEqual([]);
  });
}
