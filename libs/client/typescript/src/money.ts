import { create } from "@bufbuild/protobuf";
import { type Money, MoneySchema } from "./generated/kafeneio/common/v1/money_pb.js";

/** How many digits a currency has behind the point. */
function digitsOf(currencyCode: string): number {
  const format = new Intl.NumberFormat("en", { style: "currency", currency: currencyCode });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}

/** An amount as a person writes it, "5" or "5,00", as money; undefined where it is none. */
export function parseMoney(text: string, currencyCode: string): Money | undefined {
  const digits = digitsOf(currencyCode);
  const [, whole, fraction = ""] = /^(\d{1,15})(?:[.,](\d{1,3}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || fraction.length > digits) {
    return undefined;
  }
  const minorUnits = BigInt(whole + fraction.padEnd(digits, "0"));
  return create(MoneySchema, { currencyCode, minorUnits });
}

/** "€12.34", as people of a language write it; exact for any amount. */
export function formatMoney(minorUnits: bigint, currencyCode: string, language: string): string {
  const digits = digitsOf(currencyCode);
  const size = (minorUnits < 0n ? -minorUnits : minorUnits).toString().padStart(digits + 1, "0");
  const point = size.length - digits;
  const decimal = digits === 0 ? size : `${size.slice(0, point)}.${size.slice(point)}`;
  const format = new Intl.NumberFormat(language, { style: "currency", currency: currencyCode });
  // A decimal string keeps what a number would round.
  return format.format((minorUnits < 0n ? `-${decimal}` : decimal) as Intl.StringNumericLiteral);
}
