// What Claude Desktop makes of a manifest: the official function, with the settings that a person left as they are.
// node resolve_bundle.mjs FOLDER
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb/browser";
import { readFileSync } from "node:fs";

const folder = process.argv[2];
const manifest = JSON.parse(readFileSync(`${folder}/manifest.json`, "utf-8"));
const config = await getMcpConfigForManifest({
  manifest,
  extensionPath: folder,
  systemDirs: { HOME: process.env.HOME ?? "" },
  userConfig: {},
  pathSeparator: "/",
});
console.log(JSON.stringify(config));
