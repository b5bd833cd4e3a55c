// What a client writes with the types: the first part must compile, and each
// line below an expectation must not.
import * as api from "./types";

declare const console: { log(...all: unknown[]): void };
declare function call<M extends api.MethodName>(method: M, params: api.Params<M>): Promise<api.Result<M>>;

export async function good(): Promise<void> {
  const { docs, sub } = await call("state.watch", { kinds: ["memory", "gpu-profile"] });
  for (const doc of docs) {
    if (doc.kind === "memory") {
      const used: number | undefined = doc.value?.used_bytes;
      const why: api.Reason | undefined = doc.unknown?.["used_bytes"];
      console.log(used, why);
    }
    if (doc.kind === "job") {
      const job: api.Job | undefined = doc.value;
      console.log(job?.spec.program.command, sub);
    }
  }
  await call("job.submit", { request: { program: { command: ["true"] }, placement: { ranks: 2 } } });
  await call("daemon.info", {});
  const changed: api.Notifications["measure.changed"]["terminal"] = true;
  const next: api.Methods["measure.gpu"]["notifies"] = "measure.changed";
  const admin: "admin" = api.methodClasses["daemon.stop"];
  const code: api.Code = api.Code.not_found;
  const newer: api.Reason = "a_reason_of_a_newer_version";
  console.log(changed, next, admin, code, newer);
}

export async function bad(): Promise<void> {
  // @ts-expect-error: there is no such method
  await call("state.wach", {});
  // @ts-expect-error: no method of peers
  await call("peer.put", { docs: [] });
  // @ts-expect-error: a field that the method does not have
  await call("state.watch", { kind: ["memory"] });
  // @ts-expect-error: a word that is no kind
  await call("state.watch", { kinds: ["memry"] });
  // @ts-expect-error: the job is missing
  await call("job.get", {});
  // @ts-expect-error: a method without parameters
  await call("daemon.info", { verbose: true });
  const { docs } = await call("state.get", {});
  for (const doc of docs) {
    // @ts-expect-error: the value of which kind?
    console.log(doc.value?.used_bytes);
    // @ts-expect-error: it may be absent
    if (doc.kind === "memory") doc.value.used_bytes;
  }
  // @ts-expect-error: no code of an error
  const code: api.Code = 13;
  console.log(code);
}
