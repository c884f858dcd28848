// What zlink.test.js uses of node:test and node:assert, in a browser.
const tests = [];

export function test(name, options, body = options) {
  if (!options.skip) tests.push({ name, body });
}

export async function run() {
  const failures = [];
  for (const { name, body } of tests) {
    await Promise.resolve().then(body).catch(error => failures.push(`${name}: ${error.stack ?? error}`));
  }

  return failures.length > 0 ? `FAILED ${failures.join("; ")}` : `PASSED ${tests.length}`;
}

function check(isRight, ...what) {
  if (!isRight) throw new Error(`it should not be so: ${what.map(one => typeof one === "object" ? JSON.stringify(one) : one).join(", ")}`);
}

function isLike(value, expected) {
  return expected instanceof RegExp ? expected.test(value) : value === expected;
}

export default {
  equal: (value, expected) => check(value === expected, value, expected),
  deepEqual: (value, expected) => check(JSON.stringify(value) === JSON.stringify(expected), value, expected),
  match: (value, expected) => check(expected.test(value), value, expected),
  fail: what => check(false, what),
  async rejects(promise, expected) {
    const error = await promise.then(() => check(false, "it did not reject"), one => one);
    const isRight = expected instanceof RegExp ? expected.test(error)
      : Object.keys(expected).every(key => isLike(error[key], expected[key]));
    check(isRight, error, error.message, expected);
  },
};
