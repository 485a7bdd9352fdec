/** `1 pod`, `12,000 pods`. */
export function countText(amount: number, noun: string): string {
  return `${groupedText(amount)} ${noun}${amount === 1 ? '' : 's'}`;
}

/** 138,057. Locale functions of the runtime first load their tables, which takes longer than printing a whole plan. */
export function groupedText(amount: number): string {
  return String(amount).replace(/\B(?=(\d{3})+$)/g, ',');
}
