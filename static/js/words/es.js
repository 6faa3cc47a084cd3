globalThis.assizeWords = { plural: (n) => (n != 1), words: {} };
