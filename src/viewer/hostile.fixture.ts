/** What an agent could write to take over a page or to hide something on it. */
export const hostileText = [
  '<script>document.documentElement.dataset.attacked = "script"</script>',
  '<img src=x onerror="document.documentElement.dataset.attacked = \'onerror\'">',
  '</pre></script></title></textarea><svg onload="document.documentElement.dataset.attacked = \'svg\'">',
  '<a href="javascript:document.documentElement.dataset.attacked = 1">link</a>',
  '<meta http-equiv="refresh" content="0;url=http://attacker.invalid/">',
  '<link rel=stylesheet href=http://attacker.invalid/x.css><iframe src=http://attacker.invalid></iframe>',
  '\u001b[2J\u001b[31mterminal\u001b[0m \u001b]0;title\u0007',
  'right\u202etfel\u202c \u2066isolate\u2069 zero\u200bwidth',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template that must never be evaluated.
  '{{constructor.constructor("return 1")()}} ${7*7} `',
].join('\n');

/** A trace in the format of one CLI whose every field is hostile, with a line of 10 MB. */
export function hostileTrace(): string {
  const events = [
    { type: 'thread.started', thread_id: 'x' },
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'i0', type: 'agent_message', text: hostileText } },
    { type: 'item.completed', item: { id: 'i1', type: 'reasoning', text: hostileText } },
    {
      type: 'item.completed',
      item: {
        id: 'i2',
        type: 'command_execution',
        command: `bash -lc '${hostileText}'`,
        aggregated_output: `${hostileText}\n${'y'.repeat(50_000)}`,
        exit_code: 0,
        status: 'completed',
      },
    },
    { type: 'error', message: hostileText },
  ];
  return [
    ...events.map((event) => JSON.stringify(event)),
    `{"long":"${'z'.repeat(10_000_000)}"}`,
    hostileText,
    '',
  ].join('\n');
}
