// What TypeScript's check of the modules (jsconfig.json) leaves: names that hide others or do nothing.

export default [
  {
    files: ["**/*.mjs"],
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-dupe-keys": "error",
      "no-self-assign": "error",
      "no-shadow": "error",
      "no-unreachable": "error",
      "no-unused-vars": "error",
      "prefer-const": "error",
    },
  },
];
