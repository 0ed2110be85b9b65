/** What went wrong, as exceptions. None of them ever holds the key. */

/** The stable word for a problem: what stands after `#` in its `type`. */
export function kindOf({ type } = {}) {
  return typeof type === "string" ? type.slice(type.indexOf("#") + 1) : "";
}

/** The server said no (RFC 9457). `kind` is the word to decide by, `requestId` the one to ask about. */
export class TocsinProblem extends Error {
  name = "TocsinProblem";

  constructor(problem, { status = problem.status, requestId = problem.request_id, retryAfterMs } = {}) {
    const kind = kindOf(problem) || `http-${status}`;
    const title = problem.title || `It answered ${status}`;
    const errors = Array.isArray(problem.errors) ? problem.errors : [];
    super(sentence(title, problem.detail, errors, [status, kind, requestId && `request ${requestId}`]));
    Object.assign(this, { status, kind, title, detail: problem.detail ?? "", errors, requestId, retryAfterMs });
  }
}

/** There was no answer, or none of Tocsin's: `cause` says why. Whether the call had its effect is not known. */
export class TocsinUnreachable extends Error {
  name = "TocsinUnreachable";

  constructor(message, { isTimeout = false, ...options } = {}) {
    super(message, options);
    this.isTimeout = isTimeout;
  }
}

function sentence(title, detail, errors, facts) {
  const fields = errors.map(({ pointer, message }) => `${pointer} ${message}`).join("; ");
  const said = [title, detail, fields].filter(Boolean).map((part) => String(part).replace(/[.\s]+$/, ""));
  return `${said.join(". ")} (${facts.filter(Boolean).join(", ")})`;
}
