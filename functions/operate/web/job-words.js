// A job in words and numbers. Pure.
import { words } from "./format.js";

export const isRunning = (job) => ["queued", "running"].includes(job.status);
export const seenOf = (job) => job.done + job.skipped + job.failed;
export const jobWords = (kind) => (kind === "replay" ? "Replay of dead letters" : words(kind));

/** Seconds to go at the pace so far; null while nobody can say. */
export function estimateOf(job, now = Date.now()) {
  const seen = seenOf(job);
  if (job.status !== "running" || !job.total || !seen || !job.started_at) return null;
  const passed = (now - new Date(job.started_at).getTime()) / 1000;
  return passed > 0 ? Math.max(0, (passed / seen) * (job.total - seen)) : null;
}

/** The filters of the list that show which of the job's letters still wait. */
export function leftLetters(job) {
  const filter = { ...job.arguments.filter };
  delete filter.state;
  const until = filter.until && filter.until < job.created_at ? filter.until : job.created_at;
  return { ...filter, until };
}
