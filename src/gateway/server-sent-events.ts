/** Events larger than this are passed on but not read. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;

/**
 * Reads server-sent events from chunks that break anywhere (WHATWG HTML, section 9.2.6) and hands the data of each
 * complete event to `onData`; `onSkipped` is told of an event too large to be read.
 */
export function eventReader(
  onData: (data: string) => void,
  onSkipped: () => void = () => {},
): (chunk: Buffer) => void {
  const decoder = new TextDecoder('utf-8');
  let pending = '';
  let data: string[] = [];
  let dataLength = 0;
  let endedWithReturn = false;

  const readLine = (line: string): void => {
    if (line === '') {
      if (dataLength > MAX_EVENT_BYTES) onSkipped();
      else if (data.length > 0) onData(data.join('\n'));
      data = [];
      dataLength = 0;
      return;
    }
    if (!line.startsWith('data:')) return;
    const value = line.slice(line[5] === ' ' ? 6 : 5);
    dataLength += value.length;
    if (dataLength <= MAX_EVENT_BYTES) data.push(value);
  };

  return (chunk) => {
    let text = decoder.decode(chunk, { stream: true });
    // A line may end in CR LF that was cut between the two.
    if (endedWithReturn && text.startsWith('\n')) text = text.slice(1);
    endedWithReturn = text.endsWith('\r');
    const lines = (pending + text).split(/\r\n|\r|\n/);
    pending = lines.pop()!;
    if (pending.length > MAX_EVENT_BYTES) onSkipped();
    if (pending.length > MAX_EVENT_BYTES) pending = 'data:'.padEnd(MAX_EVENT_BYTES, ' ');
    for (const line of lines) readLine(line);
  };
}
