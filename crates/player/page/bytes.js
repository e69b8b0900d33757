// Bytes as text and back.

export const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");

export const unhex = digits => Uint8Array.from(digits.match(/../g) ?? [], pair => parseInt(pair, 16));

/** The KID that a text has in any of the usual forms, as 32 digits; null if it has none. */
export function kidOf(text) {
  const digits = (text ?? "").replace(/^0x|[{}-]/gi, "").toLowerCase();
  return /^[0-9a-f]{32}$/.test(digits) ? digits : null;
}

/** A KID as people write it. */
export const kidText = kid => kid.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

export const base64url = bytes =>
  btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Bytes of base64 or base64url; null if it is neither. */
export function unbase64(text) {
  try {
    const plain = atob(text.trim().replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(plain, character => character.charCodeAt(0));
  } catch {
    return null;
  }
}

export const utf8 = bytes => new TextDecoder().decode(bytes);
