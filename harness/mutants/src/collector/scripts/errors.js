// Changes of the errors that the interface states. Each makes a mutant of each error to which it applies.
import { mutant } from "./wrapper.js";

/**
 * Changes the error with these parts of its text, between which values stand, or the error with this name.
 *
 * @param {string[]} parts
 * @param {(error: Error) => void} change throws another error, or returns
 */
function onError(parts, change) {
  const [first, last] = [parts[0] ?? "", parts.at(-1) ?? ""];
  const isText = parts.join("").includes(" ");
  mutant.error = (error) => {
    if (isText ? !(error.message.startsWith(first) && error.message.endsWith(last)) : error.name !== first) throw error;
    change(error);
  };
}

// error: swallowed | swallows the error | any | failure-swallowed
export function swallowed(parts) {
  onError(parts, () => {});
}

// error: thrown-text | throws a text instead of an error | any | page-error-wrong
export function thrownText(parts) {
  onError(parts, (error) => {
    throw error.message;
  });
}

// error: other-error | throws an error of its own instead | any | page-error-wrong
export function otherError(parts) {
  onError(parts, () => {
    throw new RangeError("collector failed");
  });
}

// error: longer-text | appends a full stop to the text | with-text | page-error-wrong
export function longerText(parts) {
  onError(parts, (error) => {
    throw new Error(error.message + ".");
  });
}

// error: other-maker | begins the text with the name of its maker | with-text | page-error-wrong
export function otherMaker(parts) {
  onError(parts, (error) => {
    throw new Error(error.message.replace(/^([^ :]+: )?/, "acme: "));
  });
}

// error: other-case | writes the text in capitals | with-text | page-error-wrong
export function otherCase(parts) {
  onError(parts, (error) => {
    throw new Error(error.message.toUpperCase());
  });
}

// error: in-message | wraps the text in a sentence | with-text | page-error-wrong
export function inMessage(parts) {
  onError(parts, (error) => {
    throw new Error("collector: " + error.message);
  });
}

// error: without-value | leaves the value out of the text | with-value | page-error-wrong
export function withoutValue(parts) {
  onError(parts, () => {
    throw new Error(parts.join(""));
  });
}

// error: other-value | writes another value into the text | with-value | page-error-wrong
export function otherValue(parts) {
  onError(parts, () => {
    throw new Error(parts.join("0"));
  });
}

// error: other-name | throws an error with another name | with-name | page-error-wrong
export function otherName(parts) {
  onError(parts, (error) => {
    throw Object.assign(new Error(error.message), { name: "NetworkError" });
  });
}

// error: name-as-text | writes the name into the text | with-name | page-error-wrong
export function nameAsText(parts) {
  onError(parts, (error) => {
    throw new Error(error.name + ": " + error.message);
  });
}
