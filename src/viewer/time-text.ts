const local = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

/**
 * `2026-11-30 08:04:38 CET`: on pages of the local viewer in the zone of this machine, on published ones in UTC. What
 * is no moment stays as it is.
 */
export function timeText(iso: string, kind: 'view' | 'report' = 'view'): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  if (kind === 'report') return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const part = Object.fromEntries(local.formatToParts(time).map(({ type, value }) => [type, value]));
  return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}:${part.second} ${part.timeZoneName}`;
}
