// Makes a release of a repository: works out the next version from the commits since the last tag, writes the notes into CHANGELOG.md,
// commits and tags them.
//
//   WORK=/path/to/repository runcode run --mcp testdata/examples/work.mcp.json testdata/examples/release.ts

const path = (await tools.mcp__files__list_allowed_directories({})).content[0].text.split("\n")[1];

const [status, tags, log] = await Promise.all([
  tools.mcp__git__git_status({ path }),
  tools.mcp__git__git_tag({ path, mode: "list" }),
  tools.mcp__git__git_log({ path, maxCount: 1000 }),
]);
if (!status.structuredContent.isClean) throw new Error("there are changes that are not committed");

const versions = tags.structuredContent.tags
  .map((tag) => ({ commit: tag.commit, parts: /^v(\d+)\.(\d+)\.(\d+)$/.exec(tag.name)?.slice(1).map(Number) }))
  .filter((version) => version.parts)
  .sort((a, b) => b.parts[0] - a.parts[0] || b.parts[1] - a.parts[1] || b.parts[2] - a.parts[2]);
const last = versions[0] ?? { commit: undefined, parts: [0, 0, 0] };

const commits = log.structuredContent.commits;
const end = commits.findIndex((c) => last.commit && c.hash.startsWith(last.commit));
const fresh = end < 0 ? commits : commits.slice(0, end);
if (fresh.length === 0) return "nothing to release";

const section = (title: string, prefix: RegExp) => {
  const lines = fresh.filter((c) => prefix.test(c.subject)).map((c) => `- ${c.subject.replace(prefix, "")} (${c.author})`);
  return lines.length === 0 ? [] : [`### ${title}`, "", ...lines, ""];
};
const added = section("Added", /^feat: /);
const [major, minor, patch] = last.parts;
const version = added.length > 0 ? `v${major}.${minor + 1}.0` : `v${major}.${minor}.${patch + 1}`;
const notes = [`## ${version}`, "", ...added, ...section("Fixed", /^fix: /), ...section("Documented", /^docs: /)].join("\n");

const file = `${path}/CHANGELOG.md`;
let older = "";
try {
  older = (await tools.mcp__files__read_text_file({ path: file })).structuredContent.content;
} catch (e) {
  if (!(e instanceof ToolCallError)) throw e;
}
await tools.mcp__files__write_file({ path: file, content: notes + "\n" + older });
const commit = await tools.mcp__git__git_commit({ path, message: `Release ${version}`, filesToStage: ["CHANGELOG.md"] });
await tools.mcp__git__git_tag({ path, mode: "create", tagName: version, message: `Release ${version}` });

console.log(`${fresh.length} commits since ${last.commit ? "the last tag" : "the beginning"}`);
return { version, notes, committed: commit.structuredContent.committedFiles };
