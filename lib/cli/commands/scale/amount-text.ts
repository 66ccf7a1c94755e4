/** "9,523", "0.4": a number in few digits. */
export function amountText(amount: number): string {
  if (!Number.isFinite(amount)) return '-';
  const digits = amount !== 0 && Math.abs(amount) < 10 ? 1 : 0;
  return amount.toLocaleString('en-US', { maximumFractionDigits: digits });
}

/** "12 %", "0.1 %". */
export function percentText(share: number): string {
  return `${(share * 100).toLocaleString('en-US', { maximumSignificantDigits: 2 })} %`;
}

export function dollarText(dollars: number): string {
  return `$${dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
