/** Pages in front of the dashboard: how to sign in, or that sign-in succeeded. They need no script. */
type SignIn = 'link' | 'used' | 'cluster' | 'refused' | 'entered';

const WORDS: Readonly<Record<SignIn, string>> = {
  link: 'Open the address that <code>nodewright dashboard</code> prints. It lets one browser in, once.',
  used: 'This link was used already, or it is of an earlier run. <code>nodewright dashboard</code> prints another one.',
  cluster: 'Sign in with a token of this cluster whose user may list pods and NodePools.',
  refused: 'This token is not valid here, or its user may not list pods and NodePools.',
  entered: 'One moment …',
};

const FORM = `<form method="post" action="/sign-in">
<label for="token">Token, as <code>kubectl create token</code> prints it</label>
<input id="token" name="token" type="password" autocomplete="off" required>
<button type="submit">Sign in</button>
</form>`;

export function signInPage(state: SignIn): string {
  const refresh = state === 'entered' ? '<meta http-equiv="refresh" content="0;url=/now">' : '';
  const form = state === 'cluster' || state === 'refused' ? FORM : '';
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${refresh}
<title>nodewright</title><link rel="icon" href="/favicon.svg"><link rel="stylesheet" href="/page.css"></head>
<body class="front"><main><h1>nodewright</h1><p>${WORDS[state]}</p>${form}</main></body>
</html>
`;
}
