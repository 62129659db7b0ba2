/** Items by a key, in the order in which keys first come. */
export function groupsOf<T, K>(items: Iterable<T>, key: (item: T) => K): Map<K, T[]> {
  const found = new Map<K, T[]>();
  for (const item of items) {
    const members = found.get(key(item));
    if (members) members.push(item);
    else found.set(key(item), [item]);
  }
  return found;
}
