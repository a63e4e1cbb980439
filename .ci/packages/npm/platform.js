"use strict";

/** Name of the package with the programs of a platform. */
function packageOf({ os, cpu }) {
  return `@edgeproof/${os}-${cpu}`;
}

/**
 * Why there is no program: one sentence. `packages` are the names of all platform packages. Pure, so that tests ask for
 * other platforms.
 */
function whyMissing(platform, packages) {
  const { os, cpu, musl } = platform;
  if (os === "win32") return "edgeproof does not support Windows: use it in WSL 2";
  if (musl) return "edgeproof needs glibc, and this system has musl: use a glibc image, such as node:22-slim instead of node:22-alpine";
  const name = packageOf(platform);
  if (!packages.includes(name)) return `edgeproof has no program for ${os} on ${cpu}: it has ${packages.join(", ")}`;
  return `edgeproof cannot find its package ${name}: install both on the machine where it runs, without --omit=optional`;
}

/** The platform of this process. */
function platformHere() {
  const { platform: os, arch: cpu } = process;
  if (os !== "linux") return { os, cpu, musl: false };
  process.report.excludeNetwork = true;
  return { os, cpu, musl: !process.report.getReport().header.glibcVersionRuntime };
}

module.exports = { packageOf, whyMissing, platformHere };
