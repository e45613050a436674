export const total = () => {
  throw new Error('Remove this line and implement the function');
};

export const change = () => {
  throw new Error('Remove this line and implement the function');
};

export const describe = () => {
  throw new Error('Remove this line and implement the function');
};

export const isEven = () => {
  throw new Error('Remove this line and implement the function');
};
