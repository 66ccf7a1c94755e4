export const handle = () => {};
export const other = 1;
