"use strict";

const { spawn } = require("node:child_process");
const { packageOf, whyMissing, platformHere } = require("./platform.js");
const { optionalDependencies } = require("./package.json");

/** Exit code of a command that cannot run. */
const USAGE = 2;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

/** Runs a program of the platform package with the arguments of this process, and ends as it ends. */
module.exports = function launch(program) {
  const fail = (why) => {
    process.exitCode = USAGE;
    process.stderr.write(`${why}\n`);
  };
  let path;
  try {
    path = require.resolve(`${packageOf({ os: process.platform, cpu: process.arch })}/bin/${program}`);
  } catch {
    return fail(whyMissing(platformHere(), Object.keys(optionalDependencies)));
  }
  const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
  // The program decides how it ends. After Ctrl-C it gets the signal twice, which is the same to it as once.
  const forward = (signal) => child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, forward);
  child.on("error", (why) => {
    const platform = platformHere();
    fail(platform.musl ? whyMissing(platform, []) : `edgeproof cannot start ${path}: ${why.message}`);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) {
      process.exitCode = code;
      return;
    }
    for (const each of SIGNALS) process.off(each, forward);
    process.kill(process.pid, signal);
  });
};
