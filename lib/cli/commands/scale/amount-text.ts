/** "9,523", "0.4": a number in few digits. */
export function amountText(amount: number): string {
  if (!Number.isFinite(amount)) return '-';
  // A small amount is not shown as 0.
  if (amount > 0 && amount < 0.05) return amount.toLocaleString('en-US', { maximumSignificantDigits: 1 });
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

/** "14 min", or "-" for what is hardly older than a step of the model. */
export function ageText(ms: number): string {
  if (ms < 20_000) return '-';
  if (ms < 60_000) return '< 1 min';
  const minutes = Math.round(ms / 60_000);
  return minutes < 600 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
