// Draws who wrote which document of a repository: reads its Markdown files and its git log, and stores people, documents and who wrote
// what as a knowledge graph.
//
//   WORK=/path/to/repository runcode run --mcp testdata/examples/work.mcp.json testdata/examples/graph.ts

const allowed = await tools.mcp__files__list_allowed_directories({});
const root = allowed.content[0].text.split("\n")[1];

const found = await tools.mcp__files__search_files({ path: root, pattern: "**/*.md" });
const paths = found.structuredContent.content.split("\n").filter((line) => line.startsWith(root)).sort();

const documents = await Promise.all(paths.map(async (path) => {
  const name = path.slice(root.length + 1);
  const [file, log] = await Promise.all([
    tools.mcp__files__read_text_file({ path }),
    tools.mcp__git__git_log({ path: root, filePath: name, maxCount: 1000 }),
  ]);
  const text = file.structuredContent.content;
  const title = /^# (.+)$/m.exec(text)?.[1] ?? name;
  return { name, title, words: text.split(/\s+/).filter(Boolean).length, commits: log.structuredContent.commits };
}));

// One person for each e-mail address; the name is that of the latest commit, and the log begins with the latest.
const people = new Map<string, { name: string; documents: Set<string>; commits: Set<string> }>();
for (const document of documents) {
  for (const commit of document.commits) {
    const person = people.get(commit.authorEmail) ?? { name: commit.author, documents: new Set(), commits: new Set() };
    people.set(commit.authorEmail, person);
    person.documents.add(document.name);
    person.commits.add(commit.hash);
  }
}

await tools.mcp__memory__create_entities({
  entities: [
    ...documents.map((d) => ({ name: d.name, entityType: "document", observations: [d.title, `${d.words} words`] })),
    ...[...people.values()].map((p) => ({ name: p.name, entityType: "person", observations: [`${p.commits.size} commits`] })),
  ],
});
await tools.mcp__memory__create_relations({
  relations: [...people.values()].flatMap((p) => [...p.documents].map((to) => ({ from: p.name, to, relationType: "wrote" }))),
});

// What was stored is what counts, so the answer comes from the graph.
const graph = (await tools.mcp__memory__read_graph({})).structuredContent;
const wrote = (name: string) => graph.relations.filter((r) => r.from === name).map((r) => r.to).sort();
const kind = (type: string) => graph.entities.filter((e) => e.entityType === type);
console.log(`${kind("document").length} documents, ${kind("person").length} people, ${graph.relations.length} relations`);
return {
  documents: Object.fromEntries(kind("document").map((e) => [e.name, e.observations])),
  people: Object.fromEntries(kind("person").map((e) => [e.name, { did: e.observations, wrote: wrote(e.name) }])),
};
