// A client on the official TypeScript SDK that drives a gateway. Its argument is JSON:
//
//   {"command": [PROGRAM, ARGUMENT...]} or {"url": URL, "token": TOKEN}   where the gateway is
//   "steps": [{"call": {"name", "arguments"}, "progress": true, "cancelAfter": "progress"} | {"list": true} | {"read": URI}]
//   "approve": true | false                                               what a person answers when asked
//
// It prints one JSON object: for each step what came back or the error, and each question that was put to the person.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const plan = JSON.parse(process.argv[2]);
const asks = plan.approve !== undefined;
const client = new Client({ name: "drive", version: "1" }, { capabilities: asks ? { elicitation: { form: {} } } : {} });
const questions = [];
if (asks) {
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    questions.push({ message: params.message, schema: params.requestedSchema });
    return plan.approve ? { action: "accept", content: { approve: true } } : { action: "decline" };
  });
}
const transport = plan.command
  ? new StdioClientTransport({ command: plan.command[0], args: plan.command.slice(1), env: process.env, stderr: "inherit" })
  : new StreamableHTTPClientTransport(new URL(plan.url), { requestInit: { headers: { Authorization: `Bearer ${plan.token}` } } });
await client.connect(transport);

async function take(step) {
  if (step.list) return { tools: (await client.listTools()).tools, resources: (await client.listResources()).resources };
  if (step.read) return await client.readResource({ uri: step.read });
  const stop = new AbortController();
  let progress = 0;
  const onprogress = () => {
    progress++;
    if (step.cancelAfter === "progress") stop.abort("the person at the client changed their mind");
  };
  const options = { signal: stop.signal, timeout: 120_000, ...(step.progress ? { onprogress } : {}) };
  return { ...(await client.callTool(step.call, undefined, options)), progress };
}

const steps = [];
for (const step of plan.steps) {
  try {
    steps.push(await take(step));
  } catch (e) {
    steps.push({ error: String(e.message ?? e) });
  }
}
await client.close();
console.log(JSON.stringify({ server: client.getServerVersion(), instructions: client.getInstructions(), steps, questions }));
