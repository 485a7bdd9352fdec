/** JSON as Azure reads it: with comments, trailing commas, and names without quotes. `az` sends templates so. */

const PIECE =
  /"(?:[^"\\]|\\[^])*"|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/|,(?=(?:\s|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/)*[}\]])|[A-Za-z_$][\w$]*(?=\s*:)/g;

/** Throws a SyntaxError for what is no JSON even so. */
export function parseRelaxedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const strict = text.replace(PIECE, (piece) => {
      if (piece.startsWith('"')) return piece;
      return piece.startsWith('/') || piece === ',' ? '' : `"${piece}"`;
    });
    // The message is about the text as it was sent.
    if (strict === text) throw error;
    return JSON.parse(strict) as unknown;
  }
}
