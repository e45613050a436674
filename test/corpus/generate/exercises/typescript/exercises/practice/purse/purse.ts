export const total = (..._: unknown[]): unknown => {
  throw new Error('Remove this line and implement the function');
};

export const change = (..._: unknown[]): unknown => {
  throw new Error('Remove this line and implement the function');
};

export const describe = (..._: unknown[]): unknown => {
  throw new Error('Remove this line and implement the function');
};
