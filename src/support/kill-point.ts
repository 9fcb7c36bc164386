/**
 * A named instant at which tests kill the process, to prove that a crash there loses nothing. Inert unless
 * `M4BENCH_KILL_AT` names it; `before` runs first then, to leave exactly the half-done state that is tested.
 */
export async function killPoint(name: string, before?: () => Promise<unknown>): Promise<void> {
  if (process.env.M4BENCH_KILL_AT !== name) return;
  await before?.();
  process.kill(process.pid, 'SIGKILL');
  // The signal is on its way; nothing after this line may happen.
  await new Promise(() => {});
}
