// A local npm registry for the tests of the packages: empty, open to everybody, on any free port, which it prints.
"use strict";

const { runServer } = require("verdaccio");

const anybody = { access: "$all", publish: "$all" };
const configuration = {
  self_path: __dirname,
  storage: "./storage",
  auth: { htpasswd: { file: "./users" } },
  packages: { "@*/*": anybody, "**": anybody },
  max_body_size: "500mb",
  log: { type: "stdout", format: "pretty", level: "warn" },
};

runServer(configuration).then((app) => {
  app.listen(0, "127.0.0.1", function () {
    console.log(`listening on http://127.0.0.1:${this.address().port}`);
  });
});
