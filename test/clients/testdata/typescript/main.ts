// Asks a gateway one thing by the types that openapi-typescript made, and prints the answer.
import createClient from "openapi-fetch";
import type { components, paths } from "./portcullis.js";

declare const process: { argv: string[]; env: Record<string, string | undefined> };

type Schemas = components["schemas"];

const client = createClient<paths>({
  baseUrl: process.env.GATEWAY,
  headers: { Authorization: `Bearer ${process.env.TOKEN}` },
});
const path = { accountId: "acct-demo-v1", projectId: "proj-demo-v1" };

async function roleList(): Promise<Schemas["RoleList"]> {
  const { data, error } = await client.GET("/api/v1/accounts/{accountId}/roles", {
    params: { path, query: { scope: "PROJECT", pageSize: 100 } },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return data;
}

async function securityGroup(): Promise<Schemas["SecurityGroupBody"]> {
  const { data, error } = await client.GET("/api/v1/accounts/{accountId}/projects/{projectId}/security-groups/{id}", {
    params: { path: { ...path, id: process.env.GROUP ?? "" } },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return data;
}

function create(body: Schemas["SecurityGroupCreate"]) {
  return client.POST("/api/v1/accounts/{accountId}/projects/{projectId}/security-groups", {
    params: { path, header: { "X-Account-ID": path.accountId } },
    body,
  });
}

async function newSecurityGroup(): Promise<Schemas["SecurityGroupBody"]> {
  const { data, error } = await create({
    project_id: path.projectId,
    name: "made by the TypeScript client",
    metadata: { tier: "web" },
    rules: [{ direction: "ingress", protocol: "tcp", port_range_min: 443, port_range_max: 443, remote_ip_prefix: "10.1.0.0/16" }],
  });
  if (!data) throw new Error(JSON.stringify(error));
  return data;
}

async function refusedSecurityGroup(): Promise<Schemas["FirewallError"]> {
  const { error } = await create({ project_id: path.projectId, name: "" });
  if (error?.code !== "BAD_REQUEST") throw new Error(JSON.stringify(error));
  return error;
}

const instance: Schemas["AuthZENResource"] = { type: "instances", id: "i-1", properties: { project_id: path.projectId } };

async function evaluation(): Promise<Schemas["AuthZENDecision"]> {
  const { data, error } = await client.POST("/access/v1/evaluation", {
    body: { subject: { type: "user", id: "user-alice-v1" }, action: { name: "project:instance:create" }, resource: instance },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return data;
}

async function evaluations(): Promise<Schemas["AuthZENDecisions"]> {
  const { data, error } = await client.POST("/access/v1/evaluations", {
    body: {
      action: { name: "project:instance:create" },
      resource: instance,
      evaluations: [{ subject: { type: "user", id: "user-alice-v1" } }, { subject: { type: "user", id: "user-bob-v1" } }],
    },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return data;
}

// The test's cases by name. Each makes one request.
const asks: Record<string, () => Promise<unknown>> = {
  "role list": roleList,
  "security group": securityGroup,
  "new security group": newSecurityGroup,
  "refused security group": refusedSecurityGroup,
  evaluation,
  evaluations,
};

console.log(JSON.stringify(await asks[process.argv[2]]()));
