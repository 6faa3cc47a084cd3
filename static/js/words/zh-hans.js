globalThis.assizeWords = { plural: (n) => 0, words: {} };
