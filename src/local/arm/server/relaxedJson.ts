/** JSON as Azure accepts it: with comments, trailing commas, and names without quotes. `az` sends such templates. */

const PIECE =
  /"(?:[^"\\]|\\[^])*"|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/|,(?=(?:\s|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/)*[}\]])|[A-Za-z_$][\w$]*(?=\s*:)/g;

/** Returns the value of a text; throws a SyntaxError when it is not even relaxed JSON. */
export function parseRelaxedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const strict = text.replace(PIECE, (piece) => {
      if (piece.startsWith('"')) return piece;
      return piece.startsWith('/') || piece === ',' ? '' : `"${piece}"`;
    });
    // The error is that of the original text.
    if (strict === text) throw error;
    return JSON.parse(strict) as unknown;
  }
}
