globalThis.assizeWords = {};
