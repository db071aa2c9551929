// Reports on a Go tree: for each package its files, its lines and the files that hold its ten largest functions.
//
//   runcode run --allow-read testdata/examples/report.ts
//   runcode run --mcp testdata/examples/files.mcp.json testdata/examples/report.ts
//
// The first line uses the command's own file tools, the second a filesystem MCP server; the report is the same.

interface Source {
  files(): Promise<string[]>;
  text(path: string): Promise<string>;
}

interface Func {
  name: string;
  file: string;
  lines: number;
}

interface Package {
  files: number;
  lines: number;
  largest: Func[];
}

const SKIP = ["node_modules", ".git", "bin", "dist"];

// Only one of the two sources is bound in a run; untyped, neither is an error to a type check of the other.
const bound: any = tools;

const own: Source = {
  async files() {
    const { paths, truncated } = await bound.glob({ pattern: "**/*.go", limit: 10000 });
    if (truncated) throw new Error("the tree has more Go files than one glob returns");
    return paths;
  },
  async text(path) {
    return (await bound.read_file({ path })).text;
  },
};

// The server knows no glob, so the program walks the tree that the server returns as text.
const server: Source = {
  async files() {
    interface Entry { name: string; type: "file" | "directory"; children?: Entry[] }
    const answer = await bound.mcp__files__directory_tree({ path: ".", excludePatterns: SKIP });
    const found: string[] = [];
    const walk = (entries: Entry[], folder: string) => {
      for (const e of entries) {
        if (e.type === "directory") walk(e.children ?? [], folder + e.name + "/");
        else if (e.name.endsWith(".go")) found.push(folder + e.name);
      }
    };
    walk(JSON.parse(answer.content[0].text) as Entry[], "");
    return found;
  },
  async text(path) {
    return (await bound.mcp__files__read_text_file({ path })).content[0].text;
  },
};

const source = "glob" in tools ? own : server;

// A top-level function begins with "func" in the first column and ends at the next line that is a closing brace.
function functions(file: string, lines: string[]): Func[] {
  const found: Func[] = [];
  for (let i = 0; i < lines.length; i++) {
    const name = /^func (?:\([^)]*\) )?(\w+)/.exec(lines[i])?.[1];
    if (!name) continue;
    let end = i;
    if (!lines[i].endsWith("}")) while (end + 1 < lines.length && lines[end] !== "}") end++;
    found.push({ name, file, lines: end - i + 1 });
    i = end;
  }
  return found;
}

const hidden = (path: string) => path.split("/").some((part) => SKIP.includes(part) || part.startsWith("."));
const paths = (await source.files()).filter((path) => !hidden(path)).sort();
const packages = new Map<string, Package>();
const texts = await Promise.all(paths.map((path) => source.text(path)));

for (const [i, path] of paths.entries()) {
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
  const lines = texts[i].split("\n");
  if (lines.at(-1) === "") lines.pop();
  const entry = packages.get(folder) ?? { files: 0, lines: 0, largest: [] };
  entry.files++;
  entry.lines += lines.length;
  entry.largest.push(...functions(path.slice(path.lastIndexOf("/") + 1), lines));
  packages.set(folder, entry);
}

const byName = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
for (const entry of packages.values()) {
  entry.largest.sort((a, b) => b.lines - a.lines || byName(a.file + a.name, b.file + b.name));
  entry.largest.splice(10);
}
console.log(`${paths.length} files in ${packages.size} packages`);
return Object.fromEntries([...packages].sort(([a], [b]) => byName(a, b)));
