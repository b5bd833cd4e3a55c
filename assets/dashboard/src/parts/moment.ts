/** A moment of a chart's axis, s of the epoch: the date where the chart spans days, the time of day where it spans less. */
export function moment(at: number, span: number): string {
  const date = new Date(at * 1000);
  if (span > 2 * 86400) return date.toLocaleDateString(undefined, { month: "short", day: "numeric" });
  const hour: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return date.toLocaleTimeString(undefined, span > 1200 ? hour : { ...hour, second: "2-digit" });
}
