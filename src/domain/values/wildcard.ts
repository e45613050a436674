/** Whether all of the text is what the pattern says; the time that it takes is bounded by their lengths. */
export function fits(pattern: string, text: string): boolean {
  let [at, from, star, back] = [0, 0, -1, 0];
  while (from < text.length) {
    if (pattern[at] === '*') {
      [star, back] = [at, from];
      at += 1;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[from])) {
      at += 1;
      from += 1;
    } else if (star >= 0) {
      back += 1;
      [at, from] = [star + 1, back];
    } else return false;
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
